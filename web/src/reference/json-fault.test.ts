// Where a body that was typed stops being JSON.
import { expect, test } from 'vitest'
import { jsonFaultOf } from './json-fault.ts'

test.each([
  [
    '{"tokens": [\n  {"token_id": 1,}\n]}',
    'Not JSON at line 2, column 18: a name in double quotes is expected, and there is }.',
  ],
  ['{"a": }', 'Not JSON at line 1, column 7: a value is expected, and there is }.'],
  ['{"a": tru}', 'Not JSON at line 1, column 7: a value is expected, and there is t.'],
  ['[1 2]', 'Not JSON at line 1, column 4: a comma or ] is expected, and there is 2.'],
  ['{"a" 1}', 'Not JSON at line 1, column 6: a colon is expected, and there is 1.'],
  ['{"a": "x\n"}', 'Not JSON at line 1, column 7: a value is expected, and there is ".'],
  ['{"a": 01}', 'Not JSON at line 1, column 7: a value is expected, and there is 0.'],
  ['{"a": 1}}', 'Not JSON at line 1, column 9: nothing more is expected, and there is }.'],
  ['{\n', 'Not JSON at line 2, column 1: a name in double quotes is expected, and the text ends.'],
  ['', 'Not JSON at line 1, column 1: a value is expected, and the text ends.'],
  ['['.repeat(50_000), `Not JSON at line 1, column 202: a simpler body is expected, and there is [.`],
])('%j', (text, message) => {
  expect(jsonFaultOf(text)?.message).toBe(message)
})

test('JSON has no fault', () => {
  for (const text of ['{}', '[]', ' {"a": [1, -2.5e3, true, null, "\\u00e9\\n"], "b": {}} ', '"text"', '0'])
    expect(jsonFaultOf(text), text).toBeUndefined()
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CsvRows } from '../../tools/lists/csv-rows.ts'
import { LentBytes, lentBytes, takeMemory } from '../answer-memory.ts'
import { CsvLines } from './csv-lines.ts'

type Field = string | number | boolean | null | object
type Record_ = Record<string, Field>

function csvOf(columns: readonly string[], records: readonly Record_[]): string {
  const text = records.map(record => `${JSON.stringify(record)}\n`).join('')
  const memory = takeMemory(Buffer.byteLength(text))
  const lines = new LentBytes(memory, memory.bytes.write(text))
  const made = new CsvLines(columns).of(records.length, lines)
  const csv = made.bytes.toString()
  made.release()
  return csv
}

test('leaves nested fields out, null and missing ones empty, and quotes what needs it', () => {
  const records = [
    { a: '1', nested: { a: ['}', '"'] }, b: null, c: true, d: 'x,y' },
    { b: 2, d: '{"k":"v"}' },
    { a: '', c: false, d: 'two\nlines', e: [] },
  ]
  expect(csvOf(['a', 'b', 'c', 'd'], records)).toBe('1,,true,"x,y"\n,2,,"{""k"":""v""}"\n,,false,"two\nlines"\n')
})

test('a reader of CSV finds the fields of every record', () => {
  const lentBefore = lentBytes()
  const text = fc.string({
    unit: fc.constantFrom('a', ',', '"', '\\', '\n', '\r', '{', '}', ']', '€', '\ud800', '😀', '\0'),
  })
  const field = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null))
  const record = fc.record({ a: field, b: field, c: field }, { requiredKeys: ['a'] })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(record, fc.constantFrom<Field>(null, '}', '",', [1, []], { a: '{', b: [{}] })), {
        minLength: 1,
        maxLength: 5,
      }),
      made => {
        const records = made.map(([{ a, ...rest }, nested]) => ({ a, other: [nested], ...rest }) as Record_)
        const rows = [...new CsvRows().push(csvOf(['a', 'b', 'c'], records))]
        const shown = (value: Field | undefined) =>
          value === undefined || value === null ? '' : `${value}`.toWellFormed().replace(/^[\r\n]/, "'$&")
        const expected = records.map(({ a, b, c }) => [a, b, c].map(shown))
        expect(rows.map(row => 'fields' in row && row.fields)).toEqual(expected)
      },
    ),
  )
  expect(lentBytes()).toBe(lentBefore)
})

test('what a spreadsheet would take for a formula begins with an apostrophe, and numbers stay numbers', () => {
  const evil = ['=1+1', '+1+cmd', '-2+3', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '=HYPERLINK("http://x","y")', '＝1+1']
  const plain = ['Cool = Cats', '-5', '-0.25', '123', "'=quoted", '', 'a-b', 'a@b']
  const texts = [...evil, ...plain]
  const csv = csvOf(
    ['name', 'amount'],
    texts.map(name => ({ name, amount: -7 })),
  )
  const rows = [...new CsvRows().push(csv)].map(row => 'fields' in row && row.fields)
  expect(rows).toEqual([...evil.map(text => [`'${text}`, '-7']), ...plain.map(text => [text, '-7'])])
})

import { expect, test } from 'vitest'
import { type ListFormat, RowCounter } from './row-counter.ts'

function counted(format: ListFormat, text: string, pieceBytes = 7): RowCounter {
  const counter = new RowCounter(format)
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) counter.take(bytes.subarray(at, at + pieceBytes))
  return counter
}

const csv = 'owner,name\n0x1,"a ""deed"",\nof two lines"\n0x2,ä\n'
const ndjson = '{"name":"a \\"deed\\"\\n"}\n{"name":"b"}\n'

test.each([1, 3, 7, 1_000])('a whole list in pieces of %i bytes', pieceBytes => {
  expect(counted('csv', csv, pieceBytes).rows).toBe(2)
  expect(counted('csv', `${csv}# complete rows=2 block=17\n`, pieceBytes).endMark()).toEqual({ rows: 2, block: 17 })
  const lines = `${ndjson}{"complete":true,"rows":2,"block":17}\n`
  expect(counted('ndjson', lines, pieceBytes).endMark()).toEqual({ rows: 2, block: 17 })
  const none = 'owner,name\n# complete rows=0 block=3\n'
  expect(counted('csv', none, pieceBytes).endMark()).toEqual({ rows: 0, block: 3 })
})

test.each<[string, ListFormat, string]>([
  ['cut between rows', 'csv', csv],
  ['cut within the mark', 'csv', `${csv}# complete rows=2 block=1`],
  ['empty', 'csv', ''],
  ['with a mark of more rows', 'csv', `${csv}# complete rows=3 block=17\n`],
  ['cut within a field that imitates the mark', 'csv', `${csv}0x3,"\n# complete rows=1 block=17\n`],
  ['cut between lines', 'ndjson', ndjson],
  ['with rows after the mark', 'ndjson', `{"complete":true,"rows":0,"block":17}\n${ndjson}`],
])('a list that is %s is not whole', (_, format, text) => {
  expect(counted(format, text).endMark()).toBeUndefined()
})

import { expect, test } from 'vitest'
import { listRowsOf } from './list-rows.ts'

test('CSV is read by its cells, without its end mark', () => {
  const text = 'owner,name\n0x1,"a ""deed"",\nof two lines"\n0x2,\n# complete rows=2 block=17\n'
  expect(listRowsOf('text/csv; charset=utf-8', text)).toEqual({
    format: 'csv',
    columns: ['owner', 'name'],
    rows: [
      ['0x1', 'a "deed",\nof two lines'],
      ['0x2', ''],
    ],
    mark: { rows: 2, block: 17 },
  })
})

test('NDJSON has the columns of its first row', () => {
  const text = '{"owner":"0x1","count":2,"tags":["a"]}\n{"owner":null}\n{"complete":true,"rows":2,"block":3}\n'
  expect(listRowsOf('application/x-ndjson', text)).toEqual({
    format: 'ndjson',
    columns: ['owner', 'count', 'tags'],
    rows: [
      ['0x1', '2', '["a"]'],
      ['', '', ''],
    ],
    mark: { rows: 2, block: 3 },
  })
})

test('a list that was cut has no mark, a long one its first rows, and another type none', () => {
  expect(listRowsOf('text/csv', 'owner,name\n0x1,a\n')?.mark).toBeUndefined()
  const long = `owner,name\n${'0x1,a\n'.repeat(500)}# complete rows=500 block=1\n`
  expect(listRowsOf('text/csv', long)).toMatchObject({ rows: { length: 100 }, mark: { rows: 500 } })
  expect(listRowsOf('text/csv', 'owner,name\n# complete rows=0 block=1\n')?.rows).toEqual([])
  expect(listRowsOf('text/plain', 'a,b\n')).toBeUndefined()
})

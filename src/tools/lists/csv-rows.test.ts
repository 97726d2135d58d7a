// Rows of CSV come back as they were written, however the text is cut. No file is read.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CsvRow, CsvRows } from './csv-rows.ts'

/** The text in pieces cut anywhere. */
function read(text: string, cuts: readonly number[] = []): CsvRow[] {
  const rows = new CsvRows()
  const found: CsvRow[] = []
  let from = 0
  for (const cut of [...cuts.map(at => at % (text.length + 1)).sort((a, b) => a - b), text.length]) {
    found.push(...rows.push(text.slice(from, cut)))
    from = cut
  }
  return [...found, ...rows.end()]
}

const written = (fields: readonly string[], delimiter: string) =>
  fields.map(field => (/["\r\n,;\t]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(delimiter)

test('rows come back as they were written, in pieces cut anywhere, with the numbers of their lines', () => {
  const field = fc.string({ unit: fc.constantFrom('a', 'é', '✓', '"', ',', ';', '\t', '\n', '\r\n', ' ', '0') })
  const table = fc.integer({ min: 2, max: 4 }).chain(width =>
    fc.record({
      rows: fc.array(fc.array(field, { minLength: width, maxLength: width }), { maxLength: 12 }),
      width: fc.constant(width),
      delimiter: fc.constantFrom(',', ';', '\t'),
      end: fc.constantFrom('\n', '\r\n'),
      cuts: fc.array(fc.nat(), { maxLength: 8 }),
    }),
  )
  fc.assert(
    fc.property(table, ({ rows, width, delimiter, end, cuts }) => {
      const header = Array.from({ length: width }, (_, column) => `c${column}`)
      const all = [header, ...rows]
      const text = all.map(row => written(row, delimiter) + end).join('')
      let line = 1
      const expected = all.map(fields => {
        const row = { line, fields }
        line += written(fields, delimiter).split('\n').length
        return row
      })
      expect(read(text, cuts)).toEqual(expected)
    }),
  )
})

test('a row with a stray quotation mark costs that row and no other', () => {
  expect(read('a,b\n1,"x" y\n2,z\n3,"open\n4,w\n')).toEqual([
    { line: 1, fields: ['a', 'b'] },
    { line: 2, problem: 'text follows a closing quotation mark' },
    { line: 3, fields: ['2', 'z'] },
    { line: 4, problem: 'a quotation mark is left open' },
    { line: 5, fields: ['4', 'w'] },
  ])
})

test('a row that does not end is not kept in memory', () => {
  const rows = new CsvRows()
  expect(rows.push('a,b\n')).toHaveLength(1)
  const endless = Array.from({ length: 100 }, () => rows.push('x'.repeat(10_000))).flat()
  expect(endless.length).toBeGreaterThan(0)
  expect(endless[0]).toMatchObject({ line: 2, problem: expect.stringContaining('longer than') })
})

test('the last line needs no end, empty lines count and are passed over', () => {
  expect(read('a;b\n\n1;2')).toEqual([
    { line: 1, fields: ['a', 'b'] },
    { line: 3, fields: ['1', '2'] },
  ])
})

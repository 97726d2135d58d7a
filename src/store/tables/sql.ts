// What the files of plain tables share. No IO here.
import type { Value } from '../core/work.ts'

/** For writes of plain tables, and of those that no answer shows. */
export const plain = { of: 'plain' } as const
export const plainUnseen = { of: 'plain', unseen: true } as const

/** The last value of each key, in the order of keys: two writers that meet the same rows wait for each other once. */
export function lastOfEach<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  const keyed = values.map(value => ({ key: keyOf(value), value }))
  // Long lists come in order.
  if (keyed.every(({ key }, index) => index === 0 || key > keyed[index - 1]!.key)) return [...values]
  const byKey = new Map(keyed.map(({ key, value }) => [key, value]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}

/** Of a column of type `utf8`: PostgreSQL's text cannot hold every character, as chains have them. */
export function textOf(cell: Value): string | undefined {
  if (cell === null || typeof cell === 'number') return undefined
  return typeof cell === 'string' ? cell : Buffer.from(cell.buffer, cell.byteOffset, cell.length).toString()
}

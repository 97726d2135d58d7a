// Walks the records of a run.
import { compareKeys } from '../../runs/pack.ts'
import type { View } from '../../runs/view.ts'
import type { Connection } from '../connection.ts'
import { cursorAt } from './runs.ts'

type Record = { key: Uint8Array; value: Uint8Array }

export function* records(read: Connection, view: View, run: number, from: Uint8Array): Generator<Record> {
  const cursor = cursorAt(read, view, run, from)
  if (cursor === undefined) return
  const { reader } = cursor
  do yield { key: reader.key.slice(), value: reader.value.slice(0, reader.valueLength) }
  while (cursor.step())
}

/** All where no key is given. */
export function recordsAfter(
  read: Connection,
  view: View,
  run: number,
  after: Uint8Array | undefined,
): IteratorObject<Record> {
  const from = records(read, view, run, after ?? new Uint8Array(view.keyBytes))
  return after === undefined ? from : from.filter(({ key }) => compareKeys(key, after) > 0)
}

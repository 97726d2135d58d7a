// Looks for damage in a file: in its structure, and by the kept counts of transfers. It mends nothing.
import { messageOf } from '../../errors.ts'
import { bucketOfKey, countOf, countView } from '../runs/count-view.ts'
import { PackReader } from '../runs/pack.ts'
import { contractOfKey, payloadAt, transferView } from '../runs/transfer-view.ts'
import type { View } from '../runs/view.ts'
import { idCountOf } from '../transfer-payload.ts'
import { Connection } from './connection.ts'
import { storeFailure } from './failures.ts'
import { readOptions } from './open-file.ts'

/** `ok`, or the first damage. The file may be in use. */
export function findDamage(path: string): string {
  let file: Connection | undefined
  try {
    file = new Connection(path, { ...readOptions, busyTimeoutMs: 5_000 })
    return verdictOf(file)
  } catch (error) {
    const failure = storeFailure(error, `file:${path}`)
    if (failure.code === 'store_corrupt') return messageOf(error)
    throw failure
  } finally {
    file?.close()
  }
}

export function verdictOf(file: Connection): string {
  const structure = String(file.get('PRAGMA quick_check(1)')?.[0])
  return structure === 'ok' ? (file.snapshot(() => wrongCountIn(file)) ?? 'ok') : structure
}

type Counts = { held: number; counted: number; summed: number }

/** SQLite has no checksums: a page that was written over by another sound one shows only in what it no longer holds. */
function wrongCountIn(read: Connection): string | undefined {
  const byContract = new Map<number, Counts>()
  const of = (contract: number): Counts => {
    const counts = byContract.get(contract) ?? { held: 0, counted: 0, summed: 0 }
    byContract.set(contract, counts)
    return counts
  }
  for (const { key, value } of recordsOf(read, transferView))
    of(contractOfKey(key)).held += idCountOf(value.subarray(payloadAt))
  for (const { key, value } of recordsOf(read, countView))
    of(contractOfKey(key))[bucketOfKey(key) < 0 ? 'counted' : 'summed'] += countOf(value)
  for (const [contract, { held, counted, summed }] of byContract) {
    if (held === counted && summed === counted) continue
    const [address] = read.get('SELECT lower(hex(address)) FROM contracts WHERE id = ?', contract) ?? ['?']
    return `0x${address} has ${held} transfers; ${counted} were counted, and ${summed} by blocks`
  }
  return undefined
}

/** Of all runs, one after the other. Key and value are overwritten by the next one. */
function* recordsOf(read: Connection, view: View): Generator<{ key: Uint8Array; value: Uint8Array }> {
  const reader = new PackReader(view.keyBytes)
  const find = 'SELECT bytes FROM runs CROSS JOIN packs ON packs.slot = runs.slot AND run = id WHERE view = ?'
  for (const [bytes] of read.prepare(find).iterate(view.id) as Iterable<unknown> as Iterable<[Uint8Array]>) {
    reader.open(bytes)
    while (reader.next()) yield { key: reader.key, value: reader.value.subarray(0, reader.valueLength) }
  }
}

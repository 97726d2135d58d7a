// All cold transfers, contract by contract and newest first, and all kept counts, from the tables and the runs
// together: for checks and copies.
import type { Position } from '../../../model.ts'
import { bucketOfKey, countKey, countOf, countView } from '../../runs/count-view.ts'
import { joinSorted } from '../../runs/join-sorted.ts'
import { contractOfKey, positionOfKey, transferKey, transferView } from '../../runs/transfer-view.ts'
import type { StoredTransfer } from '../../runs/view.ts'
import type { Connection } from '../connection.ts'
import { newestFirst } from '../placed-rows.ts'
import { recordsAfter, runsOf } from './runs.ts'

/** Of one chain, or of all where none is given. */
export function coldTransfersAfter(
  read: Connection,
  after: (Position & { contract: number }) | undefined,
  chain?: number,
): Generator<StoredTransfer> {
  const from = after === undefined ? undefined : transferKey(after.contract, after)
  const runs = runsOf(read, transferView).filter(run => chain === undefined || run.chain === chain)
  const inRuns = runs.map(run =>
    recordsAfter(read, transferView, run.id, from).map(
      ({ key, value }): StoredTransfer => ({ contract: contractOfKey(key), ...positionOfKey(key), payload: value }),
    ),
  )
  return joinSorted([inTable(read, after, chain), ...inRuns], compareTransfers, first => first)
}

function compareTransfers(a: StoredTransfer, b: StoredTransfer): number {
  return a.contract - b.contract || newestFirst(a, b)
}

/** A row comparison cannot follow both directions: contract by contract. */
function* inTable(
  read: Connection,
  after: (Position & { contract: number }) | undefined,
  chain: number | undefined,
): Generator<StoredTransfer> {
  const select = 'SELECT contract, block, tx, log, pos, payload FROM transfers WHERE contract = ?'
  const order = 'ORDER BY block DESC, tx DESC, log DESC, pos DESC'
  let contract = -1
  if (after !== undefined) {
    contract = after.contract
    const place = [after.block, after.transactionIndex, after.logIndex, after.batchIndex]
    yield* rowsOf(read, `${select} AND (block, tx, log, pos) < (?, ?, ?, ?) ${order}`, contract, ...place)
  }
  while (true) {
    const [found] = read.get('SELECT min(contract) FROM transfers WHERE contract > ?', contract) ?? []
    if (found === null || found === undefined) return
    contract = found as number
    if (chain !== undefined && read.get('SELECT chain FROM contracts WHERE id = ?', contract)?.[0] !== chain) continue
    yield* rowsOf(read, `${select} ${order}`, contract)
  }
}

function* rowsOf(read: Connection, sql: string, ...values: number[]): Generator<StoredTransfer> {
  const rows = read.prepare(sql).iterate(...values) as Iterable<unknown>
  for (const [contract, block, tx, log, pos, payload] of rows as Iterable<
    [number, number, number, number, number, Uint8Array]
  >)
    yield { contract, block, transactionIndex: tx, logIndex: log, batchIndex: pos, payload }
}

export type KeptCount = { contract: number; bucket: number; transfers: number }

/** Without those that sum up to nothing. The bucket -1 is the whole chain. */
export function* keptCountsAfter(
  read: Connection,
  after: { contract: number; bucket: number } | undefined,
): Generator<KeptCount> {
  const from = after === undefined ? undefined : countKey(after.contract, after.bucket)
  const inRuns = runsOf(read, countView).map(run =>
    recordsAfter(read, countView, run.id, from).map(
      ({ key, value }): KeptCount => ({
        contract: contractOfKey(key),
        bucket: bucketOfKey(key),
        transfers: countOf(value),
      }),
    ),
  )
  const compare = (a: KeptCount, b: KeptCount): number => a.contract - b.contract || a.bucket - b.bucket
  const join = (a: KeptCount, b: KeptCount): KeptCount => ({ ...a, transfers: a.transfers + b.transfers })
  for (const count of joinSorted([countsInTable(read, after), ...inRuns], compare, join))
    if (count.transfers !== 0) yield count
}

function* countsInTable(
  read: Connection,
  after: { contract: number; bucket: number } = { contract: -1, bucket: -1 },
): Generator<KeptCount> {
  const sql = `SELECT id, -1, transfers FROM contracts WHERE transfers <> 0 AND (id, -1) > (?1, ?2)
    UNION ALL SELECT contract, bucket, transfers FROM transfer_counts WHERE (contract, bucket) > (?1, ?2) ORDER BY 1, 2`
  const rows = read.prepare(sql).iterate(after.contract, after.bucket) as Iterable<unknown>
  for (const [contract, bucket, transfers] of rows as Iterable<[number, number, number]>)
    yield { contract, bucket, transfers }
}

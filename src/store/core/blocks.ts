// Known blocks below the fold, and finding them by number or time; those above it are recent blocks. Callers hold the
// transaction.
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Block, Hash, Interval } from '../../model.ts'
import { blockOfKey, payloadAt, transferValue, transferView } from '../runs/transfer-view.ts'
import type { BlocksAround } from '../store.ts'
import { blockOf, type Mirror } from './mirror.ts'
import { changeRuns, type RunPlace } from './runs.ts'
import { put, type Row, row, rows, run, type Work } from './work.ts'

/** With its hash as bytes. */
export type StoredBlock = { number: number; hash: Uint8Array; timestamp: number }

export function storedBlock({ number, hash, timestamp }: Block): StoredBlock {
  return { number, hash: bytesOfHex(hash), timestamp }
}

function found([number, hash, timestamp]: Row): Block {
  return { number, hash: hexOf<Hash>(hash), timestamp }
}

/** Rows carry their block's hash and time: correcting a known block corrects its rows. */
export function* putBlocks(place: RunPlace, chain: number, given: readonly StoredBlock[]): Work<void> {
  if (given.length === 0) return
  const blocks = [...new Map(given.map(block => [block.number, block])).values()].sort((a, b) => b.number - a.number)
  const isAnyKnown = yield* hasColdBlocks(chain, { from: blocks.at(-1)!.number, to: blocks[0]!.number })
  const known = isAnyKnown
    ? yield* storedBlocks(
        chain,
        blocks.map(({ number }) => number),
      )
    : new Map()
  const isOther = (block: StoredBlock): boolean => {
    const before = known.get(block.number)
    return before?.timestamp !== block.timestamp || Buffer.compare(before.hash, block.hash) !== 0
  }
  const changed = blocks.filter(isOther)
  yield* put(
    'blocks',
    changed.map(({ number, timestamp, hash }) => ({ chain, number, timestamp, hash })),
  )
  const corrected = new Map(changed.filter(({ number }) => known.has(number)).map(block => [block.number, block]))
  if (corrected.size === 0) return
  const numbers = [...corrected.keys()]
  const of = { chain, from: Math.min(...numbers), to: Math.max(...numbers) }
  yield* changeRuns(place, transferView, { of }, (key, value) => {
    const block = corrected.get(blockOfKey(key))
    return block === undefined ? undefined : transferValue(block, value.subarray(payloadAt))
  })
}

function* storedBlocks(chain: number, numbers: readonly number[]): Work<Map<number, StoredBlock>> {
  const find = 'SELECT number, hash, timestamp FROM blocks WHERE chain = $1 AND number IN $2:ints'
  const read = yield* rows(find, chain, numbers)
  return new Map(read.map(([number, hash, timestamp]) => [number, { number, hash, timestamp }]))
}

/** Those of the blocks that are known, recent ones too. */
export function* knownBlocks(chain: number, numbers: readonly number[]): Work<Map<number, StoredBlock>> {
  const known = yield* storedBlocks(chain, numbers)
  const find = 'SELECT number, hash, timestamp FROM recent_blocks WHERE chain = $1 AND part = 0 AND number IN $2:ints'
  for (const [number, hash, timestamp] of yield* rows(find, chain, numbers))
    known.set(number, { number, hash, timestamp })
  return known
}

export function* hasColdBlocks(chain: number, { from, to }: Interval): Work<boolean> {
  const find = 'SELECT 1 FROM blocks WHERE chain = $1 AND number BETWEEN $2 AND $3 LIMIT 1'
  return (yield* row(find, chain, from, to)) !== undefined
}

export function* dropBlocksWithin(chain: number, { from, to }: Interval): Work<void> {
  yield* run('DELETE FROM blocks WHERE chain = $1 AND number BETWEEN $2 AND $3', chain, from, to)
}

// Reads for answers. The mirror was made first: what is folded in between is found in both.

export function* lowestBlockOf(mirror: Mirror, chain: number, { from, to }: Interval): Work<Block | undefined> {
  const find = `SELECT number, hash, timestamp FROM blocks WHERE chain = $1 AND number BETWEEN $2 AND $3
    ORDER BY number LIMIT 1`
  const cold = yield* row(find, chain, from, to)
  const [recent] = mirror.within({ from, to })
  return cold !== undefined ? found(cold) : recent && blockOf(recent)
}

export function* blockWithHash(
  mirror: Mirror,
  chain: number,
  hash: Hash,
  { from, to }: Interval,
): Work<Block | undefined> {
  const bytes = bytesOfHex(hash)
  const recent = mirror.within({ from, to }).find(block => Buffer.compare(block.hash, bytes) === 0)
  if (recent !== undefined) return blockOf(recent)
  const find = `SELECT number, hash, timestamp FROM blocks WHERE chain = $1 AND number BETWEEN $2 AND $3 AND hash = $4
    LIMIT 1`
  const cold = yield* row(find, chain, from, to, bytes)
  return cold && found(cold)
}

/**
 * Timestamps never decrease with the number, so halving the numbers finds the first block at or after a moment: about
 * 30 point reads within one statement, and no index of timestamps.
 */
const nextFrom = (column: string): string =>
  `(SELECT ${column} FROM blocks WHERE chain = $1 AND number >= (low + high) / 2 ORDER BY number LIMIT 1)`
const aroundSql = `WITH RECURSIVE halving (low, high) AS (
    SELECT (SELECT min(number) FROM blocks WHERE chain = $1), (SELECT max(number) + 1 FROM blocks WHERE chain = $1)
    UNION ALL
    SELECT CASE WHEN ${nextFrom('timestamp')} < $2 THEN ${nextFrom('number')} + 1 ELSE low END,
      CASE WHEN ${nextFrom('timestamp')} < $2 THEN high ELSE (low + high) / 2 END
    FROM halving WHERE low < high
  ), cut (number) AS (SELECT max(low) FROM halving)
  SELECT 'before', number, hash, timestamp FROM (SELECT * FROM blocks WHERE chain = $1
    AND number < (SELECT number FROM cut) ORDER BY number DESC LIMIT 1) AS before
  UNION ALL SELECT 'after', number, hash, timestamp FROM (SELECT * FROM blocks WHERE chain = $1
    AND number >= (SELECT number FROM cut) ORDER BY number LIMIT 1) AS after`

/** Recent blocks are above all others. */
export function* blocksAround(mirror: Mirror, chain: number, timestamp: number): Work<BlocksAround> {
  const cold: BlocksAround = { before: undefined, after: undefined }
  for (const [side, ...block] of yield* rows(aroundSql, chain, timestamp))
    cold[side as keyof BlocksAround] = found(block)
  const before = mirror.blocks.findLast(block => block.timestamp < timestamp)
  const after = mirror.blocks.find(block => block.timestamp >= timestamp)
  return { before: before ? blockOf(before) : cold.before, after: cold.after ?? (after && blockOf(after)) }
}

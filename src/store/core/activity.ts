// First and last transactions of wallets: of runs, and of recent blocks, whose activity is too large to be kept in
// memory: the mirror tells in which blocks a wallet may be, and the lowest and the highest of them are read.
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { ActivityRow, Address, ChainId, Interval } from '../../model.ts'
import {
  activityByChain,
  activityCount,
  activityRow,
  firstRefOf,
  joinActivity,
  mergePacked,
  type PackedActivity,
  refBytes,
  rowAt,
  rowBytes,
} from '../packed-activity.ts'
import { activityView, refsOf } from '../runs/activity-view.ts'
import { PackSearch } from '../runs/open-pack.ts'
import { compareKeys } from '../runs/pack.ts'
import { chainRow } from './chain-row.ts'
import type { Core } from './core.ts'
import type { Mirror } from './mirror.ts'
import { recordsFrom, type StoredRecord } from './read-records.ts'
import type { RecordRows } from './record-sources.ts'
import { neighbour } from './transfer-pages.ts'
import { type RecordsAsk, rows, type Work, wallet } from './work.ts'

type Refs = { first: Uint8Array; last: Uint8Array | null }

export function* activityOf(core: Core, address: Address): Work<Map<ChainId, ActivityRow>> {
  const key = bytesOfHex(address)
  const search = new PackSearch(activityView.keyBytes)
  for (;;) {
    const { changes, packs } = yield* wallet({ kind: 'wallet', key })
    const stored: ({ chain: ChainId } & Refs)[] = []
    for (const { chain, bytes } of packs)
      if (search.lastUpTo(bytes, key) && search.isAlike())
        stored.push({ chain: yield* core.dictionary.chainOf(chain), ...refsOf(search.value()) })
    let isCurrent = true
    for (const [chain, count] of changes) {
      const mirror = core.mirrors.last(chain)
      const recent = mirror.changes === count ? yield* inRecent(mirror, chain, key) : undefined
      isCurrent &&= recent !== undefined
      // What a mirror of another moment has may be in runs by now, or gone.
      if (recent === undefined) yield* core.mirrors.renewed(chain)
      else for (const refs of recent) stored.push({ chain: yield* core.dictionary.chainOf(chain), ...refs })
    }
    if (isCurrent) return activityByChain(address, stored)
  }
}

const findActivity = 'SELECT activity FROM recent_blocks WHERE chain = $1 AND number = $2 AND hash = $3'

/** Undefined where one of the blocks is no longer there, or another has its number. */
function* inRecent(mirror: Mirror, chain: number, address: Uint8Array): Work<Refs[] | undefined> {
  const blocks = mirror.blocks.filter(block => block.mayHaveActive(address))
  const found: Refs[] = []
  // From both ends, until one has it indeed: another wallet may have the same end.
  for (const inOrder of [blocks, blocks.toReversed()])
    for (const { number, hash } of inOrder) {
      const parts = yield* rows(findActivity, chain, number, hash)
      if (parts.length === 0) return undefined
      const refs = parts.flatMap(([activity]) => refsIn(activity, address))
      if (refs.length === 0) continue
      found.push(...refs)
      break
    }
  return found
}

function refsIn(activity: PackedActivity, address: Uint8Array): Refs[] {
  const found: Refs[] = []
  for (let at = 0; at < activity.length; at += rowBytes)
    if (compareKeys(address, activity.subarray(at, at + address.length)) === 0)
      found.push({
        first: activity.subarray(at + rowAt.first, at + rowAt.last),
        last: activity.subarray(at + rowAt.last, at + rowBytes),
      })
  return found
}

const walletsPerRead = 2_000

/** Of final blocks; it reads every wallet of the chain. */
export async function activityWithin(
  core: Core,
  chain: number,
  interval: Interval,
  { after, limit }: { after: Address | undefined; limit: number },
): Promise<ActivityRow[]> {
  const [from, end] = [firstRefOf(interval.from), firstRefOf(interval.to + 1)]
  const isWithin = (ref: Uint8Array | null): boolean =>
    ref !== null && Buffer.compare(ref, from) >= 0 && Buffer.compare(ref, end) < 0
  const found: ActivityRow[] = []
  let next = after === undefined ? new Uint8Array(activityView.keyBytes) : neighbour(bytesOfHex(after), 1)
  while (next !== undefined) {
    const start = next
    const wallets = await core.engine.read(() => walletsFrom(chain, start))
    for (const [key, value] of wallets) {
      const { first, last } = refsOf(value)
      if (!isWithin(first) && !isWithin(last)) continue
      found.push(activityRow(hexOf<Address>(key), first, last))
      if (found.length === limit) return found
    }
    next = wallets.length < walletsPerRead ? undefined : neighbour(wallets.at(-1)![0], 1)
  }
  return found
}

function* walletsFrom(chain: number, from: Uint8Array): Work<StoredRecord[]> {
  const { finalized } = yield* chainRow(chain)
  const find = 'SELECT activity FROM recent_blocks WHERE chain = $1 AND number <= $2'
  const recent = mergePacked(joinActivity((yield* rows(find, chain, finalized)).map(([activity]) => activity)))
  return yield* recordsFrom({ view: activityView, chain }, from, walletsPerRead, ask => rowsFrom(recent, ask))
}

function rowsFrom(activity: PackedActivity, { first, limit }: RecordsAsk): RecordRows {
  const keys: Uint8Array[] = []
  const values: Uint8Array[] = []
  for (let row = 0; row < activityCount(activity) && keys.length <= limit; row++) {
    const at = row * rowBytes
    const key = activity.subarray(at, at + rowAt.first)
    if (compareKeys(key, first) < 0) continue
    const value = activity.subarray(at + rowAt.first, at + rowBytes)
    const isOne = Buffer.compare(value.subarray(0, refBytes), value.subarray(refBytes)) === 0
    keys.push(key)
    values.push(isOne ? value.subarray(0, refBytes) : value)
  }
  return { keys: Buffer.concat(keys), values: Buffer.concat(values), lengths: values.map(({ length }) => length) }
}

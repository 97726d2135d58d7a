// Compares what the node says with what the store says, and lists the differences: the transfers of one contract in
// both directions, and a wallet's first and last transaction. It asks no node.
import { isCovered } from '../../coverage.ts'
import {
  type ActivityRow,
  type Address,
  type ChainId,
  type CoveredInterval,
  comparePositions,
  type Interval,
  type Position,
  type TransactionRef,
  type TransferFacts,
  type TransferRow,
} from '../../model.ts'
import { isEarlier } from '../../store/packed-activity.ts'
import type { Store } from '../../store/store.ts'
import { type StoredTransfer, storedTransfers, unpackTransfer } from '../../store/transfer-payload.ts'
import type { RangeHeader } from '../source/chain-source.ts'

type TransferComparison = {
  store: Store
  range: Interval & { chain: ChainId; contract: Address }
  /** In chain order. */
  derived: readonly TransferRow[]
  headers: ReadonlyMap<number, RangeHeader>
  /** Blocks that were reported already. */
  badBlocks: Set<number>
  /** A row may be absent outside of these claims. */
  covered: readonly CoveredInterval[]
}

export async function compareTransfers(comparison: TransferComparison, differences: DifferenceList): Promise<void> {
  const { store, range, derived, headers, badBlocks, covered } = comparison
  const { contract } = range
  let next = 0
  const missing = (row: TransferRow): void => {
    if (!isCovered(covered, { from: row.block, to: row.block })) return
    differences.add({ kind: 'missing', ...placeOf(row, contract), detail: `the store lacks ${described(row.payload)}` })
  }
  for await (const stored of storedTransfers(store, range)) {
    while (next < derived.length && comparePositions(derived[next]!, stored) < 0) missing(derived[next++]!)
    const row = derived[next]
    if (row === undefined || comparePositions(row, stored) > 0) {
      const detail = `the chain does not have ${described(stored.payload)}`
      differences.add({ kind: 'unexpected', ...placeOf(stored, contract), detail })
      continue
    }
    next++
    if (Buffer.compare(row.payload, stored.payload) !== 0)
      differences.add({ kind: 'altered', ...placeOf(row, contract), detail: changes(stored.payload, row.payload) })
    const header = headers.get(row.block)
    const detail = header === undefined || badBlocks.has(row.block) ? undefined : blockChanges(stored, header)
    if (detail === undefined) continue
    badBlocks.add(row.block)
    differences.add({ kind: 'block', block: row.block, detail })
  }
  while (next < derived.length) missing(derived[next++]!)
}

/** Reads what the store has of a wallet, hot blocks included, and compares it with what this range has. */
export async function compareActivity(
  store: Store,
  chain: ChainId,
  derived: ActivityRow,
  differences: DifferenceList,
): Promise<void> {
  const { address } = derived
  const stored = (await store.activityOf(address)).get(chain)
  const missing = {
    block: derived.first.block,
    detail: `the store lacks its activity in ${transactionText(derived.first)}`,
  }
  const faults = stored === undefined ? [missing] : activityFaults(stored, derived)
  for (const fault of faults) differences.add({ kind: 'activity', address, ...fault })
}

type ActivityEnds = Pick<ActivityRow, 'first' | 'last'>

/** Other ranges may reach further on both sides, so the stored span must enclose that of this range. */
export function activityFaults(stored: ActivityEnds, derived: ActivityEnds): { block: number; detail: string }[] {
  const faults: { block: number; detail: string }[] = []
  for (const [end, direction] of [
    ['first', 1],
    ['last', -1],
  ] as const) {
    const [ours, theirs] = [stored[end], derived[end]]
    const distance = (ours.block - theirs.block || ours.transactionIndex - theirs.transactionIndex) * direction
    const same = ours.hash === theirs.hash && ours.timestamp === theirs.timestamp
    if (distance < 0 || (distance === 0 && same)) continue
    const detail = `its ${end} is stored as ${transactionText(ours)}; the chain has ${transactionText(theirs)}`
    faults.push({ block: theirs.block, detail })
  }
  return faults
}

/**
 * The other direction: a first or last transaction that is stored in the blocks of the range must be there on the
 * chain. True if it is not.
 */
export function compareStoredActivity(
  { stored, derived, interval }: { stored: ActivityRow; derived: ActivityRow | undefined; interval: Interval },
  differences: DifferenceList,
): boolean {
  const { address } = stored
  const isWithin = ({ block }: TransactionRef): boolean => block >= interval.from && block <= interval.to
  const isStrayFirst = derived === undefined || isEarlier(stored.first, derived.first)
  const isStrayLast = derived === undefined || isEarlier(derived.last, stored.last)
  const strays = new Set<string>()
  if (isWithin(stored.first) && isStrayFirst) strays.add(transactionText(stored.first))
  if (isWithin(stored.last) && isStrayLast) strays.add(transactionText(stored.last))
  const block = isWithin(stored.first) ? stored.first.block : stored.last.block
  for (const text of strays)
    differences.add({ kind: 'activity', block, address, detail: `the chain does not have its activity in ${text}` })
  return strays.size > 0
}

function placeOf({ block, transactionIndex, logIndex, batchIndex }: Position, contract: Address) {
  return { block, contract, position: { transactionIndex, logIndex, batchIndex } }
}

function blockChanges({ blockHash, timestamp }: StoredTransfer, header: RangeHeader): string | undefined {
  if (blockHash !== header.hash) return `it is stored with hash ${blockHash}; the chain has ${header.hash}`
  if (timestamp !== header.timestamp) return `it is stored with time ${timestamp}; the chain has ${header.timestamp}`
  return undefined
}

function transactionText({ block, transactionIndex, hash, timestamp }: TransactionRef): string {
  return `transaction ${transactionIndex} of block ${block} (${hash}, time ${timestamp})`
}

function described(payload: Uint8Array): string {
  const facts = readable(payload)
  if (facts === undefined) return `a row of ${payload.length} unreadable bytes`
  const { standard, tokenId, amount, from, to } = facts
  return `${standard} token ${tokenId}${amount === 1n ? '' : ` (${amount} of it)`} from ${from} to ${to}`
}

function changes(stored: Uint8Array, derived: Uint8Array): string {
  const [ours, theirs] = [readable(stored), readable(derived)]
  if (ours === undefined || theirs === undefined)
    return `the store has ${described(stored)} instead of ${described(derived)}`
  const names = Object.keys(theirs) as (keyof TransferFacts)[]
  const changed = names.filter(name => ours[name] !== theirs[name])
  const list = changed.map(name => `${name} is stored as ${ours[name]}; the chain has ${theirs[name]}`)
  return list.length === 0 ? 'the same facts are packed differently' : list.join(', ')
}

/** Undefined if the bytes are not a transfer. */
function readable(payload: Uint8Array): TransferFacts | undefined {
  try {
    return unpackTransfer(payload)
  } catch {
    return undefined
  }
}

const differenceKinds = ['missing', 'unexpected', 'altered', 'block', 'activity', 'evidence', 'endpoints'] as const
export type DifferenceKind = (typeof differenceKinds)[number]

export type Difference = {
  kind: DifferenceKind
  /** The block, or the first one of several. */
  block: number
  contract?: Address
  /** The wallet, where its activity differs. */
  address?: Address
  /** Of a transfer. */
  position?: Omit<Position, 'block'>
  detail: string
}

/** Counts every difference and lists them up to a bound. */
export class DifferenceList {
  readonly #listMax: number
  readonly listed: Difference[] = []
  readonly counts = new Map<DifferenceKind, number>()

  constructor(listMax: number) {
    this.#listMax = listMax
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0)
  }

  add(difference: Difference): void {
    this.counts.set(difference.kind, (this.counts.get(difference.kind) ?? 0) + 1)
    if (this.listed.length < this.#listMax) this.listed.push(difference)
  }
}

// Derives a covered range again from the node, with the checks of indexing, and compares it with the store in both
// directions. Only `repairRange` writes.
import type { Chain } from '../../chains.ts'
import { weakestEvidence, weakestOf } from '../../coverage.ts'
import type { Address, CoveredInterval, Evidence, Interval } from '../../model.ts'
import { activityCount, joinActivity, mergePacked, unpackActivity } from '../../store/packed-activity.ts'
import type { Store } from '../../store/store.ts'
import { type SyncOptions, syncRange } from '../index/sync-range.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { FullSource } from '../source/full-source.ts'
import { historySizes, RangeSize, readPieces } from '../source/range-size.ts'
import type { WatchedSource } from '../source/watched-source.ts'
import { compareActivity, compareTransfers, type DifferenceList } from './compare.ts'

export type AuditTarget = {
  interval: Interval
  /** Undefined: every contract and every wallet. */
  contract: Address | undefined
  /** What the store claims of the range; rows may be outside of every claim. */
  covered: readonly CoveredInterval[]
}

export type AuditResult = {
  interval: Interval
  contract: Address | undefined
  /** The weakest proof in the node's answers. */
  evidence: Evidence
  transfers: number
}

export type AuditOptions = {
  chain: Chain
  store: Store
  source: FullSource | WatchedSource
  differences: DifferenceList
  onBlocks?: (blocks: number) => void
}

/** Derived rows held before a comparison: bounds memory, and how often the store's contracts are walked. */
const rowsHeldMax = 100_000
const contractsPerPage = 1_000

export async function auditRange(
  target: AuditTarget,
  options: AuditOptions,
  signal: AbortSignal,
): Promise<AuditResult> {
  const { source, onBlocks } = options
  const { contract, interval } = target
  const rangeSize = new RangeSize(contract === undefined ? historySizes.full : historySizes.contract)
  const fetchRange = (piece: Interval, abort: AbortSignal): Promise<DecodedRange> => {
    if (source instanceof FullSource) return source.range(piece, 'range', abort)
    return source.contractRange(contract as Address, piece, abort)
  }
  const result = { interval, contract, evidence: 'receipts-root' as Evidence, transfers: 0 }
  let held: DecodedRange[] = []
  let rows = 0
  for await (const piece of readPieces(interval, { fetchRange, rangeSize }, signal)) {
    held.push(piece)
    rows += piece.transfers.length + activityCount(piece.activity)
    result.evidence = weakestOf(result.evidence, piece.evidence)
    result.transfers += piece.transfers.length
    if (rows >= rowsHeldMax || piece.interval.to === interval.to) {
      await comparePieces(held, target, options)
      held = []
      rows = 0
    }
    onBlocks?.(piece.interval.to - piece.interval.from + 1)
  }
  return result
}

/** Compares consecutive pieces as one stretch. */
async function comparePieces(
  pieces: readonly DecodedRange[],
  { contract, covered }: AuditTarget,
  { chain, store, differences }: AuditOptions,
): Promise<void> {
  const [first, last] = [pieces[0], pieces.at(-1)]
  if (first === undefined || last === undefined) return
  const interval = { from: first.interval.from, to: last.interval.to }
  const derived = Map.groupBy(
    pieces.flatMap(piece => piece.transfers),
    row => row.contract,
  )
  const headers = new Map(pieces.flatMap(piece => piece.headers.map(header => [header.number, header] as const)))
  const badBlocks = new Set<number>()
  const compare = async (one: Address): Promise<void> => {
    const range = { chain: chain.id, contract: one, ...interval }
    await compareTransfers({ store, range, derived: derived.get(one) ?? [], headers, badBlocks, covered }, differences)
    derived.delete(one)
  }
  if (contract !== undefined) return await compare(contract)
  for await (const known of contractsOf(store, chain)) await compare(known)
  // What is left are contracts that the store does not know.
  for (const unknown of [...derived.keys()]) await compare(unknown)
  for (const row of unpackActivity(mergePacked(joinActivity(pieces.map(piece => piece.activity)))))
    await compareActivity(store, chain.id, row, differences)
  for (const piece of pieces) compareEvidence(piece, covered, differences)
}

/** Every contract of the store: only so are rows found of contracts that the node does not report at all. */
export async function* contractsOf(store: Store, chain: Chain): AsyncGenerator<Address> {
  for (let after: Address | undefined; ; ) {
    const page = await store.contractsOf(chain.id, after, contractsPerPage)
    yield* page
    after = page.at(-1)
    if (page.length < contractsPerPage) return
  }
}

/** A claim of a stronger proof than the node gives cannot be checked. */
function compareEvidence(
  { interval, evidence }: DecodedRange,
  covered: readonly CoveredInterval[],
  differences: DifferenceList,
): void {
  const claimed = weakestEvidence(covered, interval)
  if (claimed === undefined || weakestOf(claimed, evidence) === claimed) return
  const { from, to } = interval
  const detail = `blocks ${from} to ${to} are recorded as proven by ${claimed}; the endpoints prove them by ${evidence}`
  differences.add({ kind: 'evidence', block: from, detail })
}

/**
 * Drops the transfers of a range that differs, and every claim on them, and indexes it again. Activity is only widened:
 * a first or last transaction that never was cannot be taken back.
 */
export async function repairRange(
  { interval, contract }: AuditTarget,
  options: Omit<SyncOptions, 'interval' | 'scope'>,
  signal: AbortSignal,
): Promise<void> {
  await options.store.dropRange(options.chain.id, contract ?? 'full', interval)
  await syncRange({ ...options, interval, scope: contract === undefined ? 'full' : [contract] }, signal)
}

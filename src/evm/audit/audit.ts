// Derives a covered range again from every endpoint, with the checks of indexing, and compares it with the store in
// both directions. Where endpoints disagree, nothing is compared. Only `repairRange` writes.
import type { Chain } from '../../chains.ts'
import { isCovered, weakestEvidence, weakestOf } from '../../coverage.ts'
import type { Address, CoveredInterval, Evidence, Interval } from '../../model.ts'
import { activityPages, setActivityGap } from '../../store/activity-gaps.ts'
import { activityCount, joinActivity, mergePacked, unpackActivity } from '../../store/packed-activity.ts'
import type { Store } from '../../store/store.ts'
import type { WholeScope } from '../../views.ts'
import { type SyncOptions, syncRange } from '../index/sync-range.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { FullSource } from '../source/full-source.ts'
import { historySizes, RangeSize, readPieces } from '../source/range-size.ts'
import {
  activityFaults,
  compareActivity,
  compareStoredActivity,
  compareTransfers,
  type DifferenceList,
} from './compare.ts'
import { type AuditSource, disagreementOf, type Unheard, type Witness } from './witnesses.ts'

export type AuditTarget = {
  interval: Interval
  /** Undefined: every contract and every wallet. */
  contract: Address | undefined
  /** What the store claims of the range; rows may be outside of every claim. */
  covered: readonly CoveredInterval[]
  /** Where it claims the activity of every wallet. */
  wallets: readonly Interval[]
}

export type AuditResult = {
  interval: Interval
  contract: Address | undefined
  /** The weakest proof in the node's answers. */
  evidence: Evidence
  transfers: number
  /** Whether the endpoints disagree on a block of it. */
  disputed: boolean
  /** Endpoints that answered for other ranges and failed for some of this one. */
  unheard: Unheard[]
  /** Wallets with stored transactions that the chain does not have. */
  strays: Address[]
}

export type AuditOptions = {
  chain: Chain
  store: Store
  source: AuditSource
  /** Every endpoint, where there are several. */
  witnesses: readonly Witness[]
  differences: DifferenceList
  onBlocks?: (blocks: number) => void
}

/** Derived rows held before a comparison: bounds memory, and how often the store's contracts are walked. */
const rowsHeldMax = 100_000
const contractsPerPage = 1_000
const walletsPerPage = 10_000

export async function auditRange(
  target: AuditTarget,
  options: AuditOptions,
  signal: AbortSignal,
): Promise<AuditResult> {
  const { source, witnesses, differences, onBlocks } = options
  const { contract, interval } = target
  const rangeSize = new RangeSize(contract === undefined ? historySizes.full : historySizes.contract)
  const fetchFrom = (from: AuditSource) => (piece: Interval, abort: AbortSignal) =>
    from instanceof FullSource
      ? from.range(piece, 'range', abort)
      : from.contractRange(contract as Address, piece, abort)
  const result: AuditResult = {
    ...{ interval, contract, evidence: 'receipts-root', transfers: 0 },
    ...{ disputed: false, unheard: [], strays: [] },
  }
  let held: DecodedRange[] = []
  let rows = 0
  const compareHeld = async (): Promise<void> => {
    result.strays.push(...(await comparePieces(held, target, options)))
    held = []
    rows = 0
  }
  for await (const piece of readPieces(interval, { fetchRange: fetchFrom(source), rangeSize }, signal)) {
    const asked = witnesses.map(witness => disagreementOf(piece, witness, fetchFrom, signal))
    const heard = (await Promise.all(asked)).filter(each => each !== undefined)
    result.unheard.push(...heard.filter(each => 'reason' in each))
    const disagreements = heard.filter(each => 'block' in each)
    for (const { block, detail } of disagreements) differences.add({ kind: 'endpoints', block, detail })
    if (disagreements.length === 0) {
      held.push(piece)
      rows += piece.transfers.length + activityCount(piece.activity)
    } else {
      result.disputed = true
      await compareHeld()
    }
    result.evidence = weakestOf(result.evidence, piece.evidence)
    result.transfers += piece.transfers.length
    if (rows >= rowsHeldMax || piece.interval.to === interval.to) await compareHeld()
    onBlocks?.(piece.interval.to - piece.interval.from + 1)
  }
  return result
}

/** Compares consecutive pieces as one stretch. Returns the wallets with transactions that the chain does not have. */
async function comparePieces(
  pieces: readonly DecodedRange[],
  { contract, covered, wallets }: AuditTarget,
  { chain, store, source, differences }: AuditOptions,
): Promise<Address[]> {
  const [first, last] = [pieces[0], pieces.at(-1)]
  if (first === undefined || last === undefined) return []
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
  if (contract !== undefined) {
    await compare(contract)
    return []
  }
  for await (const known of contractsOf(store, chain)) await compare(known)
  // What is left are contracts that the store does not know.
  for (const unknown of [...derived.keys()]) await compare(unknown)
  const wholeWallets = source instanceof FullSource && source.scope === 'full'
  const strays = wholeWallets ? await compareWallets(pieces, { interval, wallets }, { chain, store, differences }) : []
  for (const piece of pieces) compareEvidence(piece, covered, differences)
  return strays
}

type Comparing = Pick<AuditOptions, 'chain' | 'store' | 'differences'>

/** Only where blocks are read for wallets: what was looked up of single ones is less than whole blocks say of them. */
async function compareWallets(
  pieces: readonly DecodedRange[],
  { interval, wallets }: Pick<AuditTarget, 'interval' | 'wallets'>,
  { chain, store, differences }: Comparing,
): Promise<Address[]> {
  const rows = unpackActivity(mergePacked(joinActivity(pieces.map(piece => piece.activity))))
  const activity = new Map(rows.map(row => [row.address, row]))
  // Most wallets of a range have their first or last transaction in it: one page has what thousands of reads would.
  const unconfirmed = new Map(activity)
  const strays: Address[] = []
  for await (const page of activityPages(store, chain.id, interval, walletsPerPage))
    for (const stored of page) {
      const { address } = stored
      const row = activity.get(address)
      if (compareStoredActivity({ stored, derived: row, interval }, differences)) strays.push(address)
      if (row !== undefined && activityFaults(stored, row).length === 0) unconfirmed.delete(address)
    }
  // Activity comes with the claim.
  if (isCovered(wallets, interval))
    for (const row of unconfirmed.values()) await compareActivity(store, chain.id, row, differences)
  return strays
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
  // Endpoints prove roots; that a block is the chain's is known from elsewhere.
  const ofRoots = claimed === 'canonical' ? 'receipts-root' : claimed
  if (ofRoots === undefined || weakestOf(ofRoots, evidence) === ofRoots) return
  const { from, to } = interval
  const detail = `blocks ${from} to ${to} are recorded as proven by ${claimed}; the endpoints prove them by ${evidence}`
  differences.add({ kind: 'evidence', block: from, detail })
}

/**
 * Drops the transfers of a range that differs, and every claim on them, and indexes it again. A wallet whose first or
 * last transaction never was loses both on this chain: those in the range come back with it, and those in other blocks
 * are not known, so the wallet is marked as incomplete, unless the range is all that is claimed.
 */
export async function repairRange(
  { interval, contract }: AuditTarget,
  strays: readonly Address[],
  options: Omit<SyncOptions, 'interval' | 'scope'> & { scope: WholeScope },
  signal: AbortSignal,
): Promise<void> {
  const { chain, store } = options
  if (strays.length > 0) {
    const isWhole = await claimsNothingElse(store, chain, interval)
    // The mark comes first: whatever happens in between, no answer claims more than is known.
    for (const wallet of strays) await setActivityGap(store, chain.id, wallet, isWhole ? undefined : Infinity)
    await store.dropActivity(chain.id, strays)
  }
  await store.dropRange(chain.id, contract ?? 'full', interval)
  await syncRange({ ...options, interval, scope: contract === undefined ? options.scope : [contract] }, signal)
}

async function claimsNothingElse(store: Store, chain: Chain, interval: Interval): Promise<boolean> {
  const finalized = (await store.chainState(chain.id))?.finalized ?? -1
  const claimed = await store.coverage(chain.id, 'full')
  const cold = claimed
    .map(({ from, to }) => ({ from, to: Math.min(to, finalized) }))
    .filter(({ from, to }) => from <= to)
  return cold.every(({ from, to }) => from >= interval.from && to <= interval.to)
}

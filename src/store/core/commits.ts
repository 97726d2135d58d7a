// The commits of EVM chains: rows of final blocks and of recent ones, finality, coverage.
//
// An answer must never claim rows that it cannot show. Where a transaction is not visible at one moment (a cluster)
// each commit comes in parts, which `endPart` ends: first what is no longer claimed, then rows, then what is claimed of
// them.
//
// Locks are taken in one order, so commits never wait in a circle: the chain's row (where recent blocks or finality
// change), its runs (alone, or shared by those who add rows of a contract), the counts of changes, the chain's
// coverage.
import { holdsBlock, isCovered, joinIntervals } from '../../coverage.ts'
import { bytesOfHex, hexOf } from '../../hex.ts'
import {
  type Address,
  type Block,
  type ChainId,
  chainScopes,
  type Hash,
  type Interval,
  isWholeScope,
  type TransferRow,
} from '../../model.ts'
import { finalCheckpoint, walletCheckpoint } from '../checkpoint-names.ts'
import {
  highestBlock,
  requireBelowFinal,
  requireHotOrder,
  requireOwnRows,
  requireSameBranch,
  requireStored,
  spanOf,
  unknownBlock,
} from '../commit-rules.ts'
import { countView } from '../runs/count-view.ts'
import type { NumberedTransfer } from '../runs/view.ts'
import type { ChainState, ColdCommit, HotBlock, HotCommit } from '../store.ts'
import { dropBlocksWithin, hasColdBlocks, knownBlocks, putBlocks, type StoredBlock, storedBlock } from './blocks.ts'
import {
  addParts,
  type ChainRow,
  chainRow,
  changeChain,
  countChange,
  lockChain,
  type NewPart,
  writeHead,
} from './chain-row.ts'
import type { Core } from './core.ts'
import { addClaims, addPending, endPending, pendingWithin, removeClaims } from './coverage-table.ts'
import { addActivity, foldUpTo } from './fold.ts'
import { keepGone, noteTakenBack } from './gone-blocks.ts'
import { liveIndexes } from './kept-indexes.ts'
import { packTransfers } from './recent-block.ts'
import { blockBegin, blockEnd } from './runs.ts'
import { removeWallets, takeBack, withPending } from './take-back.ts'
import { addTransfers, type BlockTransfer, blocksOf, requireFits, withoutStored } from './transfer-runs.ts'
import { endPart, lock, row, rows, run, type Work } from './work.ts'

/** What a commit needs from the dictionary, found before its transaction. */
export type Numbers = { ordinal: number; contracts: ReadonlyMap<Address, number> }

function stored({ contract, ...row }: TransferRow, { contracts }: Numbers): NumberedTransfer {
  const transfer = { ...row, contract: contracts.get(contract)! }
  requireFits(transfer)
  return transfer
}

export function* commitCold(core: Core, numbers: Numbers, commit: ColdCommit): Work<{ transfersAdded: number }> {
  const { ordinal: chain } = numbers
  const { covered, ranges = [] } = commit
  const place = yield* core.place()
  const wholes = joinIntervals(ranges)
  const claimed = covered.filter(({ scope }) => isWholeScope(scope))
  const replaced = [...wholes, ...covered.filter(({ scope }) => !isWholeScope(scope))]
  const before = yield* chainRow(chain)
  const blocks = yield* blocksOfRows(chain, commit)
  if (highestBlock(commit) > before.fold) yield* foldUnder(core, chain, commit)
  const lockRuns = function* (): Work<void> {
    // Whole blocks and rows of a contract in them come one after the other: each sees what the other stored. A commit
    // that takes rows back has the runs alone from the start: two that share them would wait for each other.
    const isAlone = ranges.length > 0 || (yield* pendingWithin(chain, replaced)).length > 0
    yield* lock('runs', chain, isAlone ? undefined : 'shared')
  }
  yield* lockRuns()
  // What was claimed of single contracts goes with the rows that whole blocks replace.
  for (const whole of wholes) yield* removeClaims(chain, whole, scope => scope !== 'full')
  if (yield* endPart()) yield* lockRuns()
  yield* makeRoom(core, chain, wholes, replaced)
  yield* putBlocks(place, chain, commit.blocks.map(storedBlock))
  const rowsGiven = commit.transfers.map((row): BlockTransfer => {
    const { hash, timestamp } = blocks.get(row.block)!
    return { ...stored(row, numbers), hash, timestamp }
  })
  const isNew = wholes.length > 0 && rowsGiven.every(({ block }) => holdsBlock(wholes, block))
  const missing = isNew ? rowsGiven : yield* withoutStored(chain, rowsGiven)
  const span = (isNew ? spanOf(wholes) : undefined) ?? blocksOf(missing)
  const added = yield* addTransfers(place, { chain, ...span }, yield* liveIndexes(chain), missing)
  const ofActivity = spanOf([...wholes, ...claimed]) ?? { from: blockBegin, to: blockEnd }
  yield* addActivity(place, { chain, ...ofActivity }, commit.activity)
  const pending = ranges.filter(range => !isCovered(claimed, range))
  yield* addPending(
    chain,
    pending.map(({ hash, ...range }) => ({ ...range, hash: bytesOfHex(hash) })),
  )
  if (added.some(({ block }) => block <= before.finalized)) yield* countChange(chain, 'filled')
  yield* endPart()
  yield* addClaims(chain, covered)
  yield* endPending(chain, claimed)
  return { transfersAdded: added.length }
}

/** Cold rows are final by definition, so a commit above the known final block moves it. */
function* foldUnder(core: Core, chain: number, commit: ColdCommit): Work<void> {
  const highest = highestBlock(commit)
  const state = yield* lockChain(chain)
  if (highest > state.finalized) requireSameBranch(commit.blocks, yield* hotHashes(state))
  const finalized = Math.max(highest, state.finalized)
  if (finalized > state.finalized) yield* writeFinal(chain, finalized, state.finalBytes)
  yield* foldUpTo(yield* core.place(), { ...state, finalized }, finalized)
}

function* writeFinal(chain: number, finalized: number, finalBytes: number): Work<void> {
  yield* run('UPDATE chains SET finalized = $2, final_bytes = $3 WHERE ordinal = $1', chain, finalized, finalBytes)
}

function* hotHashes({ chain, finalized }: ChainRow): Work<ReadonlyMap<number, Hash>> {
  return new Map((yield* hotBlocks(chain, finalized)).map(({ number, hash }) => [number, hash]))
}

/** Recent blocks that are not final. */
export function* hotBlocks(chain: number, finalized: number): Work<Block[]> {
  const find = `SELECT number, hash, timestamp FROM recent_blocks WHERE chain = $1 AND part = 0 AND number > $2
    ORDER BY number`
  const found = yield* rows(find, chain, finalized)
  return found.map(([number, hash, timestamp]) => ({ number, hash: hexOf<Hash>(hash), timestamp }))
}

/**
 * Whole blocks replace what was stored of them before, and what was pending goes with the first commit that meets it.
 */
function* makeRoom(core: Core, chain: number, wholes: readonly Interval[], replaced: readonly Interval[]): Work<void> {
  const taken: Interval[] = yield* pendingWithin(chain, replaced)
  for (const whole of wholes) if (yield* hasColdBlocks(chain, whole)) taken.push(whole)
  yield* takeBack(core, { chain, intervals: taken })
  yield* endPending(chain, replaced)
}

/** The block of every row: given with the commit, or known before. */
function* blocksOfRows(chain: number, { blocks: given, transfers }: ColdCommit): Work<Map<number, StoredBlock>> {
  const blocks = new Map(given.map(block => [block.number, storedBlock(block)]))
  const missing = new Set(transfers.map(row => row.block).filter(number => !blocks.has(number)))
  if (missing.size === 0) return blocks
  for (const [number, block] of yield* knownBlocks(chain, [...missing])) blocks.set(number, block)
  for (const number of missing) if (!blocks.has(number)) throw unknownBlock(number)
  return blocks
}

export function* commitHot({ options }: Core, numbers: Numbers, commit: HotCommit): Work<void> {
  const { ordinal: chain } = numbers
  const { ancestor, blocks, covered, head } = commit
  const above = { from: ancestor + 1, to: blockEnd }
  const state = yield* lockChain(chain)
  requireHotOrder(commit, state.finalized)
  if (state.tip > ancestor) yield* keepGone(state, ancestor, options.goneKeptMs)
  const left = state.tip > ancestor ? yield* dropRecentAbove(state, ancestor) : state
  const isReplaced = left.parts < state.parts
  // After a reorganisation every claim above the ancestor is about blocks that are gone, whatever its scope.
  if (isReplaced) yield* removeClaims(chain, above)
  else if (covered !== undefined) yield* removeClaims(chain, above, scope => scope === covered.scope)
  const last = blocks.at(-1)
  const tip = last?.number ?? (isReplaced ? yield* highestRecent(chain) : state.tip)
  const parts = blocks.map(block => partOf(block, 0, numbers))
  yield* addParts(left, { tip }, parts)
  yield* writeHead(chain, head)
  if (covered !== undefined && last !== undefined) yield* addClaims(chain, [{ ...covered, to: last.number }])
}

/** Answers the chain's row as it is then; the caller writes it. */
function* dropRecentAbove(state: ChainRow, block: number): Work<ChainRow> {
  const find = 'SELECT coalesce(sum(bytes), 0) FROM recent_blocks WHERE chain = $1 AND number > $2'
  const bytes = Number((yield* row(find, state.chain, block))![0])
  const parts = yield* run('DELETE FROM recent_blocks WHERE chain = $1 AND number > $2', state.chain, block)
  return { ...state, parts: state.parts - parts, bytes: state.bytes - bytes }
}

function* highestRecent(chain: number): Work<number> {
  return (yield* row('SELECT max(number) FROM recent_blocks WHERE chain = $1', chain))?.[0] ?? -1
}

function partOf({ number, hash, timestamp, transfers, activity }: HotBlock, part: number, numbers: Numbers): NewPart {
  const packed = packTransfers(transfers.map(row => stored(row, numbers)))
  return { number, part, timestamp, hash: bytesOfHex(hash), transfers: packed, activity }
}

/** Rows that come later for a recent block are a further part of it. */
export function* addToHot(numbers: Numbers, blocks: readonly HotBlock[], covered: ColdCommit['covered']): Work<void> {
  const { ordinal: chain } = numbers
  const state = yield* lockChain(chain)
  const hashes = yield* hotHashes(state)
  for (const block of blocks) {
    requireStored(block, hashes.get(block.number))
    requireOwnRows(block.number, block.transfers)
  }
  const find = 'SELECT number, max(part) FROM recent_blocks WHERE chain = $1 AND number IN $2:ints GROUP BY number'
  const asked = blocks.map(({ number }) => number)
  const last = new Map((yield* rows(find, chain, asked)) as [number, number][])
  const added = blocks.filter(({ transfers, activity }) => transfers.length > 0 || activity.length > 0)
  const parts = added.map(block => {
    const part = last.get(block.number)! + 1
    last.set(block.number, part)
    return partOf(block, part, numbers)
  })
  if (parts.length > 0) yield* addParts(state, {}, parts)
  yield* addClaims(chain, covered)
}

/** Answers about how many records it wrote into runs. */
export function* putChainState(
  core: Core,
  chain: number,
  { head, finalized: upTo }: Partial<ChainState>,
): Work<number> {
  const { foldBytes, foldBlocks } = core.options
  const state = yield* lockChain(chain)
  const finalized = Math.max(upTo ?? -1, state.finalized)
  if (head !== undefined && (head.number >= Math.max(state.tip, finalized) || state.head === null))
    yield* writeHead(chain, head)
  if (upTo === undefined) return 0
  const find = `SELECT coalesce(sum(bytes), 0) FROM recent_blocks WHERE chain = $1 AND number > $2 AND number <= $3`
  const finalBytes = state.finalBytes + Number((yield* row(find, chain, state.finalized, finalized))![0])
  if (finalized > state.finalized) yield* writeFinal(chain, finalized, finalBytes)
  if (finalBytes < foldBytes && finalized - state.fold < foldBlocks) return 0
  return (yield* foldUpTo(yield* core.place(), { ...state, finalized, finalBytes }, finalized)).records
}

/** All that is final becomes rows of runs, for changes of final rows. */
function* foldFinal(core: Core, chain: number): Work<void> {
  const state = yield* lockChain(chain)
  yield* foldUpTo(yield* core.place(), state, state.finalized)
}

/**
 * Deletes rows and every claim that they are there: no scope of the chain covers a dropped contract any longer.
 * Activity stays, because a first and a last transaction cannot be taken apart again.
 */
export function* dropRange(
  core: Core,
  { chain, contract }: { chain: number; contract: number | undefined },
  scope: 'full' | Address,
  interval: Interval,
): Work<void> {
  yield* foldFinal(core, chain)
  const isClaim =
    scope === 'full' ? undefined : (of: string): boolean => [scope, ...chainScopes].includes(of as Address)
  yield* lock('runs', chain)
  // No client was told of rows that were not claimed.
  const claimed = spanOf(yield* removeClaims(chain, interval, isClaim))
  const isStored = scope === 'full' || contract !== undefined
  if (claimed !== undefined && isStored) yield* noteTakenBack(chain, claimed, contract)
  if (yield* endPart()) yield* lock('runs', chain)
  if (scope === 'full') {
    const intervals = yield* withPending(chain, [interval])
    yield* takeBack(core, { chain, intervals })
    yield* endPending(chain, [interval])
    // Without them the commits that bring the range back find nothing to replace.
    yield* dropBlocksWithin(chain, interval)
  } else if (contract !== undefined) yield* takeBack(core, { chain, contract, intervals: [interval] })
}

export function* unfinalize(core: Core, id: ChainId, chain: number, to: number): Work<void> {
  const above = { from: to + 1, to: blockEnd }
  requireBelowFinal(to, (yield* lockChain(chain)).finalized)
  yield* foldFinal(core, chain)
  yield* lock('runs', chain)
  yield* removeClaims(chain, above)
  yield* noteTakenBack(chain, above)
  if (yield* endPart()) yield* lock('runs', chain)
  const intervals = yield* withPending(chain, [above])
  yield* takeBack(core, { chain, intervals, activityAbove: to })
  yield* keepCounts(chain, to)
  yield* endPending(chain, [above])
  // Even without rows: blocks that were final become new ones.
  yield* countChange(chain, 'takenBack')
  yield* endPart()
  const state = yield* lockChain(chain)
  yield* removeClaims(chain, above)
  const left = yield* dropRecentAbove(state, to)
  yield* dropBlocksWithin(chain, above)
  yield* run('DELETE FROM checkpoints WHERE name LIKE $1 OR name = $2', `${walletCheckpoint(id)}%`, finalCheckpoint(id))
  yield* changeChain(left, { finalized: to, fold: to, tip: -1, finalBytes: 0 })
}

/**
 * Counts of blocks above stay, beside those that were subtracted. Their runs must not begin above the fold: they would
 * be taken for those of an interrupted one.
 */
function* keepCounts(chain: number, fold: number): Work<void> {
  const lower = 'UPDATE runs SET from_block = $3 WHERE chain = $1 AND view = $2 AND from_block > $3'
  yield* run(lower, chain, countView.id, fold)
}

/** Of final blocks. */
export function* dropActivity(core: Core, chain: number, wallets: readonly Address[]): Work<void> {
  yield* foldFinal(core, chain)
  yield* endPart()
  yield* lock('runs', chain)
  yield* removeWallets(yield* core.place(), chain, wallets.map(bytesOfHex))
}

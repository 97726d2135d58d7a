// The commits of EVM chains: cold and hot rows, finality, coverage, each as the parts that `Commit` names.
//
// Locks are taken in one order, so commits never wait in a circle: the chain's row (only where hot rows or finality
// change), its runs (alone, or shared by those who add rows of a contract), rows of blocks and transfers, kept counts,
// the counts of changes, the chain's coverage.
import { joinByScope, joinIntervals } from '../../coverage.ts'
import { bytesOfHex } from '../../hex.ts'
import {
  type Address,
  type Block,
  type ChainId,
  type CoverageScope,
  chainScopes,
  type Hash,
  type Interval,
  isWholeScope,
  type TransferRow,
} from '../../model.ts'
import {
  bulkInterval,
  highestBlock,
  requireBelowFinal,
  requireHotOrder,
  requireOwnRows,
  requireSameBranch,
  requireStored,
  spanOf,
  unknownBlock,
} from '../commit-rules.ts'
import { activityCount } from '../packed-activity.ts'
import type { ColdCommit, HotBlock, HotCommit } from '../store.ts'
import * as activity from './activity.ts'
import {
  copyBlocksToCold,
  dropBlocksAbove,
  dropBlocksWithin,
  findBlocks,
  hasHotBlocksAbove,
  hotBlocksOf,
  putColdBlocks,
  putHotBlocks,
  withColdBlocks,
} from './blocks.ts'
import { addCoverageRows, lockCoverage, otherScopes, removeCoverageRows } from './coverage-table.ts'
import type { Database, Transaction } from './database.ts'
import { addHotRecords, addRecords } from './indexes/add-records.ts'
import { countChange } from './indexes/row-changes.ts'
import { addPending, hasPending, takePending } from './pending-ranges.ts'
import { blockMax } from './place.ts'
import { addActivityRun } from './runs/activity-runs.ts'
import { lockRuns, shareRuns } from './runs/runs.ts'
import { dropPending, type Placed, takeBack } from './runs/take-back.ts'
import { addTransferRun, withoutStored } from './runs/transfer-runs.ts'
import type { Commit } from './store-database.ts'
import { storedRows, transferOf } from './stored-rows.ts'
import * as transfers from './transfer-rows.ts'

/** What a commit needs from the dictionary, found before its transaction. */
export type Numbers = { ordinal: number; contracts: ReadonlyMap<Address, number> }

/** Where rows go, and from how many on they are runs. */
export type ColdPlace = Placed & { bulkRows: number }

export function coldCommit(
  { ordinal, contracts, slots, bulkRows, finalBefore }: Numbers & ColdPlace & { finalBefore?: number | undefined },
  commit: ColdCommit,
): Commit<{ transfersAdded: number }> {
  const { covered, ranges = [] } = commit
  const placed = { ordinal, slots, bulkRows }
  const whole = bulkInterval(commit, bulkRows)
  // Activity comes with the claim, which may be of ranges that were stored before.
  const isBulk = whole !== undefined || activityCount(commit.activity) >= bulkRows
  const span = isBulk ? spanOf([...ranges, ...covered.filter(({ scope }) => isWholeScope(scope))]) : undefined
  return {
    async rows(transaction) {
      const highest = highestBlock(commit)
      const final = await finalizedOf(transaction, ordinal)
      // Cold rows are final by definition, so a commit above the known final block moves it; on Citus `chain.ts` did.
      if (highest > final && highest > (await lockChain(transaction, ordinal))) {
        await requireHotBranch(transaction, ordinal, commit.blocks)
        await copyToCold(transaction, placed, highest)
        await writeFinal(transaction, ordinal, highest)
        await dropMoved(transaction, ordinal, highest)
      }
      // Whole blocks and rows of a contract in them come one after the other: each sees what the other stored. Who will
      // take rows back has the runs alone from the start: two who share them would wait for each other.
      const replaced = [...ranges, ...covered.filter(({ scope }) => !isWholeScope(scope))]
      if (ranges.length > 0 || (await hasPending(transaction, ordinal, replaced))) await lockRuns(transaction, ordinal)
      else await shareRuns(transaction, ordinal)
      await dropPending(transaction, placed, replaced)
      for (const interval of await withColdBlocks(transaction, ordinal, joinIntervals(ranges)))
        await takeBack(transaction, placed, interval)
      const blocks = await blocksOfRows(transaction, ordinal, commit)
      await putColdBlocks(transaction, ordinal, commit.blocks)
      const rows = storedRows(commit.transfers, contracts, blocks)
      const added =
        whole === undefined
          ? (await transfers.insertCold(transaction, await withoutStored(transaction, ordinal, rows))).map(transferOf)
          : await addTransferRun(transaction, slots, { chain: ordinal, ...whole }, rows)
      await addRecords(transaction, { chain: ordinal, slots, bulkRows }, added, whole)
      if (span === undefined) await activity.mergeCold(transaction, ordinal, commit.activity)
      else await addActivityRun(transaction, slots, { chain: ordinal, ...span }, commit.activity)
      await addPending(transaction, ordinal, ranges)
      if (added.some(({ block }) => block <= (finalBefore ?? final))) await countChange(transaction, ordinal, 'filled')
      return { transfersAdded: added.length }
    },
    ...(ranges.length === 0
      ? {}
      : { unclaim: transaction => unclaimOthers(transaction, ordinal, joinIntervals(ranges)) }),
    ...(covered.length === 0 ? {} : { claim: transaction => claimCold(transaction, ordinal, covered) }),
  }
}

/** Whole blocks replace what was stored of them before, so what was claimed of single contracts goes. */
async function unclaimOthers(transaction: Transaction, ordinal: number, replaced: readonly Interval[]): Promise<void> {
  const scopes = await otherScopes(transaction, ordinal, replaced)
  if (scopes.length === 0) return
  await lockCoverage(transaction, ordinal)
  for (const interval of replaced) await removeCoverageRows(transaction, ordinal, interval, scopes)
}

async function claimCold(transaction: Transaction, ordinal: number, covered: ColdCommit['covered']): Promise<void> {
  await addCovered(transaction, ordinal, covered)
  const claimed = covered.filter(({ scope }) => isWholeScope(scope))
  await takePending(transaction, ordinal, claimed)
}

export function hotCommit({ ordinal, contracts }: Numbers, commit: HotCommit): Commit<void> {
  const { ancestor, blocks, covered, head } = commit
  const above = { from: ancestor + 1, to: blockMax }
  return {
    here: true,
    check: async transaction => requireHotOrder(commit, await lockChain(transaction, ordinal)),
    async unclaim(transaction) {
      if (!(await hasHotBlocksAbove(transaction, ordinal, ancestor))) return
      await dropBlocksAbove(transaction, 'hot_blocks', ordinal, ancestor)
      // After a reorganisation every claim above the ancestor is about blocks that are gone, whatever its scope.
      await lockCoverage(transaction, ordinal)
      await removeCoverageRows(transaction, ordinal, above)
    },
    async rows(transaction) {
      await dropHotRowsAbove(transaction, ordinal, ancestor)
      await insertHotRows(transaction, { ordinal, contracts }, blocks)
    },
    async claim(transaction) {
      await putHotBlocks(transaction, ordinal, blocks)
      await writeHead(transaction, ordinal, head)
      if (covered === undefined) return
      await lockCoverage(transaction, ordinal)
      await removeCoverageRows(transaction, ordinal, above, [covered.scope])
      const last = blocks.at(-1)
      if (last !== undefined) await addCoverageRows(transaction, ordinal, { ...covered, to: last.number })
    },
  }
}

export function hotAddition(
  { ordinal, contracts }: Numbers,
  blocks: readonly HotBlock[],
  covered: ColdCommit['covered'],
): Commit<void> {
  return {
    here: true,
    async check(transaction) {
      await lockChain(transaction, ordinal)
      const hashes = await hotHashes(transaction, ordinal)
      for (const block of blocks) {
        requireStored(block, hashes.get(block.number))
        requireOwnRows(block.number, block.transfers)
      }
    },
    rows: transaction => insertHotRows(transaction, { ordinal, contracts }, blocks),
    claim: transaction => addCovered(transaction, ordinal, covered),
  }
}

/**
 * The final block, and up to which block rows are to be moved; undefined where none are. Also those of a finalization
 * that was cut off between its parts are.
 */
export async function finalEnd(
  database: Database,
  ordinal: number,
  upTo: number,
): Promise<{ finalized: number; end: number | undefined }> {
  const [[stored, hasLeft] = []] = await database.read(
    `SELECT finalized, EXISTS (SELECT 1 FROM hot_blocks WHERE chain = ordinal AND number <= finalized)
     FROM chains WHERE ordinal = $1`,
    ordinal,
  )
  const finalized = Number(stored)
  return { finalized, end: upTo > finalized || hasLeft === 't' ? Math.max(upTo, finalized) : undefined }
}

/**
 * Decides first that no other branch replaces the blocks any longer, then copies their rows, and drops the hot ones
 * once the cold ones can be seen: readers look for hot rows first.
 */
export function finalization(placed: ColdPlace, upTo: number, commit?: ColdCommit): Commit<void> {
  const { ordinal } = placed
  return {
    oneConnection: true,
    async check(transaction) {
      if (upTo <= (await lockChain(transaction, ordinal)) || commit === undefined) return
      // What would be refused moves nothing.
      await requireHotBranch(transaction, ordinal, commit.blocks)
      await blocksOfRows(transaction, ordinal, commit)
    },
    unclaim: transaction => writeFinal(transaction, ordinal, upTo),
    rows: transaction => copyToCold(transaction, placed, upTo),
    claim: transaction => dropMoved(transaction, ordinal, upTo),
  }
}

export async function putHead(transaction: Transaction, ordinal: number, head: Block): Promise<void> {
  const finalized = await lockChain(transaction, ordinal)
  const [[highestHot, known] = []] = await transaction.query(
    'SELECT (SELECT max(number) FROM hot_blocks WHERE chain = $1), (SELECT head_number FROM chains WHERE ordinal = $1)',
    ordinal,
  )
  const floor = Math.max(Number(highestHot ?? -1), finalized)
  if (head.number >= floor || known === null) await writeHead(transaction, ordinal, head)
}

export async function addCovered(
  transaction: Transaction,
  ordinal: number,
  covered: ColdCommit['covered'],
): Promise<void> {
  if (covered.length === 0) return
  await lockCoverage(transaction, ordinal)
  for (const interval of joinByScope(covered)) await addCoverageRows(transaction, ordinal, interval)
}

/**
 * Deletes rows and every claim that they are there: no scope of the chain covers a dropped contract any longer.
 * Activity stays, because a first and a last transaction cannot be taken apart again.
 */
export function rangeDrop(
  { contract, ...placed }: Placed & { contract: number | undefined },
  scope: 'full' | Address,
  interval: Interval,
): Commit<void> {
  const { ordinal } = placed
  return {
    oneConnection: true,
    async unclaim(transaction) {
      await lockCoverage(transaction, ordinal)
      const scopes: CoverageScope[] | undefined = scope === 'full' ? undefined : [scope, ...chainScopes]
      await removeCoverageRows(transaction, ordinal, interval, scopes)
    },
    async rows(transaction) {
      await lockRuns(transaction, ordinal)
      if (scope === 'full') {
        await dropPending(transaction, placed, [interval])
        await takeBack(transaction, placed, interval)
        await dropBlocksWithin(transaction, ordinal, interval)
      } else if (contract !== undefined) await takeBack(transaction, { ...placed, contract }, interval)
    },
  }
}

export function unfinalization({ chain, ...placed }: Placed & { chain: ChainId }, to: number): Commit<void> {
  const { ordinal } = placed
  const above = { from: to + 1, to: blockMax }
  return {
    oneConnection: true,
    check: async transaction => requireBelowFinal(to, await lockChain(transaction, ordinal)),
    async unclaim(transaction) {
      await lockCoverage(transaction, ordinal)
      await removeCoverageRows(transaction, ordinal, above)
    },
    async rows(transaction) {
      await lockRuns(transaction, ordinal)
      await dropHotRowsAbove(transaction, ordinal, to)
      await dropBlocksAbove(transaction, 'hot_blocks', ordinal, to)
      await dropPending(transaction, placed, [above])
      await takeBack(transaction, placed, above)
      // Even without rows: blocks that were final become new ones.
      await countChange(transaction, ordinal, 'takenBack')
      await activity.dropColdAbove(transaction, placed, to)
      await dropBlocksAbove(transaction, 'blocks', ordinal, to)
      const names = [`wallet/${chain}/%`, `final/${chain}`]
      await transaction.run('DELETE FROM checkpoints WHERE name LIKE $1 OR name = $2', ...names)
      await transaction.run('UPDATE chains SET finalized = $2 WHERE ordinal = $1', ordinal, to)
    },
  }
}

async function finalizedOf(transaction: Transaction, ordinal: number): Promise<number> {
  const [[finalized] = []] = await transaction.query('SELECT finalized FROM chains WHERE ordinal = $1', ordinal)
  return Number(finalized)
}

/** Locks out other changes of hot rows and finality until the commit; returns the final block. */
async function lockChain(transaction: Transaction, ordinal: number): Promise<number> {
  const [[finalized] = []] = await transaction.query(
    'SELECT finalized FROM chains WHERE ordinal = $1 FOR NO KEY UPDATE',
    ordinal,
  )
  return Number(finalized)
}

async function hotHashes(transaction: Transaction, ordinal: number): Promise<ReadonlyMap<number, Hash>> {
  return new Map((await hotBlocksOf(transaction, ordinal)).map(block => [block.number, block.hash]))
}

async function requireHotBranch(transaction: Transaction, ordinal: number, blocks: readonly Block[]): Promise<void> {
  requireSameBranch(blocks, await hotHashes(transaction, ordinal))
}

async function writeFinal(transaction: Transaction, ordinal: number, upTo: number): Promise<void> {
  await transaction.run('UPDATE chains SET finalized = $2 WHERE ordinal = $1 AND finalized < $2', ordinal, upTo)
}

/** Rows above the highest block are of a commit that was cut off between its parts, perhaps of a lost branch. */
async function copyToCold(
  transaction: Transaction,
  { ordinal, slots, bulkRows }: ColdPlace,
  upTo: number,
): Promise<void> {
  const highest = await copyBlocksToCold(transaction, ordinal, upTo)
  if (highest < 0) return
  const rows = await transfers.hotRowsUpTo(transaction, ordinal, highest)
  const added = await transfers.insertCold(transaction, await withoutStored(transaction, ordinal, rows))
  await addRecords(transaction, { chain: ordinal, slots, bulkRows }, added.map(transferOf))
  await activity.copyActivityToCold(transaction, ordinal, highest)
}

const hotTables = ['hot_transfers', 'hot_activity', 'hot_view_records']

async function dropMoved(transaction: Transaction, ordinal: number, upTo: number): Promise<void> {
  for (const table of hotTables)
    await transaction.run(`DELETE FROM ${table} WHERE chain = $1 AND block <= $2`, ordinal, upTo)
  await transaction.run('DELETE FROM hot_blocks WHERE chain = $1 AND number <= $2', ordinal, upTo)
}

async function writeHead(transaction: Transaction, ordinal: number, head: Block): Promise<void> {
  await transaction.run(
    `UPDATE chains SET head_number = $2, head_hash = $3, head_timestamp = $4 WHERE ordinal = $1
     AND (head_number, head_hash, head_timestamp) IS DISTINCT FROM ($2::int8, $3::bytea, $4::int8)`,
    ordinal,
    head.number,
    bytesOfHex(head.hash),
    head.timestamp,
  )
}

async function insertHotRows(
  transaction: Transaction,
  { ordinal, contracts }: Numbers,
  blocks: readonly HotBlock[],
): Promise<void> {
  const byNumber = new Map(blocks.map(block => [block.number, block]))
  const rows: TransferRow[] = blocks.flatMap(block => block.transfers)
  const added = await transfers.insertHot(transaction, ordinal, storedRows(rows, contracts, byNumber))
  await addHotRecords(transaction, ordinal, added.map(transferOf))
  for (const block of blocks) await activity.mergeHot(transaction, ordinal, block.number, block.activity)
}

/** The block of every row: given with the commit, or known before. */
async function blocksOfRows(
  transaction: Transaction,
  ordinal: number,
  commit: ColdCommit,
): Promise<ReadonlyMap<number, Block>> {
  const blocks = new Map(commit.blocks.map(block => [block.number, block]))
  const missing = new Set(commit.transfers.map(row => row.block).filter(number => !blocks.has(number)))
  if (missing.size === 0) return blocks
  for (const block of await findBlocks(transaction, ordinal, [...missing])) blocks.set(block.number, block)
  for (const number of missing) if (!blocks.has(number)) throw unknownBlock(number)
  return blocks
}

async function dropHotRowsAbove(transaction: Transaction, ordinal: number, block: number): Promise<void> {
  for (const table of hotTables)
    await transaction.run(`DELETE FROM ${table} WHERE chain = $1 AND block > $2`, ordinal, block)
}

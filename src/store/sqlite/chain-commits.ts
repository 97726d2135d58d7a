// The commits of EVM chains, each within its caller's transaction: cold and hot rows, finality, coverage.
import { isCovered, joinByScope, joinIntervals } from '../../coverage.ts'
import { bytesOfHex } from '../../hex.ts'
import {
  type Address,
  type Block,
  type ChainId,
  chainScopes,
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
  blockAt,
  dropBlocksAbove,
  dropBlocksWithin,
  hasBlocks,
  hasColdBlocks,
  highestHotBlock,
  hotBlocksOf,
  moveBlocksToCold,
  putBlocks,
} from './blocks.ts'
import type { Connection } from './connection.ts'
import { addCoverageRows, removeCoverageOfAllScopes, removeCoverageRows } from './coverage-table.ts'
import { countChange } from './indexes/kept-indexes.ts'
import { addPending, pendingWithin, takePending } from './pending-ranges.ts'
import { addRow, type RowsByContract } from './placed-rows.ts'
import type { TakenBack } from './runs/take-back.ts'
import type { WriteContext } from './store-file.ts'
import { blockKeySpan } from './tables.ts'
import * as transfers from './transfer-rows.ts'

const aboveAll = blockKeySpan

export function commitCold(context: WriteContext, commit: ColdCommit): { transfersAdded: number } {
  const { connection, dictionary } = context
  const ordinal = dictionary.addOrdinal(commit.chain)
  requireCommit(connection, ordinal, commit)
  const highest = highestBlock(commit)
  const final = finalizedOf(connection, ordinal)
  if (highest > final) finalizeRows(context, ordinal, highest)
  const { ranges = [], covered } = commit
  for (const { scope, ...interval } of covered) if (!isWholeScope(scope)) dropPending(context, ordinal, interval)
  makeRoom(context, ordinal, ranges)
  const rows = byContract(context, ordinal, commit.transfers)
  const whole = bulkInterval(commit, context.bulkRows)
  const transfersAdded =
    whole === undefined
      ? transfers.insertCold(context, ordinal, rows)
      : transfers.insertWhole(context, ordinal, whole, rows)
  if (transfersAdded > 0 && commit.transfers.some(({ block }) => block <= final))
    countChange(connection, ordinal, 'filled')
  putBlocks(connection, 'blocks', ordinal, commit.blocks)
  const claimed = covered.filter(({ scope }) => isWholeScope(scope))
  // Activity comes with the claim, which may be of ranges that were stored before.
  const isBulk = whole !== undefined || activityCount(commit.activity) >= context.bulkRows
  const span = isBulk ? spanOf([...ranges, ...claimed]) : undefined
  if (span === undefined) activity.mergeCold(connection, ordinal, commit.activity)
  else activity.addActivityRun(connection, ordinal, span, commit.activity)
  const pending = ranges.filter(range => !isCovered(claimed, range))
  addPending(connection, ordinal, pending)
  for (const { scope, ...interval } of joinByScope(covered)) {
    addCoverageRows(connection, ordinal, scope, interval)
    if (isWholeScope(scope)) takePending(connection, ordinal, interval)
  }
  return { transfersAdded }
}

/** Where a commit finds something stored that it replaces. */
export function replacedBy(commit: ColdCommit): TakenBack {
  const { chain, ranges = [], covered } = commit
  const single = covered.filter(({ scope }) => !isWholeScope(scope))
  return {
    chain,
    intervals: ({ connection }, ordinal) => [
      ...joinIntervals(ranges).filter(range => hasBlocks(connection, ordinal, range)),
      ...[...ranges, ...single].flatMap(interval => pendingWithin(connection, ordinal, interval)),
    ],
    check: ({ connection }, ordinal) => requireCommit(connection, ordinal, commit),
  }
}

/** What was stored of whole blocks before, and claimed of single contracts, goes: a claim is about its own rows. */
function makeRoom(context: WriteContext, ordinal: number, ranges: readonly Interval[]): void {
  const { connection } = context
  for (const range of ranges) dropPending(context, ordinal, range)
  for (const interval of joinIntervals(ranges)) {
    removeCoverageOfAllScopes(connection, ordinal, interval, 'full')
    if (hasColdBlocks(connection, ordinal, interval)) transfers.deleteCold(context, ordinal, interval)
  }
}

/** Deletes the pending ranges that reach into an interval, with their rows. */
function dropPending(context: WriteContext, ordinal: number, interval: Interval): void {
  for (const range of takePending(context.connection, ordinal, interval)) transfers.deleteCold(context, ordinal, range)
}

export function commitHot(context: WriteContext, commit: HotCommit): void {
  const { connection, dictionary } = context
  const ordinal = dictionary.addOrdinal(commit.chain)
  requireHotOrder(commit, finalizedOf(connection, ordinal))
  transfers.dropHotAbove(connection, ordinal, commit.ancestor)
  activity.dropHotAbove(connection, ordinal, commit.ancestor)
  const replaced = dropBlocksAbove(connection, 'hot_blocks', ordinal, commit.ancestor)
  putBlocks(connection, 'hot_blocks', ordinal, commit.blocks)
  const rows = commit.blocks.flatMap(block => block.transfers)
  transfers.insertHot(context, ordinal, byContract(context, ordinal, rows))
  for (const block of commit.blocks) activity.mergeHot(connection, ordinal, block.number, block.activity)
  const above = { from: commit.ancestor + 1, to: aboveAll }
  // After a reorganisation every claim above the ancestor is about blocks that are gone, whatever its scope.
  if (replaced > 0) removeCoverageOfAllScopes(connection, ordinal, above)
  else if (commit.covered !== undefined) removeCoverageRows(connection, ordinal, commit.covered.scope, above)
  const last = commit.blocks.at(-1)
  if (commit.covered !== undefined && last !== undefined)
    addCoverageRows(connection, ordinal, commit.covered.scope, {
      from: commit.covered.from,
      to: last.number,
      evidence: commit.covered.evidence,
    })
  writeHead(connection, ordinal, commit.head)
}

export function addToHot(
  context: WriteContext,
  chain: ChainId,
  blocks: readonly HotBlock[],
  covered: ColdCommit['covered'],
): void {
  const { connection, dictionary } = context
  const ordinal = dictionary.addOrdinal(chain)
  for (const block of blocks) {
    requireStored(block, blockAt(connection, 'hot_blocks', ordinal, block.number)?.hash)
    requireOwnRows(block.number, block.transfers)
  }
  const rows = blocks.flatMap(block => block.transfers)
  transfers.insertHot(context, ordinal, byContract(context, ordinal, rows))
  for (const block of blocks) activity.mergeHot(connection, ordinal, block.number, block.activity)
  for (const { scope, ...interval } of joinByScope(covered)) addCoverageRows(connection, ordinal, scope, interval)
}

export function finalize(context: WriteContext, chain: ChainId, upTo: number): void {
  const ordinal = context.dictionary.addOrdinal(chain)
  if (upTo > finalizedOf(context.connection, ordinal)) finalizeRows(context, ordinal, upTo)
}

export function putHead({ connection, dictionary }: WriteContext, chain: ChainId, head: Block): void {
  const ordinal = dictionary.addOrdinal(chain)
  const floor = Math.max(highestHotBlock(connection, ordinal)?.number ?? -1, finalizedOf(connection, ordinal))
  const known = connection.get('SELECT head_number FROM chains WHERE ordinal = ?', ordinal)
  if (head.number >= floor || known?.[0] === null) writeHead(connection, ordinal, head)
}

/**
 * Deletes rows and every claim that they are there: no scope of the chain covers a dropped contract any longer.
 * Activity stays, because a first and a last transaction cannot be taken apart again.
 */
export function dropRange(context: WriteContext, chain: ChainId, interval: Interval): void {
  const { connection, dictionary } = context
  const ordinal = dictionary.ordinalOf(chain)
  if (ordinal === undefined) return
  removeCoverageOfAllScopes(connection, ordinal, interval)
  dropPending(context, ordinal, interval)
  transfers.deleteCold(context, ordinal, interval)
  // Without them the commits that bring the range back find nothing to replace.
  dropBlocksWithin(connection, ordinal, interval)
}

/** Each with records of indexes in packs of their own. */
const rowsPerStep = 2_500

/** The same for one contract, in steps, of which the first takes the claims. True where rows may be left. */
export function dropSomeOf(context: WriteContext, chain: ChainId, address: Address, interval: Interval): boolean {
  const { connection, dictionary } = context
  const ordinal = dictionary.ordinalOf(chain)
  if (ordinal === undefined) return false
  for (const claim of [address, ...chainScopes]) removeCoverageRows(connection, ordinal, claim, interval)
  const contract = dictionary.contractOf(ordinal, address)
  return contract !== undefined && transfers.deleteSome(context, { ordinal, contract }, interval, rowsPerStep).isMore
}

export function unfinalize(context: WriteContext, chain: ChainId, to: number): void {
  const { connection, dictionary } = context
  const ordinal = dictionary.addOrdinal(chain)
  requireBelowFinal(to, finalizedOf(connection, ordinal))
  // Even without rows: blocks that were final become new ones.
  countChange(connection, ordinal, 'takenBack')
  transfers.dropHotAbove(connection, ordinal, to)
  activity.dropHotAbove(connection, ordinal, to)
  dropBlocksAbove(connection, 'hot_blocks', ordinal, to)
  dropPending(context, ordinal, { from: to + 1, to: aboveAll })
  transfers.deleteCold(context, ordinal, { from: to + 1, to: aboveAll })
  dropBlocksAbove(connection, 'blocks', ordinal, to)
  removeCoverageOfAllScopes(connection, ordinal, { from: to + 1, to: aboveAll })
  connection.run('DELETE FROM checkpoints WHERE name LIKE ? OR name = ?', `wallet/${chain}/%`, `final/${chain}`)
  connection.run('UPDATE chains SET finalized = ? WHERE ordinal = ?', to, ordinal)
}

export function unfinalized(chain: ChainId, to: number): TakenBack {
  return {
    chain,
    intervals: () => [{ from: to + 1, to: aboveAll }],
    check: ({ connection }, ordinal) => requireBelowFinal(to, finalizedOf(connection, ordinal)),
    activityAbove: to,
  }
}

function finalizedOf(connection: Connection, ordinal: number): number {
  return (connection.get('SELECT finalized FROM chains WHERE ordinal = ?', ordinal)?.[0] as number | undefined) ?? -1
}

function finalizeRows(context: WriteContext, ordinal: number, upTo: number): void {
  const { connection } = context
  transfers.moveTransfersToCold(context, ordinal, upTo)
  activity.moveActivityToCold(connection, ordinal, upTo)
  moveBlocksToCold(connection, ordinal, upTo)
  connection.run('UPDATE chains SET finalized = ? WHERE ordinal = ?', upTo, ordinal)
}

function writeHead(connection: Connection, ordinal: number, head: Block): void {
  connection.run(
    `UPDATE chains SET head_number = ?1, head_hash = ?2, head_timestamp = ?3 WHERE ordinal = ?4
     AND (head_number, head_hash, head_timestamp) IS NOT (?1, ?2, ?3)`,
    head.number,
    bytesOfHex(head.hash),
    head.timestamp,
    ordinal,
  )
}

function byContract({ dictionary }: WriteContext, ordinal: number, rows: readonly TransferRow[]): RowsByContract {
  const byNumber: RowsByContract = new Map()
  const numbers = new Map<Address, number>()
  for (const row of rows) {
    let number = numbers.get(row.contract)
    if (number === undefined) {
      number = dictionary.addContract(ordinal, row.contract)
      numbers.set(row.contract, number)
    }
    addRow(byNumber, number, row)
  }
  return byNumber
}

function requireCommit(connection: Connection, ordinal: number, commit: ColdCommit): void {
  requireBlocks(connection, ordinal, commit)
  // Cold rows are final by definition, so a commit above the known final block moves it.
  if (highestBlock(commit) > finalizedOf(connection, ordinal))
    requireSameBranch(
      commit.blocks,
      new Map(hotBlocksOf(connection, ordinal).map(({ number, hash }) => [number, hash])),
    )
}

function requireBlocks(connection: Connection, ordinal: number, commit: ColdCommit): void {
  const given = new Set(commit.blocks.map(block => block.number))
  for (const { block } of commit.transfers) {
    if (given.has(block)) continue
    const known = blockAt(connection, 'blocks', ordinal, block) ?? blockAt(connection, 'hot_blocks', ordinal, block)
    if (known === undefined) throw unknownBlock(block)
    given.add(block)
  }
}

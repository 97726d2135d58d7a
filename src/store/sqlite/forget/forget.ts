// Forgets a chain, a contract or a view, a bounded number of rows in each transaction. Rows in runs disappear at once,
// with the rows of the table `runs`; their packs are swept away later.
import { bytesOfHex } from '../../../hex.ts'
import type { Address, ChainId } from '../../../model.ts'
import { gapsPrefix, withoutGap } from '../../activity-gaps.ts'
import {
  type ForgetPhase,
  type ForgetState,
  firstState,
  forgetName,
  type PhaseStep,
  stateAfter,
  stateOf,
  withoutScope,
} from '../../forget.ts'
import { activityView } from '../../runs/activity-view.ts'
import type { Forgotten } from '../../store.ts'
import { dropHotAbove as dropHotActivity } from '../activity.ts'
import { blockKey, dropBlocksAbove } from '../blocks.ts'
import type { Connection, Row } from '../connection.ts'
import { addCoverageRows, coverageOf, unwatchContract } from '../coverage-table.ts'
import { removeSomeRecords, rowsPerPack } from '../indexes/fill.ts'
import { countChange, emptyIndexes, endEmptying, leaveIndex, liveIndexes } from '../indexes/kept-indexes.ts'
import { pendingRangesOf } from '../pending-ranges.ts'
import { sweepPacks } from '../runs/runs.ts'
import { removeCounts } from '../runs/transfer-runs.ts'
import type { WriteContext } from '../store-file.ts'
import { blockKeySpan } from '../tables.ts'
import { deleteSomeFromTable, deleteSomeOfContract, dropHotAbove, dropHotOf } from '../transfer-rows.ts'
import { putCheckpoint } from '../work.ts'

const every = { from: 0, to: blockKeySpan }
const contractsPerStep = 1_000

export function forgetStep(
  context: WriteContext,
  what: Forgotten,
  rowsMax: number,
): { removed: number; done: boolean } {
  const { connection, dictionary } = context
  const ordinal = dictionary.ordinalOf(what.chain)
  if (ordinal === undefined) return { removed: 0, done: true }
  const name = forgetName(what.chain)
  const [stored] = connection.get('SELECT value FROM checkpoints WHERE name = ?', name) ?? []
  const begun = stateOf(stored as string | undefined)
  if (begun === undefined) {
    dropClaims(connection, ordinal, what)
    putCheckpoint(connection, name, JSON.stringify(firstState(what)))
    return { removed: 0, done: false }
  }
  const step = phases[begun.phase]({ ...context, ordinal, rowsMax }, begun)
  const next = stateAfter(begun, step)
  if (next === undefined) connection.run('DELETE FROM checkpoints WHERE name = ?', name)
  else putCheckpoint(connection, name, JSON.stringify(next))
  return { removed: step.removed, done: next === undefined }
}

function dropClaims(connection: Connection, ordinal: number, { chain, contract, view }: Forgotten): void {
  if (contract !== undefined) dropClaimsOfContract(connection, ordinal, contract)
  else if (view === 'activity') dropClaimsOfActivity(connection, ordinal, chain)
  else if (view !== undefined) leaveIndex(connection, ordinal, view)
  else dropClaimsOfChain(connection, ordinal, chain)
}

function dropClaimsOfChain(connection: Connection, ordinal: number, chain: ChainId): void {
  dropWallets(connection, chain)
  emptyIndexes(connection, ordinal)
  countChange(connection, ordinal, 'takenBack')
  for (const table of ['coverage', 'pending_ranges', 'watched_contracts'])
    connection.run(`DELETE FROM ${table} WHERE chain = ?`, ordinal)
  connection.run('DELETE FROM checkpoints WHERE name GLOB ?', `unclaimed/${chain}/*`)
  connection.run('DELETE FROM checkpoints WHERE name IN (?, ?)', `final/${chain}`, `genesis/${chain}`)
  connection.run(
    'UPDATE chains SET head_number = NULL, head_hash = NULL, head_timestamp = NULL, finalized = -1 WHERE ordinal = ?',
    ordinal,
  )
}

/** Whole blocks stay complete for their transfers. */
function dropClaimsOfActivity(connection: Connection, ordinal: number, chain: ChainId): void {
  dropWallets(connection, chain)
  for (const interval of coverageOf(connection, ordinal, 'full'))
    addCoverageRows(connection, ordinal, 'transfers', interval)
  connection.run("DELETE FROM coverage WHERE chain = ? AND scope = 'full'", ordinal)
  const renamed = [`unclaimed/${chain}/transfers`, `unclaimed/${chain}/full`]
  connection.run('UPDATE OR REPLACE checkpoints SET name = ? WHERE name = ?', ...renamed)
}

/** What is claimed of whole blocks stays, and no longer counts for the contract. */
function dropClaimsOfContract(connection: Connection, ordinal: number, contract: Address): void {
  const address = bytesOfHex(contract)
  connection.run('DELETE FROM coverage WHERE chain = ? AND scope = ?', ordinal, address)
  connection.run('DELETE FROM contract_facts WHERE chain = ? AND contract = ?', ordinal, address)
  unwatchContract(connection, ordinal, contract)
  const claimed = (['full', 'transfers'] as const).flatMap(scope => coverageOf(connection, ordinal, scope))
  const to = Math.max(-1, ...[...claimed, ...pendingRangesOf(connection, ordinal)].map(interval => interval.to))
  if (to >= 0) addCoverageRows(connection, ordinal, withoutScope(contract), { from: 0, to, evidence: 'one-endpoint' })
}

/** How far wallets were looked up, and whose activity is not whole (activity-gaps.ts). */
function dropWallets(connection: Connection, chain: ChainId): void {
  connection.run('DELETE FROM checkpoints WHERE name GLOB ?', `wallet/${chain}/*`)
  const rows = connection.all('SELECT name, value FROM checkpoints WHERE name GLOB ?', `${gapsPrefix}*`)
  for (const [name, value] of rows as [string, string][]) {
    const left = withoutGap(value, chain)
    if (left !== undefined) putCheckpoint(connection, name, left)
  }
}

type StepContext = WriteContext & { ordinal: number; rowsMax: number }

const phases: Record<ForgetPhase, (context: StepContext, state: ForgetState) => PhaseStep> = {
  hot(context, { what }) {
    const { connection, ordinal } = context
    const contract = numberOf(context, what)
    if (contract !== undefined) return { removed: dropHotOf(connection, ordinal, contract) }
    if (what.contract !== undefined) return { removed: 0 }
    dropHotActivity(connection, ordinal, -1)
    if (what.view !== undefined) return { removed: 0 }
    dropHotAbove(connection, ordinal, -1)
    return { removed: dropBlocksAbove(connection, 'hot_blocks', ordinal, -1) }
  },

  derived({ connection, ordinal, rowsMax }) {
    return removeSomeRecords(connection, ordinal, rowsMax) ? { removed: 0, after: more } : { removed: 0 }
  },

  transfers(context, { what, after }) {
    if (what.contract === undefined) return dropTransfers(context, Number(after || -1))
    const contract = numberOf(context, what)
    return contract === undefined ? { removed: 0 } : dropSomeTransfers(withIndexes(context), contract)
  },

  runs(context, { what }) {
    const { connection, ordinal, rowsMax } = withIndexes(context)
    if (what.contract === undefined) return dropRuns(connection, ordinal, what)
    const contract = numberOf(context, what)
    if (contract === undefined) return { removed: 0 }
    const removed = deleteSomeOfContract(context, { ordinal, contract }, every, rowsMax)
    return removed === 0 ? { removed } : { removed, after: more }
  },

  counts(context, { what }) {
    const { connection, ordinal } = context
    const contract = numberOf(context, what)
    if (contract === undefined) return { removed: 0 }
    removeCounts(connection, ordinal, contract)
    connection.run('DELETE FROM transfer_counts WHERE contract = ?', contract)
    connection.run('UPDATE contracts SET transfers = 0, has_ranges = 0 WHERE id = ?', contract)
    return { removed: 0 }
  },

  /** The table is in the order of addresses, so each step looks at some of them, of every chain. */
  activity({ connection, ordinal, rowsMax }, { after }) {
    const address = Buffer.from(after, 'hex')
    const find = 'SELECT address FROM activity WHERE address > ? ORDER BY address LIMIT 1 OFFSET ?'
    const [last] = connection.get(find, address, rowsMax) ?? []
    const drop = `DELETE FROM activity WHERE chain = ? AND address > ? ${last === undefined ? '' : 'AND address <= ?'}`
    const removed = connection.run(drop, ordinal, address, ...(last === undefined ? [] : [last]))
    return last === undefined ? { removed } : { removed, after: Buffer.from(last as Uint8Array).toString('hex') }
  },

  blocks(context) {
    const span = [blockKey(context.ordinal, blockKeySpan - 1), blockKey(context.ordinal, 0)]
    return dropSome(context, { table: 'blocks', key: 'key', where: 'key BETWEEN ? AND ?' }, span)
  },

  facts(context) {
    return dropSome(context, { table: 'contract_facts', key: 'contract', where: 'chain = ?' }, [context.ordinal])
  },

  uris({ connection, ordinal, rowsMax }, { what: { contract } }) {
    const [of, values] = contract === undefined ? ['', []] : ['AND contract = ?', [bytesOfHex(contract)]]
    const drop = `DELETE FROM token_uris WHERE (chain, contract, token_id) IN
      (SELECT chain, contract, token_id FROM token_uris WHERE chain = ? ${of} LIMIT ?)`
    const removed = connection.run(drop, ordinal, ...values, rowsMax)
    return removed < rowsMax ? { removed } : { removed, after: more }
  },

  packs({ connection, ordinal, rowsMax }, { what }) {
    if (sweepPacks(connection, Math.ceil(rowsMax / rowsPerPack)) > 0) return { removed: 0, after: more }
    if (what.view !== 'activity') endEmptying(connection, ordinal, what.view)
    return { removed: 0 }
  },
}

const more = 'more'

/** A row with records of indexes costs as much as so many. */
const rowsPerIndexed = 8

function withIndexes(context: StepContext): StepContext {
  if (liveIndexes(context.connection, context.ordinal).length === 0) return context
  return { ...context, rowsMax: Math.ceil(context.rowsMax / rowsPerIndexed) }
}

function numberOf({ dictionary, ordinal }: StepContext, { contract }: Forgotten): number | undefined {
  return contract === undefined ? undefined : dictionary.contractOf(ordinal, contract)
}

/** Of contracts with higher numbers than `after`. */
function dropTransfers(context: StepContext, after: number): PhaseStep {
  const { connection, ordinal, rowsMax } = context
  const find = 'SELECT id FROM contracts WHERE chain = ? AND id > ? ORDER BY id LIMIT ?'
  const numbers = connection.all(find, ordinal, after, contractsPerStep).map(([id]) => id as number)
  let removed = 0
  for (const number of numbers) {
    const step = dropSomeTransfers(context, number)
    removed += step.removed
    if (step.after !== undefined) return { removed, after: String(number - 1) }
    if (removed >= rowsMax) return { removed, after: String(number) }
  }
  return numbers.length < contractsPerStep ? { removed } : { removed, after: String(numbers.at(-1)) }
}

function dropSomeTransfers(context: StepContext, contract: number): PhaseStep {
  const { ordinal, rowsMax } = context
  const { rows, isMore } = deleteSomeFromTable(context, { ordinal, contract }, every, rowsMax)
  return isMore ? { removed: rows, after: more } : { removed: rows }
}

/** The tables keep what was subtracted from the counts of runs: it goes with them. */
function dropRuns(connection: Connection, ordinal: number, { view }: Forgotten): PhaseStep {
  const find = 'FROM runs WHERE chain = ?1 AND (?2 IS NULL OR view = ?2)'
  const of = [ordinal, view === undefined ? null : activityView.id] as const
  const [removed] = connection.get(`SELECT coalesce(sum(records), 0) ${find}`, ...of) as Row
  connection.run(`DELETE ${find}`, ...of)
  if (view === undefined) {
    const drop = 'DELETE FROM transfer_counts WHERE contract IN (SELECT id FROM contracts WHERE chain = ?)'
    connection.run(drop, ordinal)
    const reset =
      'UPDATE contracts SET transfers = 0, has_ranges = 0 WHERE chain = ? AND (transfers, has_ranges) <> (0, 0)'
    connection.run(reset, ordinal)
  }
  return { removed: removed as number }
}

function dropSome(
  { connection, rowsMax }: StepContext,
  { table, key, where }: Record<'table' | 'key' | 'where', string>,
  values: readonly number[],
): PhaseStep {
  const find = `SELECT ${key} FROM ${table} WHERE ${where} ORDER BY ${key} LIMIT 1 OFFSET ?`
  const [last] = connection.get(find, ...values, rowsMax) ?? []
  const drop = `DELETE FROM ${table} WHERE ${where}`
  if (last === undefined) return { removed: connection.run(drop, ...values) }
  return { removed: connection.run(`${drop} AND ${key} <= ?`, ...values, last), after: more }
}

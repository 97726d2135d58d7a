// Forgets a chain, a contract or a view, a bounded number of rows in each transaction, and tells beforehand how much
// that is.
import { bytesOfHex } from '../../hex.ts'
import type { Address, ChainId, Evidence } from '../../model.ts'
import { gapsPrefix, withoutGap } from '../activity-gaps.ts'
import {
  type ForgetPhase,
  type ForgetState,
  firstState,
  forgetName,
  type PhaseStep,
  stateAfter,
  stateOf,
  withoutScope,
} from '../forget.ts'
import { indexOf, indexViews } from '../indexes/all-indexes.ts'
import { activityView } from '../runs/activity-view.ts'
import { transferView } from '../runs/transfer-view.ts'
import type { Forgotten, ForgottenSize } from '../store.ts'
import { bytesOf, int4Array } from './arrays.ts'
import { addCoverageRows, lockCoverage, unwatchContract } from './coverage-table.ts'
import type { Database, Transaction, Value } from './database.ts'
import { dropSomeRecords, leaveIndex, lockAll } from './indexes/fill-indexes.ts'
import { emptyIndexes, endEmptying } from './indexes/kept-indexes.ts'
import { RemovedTransfers } from './indexes/remove-records.ts'
import { countChange } from './indexes/row-changes.ts'
import { blockMax } from './place.ts'
import { lockRuns, sweepPacks } from './runs/runs.ts'
import type { Slots } from './runs/slots.ts'
import { removeCounts, removeSomeTransfers } from './runs/transfer-runs.ts'
import type { StoreDatabase } from './store-database.ts'
import { wholeBucket } from './tables.ts'
import { deleteCold } from './transfer-rows.ts'
import { putCheckpoint } from './work.ts'

const contractsPerStep = 1_000
/** Sweeping a pack costs as much as deleting so many rows. */
const rowsPerPack = 8

/** Those that forgetting leaves room in. */
export const largeTables = [
  'transfers',
  'transfer_counts',
  'view_records',
  'activity',
  'runs',
  'packs',
  'blocks',
  'contract_facts',
  'token_uris',
  'checkpoints',
]

type Numbers = { ordinal: number; contract: number | undefined }

export async function forgetStep(
  store: StoreDatabase,
  what: Forgotten,
  rowsMax: number,
): Promise<{ removed: number; done: boolean }> {
  const { dictionary } = store
  const ordinal = await dictionary.ordinalOf(what.chain)
  if (ordinal === undefined) return { removed: 0, done: true }
  const contractOf = async ({ contract }: Forgotten) =>
    contract === undefined ? undefined : await dictionary.contractOf(ordinal, contract)
  const name = forgetName(what.chain)
  const [[stored] = []] = await store.database.read('SELECT value FROM checkpoints WHERE name = $1', name)
  const begun = stateOf(stored ?? undefined)
  const rows = async (transaction: Transaction): Promise<{ removed: number; done: boolean }> => {
    if (begun === undefined) {
      await dropClaims(transaction, ordinal, what)
      await putCheckpoint(transaction, name, JSON.stringify(firstState(what)))
      return { removed: 0, done: false }
    }
    const numbers = { ordinal, contract: await contractOf(begun.what), rowsMax, slots: await store.slots() }
    const step = (await phases[begun.phase]?.(transaction, numbers, begun)) ?? { removed: 0 }
    if (step.removed > 0) await countChange(transaction, ordinal, 'takenBack')
    const next = stateAfter(begun, step)
    if (next === undefined) await transaction.run('DELETE FROM checkpoints WHERE name = $1', name)
    else await putCheckpoint(transaction, name, JSON.stringify(next))
    return { removed: step.removed, done: next === undefined }
  }
  return await store.committing({ oneConnection: true, rows })
}

async function dropClaims(
  transaction: Transaction,
  ordinal: number,
  { chain, contract, view }: Forgotten,
): Promise<void> {
  // A commit that knows an index as kept ends before, or it would leave records behind that nothing removes.
  if (contract === undefined) await lockAll(transaction, ordinal)
  await lockCoverage(transaction, ordinal)
  if (contract !== undefined) await dropClaimsOfContract(transaction, ordinal, contract)
  else if (view !== undefined && view !== 'activity') await leaveIndex(transaction, ordinal, indexOf(view))
  else if (view !== undefined) await dropClaimsOfActivity(transaction, ordinal, chain)
  else await dropClaimsOfChain(transaction, ordinal, chain)
}

async function dropClaimsOfChain(transaction: Transaction, ordinal: number, chain: ChainId): Promise<void> {
  await dropWallets(transaction, chain)
  await emptyIndexes(transaction, ordinal)
  await countChange(transaction, ordinal, 'takenBack')
  for (const table of ['coverage', 'pending_ranges', 'watched_contracts'])
    await transaction.run(`DELETE FROM ${table} WHERE chain = $1`, ordinal)
  await transaction.run('DELETE FROM checkpoints WHERE starts_with(name, $1)', `unclaimed/${chain}/`)
  await transaction.run('DELETE FROM checkpoints WHERE name IN ($1, $2)', `final/${chain}`, `genesis/${chain}`)
  await transaction.run(
    'UPDATE chains SET head_number = NULL, head_hash = NULL, head_timestamp = NULL, finalized = -1 WHERE ordinal = $1',
    ordinal,
  )
}

/** Whole blocks stay complete for their transfers. */
async function dropClaimsOfActivity(transaction: Transaction, ordinal: number, chain: ChainId): Promise<void> {
  await dropWallets(transaction, chain)
  const full = await transaction.write(
    "DELETE FROM coverage WHERE chain = $1 AND scope = 'full' RETURNING from_block, to_block, evidence",
    ordinal,
  )
  for (const [from, to, evidence] of full)
    await addCoverageRows(transaction, ordinal, {
      ...{ scope: 'transfers', from: Number(from), to: Number(to), evidence: evidence as Evidence },
    })
  const drop = 'DELETE FROM checkpoints WHERE name = $1 RETURNING value'
  for (const [unclaimed] of await transaction.write(drop, `unclaimed/${chain}/full`))
    await putCheckpoint(transaction, `unclaimed/${chain}/transfers`, unclaimed as string)
}

/** What is claimed of whole blocks stays, and no longer counts for the contract. */
async function dropClaimsOfContract(transaction: Transaction, ordinal: number, contract: Address): Promise<void> {
  await transaction.run('DELETE FROM coverage WHERE chain = $1 AND scope = $2', ordinal, contract)
  const facts = 'DELETE FROM contract_facts WHERE chain = $1 AND contract = $2'
  await transaction.run(facts, ordinal, bytesOfHex(contract))
  await unwatchContract(transaction, ordinal, contract)
  const [[to] = []] = await transaction.query(
    `SELECT max(to_block) FROM (SELECT to_block FROM coverage WHERE chain = $1 AND scope IN ('full', 'transfers')
       UNION ALL SELECT to_block FROM pending_ranges WHERE chain = $1) AS claimed`,
    ordinal,
  )
  if (to === null || to === undefined) return
  const without = { scope: withoutScope(contract), from: 0, to: Number(to), evidence: 'one-endpoint' } as const
  await addCoverageRows(transaction, ordinal, without)
}

/** How far wallets were looked up, and whose activity is not whole (activity-gaps.ts). */
async function dropWallets(transaction: Transaction, chain: ChainId): Promise<void> {
  await transaction.run('DELETE FROM checkpoints WHERE starts_with(name, $1)', `wallet/${chain}/`)
  const rows = await transaction.query('SELECT name, value FROM checkpoints WHERE starts_with(name, $1)', gapsPrefix)
  for (const [name, value] of rows as [string, string][]) {
    const left = withoutGap(value, chain)
    if (left !== undefined) await putCheckpoint(transaction, name, left)
  }
}

type Bounds = Numbers & { rowsMax: number; slots: Slots }
type Phase = (transaction: Transaction, bounds: Bounds, state: ForgetState) => Promise<PhaseStep>

const phases: Partial<Record<ForgetPhase, Phase>> = {
  async hot(transaction, { ordinal, contract }, { what }) {
    if (what.contract !== undefined) {
      if (contract === undefined) return { removed: 0 }
      await transaction.run('DELETE FROM hot_view_records WHERE chain = $1 AND contract = $2', ordinal, contract)
      return { removed: await transaction.run('DELETE FROM hot_transfers WHERE contract = $1', contract) }
    }
    const ofChain = ['hot_transfers', 'hot_activity', 'hot_view_records', 'hot_blocks']
    const tables = what.view === undefined ? ofChain : ['hot_activity']
    for (const table of tables) await transaction.run(`DELETE FROM ${table} WHERE chain = $1`, ordinal)
    return { removed: 0 }
  },

  /** Of all indexes of a chain, or of the one that is forgotten. */
  async derived(transaction, { ordinal: chain, slots, rowsMax }, { what }) {
    const { view } = what
    const indexes = indexViews.filter(({ name }) => view === undefined || name === view)
    for (const index of indexes) {
      const removed = await dropSomeRecords(transaction, { chain, slots }, index, rowsMax)
      if (removed > 0) return { removed, after: more }
    }
    if (view === undefined) return { removed: 0 }
    const { id } = indexes[0]!
    await transaction.run('DELETE FROM chain_indexes WHERE chain = $1 AND view = $2', chain, id)
    return await dropRuns(transaction, chain, id)
  },

  async transfers(transaction, bounds, { what, after }) {
    if (what.contract === undefined) return await dropTransfers(transaction, bounds, Number(after || -1))
    const { ordinal: chain, contract, slots, rowsMax } = bounds
    if (contract === undefined) return { removed: 0 }
    await lockRuns(transaction, chain)
    const gone = await RemovedTransfers.of(transaction, { chain, slots })
    return await dropSomeTransfers(transaction, contract, rowsMax, gone)
  },

  /** The index is in the order of addresses, so each step looks at some of them, of every chain. */
  async activity(transaction, { ordinal, rowsMax }, { after }) {
    const address = Buffer.from(after, 'hex')
    const find = 'SELECT address FROM activity WHERE address > $1 ORDER BY address LIMIT 1 OFFSET $2'
    const [[found] = []] = await transaction.query(find, address, rowsMax)
    const last = found === undefined || found === null ? undefined : bytesOf(found)
    const drop = 'DELETE FROM activity WHERE chain = $1 AND address > $2'
    const removed =
      last === undefined
        ? await transaction.run(drop, ordinal, address)
        : await transaction.run(`${drop} AND address <= $3`, ordinal, address, last)
    return last === undefined ? { removed } : { removed, after: Buffer.from(last).toString('hex') }
  },

  async runs(transaction, { ordinal, contract, slots, rowsMax }, { what }) {
    if (what.contract === undefined)
      return await dropRuns(transaction, ordinal, what.view === undefined ? undefined : activityView.id)
    if (contract === undefined) return { removed: 0 }
    await lockRuns(transaction, ordinal)
    const gone = await RemovedTransfers.of(transaction, { chain: ordinal, slots })
    const removed = await removeSomeTransfers(transaction, slots, { chain: ordinal, contract }, rowsMax, gone)
    await gone.flush({ isLast: true })
    return removed === 0 ? { removed } : { removed, after: more }
  },

  async counts(transaction, { ordinal, contract }) {
    if (contract !== undefined) await removeCounts(transaction, ordinal, contract)
    return { removed: 0 }
  },

  async uris(transaction, { ordinal, rowsMax }, { what: { contract } }) {
    const [of, values] = contract === undefined ? ['', []] : ['AND contract = $3', [bytesOfHex(contract)]]
    const drop = `DELETE FROM token_uris WHERE (chain, contract, token_id) IN
      (SELECT chain, contract, token_id FROM token_uris WHERE chain = $1 ${of} LIMIT $2)`
    const removed = await transaction.run(drop, ordinal, rowsMax, ...values)
    return removed < rowsMax ? { removed } : { removed, after: more }
  },

  async packs(transaction, { ordinal, slots, rowsMax }, { what }) {
    const swept = await sweepPacks(transaction, slots, Math.ceil(rowsMax / rowsPerPack))
    if (swept > 0) return { removed: 0, after: more }
    if (what.view === undefined) await endEmptying(transaction, ordinal)
    return { removed: 0 }
  },

  blocks: (transaction, bounds) => dropSome(transaction, bounds, { table: 'blocks', key: 'number' }),
  facts: (transaction, bounds) => dropSome(transaction, bounds, { table: 'contract_facts', key: 'contract' }),
}

const more = 'more'

/** Of contracts with higher numbers than `after`: of many small ones, or a part of a large one. */
async function dropTransfers(
  transaction: Transaction,
  { ordinal, rowsMax }: Bounds,
  after: number,
): Promise<PhaseStep> {
  const find = 'SELECT id FROM contracts WHERE chain = $1 AND id > $2 ORDER BY id LIMIT $3'
  const numbers = (await transaction.query(find, ordinal, after, contractsPerStep)).map(([id]) => Number(id))
  const first = numbers[0]
  if (first === undefined) return { removed: 0 }
  const counted = await transaction.query(
    `SELECT contract, stored FROM transfer_counts WHERE bucket = ${wholeBucket} AND contract = ANY($1::int4[])`,
    int4Array(numbers),
  )
  const stored = new Map(counted.map(([contract, rows]) => [Number(contract), Number(rows)]))
  let rows = 0
  const tooMany = numbers.findIndex(number => {
    rows += stored.get(number) ?? 0
    return rows > rowsMax
  })
  if (tooMany === 0) {
    const step = await dropSomeTransfers(transaction, first, rowsMax)
    return { ...step, after: String(step.after === undefined ? first : after) }
  }
  const taken = tooMany < 0 ? numbers : numbers.slice(0, tooMany)
  const removed = await deleteCold(transaction, { contracts: taken }, { from: 0, to: blockMax })
  return tooMany < 0 && taken.length < contractsPerStep ? { removed } : { removed, after: String(taken.at(-1)) }
}

/** The newest first, whole blocks. */
async function dropSomeTransfers(
  transaction: Transaction,
  contract: number,
  rowsMax: number,
  gone?: RemovedTransfers,
): Promise<PhaseStep> {
  const find = 'SELECT block FROM transfers WHERE contract = $1 ORDER BY block DESC LIMIT 1 OFFSET $2'
  const [[block] = []] = await transaction.query(find, contract, rowsMax)
  const from = Number(block ?? 0)
  await gone?.takeFromTable(contract, { from, to: blockMax })
  await gone?.flush({ isLast: true })
  const removed = await deleteCold(transaction, { contract }, { from, to: blockMax })
  return from === 0 ? { removed } : { removed, after: more }
}

/** Their packs are swept after them. */
async function dropRuns(transaction: Transaction, ordinal: number, view: number | undefined): Promise<PhaseStep> {
  await lockRuns(transaction, ordinal)
  const dropped = await transaction.write(
    'DELETE FROM runs WHERE chain = $1 AND ($2::int4 IS NULL OR view = $2) RETURNING records',
    ...[ordinal, view ?? null],
  )
  return { removed: dropped.reduce((sum, [records]) => sum + Number(records), 0) }
}

async function dropSome(
  transaction: Transaction,
  { ordinal, rowsMax }: Bounds,
  { table, key }: { table: string; key: string },
): Promise<PhaseStep> {
  const find = `SELECT ${key} FROM ${table} WHERE chain = $1 ORDER BY ${key} LIMIT 1 OFFSET $2`
  const [[found] = []] = await transaction.query(find, ordinal, rowsMax)
  const drop = `DELETE FROM ${table} WHERE chain = $1`
  if (found === undefined || found === null) return { removed: await transaction.run(drop, ordinal) }
  const last: Value = table === 'blocks' ? found : bytesOf(found)
  return { removed: await transaction.run(`${drop} AND ${key} <= $2`, ordinal, last), after: more }
}

/** Addresses are spread evenly: those that begin with a byte of 0 are one of 256. */
const sampled = 'SELECT count(*) FROM activity WHERE chain = $1 AND address < $2'
const sampleRows = 100_000

export async function sizeOf(
  { database }: { database: Database },
  ordinal: number,
  what: Forgotten,
): Promise<ForgottenSize> {
  if (what.view !== undefined && what.view !== 'activity') return { transfers: 0, wallets: 0 }
  const [[few] = []] = await database.read(
    'SELECT count(*) FROM (SELECT 1 FROM activity LIMIT $1) AS looked',
    sampleRows,
  )
  const isSmall = Number(few) < sampleRows
  const [[found] = []] = await database.read(sampled, ordinal, Buffer.alloc(isSmall ? 21 : 1, isSmall ? 0xff : 1))
  const inRuns = await database.read('SELECT view, sum(records) FROM runs WHERE chain = $1 GROUP BY view', ordinal)
  const records = new Map(inRuns.map(([of, count]) => [Number(of), Number(count)]))
  const wallets = Number(found) * (isSmall ? 1 : 256) + (records.get(activityView.id) ?? 0)
  if (what.view !== undefined) return { transfers: 0, wallets }
  const [[stored] = []] = await database.read(
    `SELECT coalesce(sum(stored), 0) FROM transfer_counts WHERE bucket = ${wholeBucket}
     AND contract IN (SELECT id FROM contracts WHERE chain = $1)`,
    ordinal,
  )
  return { transfers: Number(stored) + (records.get(transferView.id) ?? 0), wallets }
}

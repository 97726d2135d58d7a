// Covered intervals as rows. The arithmetic is `coverage.ts`; a change reads and rewrites only the rows that it
// touches.
import { addCoverage, coverageChange, joinIntervals, removeCoverage } from '../../coverage.ts'
import { bytesOfHex } from '../../hex.ts'
import {
  type Address,
  type CoverageScope,
  type CoveredInterval,
  chainScopes,
  type Evidence,
  type Interval,
  isWholeScope,
} from '../../model.ts'
import { withoutScope } from '../forget.ts'
import type { WatchedContract } from '../store.ts'
import { hexTextOf, int8Array, textArray } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'

/** Guards rewriting the coverage of a chain. It is taken after all locks of rows. */
const coverageLock = 0x414c4d43

const columns = 'from_block, to_block, evidence, scope'
/** Those that are not of a contract. */
const ofChain = `(${chainScopes.map(scope => `'${scope}'`).join()})`

function intervalOf([from, to, evidence]: Row): CoveredInterval {
  return { from: Number(from), to: Number(to), evidence: evidence as Evidence }
}

function byScope(rows: readonly Row[]): { scope: CoverageScope; intervals: CoveredInterval[] }[] {
  const grouped = Map.groupBy(rows, row => row[3] as CoverageScope)
  return [...grouped].map(([scope, ofScope]) => ({ scope, intervals: ofScope.map(intervalOf) }))
}

export async function coverageOf(
  database: Database,
  ordinal: number,
  scope: CoverageScope,
): Promise<CoveredInterval[]> {
  const find = `SELECT ${columns} FROM coverage WHERE chain = $1 AND scope = $2 ORDER BY from_block`
  return (await database.read(find, ordinal, scope)).map(intervalOf)
}

export async function coverageByScope(
  database: Database,
  ordinal: number,
  intervalsMax?: number,
): Promise<ReturnType<typeof byScope>> {
  const part = (condition: string): string =>
    `(SELECT ${columns} FROM coverage WHERE chain = $1 AND ${condition} ORDER BY scope, from_block LIMIT $2)`
  const ofContracts = `scope NOT IN ${ofChain} AND scope NOT LIKE 'without %'`
  const find = `${part(`scope IN ${ofChain}`)} UNION ALL ${part(ofContracts)} LIMIT $2`
  return byScope(await database.read(find, ordinal, intervalsMax ?? null))
}

export async function forgottenBlocks(database: Database, ordinal: number): Promise<Interval[]> {
  // Bounds that the key of the table finds.
  const find = `SELECT from_block, to_block FROM coverage WHERE chain = $1 AND scope >= 'without ' AND scope < 'without!'`
  return joinIntervals(
    (await database.read(find, ordinal)).map(([from, to]) => ({ from: Number(from), to: Number(to) })),
  )
}

/**
 * The contract's own, those of whole blocks and, from its mark on, the watched intervals, in one snapshot. Whole
 * blocks of before it was forgotten do not count.
 */
export async function contractCoverage(
  database: Database,
  ordinal: number,
  contract: Address,
): Promise<CoveredInterval[]> {
  const rows = await database.read(
    `SELECT ${columns}, (SELECT watched_from FROM watched_contracts WHERE chain = $1 AND contract = $3)
     FROM coverage WHERE chain = $1 AND (scope IN ${ofChain} OR scope IN ($2, $4)) ORDER BY scope, from_block`,
    ordinal,
    contract,
    bytesOfHex(contract),
    withoutScope(contract),
  )
  const isWithout = ([, , , scope]: Row): boolean => scope === withoutScope(contract)
  const without = rows.filter(isWithout).map(intervalOf)
  const covered = rows.flatMap(row => {
    const [, , , scope, watchedFrom] = row
    if (isWithout(row)) return []
    if (isWholeScope(scope as CoverageScope)) return without.reduce(removeCoverage, [intervalOf(row)])
    if (scope !== 'watched') return [intervalOf(row)]
    return watchedFrom === null ? [] : removeCoverage([intervalOf(row)], { from: 0, to: Number(watchedFrom) - 1 })
  })
  return covered.reduce<CoveredInterval[]>(addCoverage, [])
}

/** Before the first change of a transaction: no other process may rewrite what this one has read. */
export async function lockCoverage(transaction: Transaction, ordinal: number): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1, $2)::text', coverageLock, ordinal)
}

export async function addCoverageRows(
  transaction: Transaction,
  ordinal: number,
  { scope, ...added }: CoveredInterval & { scope: CoverageScope },
): Promise<void> {
  const touched = await transaction.query(
    `SELECT ${columns} FROM coverage WHERE chain = $1 AND scope = $2 AND from_block <= $3 AND to_block >= $4 ORDER BY from_block`,
    ordinal,
    scope,
    added.to + 1,
    added.from - 1,
  )
  const before = touched.map(intervalOf)
  await rewrite(transaction, ordinal, scope, before, addCoverage(before, added))
}

/** Removes an interval from these scopes of the chain, or from every one. */
export async function removeCoverageRows(
  transaction: Transaction,
  ordinal: number,
  removed: Interval,
  scopes?: readonly CoverageScope[],
): Promise<void> {
  const touched = await transaction.query(
    `SELECT ${columns} FROM coverage WHERE chain = $1 AND from_block <= $2 AND to_block >= $3
       AND ($4::text[] IS NULL OR scope = ANY($4::text[])) ORDER BY scope, from_block`,
    ordinal,
    removed.to,
    removed.from,
    scopes === undefined ? null : textArray(scopes),
  )
  for (const { scope, intervals } of byScope(touched))
    await rewrite(transaction, ordinal, scope, intervals, removeCoverage(intervals, removed))
}

async function rewrite(
  transaction: Transaction,
  ordinal: number,
  scope: CoverageScope,
  before: readonly CoveredInterval[],
  after: readonly CoveredInterval[],
): Promise<void> {
  const { gone, added } = coverageChange(before, after)
  if (gone.length > 0)
    await transaction.run(
      'DELETE FROM coverage WHERE chain = $1 AND scope = $2 AND from_block = ANY($3::int8[])',
      ordinal,
      scope,
      int8Array(gone.map(interval => interval.from)),
    )
  if (added.length > 0)
    await transaction.run(
      `INSERT INTO coverage (chain, scope, from_block, to_block, evidence)
       SELECT $1::int4, $2::text, * FROM unnest($3::int8[], $4::int8[], $5::text[])`,
      ordinal,
      scope,
      int8Array(added.map(interval => interval.from)),
      int8Array(added.map(interval => interval.to)),
      textArray(added.map(interval => interval.evidence)),
    )
}

/** The scopes but `full` that claim a block of the intervals. */
export async function otherScopes(
  transaction: Transaction,
  ordinal: number,
  intervals: readonly Interval[],
): Promise<CoverageScope[]> {
  const rows = await transaction.query(
    `SELECT DISTINCT scope FROM coverage JOIN unnest($2::int8[], $3::int8[]) AS given (low, high)
       ON from_block <= high AND to_block >= low WHERE chain = $1 AND scope <> 'full'`,
    ordinal,
    int8Array(intervals.map(({ from }) => from)),
    int8Array(intervals.map(({ to }) => to)),
  )
  return rows.map(([scope]) => scope as CoverageScope)
}

// Contracts that are followed at the head, each from a block on.

export async function watchedContracts(database: Database, ordinal: number): Promise<WatchedContract[]> {
  const rows = await database.read(
    'SELECT contract, watched_from FROM watched_contracts WHERE chain = $1 ORDER BY contract',
    ordinal,
  )
  return rows.map(([address, from]) => ({ contract: hexTextOf<Address>(address), watchedFrom: Number(from) }))
}

/** The lowest mark stays. */
export async function watchContract(
  transaction: Transaction,
  ordinal: number,
  contract: Address,
  watchedFrom: number,
): Promise<void> {
  await transaction.run(
    `INSERT INTO watched_contracts (chain, contract, watched_from, asked_on)
     VALUES ($1, $2, $3, floor(extract(epoch FROM now()) / 86400))
     ON CONFLICT (chain, contract) DO UPDATE SET watched_from = excluded.watched_from
     WHERE excluded.watched_from < watched_contracts.watched_from`,
    ordinal,
    bytesOfHex(contract),
    watchedFrom,
  )
}

export async function unwatchContract(transaction: Transaction, ordinal: number, contract: Address): Promise<void> {
  await transaction.run(
    'DELETE FROM watched_contracts WHERE chain = $1 AND contract = $2',
    ordinal,
    bytesOfHex(contract),
  )
}

export async function idleContracts(database: Database, ordinal: number, before: number): Promise<Address[]> {
  const find = 'SELECT contract FROM watched_contracts WHERE chain = $1 AND asked_on < $2 ORDER BY contract'
  return (await database.read(find, ordinal, before)).map(([address]) => hexTextOf<Address>(address))
}

export async function noteAsked(
  transaction: Transaction,
  ordinal: number,
  contract: Address,
  day: number,
): Promise<void> {
  const note = 'UPDATE watched_contracts SET asked_on = $3 WHERE chain = $1 AND contract = $2 AND asked_on <> $3'
  await transaction.run(note, ordinal, bytesOfHex(contract), day)
}

// Covered intervals as rows. The arithmetic is `coverage.ts`; a change reads and rewrites only the rows that it touches.
import { addCoverage, coverageChange, removeCoverage } from '../../coverage.ts'
import { bytesOfHex } from '../../hex.ts'
import type { Address, CoverageScope, CoveredInterval, Evidence, Interval } from '../../model.ts'
import type { WatchedContract } from '../store.ts'
import { hexTextOf, int8Array, textArray } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'

/** Guards rewriting the coverage of a chain. It is taken after all locks of rows. */
const coverageLock = 0x414c4d43

type Scoped = CoveredInterval & { scope: CoverageScope }

function intervalOf(row: Row): Scoped {
  return {
    from: Number(row[0]),
    to: Number(row[1]),
    evidence: row[2] as Evidence,
    scope: row[3] as CoverageScope,
  }
}

function plain({ from, to, evidence }: Scoped): CoveredInterval {
  return { from, to, evidence }
}

const columns = 'from_block, to_block, evidence, scope'

export async function coverageOf(
  database: Database,
  ordinal: number,
  scope: CoverageScope,
): Promise<CoveredInterval[]> {
  const rows = await database.read(
    `SELECT ${columns} FROM coverage WHERE chain = $1 AND scope = $2 ORDER BY from_block`,
    ordinal,
    scope,
  )
  return rows.map(intervalOf).map(plain)
}

export async function coverageByScope(
  database: Database,
  ordinal: number,
): Promise<{ scope: CoverageScope; intervals: CoveredInterval[] }[]> {
  const rows = await database.read(
    `SELECT ${columns} FROM coverage WHERE chain = $1 ORDER BY scope LIKE '0x%', scope, from_block`,
    ordinal,
  )
  const byScope = Map.groupBy(rows.map(intervalOf), ({ scope }) => scope)
  return [...byScope].map(([scope, intervals]) => ({ scope, intervals: intervals.map(plain) }))
}

/** The contract's own, the full and, from its mark on, the watched intervals, in one snapshot. */
export async function contractCoverage(
  database: Database,
  ordinal: number,
  contract: Address,
): Promise<CoveredInterval[]> {
  const rows = await database.read(
    `SELECT ${columns}, (SELECT watched_from FROM watched_contracts WHERE chain = $1 AND contract = $3)
     FROM coverage WHERE chain = $1 AND scope IN ('full', 'watched', $2) ORDER BY scope, from_block`,
    ordinal,
    contract,
    bytesOfHex(contract),
  )
  const covered = rows.flatMap(row => {
    const interval = intervalOf(row)
    if (interval.scope !== 'watched') return [plain(interval)]
    return row[4] === null ? [] : removeCoverage([plain(interval)], { from: 0, to: Number(row[4]) - 1 })
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
  { scope, ...added }: Scoped,
): Promise<void> {
  const touched = await transaction.query(
    `SELECT ${columns} FROM coverage WHERE chain = $1 AND scope = $2 AND from_block <= $3 AND to_block >= $4 ORDER BY from_block`,
    ordinal,
    scope,
    added.to + 1,
    added.from - 1,
  )
  await rewrite(transaction, ordinal, touched.map(intervalOf), intervals => addCoverage(intervals, added), scope)
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
  for (const [scope, rows] of Map.groupBy(touched.map(intervalOf), row => row.scope))
    await rewrite(transaction, ordinal, rows, intervals => removeCoverage(intervals, removed), scope)
}

async function rewrite(
  transaction: Transaction,
  ordinal: number,
  touched: readonly Scoped[],
  change: (intervals: CoveredInterval[]) => CoveredInterval[],
  scope: CoverageScope,
): Promise<void> {
  const before = touched.map(plain)
  const { gone, added } = coverageChange(before, change(before))
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
    `INSERT INTO watched_contracts (chain, contract, watched_from) VALUES ($1, $2, $3)
     ON CONFLICT (chain, contract) DO UPDATE SET watched_from = excluded.watched_from
     WHERE excluded.watched_from < watched_contracts.watched_from`,
    ordinal,
    bytesOfHex(contract),
    watchedFrom,
  )
}

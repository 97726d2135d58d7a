// Covered intervals as rows. The arithmetic is `coverage.ts`; here only the rows that a change touches are read and rewritten.
import { addCoverage, removeCoverage } from '../../coverage.ts'
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Address, ChainId, CoverageScope, CoveredInterval, Evidence, Interval } from '../../model.ts'
import type { WatchedContract } from '../store.ts'
import type { Connection, Row } from './connection.ts'
import type { WriteContext } from './store-file.ts'

type StoredScope = string | Buffer

function storedScope(scope: CoverageScope): StoredScope {
  return scope === 'full' || scope === 'watched' ? scope : bytesOfHex(scope)
}

function scopeOf(stored: Row[number] | undefined): CoverageScope {
  return typeof stored === 'string' ? (stored as CoverageScope) : hexOf<Address>(stored as Uint8Array)
}

function intervalOf(row: Row): CoveredInterval {
  return { from: row[0] as number, to: row[1] as number, evidence: row[2] as Evidence }
}

export function coverageOf(connection: Connection, ordinal: number, scope: CoverageScope): CoveredInterval[] {
  return connection
    .all(
      'SELECT from_block, to_block, evidence FROM coverage WHERE chain = ? AND scope = ? ORDER BY from_block',
      ordinal,
      storedScope(scope),
    )
    .map(intervalOf)
}

export function coverageByScope(
  connection: Connection,
  ordinal: number,
): { scope: CoverageScope; intervals: CoveredInterval[] }[] {
  const rows = connection.all(
    'SELECT from_block, to_block, evidence, scope FROM coverage WHERE chain = ? ORDER BY scope, from_block',
    ordinal,
  )
  const byScope = new Map<CoverageScope, CoveredInterval[]>()
  for (const row of rows) {
    const scope = scopeOf(row[3])
    const intervals = byScope.get(scope)
    if (intervals === undefined) byScope.set(scope, [intervalOf(row)])
    else intervals.push(intervalOf(row))
  }
  return [...byScope].map(([scope, intervals]) => ({ scope, intervals }))
}

/** The contract's own, the full and, from its mark on, the watched intervals, in one snapshot. */
export function contractCoverage(connection: Connection, ordinal: number, contract: Address): CoveredInterval[] {
  return connection.snapshot(() => {
    const covered = [
      coverageOf(connection, ordinal, 'full'),
      coverageOf(connection, ordinal, contract),
      watchedCoverage(connection, ordinal, contract),
    ].filter(intervals => intervals.length > 0)
    return covered.length < 2 ? (covered[0] ?? []) : covered.flat().reduce<CoveredInterval[]>(addCoverage, [])
  })
}

function watchedCoverage(connection: Connection, ordinal: number, contract: Address): CoveredInterval[] {
  const from = watchedFrom(connection, ordinal, contract)
  if (from === undefined) return []
  return removeCoverage(coverageOf(connection, ordinal, 'watched'), { from: 0, to: from - 1 })
}

export function addCoverageRows(
  connection: Connection,
  ordinal: number,
  scope: CoverageScope,
  added: CoveredInterval,
): void {
  const reach = { from: added.from - 1, to: added.to + 1 }
  rewrite(connection, ordinal, storedScope(scope), reach, touched => addCoverage(touched, added))
}

export function removeCoverageRows(
  connection: Connection,
  ordinal: number,
  scope: CoverageScope,
  removed: Interval,
): void {
  rewrite(connection, ordinal, storedScope(scope), removed, touched => removeCoverage(touched, removed))
}

/** Takes an interval out of every scope of the chain. */
export function removeCoverageOfAllScopes(connection: Connection, ordinal: number, removed: Interval): void {
  const scopes = connection.all(
    'SELECT DISTINCT scope FROM coverage WHERE chain = ? AND from_block <= ? AND to_block >= ?',
    ordinal,
    removed.to,
    removed.from,
  )
  for (const row of scopes) removeCoverageRows(connection, ordinal, scopeOf(row[0]), removed)
}

function rewrite(
  connection: Connection,
  ordinal: number,
  scope: StoredScope,
  reach: Interval,
  change: (touched: CoveredInterval[]) => CoveredInterval[],
): void {
  const touched = connection
    .all(
      'SELECT from_block, to_block, evidence FROM coverage WHERE chain = ? AND scope = ? AND from_block <= ? AND to_block >= ? ORDER BY from_block',
      ordinal,
      scope,
      reach.to,
      reach.from,
    )
    .map(intervalOf)
  const changed = change(touched)
  const same = (a: CoveredInterval, b: CoveredInterval) =>
    a.from === b.from && a.to === b.to && a.evidence === b.evidence
  for (const old of touched) {
    if (changed.some(now => same(now, old))) continue
    connection.run('DELETE FROM coverage WHERE chain = ? AND scope = ? AND from_block = ?', ordinal, scope, old.from)
  }
  for (const now of changed) {
    if (touched.some(old => same(now, old))) continue
    connection.run('INSERT INTO coverage VALUES (?, ?, ?, ?, ?)', ordinal, scope, now.from, now.to, now.evidence)
  }
}

// Contracts that are followed at the head, each with the block from which on it is.

export function watchedContracts(connection: Connection, ordinal: number): WatchedContract[] {
  return connection
    .all('SELECT contract, watched_from FROM watched_contracts WHERE chain = ? ORDER BY contract', ordinal)
    .map(([address, watchedFrom]) => ({
      contract: hexOf<Address>(address as Uint8Array),
      watchedFrom: watchedFrom as number,
    }))
}

export function watchedFrom(connection: Connection, ordinal: number, contract: Address): number | undefined {
  const row = connection.get(
    'SELECT watched_from FROM watched_contracts WHERE chain = ? AND contract = ?',
    ordinal,
    bytesOfHex(contract),
  )
  return row?.[0] as number | undefined
}

/** The lowest mark stays. */
export function watchContract(context: WriteContext, chain: ChainId, contract: Address, from: number): void {
  context.connection.run(
    `INSERT INTO watched_contracts VALUES (?, ?, ?) ON CONFLICT DO UPDATE
     SET watched_from = excluded.watched_from WHERE excluded.watched_from < watched_from`,
    context.dictionary.addOrdinal(chain),
    bytesOfHex(contract),
    from,
  )
}

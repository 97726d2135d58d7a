// Covered intervals as rows. The arithmetic is `coverage.ts`; a change reads and rewrites only the rows that it
// touches.
import { addCoverage, coverageChange, joinIntervals, removeCoverage } from '../../coverage.ts'
import { bytesOfHex, hexOf } from '../../hex.ts'
import {
  type Address,
  type ChainId,
  type CoverageScope,
  type CoveredInterval,
  type Evidence,
  type Interval,
  isContractScope,
} from '../../model.ts'
import { withoutScope } from '../forget.ts'
import type { WatchedContract } from '../store.ts'
import type { Connection, Row } from './connection.ts'
import type { WriteContext } from './store-file.ts'

type StoredScope = string | Buffer

function storedScope(scope: CoverageScope): StoredScope {
  return isContractScope(scope) ? bytesOfHex(scope) : scope
}

function scopeOf(stored: Row[number] | undefined): CoverageScope {
  return typeof stored === 'string' ? (stored as CoverageScope) : hexOf<Address>(stored as Uint8Array)
}

function intervalOf(row: Row): CoveredInterval {
  return { from: row[0] as number, to: row[1] as number, evidence: row[2] as Evidence }
}

export function coverageOf(connection: Connection, ordinal: number, scope: CoverageScope): CoveredInterval[] {
  const find = 'SELECT from_block, to_block, evidence FROM coverage WHERE chain = ? AND scope = ? ORDER BY from_block'
  return connection.all(find, ordinal, storedScope(scope)).map(intervalOf)
}

export function coverageByScope(
  connection: Connection,
  ordinal: number,
  intervalsMax = -1,
): { scope: CoverageScope; intervals: CoveredInterval[] }[] {
  // The key of the table has this order, so a bounded look walks over no more; bytes come after text.
  const find = `SELECT from_block, to_block, evidence, scope FROM coverage
    WHERE chain = ? AND NOT (typeof(scope) = 'text' AND scope LIKE 'without %') ORDER BY scope, from_block LIMIT ?`
  const byScope = Map.groupBy(connection.all(find, ordinal, intervalsMax), row => scopeOf(row[3]))
  return [...byScope].map(([scope, rows]) => ({ scope, intervals: rows.map(intervalOf) }))
}

export function forgottenBlocks(connection: Connection, ordinal: number): Interval[] {
  // Bounds that the key of the table finds; bytes come after text.
  const find = `SELECT from_block, to_block FROM coverage WHERE chain = ? AND scope >= 'without ' AND scope < 'without!'`
  const rows = connection.all(find, ordinal) as [number, number][]
  return joinIntervals(rows.map(([from, to]) => ({ from, to })))
}

/**
 * The contract's own, those of whole blocks and, from its mark on, the watched intervals, in one snapshot. Whole
 * blocks of before it was forgotten do not count.
 */
export function contractCoverage(connection: Connection, ordinal: number, contract: Address): CoveredInterval[] {
  return connection.snapshot(() => {
    const find = `SELECT from_block, to_block, evidence, scope FROM coverage
      WHERE chain = ? AND scope IN ('full', 'transfers', ?, ?) ORDER BY scope, from_block`
    const stored = connection.all(find, ordinal, bytesOfHex(contract), withoutScope(contract))
    const byScope = Map.groupBy(stored, row => scopeOf(row[3]))
    const intervalsOf = (scope: CoverageScope): CoveredInterval[] => byScope.get(scope)?.map(intervalOf) ?? []
    const without = intervalsOf(withoutScope(contract))
    const covered = [
      without.reduce(removeCoverage, intervalsOf('full')),
      without.reduce(removeCoverage, intervalsOf('transfers')),
      intervalsOf(contract),
      watchedCoverage(connection, ordinal, contract),
    ].filter(intervals => intervals.length > 0)
    return covered.length < 2 ? (covered[0] ?? []) : covered.flat().reduce<CoveredInterval[]>(addCoverage, [])
  })
}

function watchedCoverage(connection: Connection, ordinal: number, contract: Address): CoveredInterval[] {
  const find = 'SELECT watched_from FROM watched_contracts WHERE chain = ? AND contract = ?'
  const [from] = connection.get(find, ordinal, bytesOfHex(contract)) ?? []
  if (from === undefined) return []
  return removeCoverage(coverageOf(connection, ordinal, 'watched'), { from: 0, to: (from as number) - 1 })
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

/** Removes an interval from every scope of the chain, or from every one but `kept`. */
export function removeCoverageOfAllScopes(
  connection: Connection,
  ordinal: number,
  removed: Interval,
  kept?: CoverageScope,
): void {
  const find = 'SELECT DISTINCT scope FROM coverage WHERE chain = ? AND from_block <= ? AND to_block >= ?'
  const scopes = connection.all(find, ordinal, removed.to, removed.from).map(([scope]) => scopeOf(scope))
  for (const scope of scopes) if (scope !== kept) removeCoverageRows(connection, ordinal, scope, removed)
}

export type Claim = CoveredInterval & { scope: CoverageScope }

/** The same, and returns what was removed. */
export function takeCoverage(connection: Connection, ordinal: number, { from, to }: Interval): Claim[] {
  const find = `SELECT max(from_block, ?3), min(to_block, ?2), evidence, scope FROM coverage
    WHERE chain = ?1 AND from_block <= ?2 AND to_block >= ?3`
  const taken = connection.all(find, ordinal, to, from).map(row => ({ ...intervalOf(row), scope: scopeOf(row[3]) }))
  if (taken.length > 0) removeCoverageOfAllScopes(connection, ordinal, { from, to })
  return taken
}

function rewrite(
  connection: Connection,
  ordinal: number,
  scope: StoredScope,
  reach: Interval,
  change: (touched: CoveredInterval[]) => CoveredInterval[],
): void {
  const find = `SELECT from_block, to_block, evidence FROM coverage
    WHERE chain = ? AND scope = ? AND from_block <= ? AND to_block >= ? ORDER BY from_block`
  const touched = connection.all(find, ordinal, scope, reach.to, reach.from).map(intervalOf)
  const { gone, added } = coverageChange(touched, change(touched))
  for (const { from } of gone)
    connection.run('DELETE FROM coverage WHERE chain = ? AND scope = ? AND from_block = ?', ordinal, scope, from)
  for (const { from, to, evidence } of added)
    connection.run('INSERT INTO coverage VALUES (?, ?, ?, ?, ?)', ordinal, scope, from, to, evidence)
}

// Contracts that are followed at the head, each from a block on.

export function watchedContracts(connection: Connection, ordinal: number): WatchedContract[] {
  return connection
    .all('SELECT contract, watched_from FROM watched_contracts WHERE chain = ? ORDER BY contract', ordinal)
    .map(([address, watchedFrom]) => ({
      contract: hexOf<Address>(address as Uint8Array),
      watchedFrom: watchedFrom as number,
    }))
}

/** The lowest mark stays. */
export function watchContract(context: WriteContext, chain: ChainId, contract: Address, from: number): void {
  context.connection.run(
    `INSERT INTO watched_contracts VALUES (?, ?, ?, unixepoch() / 86400) ON CONFLICT DO UPDATE
     SET watched_from = excluded.watched_from WHERE excluded.watched_from < watched_from`,
    context.dictionary.addOrdinal(chain),
    bytesOfHex(contract),
    from,
  )
}

export function unwatchContract(connection: Connection, ordinal: number, contract: Address): void {
  connection.run('DELETE FROM watched_contracts WHERE chain = ? AND contract = ?', ordinal, bytesOfHex(contract))
}

export function idleContracts(connection: Connection, ordinal: number, before: number): Address[] {
  const find = 'SELECT contract FROM watched_contracts WHERE chain = ? AND asked_on < ? ORDER BY contract'
  return connection.all(find, ordinal, before).map(([address]) => hexOf<Address>(address as Uint8Array))
}

export function noteAsked(connection: Connection, ordinal: number, contract: Address, day: number): void {
  const note = 'UPDATE watched_contracts SET asked_on = ?3 WHERE chain = ?1 AND contract = ?2 AND asked_on <> ?3'
  connection.run(note, ordinal, bytesOfHex(contract), day)
}

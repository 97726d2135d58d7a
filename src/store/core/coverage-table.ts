// Covered intervals as rows. The arithmetic is `coverage.ts`; a change reads and rewrites only the rows that it
// touches. Callers hold the transaction.
import { addCoverage, coverageChange, isTouched, joinByScope, removeCoverage } from '../../coverage.ts'
import { bytesOfHex, hexOf } from '../../hex.ts'
import {
  type Address,
  type CoverageScope,
  type CoveredInterval,
  chainScopes,
  type Interval,
  isWholeScope,
} from '../../model.ts'
import { withoutScope } from '../forget.ts'
import type { Claim, Watch, WatchedContract } from '../store.ts'
import { insert, lock, put, type Row, row, rows, run, type Work } from './work.ts'

const columns = 'from_block, to_block, evidence, scope'
/** Those that are not of a contract. */
const ofChain = `(${chainScopes.map(scope => `'${scope}'`).join()})`

function intervalOf([from, to, evidence]: Row): CoveredInterval {
  return { from, to, evidence }
}

function byScope(found: readonly Row[]): { scope: CoverageScope; intervals: CoveredInterval[] }[] {
  const grouped = Map.groupBy(found, each => each[3] as CoverageScope)
  return [...grouped].map(([scope, ofScope]) => ({ scope, intervals: ofScope.map(intervalOf) }))
}

export function* coverageOf(
  chain: number,
  scopes: CoverageScope | readonly CoverageScope[] | undefined,
  claimsMax = 2 ** 31 - 1,
): Work<Claim[]> {
  const part = (condition: string): string =>
    `SELECT * FROM (SELECT ${columns} FROM coverage WHERE chain = $1 AND ${condition} ORDER BY scope, from_block
     LIMIT $2:int) AS part`
  const ofContracts = `scope NOT IN ${ofChain} AND scope NOT LIKE 'without %'`
  const found =
    scopes === undefined
      ? rows(`${part(`scope IN ${ofChain}`)} UNION ALL ${part(ofContracts)} LIMIT $2:int`, chain, claimsMax)
      : rows(part('scope IN $3:texts'), chain, claimsMax, [scopes].flat())
  return (yield* found).map(each => ({ ...intervalOf(each), scope: each[3] }))
}

const findOfContract = `SELECT ${columns}, (SELECT watched_from FROM watched_contracts WHERE chain = $1 AND contract = $3)
  FROM coverage WHERE chain = $1 AND (scope IN ${ofChain} OR scope IN ($2, $4)) ORDER BY scope, from_block`
// Bounds that the key of the table finds.
const findOfEvery = `SELECT ${columns}, NULL FROM coverage
  WHERE chain = $1 AND (scope IN ${ofChain} OR scope >= 'without ' AND scope < 'without!') ORDER BY scope, from_block`

/**
 * The contract's own, those of whole blocks and, from its mark on, the watched intervals, in one statement. Whole
 * blocks of before it was forgotten do not count.
 */
export function* contractCoverage(chain: number, contract: Address | 'every'): Work<CoveredInterval[]> {
  const found =
    contract === 'every'
      ? yield* rows(findOfEvery, chain)
      : yield* rows(findOfContract, chain, contract, bytesOfHex(contract), withoutScope(contract))
  const isWithout = ([, , , scope]: Row): boolean => scope.startsWith('without ')
  const forgotten = found.filter(isWithout).map(intervalOf)
  const covered = found.flatMap(each => {
    const [, , , scope, watchedFrom] = each
    if (isWithout(each)) return []
    if (isWholeScope(scope)) return forgotten.reduce(removeCoverage, [intervalOf(each)])
    if (scope !== 'watched') return [intervalOf(each)]
    return watchedFrom === null ? [] : removeCoverage([intervalOf(each)], { from: 0, to: watchedFrom - 1 })
  })
  return covered.length < 2 ? covered : covered.reduce<CoveredInterval[]>(addCoverage, [])
}

export function* addClaims(chain: number, claims: readonly Claim[]): Work<void> {
  if (claims.length === 0) return
  yield* lock('coverage', chain)
  for (const { scope, ...added } of joinByScope(claims)) {
    const find = `SELECT ${columns} FROM coverage WHERE chain = $1 AND scope = $2 AND from_block <= $3 AND to_block >= $4
      ORDER BY from_block`
    const before = (yield* rows(find, chain, scope, added.to + 1, added.from - 1)).map(intervalOf)
    yield* rewrite(chain, scope, before, addCoverage(before, added))
  }
}

/** Removes an interval from the scopes that are meant, or from every one. Answers what was removed. */
export function* removeClaims(
  chain: number,
  removed: Interval,
  isMeant: (scope: CoverageScope) => boolean = () => true,
): Work<Claim[]> {
  const find = `SELECT ${columns} FROM coverage WHERE chain = $1 AND from_block <= $2 AND to_block >= $3
    ORDER BY scope, from_block`
  const claimed = (yield* rows(find, chain, removed.to, removed.from)).filter(each => isMeant(each[3]))
  if (claimed.length === 0) return []
  yield* lock('coverage', chain)
  // Again, because another may have changed it before it was locked out.
  const touched = (yield* rows(find, chain, removed.to, removed.from)).filter(each => isMeant(each[3]))
  for (const { scope, intervals } of byScope(touched))
    yield* rewrite(chain, scope, intervals, removeCoverage(intervals, removed))
  return touched.map(([from, to, evidence, scope]) => ({
    ...{ from: Math.max(from, removed.from), to: Math.min(to, removed.to), evidence, scope },
  }))
}

function* rewrite(
  chain: number,
  scope: CoverageScope,
  before: readonly CoveredInterval[],
  after: readonly CoveredInterval[],
): Work<void> {
  const { gone, added } = coverageChange(before, after)
  const starts = gone.map(({ from }) => from)
  if (gone.length > 0)
    yield* run('DELETE FROM coverage WHERE chain = $1 AND scope = $2 AND from_block IN $3:ints', chain, scope, starts)
  yield* insert(
    'coverage',
    added.map(({ from, to, evidence }) => ({ chain, scope, from_block: from, to_block: to, evidence })),
  )
}

// Contracts that are followed at the head, each from a block on.

export function* watchedContracts(chain: number): Work<WatchedContract[]> {
  const find = 'SELECT contract, watched_from, asked_on FROM watched_contracts WHERE chain = $1 ORDER BY contract'
  return (yield* rows(find, chain)).map(([address, watchedFrom, askedOn]) => ({
    ...{ contract: hexOf<Address>(address), watchedFrom, askedOn },
  }))
}

const msPerDay = 86_400_000
const putWatched = `INSERT INTO watched_contracts (chain, contract, watched_from, asked_on) VALUES ($1, $2, $3, $4)
  ON CONFLICT (chain, contract) DO UPDATE SET watched_from = excluded.watched_from
  WHERE excluded.watched_from < watched_contracts.watched_from`
const noteAsked = 'UPDATE watched_contracts SET asked_on = $3 WHERE chain = $1 AND contract = $2 AND asked_on <> $3'

export function* watchContract(chain: number, contract: Address, watch: Watch): Work<void> {
  const of = [chain, bytesOfHex(contract)] as const
  if (watch === 'ended') yield* run('DELETE FROM watched_contracts WHERE chain = $1 AND contract = $2', ...of)
  else if ('askedOn' in watch) yield* run(noteAsked, ...of, watch.askedOn)
  else yield* run(putWatched, ...of, watch.from, Math.floor(Date.now() / msPerDay))
}

// Ranges of whole blocks whose rows are stored ahead of their claim.

export type PendingRange = Interval & { hash: Uint8Array }

export function* pendingOf(chain: number): Work<PendingRange[]> {
  const find = 'SELECT from_block, to_block, hash FROM pending_ranges WHERE chain = $1 ORDER BY from_block'
  return (yield* rows(find, chain)).map(([from, to, hash]) => ({ from, to, hash }))
}

export function* pendingWithin(chain: number, intervals: readonly Interval[]): Work<PendingRange[]> {
  if (intervals.length === 0) return []
  const all = yield* pendingOf(chain)
  return all.filter(range => isTouched(intervals, range))
}

export function* addPending(chain: number, ranges: readonly PendingRange[]): Work<void> {
  yield* put(
    'pending_ranges',
    ranges.map(({ from, to, hash }) => ({ chain, from_block: from, to_block: to, hash })),
  )
}

/** Those that reach into one of the intervals are pending no more. */
export function* endPending(chain: number, intervals: readonly Interval[]): Work<PendingRange[]> {
  const ended = yield* pendingWithin(chain, intervals)
  const starts = ended.map(({ from }) => from)
  if (ended.length > 0)
    yield* run('DELETE FROM pending_ranges WHERE chain = $1 AND from_block IN $2:ints', chain, starts)
  return ended
}

/** All rows that the tables of this file have of a chain. */
export function* dropClaimsOfChain(chain: number): Work<void> {
  for (const table of ['coverage', 'pending_ranges', 'watched_contracts'])
    yield* run(`DELETE FROM ${table} WHERE chain = $1`, chain)
}

export function* highestClaim(chain: number): Work<number> {
  const found = yield* row(
    `SELECT max(to_block) FROM (SELECT to_block FROM coverage WHERE chain = $1 AND scope IN ('full', 'transfers')
       UNION ALL SELECT to_block FROM pending_ranges WHERE chain = $1) AS claimed`,
    chain,
  )
  return found?.[0] ?? -1
}

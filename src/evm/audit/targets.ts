// Chooses the stretches that an audit compares: a given one, or random ones that are covered and final. It asks no
// node.
import type { Chain } from '../../chains.ts'
import { blockCount, missingIntervals, wholeCoverage } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import { ledgerName, ledgerOf } from '../../ledgers.ts'
import { type Address, chainScopes, type Interval, isContractScope } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { WholeScope } from '../../views.ts'
import { type AuditTarget, contractsOf } from './audit.ts'

export type TargetOptions = {
  store: Store
  chain: Chain
  /** Whole blocks, these contracts, or every contract that the store knows. */
  scope: WholeScope | 'known' | readonly Address[]
  /** The highest block that is final for both the store and the node. */
  finalized: number
}

/** Fails if the store does not claim the range: then there is nothing to compare with. */
export async function givenTargets(options: TargetOptions, interval: Interval): Promise<AuditTarget[]> {
  const { store, chain, scope, finalized } = options
  if (interval.to > finalized) {
    throw new AlmanacError(
      'bad_request',
      `Block ${interval.to} of ${chain.name} is not final: the final block is ${finalized}.`,
      {
        hint: `give --to ${finalized} or less.`,
      },
    )
  }
  if (isWhole(scope)) {
    const claims = await wholeClaims(store, chain)
    const { covered } = claims
    const pending = partsWithin(await store.pendingRanges(chain.id), interval)
    requireCovered(chain, interval, [...covered, ...pending])
    const unclaimed = missingIntervals(covered, interval).flatMap(gap => partsWithin(pending, gap))
    return [...missingIntervals(unclaimed, interval), ...unclaimed].map(part => ({
      ...{ interval: part, contract: undefined },
      ...claims,
    }))
  }
  const targets: AuditTarget[] = []
  for (const contract of scope === 'known' ? await knownContracts(store, chain) : scope) {
    const covered = await store.contractCoverage(chain.id, contract)
    if (scope !== 'known') requireCovered(chain, interval, covered, contract)
    const claims = missingIntervals(covered, interval)
    const nothingClaimed = blockCount(claims) === blockCount([interval])
    const rows = {
      chain: chain.id,
      contract,
      fromBlock: interval.from,
      toBlock: interval.to,
      order: 'asc',
      limit: 1,
    } as const
    if (nothingClaimed && (await store.transferPage(rows)).length === 0) continue
    targets.push({ interval, contract, covered, wallets: [] })
  }
  if (targets.length === 0) throw nothingCovered(chain)
  return targets
}

/** Everything covered, if that is at most what was asked for. */
export async function randomTargets(
  options: TargetOptions,
  { samples, blocks }: { samples: number; blocks: number },
  random: () => number = Math.random,
): Promise<AuditTarget[]> {
  const { store, chain, scope, finalized } = options
  const contracts = isWhole(scope) ? [undefined] : scope === 'known' ? await knownContracts(store, chain) : scope
  const claims: (Omit<AuditTarget, 'interval'> & { open: Interval[] })[] = []
  for (const contract of contracts) {
    const claimed = await (contract === undefined
      ? wholeClaims(store, chain)
      : { covered: await store.contractCoverage(chain.id, contract), wallets: [] })
    const { covered } = claimed
    // Rows that wait for their claim must be right as well.
    const pending = contract === undefined ? await store.pendingRanges(chain.id) : []
    const open = [...covered, ...pending]
      .filter(({ from }) => from <= finalized)
      .map(({ from, to }) => ({ from, to: Math.min(to, finalized) }))
    if (open.length > 0) claims.push({ contract, ...claimed, open })
  }
  if (claims.length === 0) throw nothingCovered(chain)
  if (claims.reduce((sum, { open }) => sum + blockCount(open), 0) <= samples * blocks)
    return claims.flatMap(({ open, ...claim }) => open.map(interval => ({ interval, ...claim })))
  return Array.from({ length: samples }, () => {
    const { open, ...claim } = claims[Math.floor(random() * claims.length)]!
    return { interval: randomInterval(open, blocks, random), ...claim }
  })
}

function isWhole(scope: TargetOptions['scope']): scope is WholeScope {
  return scope === 'full' || scope === 'transfers'
}

async function wholeClaims(store: Store, chain: Chain): Promise<Pick<AuditTarget, 'covered' | 'wallets'>> {
  const claims = await store.coverage(chain.id, chainScopes)
  return { covered: wholeCoverage(claims, 'transfers'), wallets: wholeCoverage(claims, 'full') }
}

function partsWithin(ranges: readonly Interval[], bounds: Interval): Interval[] {
  const parts = ranges.map(({ from, to }) => ({ from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) }))
  return parts.filter(({ from, to }) => from <= to)
}

/** Every covered block is equally likely to be the first. */
function randomInterval(open: readonly Interval[], blocks: number, random: () => number): Interval {
  let skip = Math.floor(random() * blockCount(open))
  for (const { from, to } of open) {
    if (skip <= to - from) return { from: from + skip, to: Math.min(to, from + skip + blocks - 1) }
    skip -= to - from + 1
  }
  throw new Error('No covered block is left to choose from.')
}

async function knownContracts(store: Store, chain: Chain): Promise<Address[]> {
  const known = new Set<Address>()
  for (const { scope } of await store.coverage(chain.id)) if (isContractScope(scope)) known.add(scope)
  for (const { contract } of await store.watchedContracts(chain.id)) known.add(contract)
  for await (const contract of contractsOf(store, chain)) known.add(contract)
  return [...known]
}

function requireCovered(chain: Chain, interval: Interval, covered: readonly Interval[], contract?: Address): void {
  const [gap] = missingIntervals(covered, interval)
  if (gap === undefined) return
  const { ledger } = ledgerOf(chain.id)
  const name = ledgerName(chain.name, ledger)
  const whose = contract === undefined ? name : `${name} contract ${contract}`
  // No other command indexes tokens.
  const command = ledger === 'erc20' ? 'start' : `sync --chain ${JSON.stringify(chain.name)}`
  throw new AlmanacError('not_found', `Blocks ${gap.from} to ${gap.to} of ${whose} are not indexed.`, {
    hint: `index them first with almanac ${command}, or give a range that is covered.`,
  })
}

function nothingCovered(chain: Chain): AlmanacError {
  const name = ledgerName(chain.name, ledgerOf(chain.id).ledger)
  return new AlmanacError('not_found', `${name} has no indexed blocks to compare.`, {
    hint: 'index something first with almanac start or almanac sync.',
  })
}

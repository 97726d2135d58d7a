// The coverage of a chain as a whole: what is claimed of all its contracts. Its size does not depend on how many they
// are.
import { removeCoverage, wholeCoverage } from '../coverage.ts'
import { type ChainId, type CoverageScope, type CoveredInterval, chainScopes } from '../model.ts'
import type { ChainReader } from './store.ts'

export async function chainCoverage(
  store: Pick<ChainReader, 'coverage'>,
  chain: ChainId,
): Promise<(CoveredInterval & { scope: CoverageScope })[]> {
  const covered = await Promise.all(chainScopes.map(scope => store.coverage(chain, scope)))
  return chainScopes.flatMap((scope, at) => covered[at]!.map(interval => ({ ...interval, scope })))
}

/** What is claimed of every contract: blocks of which one was forgotten are not. */
export async function everyContractCoverage(
  store: Pick<ChainReader, 'coverage' | 'forgottenBlocks'>,
  chain: ChainId,
): Promise<CoveredInterval[]> {
  const [claims, forgotten] = await Promise.all([chainCoverage(store, chain), store.forgottenBlocks(chain)])
  return forgotten.reduce(removeCoverage, wholeCoverage(claims, 'transfers'))
}

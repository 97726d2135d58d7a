// The coverage of a chain as a whole: what is claimed of all its contracts. Its size does not depend on how many they
// are.
import { type ChainId, type CoverageScope, type CoveredInterval, chainScopes } from '../model.ts'
import type { ChainReader } from './store.ts'

export async function chainCoverage(
  store: Pick<ChainReader, 'coverage'>,
  chain: ChainId,
): Promise<(CoveredInterval & { scope: CoverageScope })[]> {
  const covered = await Promise.all(chainScopes.map(scope => store.coverage(chain, scope)))
  return chainScopes.flatMap((scope, at) => covered[at]!.map(interval => ({ ...interval, scope })))
}

// What a chain that is indexed in full must still read. It asks no node.
import { missingIntervals, wholeCoverage } from '../../coverage.ts'
import { type ChainId, type CoveredInterval, chainScopes, type Interval } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { WholeScope } from '../../views.ts'

export type WholeBlocks = {
  /** What is claimed for the scope, lowest first. */
  covered: CoveredInterval[]
  missing: Interval[]
  /** Blocks that lack the activity of wallets alone are among these; undefined where there are none. */
  stored: CoveredInterval[] | undefined
}

export async function wholeBlocks(
  store: Store,
  { chain, scope, wanted }: { chain: ChainId; scope: WholeScope; wanted: Interval },
): Promise<WholeBlocks> {
  const claims = await store.coverage(chain, chainScopes)
  const covered = wholeCoverage(claims, scope)
  const isUpgrade = scope === 'full' && claims.some(claim => claim.scope === 'transfers')
  const stored = isUpgrade ? wholeCoverage(claims, 'transfers') : undefined
  return { covered, missing: missingIntervals(covered, wanted), stored }
}

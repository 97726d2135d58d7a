// Whether a chain keeps the index of transfers that an operation needs: an answer without it would say that there is
// nothing. One that is still filled is kept.
import { ChainTable } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import type { ChainId, CoveredInterval } from '../model.ts'
import type { IndexState } from '../store/index-reader.ts'
import type { IndexName } from '../store/runs/view.ts'
import type { ChainState } from '../store/store.ts'

export type KeptIndexes = { kept: ReadonlySet<IndexName>; filled: ReadonlySet<IndexName> }

export function keptAndFilled(states: readonly IndexState[]): KeptIndexes {
  const filled = states.filter(index => index.filled)
  return { kept: new Set(states.map(({ index }) => index)), filled: new Set(filled.map(({ index }) => index)) }
}

/** A chain that the store does not know yet will keep what its settings name. */
export function requireIndex(
  index: IndexName,
  { chain, chains = new ChainTable() }: { chain: ChainId; chains?: ChainTable | undefined },
  known: { state: ChainState | undefined; coverage: readonly CoveredInterval[]; kept: ReadonlySet<IndexName> },
): void {
  const isKnown = known.state !== undefined || known.coverage.length > 0
  if (!isKnown || known.kept.has(index)) return
  const name = chains.byId(chain)?.name ?? `${chain}`
  throw new AlmanacError(
    'not_configured',
    `Chain ${name} does not keep ${index}, which this operation needs: add it to chains.${name}.views`,
    { details: { chain: name, view: index } },
  )
}

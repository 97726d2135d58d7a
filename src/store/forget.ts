// Forgetting a chain, a contract or a view: in which order its rows go, and how one that was cut off is finished.
// `core/forget.ts` removes the rows.
import type { Address, ChainId, CoverageScope } from '../model.ts'
import type { ForgetTarget, Store } from './store.ts'

// Counts are exact after each step, and a block outlives its rows.
const phasesOf = {
  chain: ['recent', 'runs', 'blocks', 'facts', 'uris', 'packs'],
  contract: ['recent', 'runs', 'counts', 'uris'],
  activity: ['recent', 'runs', 'packs'],
  index: ['packs'],
} as const

export type ForgetPhase = (typeof phasesOf)[keyof typeof phasesOf][number]

/** `after`: where the phase goes on. */
export type ForgetState = { what: ForgetTarget; phase: ForgetPhase; after: string }

/** Without `after` the phase is done. */
export type PhaseStep = { removed: number; after?: string }

/** A transaction of a fraction of a second. */
const rowsPerStep = 20_000

/** The checkpoint of what is being forgotten. */
export function forgetName(chain: ChainId): string {
  return `forget/${chain}`
}

export function stateOf(stored: string | undefined): ForgetState | undefined {
  return stored === undefined ? undefined : (JSON.parse(stored) as ForgetState)
}

export function firstState(what: ForgetTarget): ForgetState {
  return { what, phase: phases(what)[0]!, after: '' }
}

/** Undefined at the end. */
export function stateAfter({ what, phase }: ForgetState, { after }: PhaseStep): ForgetState | undefined {
  if (after !== undefined) return { what, phase, after }
  const next = phases(what)[phases(what).indexOf(phase) + 1]
  return next === undefined ? undefined : { what, phase: next, after: '' }
}

function phases({ contract, view }: ForgetTarget): readonly ForgetPhase[] {
  if (contract !== undefined) return phasesOf.contract
  if (view === undefined || view === 'activity') return phasesOf[view ?? 'chain']
  return phasesOf.index
}

/**
 * The scope of blocks that were claimed as a whole before this contract was forgotten: what is claimed of them is not
 * claimed of the contract. Blocks that are stored anew leave it, as they leave every scope.
 */
export function withoutScope(contract: Address): CoverageScope {
  return `without ${contract}` as CoverageScope
}

export type ForgetOptions = { rowsMax?: number; onRemoved?: (rows: number) => void; signal?: AbortSignal }

/** After a crash or an interruption the same call goes on. */
export async function forget(store: Store, what: ForgetTarget, options: ForgetOptions = {}): Promise<void> {
  await finishForgetting(store, what.chain, options)
  await stepToEnd(store, what, options)
}

/** Before anything is indexed into a chain: finishes what was begun and cut off. */
export async function finishForgetting(store: Store, chain: ChainId, options: ForgetOptions = {}): Promise<void> {
  const begun = stateOf(await store.checkpoint(forgetName(chain)))
  if (begun !== undefined) await stepToEnd(store, begun.what, options)
}

async function stepToEnd(
  store: Store,
  what: ForgetTarget,
  { rowsMax = rowsPerStep, onRemoved, signal }: ForgetOptions,
): Promise<void> {
  while (true) {
    signal?.throwIfAborted()
    const { removed, done } = await store.forgetStep(what, rowsMax)
    onRemoved?.(removed)
    if (done) return
  }
}

// Which chains and networks this service is configured for, and which of them can answer an operation, as forms offer
// them.
import { signal } from '@preact/signals'
import { chainPairs, type Parameter } from '../state/document.ts'
import { type LiveChain, status } from '../state/live.ts'
import type { Problem } from '../state/service.ts'

export type Offered = {
  here: readonly string[]
  /** Configured, without what the operation asks of a chain. */
  unable: readonly string[]
  /** Known by name, and never answered for here. */
  elsewhere: readonly string[]
}

/** Nothing of it is known where only its name was told. */
type ToldChain = Partial<Pick<LiveChain, 'views' | 'erc20'>> & { rpc?: readonly object[] }

/** What was told to somebody who is not signed in, to whom no status is told. */
export const toldOnce = signal<{ chains: Readonly<Record<string, ToldChain>>; solana?: object } | undefined>(undefined)
const known = () => status.value ?? toldOnce.value

/** A refused chain comes with those that are configured, which a key without the scope `ops` is told nowhere else. */
export function learnConfigured(problem: Problem | undefined): void {
  const { configured } = ((problem?.body ?? {}) as { details?: { configured?: unknown } }).details ?? {}
  if (known() !== undefined || !Array.isArray(configured)) return
  toldOnce.value = { chains: Object.fromEntries(configured.map(name => [name, {}])) }
}

/**
 * Undefined while it is not known what is configured: then all are offered alike. `path` is that of the operation: one
 * on ERC-20 tokens takes a chain that keeps them, or has a node to index them from on demand.
 */
export function offeredChains(parameter: Parameter, path: string): Offered | undefined {
  const all = chainPairs(parameter).map(({ name }) => name)
  return offered(all, namesIn(known()?.chains), name => canAnswer(name, path))
}

export function offeredNetworks({ schema }: Parameter): Offered | undefined {
  return offered(schema.enum ?? [], namesIn(known()?.solana))
}

export function canAnswer(chain: string, path: string): boolean {
  return !path.includes('/erc20') || hasTokens(known()?.chains[chain] ?? {})
}

function hasTokens({ rpc, views, erc20 }: ToldChain): boolean {
  return rpc === undefined || rpc.length > 0 || erc20 !== undefined || views?.includes('erc20') === true
}

function namesIn(places: object | undefined): string[] | undefined {
  return places && Object.keys(places)
}

function offered(
  all: readonly string[],
  configured: readonly string[] | undefined,
  isAble: (name: string) => boolean = () => true,
): Offered | undefined {
  if (configured === undefined) return undefined
  return {
    here: configured.filter(isAble),
    unable: configured.filter(name => !isAble(name)),
    elsewhere: all.filter(name => !configured.includes(name)),
  }
}

export function isConfigured(chain: string): boolean {
  const chains = known()?.chains
  return chains === undefined || chain in chains
}

/** What a form has in a field that was not filled: a chain and a network that can answer. */
export function defaultOf(parameter: Parameter, path: string): string | undefined {
  if (parameter.name === 'chain') return offeredChains(parameter, path)?.here[0]
  if (parameter.name === 'network') return offeredNetworks(parameter)?.here[0] ?? parameter.schema.enum?.[0]
  return undefined
}

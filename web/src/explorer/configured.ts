// Which chains and networks this service is configured for, as forms offer them.
import { signal } from '@preact/signals'
import { chainPairs, type Parameter } from '../state/document.ts'
import { status } from '../state/live.ts'
import type { Problem } from '../state/service.ts'

export type Offered = {
  here: readonly string[]
  /** Known by name, and never answered for here. */
  elsewhere: readonly string[]
}

/** What was told to somebody who is not signed in, to whom no status is told. */
export const toldOnce = signal<{ chains: object; solana?: object } | undefined>(undefined)
const known = () => status.value ?? toldOnce.value

/** A refused chain comes with those that are configured, which a key without the scope `ops` is told nowhere else. */
export function learnConfigured(problem: Problem | undefined): void {
  const { configured } = ((problem?.body ?? {}) as { details?: { configured?: unknown } }).details ?? {}
  if (known() !== undefined || !Array.isArray(configured)) return
  toldOnce.value = { chains: Object.fromEntries(configured.map(name => [name, {}])) }
}

/** Undefined while it is not known what is configured: then all are offered alike. */
export function offeredChains(parameter: Parameter): Offered | undefined {
  return offered(
    chainPairs(parameter).map(({ name }) => name),
    namesIn(known()?.chains),
  )
}

export function offeredNetworks({ schema }: Parameter): Offered | undefined {
  return offered(schema.enum ?? [], namesIn(known()?.solana))
}

function namesIn(places: object | undefined): string[] | undefined {
  return places && Object.keys(places)
}

function offered(all: readonly string[], configured: readonly string[] | undefined): Offered | undefined {
  if (configured === undefined) return undefined
  return { here: configured, elsewhere: all.filter(name => !configured.includes(name)) }
}

export function isConfigured(chain: string): boolean {
  const chains = known()?.chains
  return chains === undefined || chain in chains
}

/** What a form has in a field that was not filled: a chain and a network that can answer. */
export function defaultOf(parameter: Parameter): string | undefined {
  if (parameter.name === 'chain') return offeredChains(parameter)?.here[0]
  if (parameter.name === 'network') return offeredNetworks(parameter)?.here[0] ?? parameter.schema.enum?.[0]
  return undefined
}

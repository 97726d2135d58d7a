// Which chains and networks this service is configured for, as forms offer them.
import { chainPairs, type Parameter } from '../state/document.ts'
import { status } from '../state/live.ts'

export type Offered = {
  here: readonly string[]
  /** Known by name, and never answered for here. */
  elsewhere: readonly string[]
}

/** Undefined while it is not known what is configured: then all are offered alike. */
export function offeredChains(parameter: Parameter): Offered | undefined {
  return offered(
    chainPairs(parameter).map(({ name }) => name),
    status.value && Object.keys(status.value.chains),
  )
}

export function offeredNetworks({ schema }: Parameter): Offered | undefined {
  return offered(schema.enum ?? [], status.value && Object.keys(status.value.solana))
}

function offered(known: readonly string[], configured: readonly string[] | undefined): Offered | undefined {
  if (configured === undefined) return undefined
  return { here: configured, elsewhere: known.filter(name => !configured.includes(name)) }
}

export function isConfigured(chain: string): boolean {
  return status.value === undefined || chain in status.value.chains
}

/** What a form has in a field that was not filled: a chain and a network that can answer. */
export function defaultOf(parameter: Parameter): string | undefined {
  if (parameter.name === 'chain') return offeredChains(parameter)?.here[0]
  if (parameter.name === 'network') return offeredNetworks(parameter)?.here[0] ?? parameter.schema.enum?.[0]
  return undefined
}

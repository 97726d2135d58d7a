// From what configuration says of a chain to the chain itself and a transport to its endpoints. It asks nothing yet.
import type { Chain, ChainTable } from '../chains.ts'
import type { Address } from '../model.ts'
import { ChainRpc } from './rpc/chain-rpc.ts'
import type { EndpointSettings, RpcObserver } from './rpc/endpoint.ts'

/** What configuration says of a chain, by its name. */
export type EvmChainSettings = {
  rpc: readonly string[]
  ws?: string | undefined
  index: 'full' | 'on-demand'
  from: number
  contracts: readonly Address[]
  requestsPerSecond?: number | undefined
  dailyBudget?: number | undefined
  finality?: 'tag' | number | undefined
}

export type ConnectedChain = { chain: Chain; rpc: ChainRpc }

export function connectChain(
  name: string,
  settings: Pick<EvmChainSettings, 'rpc' | 'finality' | 'requestsPerSecond' | 'dailyBudget'>,
  { chains, observer }: { chains: ChainTable; observer: RpcObserver },
): ConnectedChain {
  const { rpc: urls, finality, requestsPerSecond, dailyBudget } = settings
  const known = chains.parse(name)
  if (known === undefined) throw new Error(`The chain table lacks ${name}.`)
  const chain = {
    ...known,
    ...(finality === 'tag' ? { finalizedTag: true } : {}),
    ...(typeof finality === 'number' ? { finalizedTag: false, finalityDepth: finality } : {}),
  }
  // Configured for the chain as a whole; each endpoint gets its share.
  const share = (whole: number | undefined): number | undefined =>
    whole === undefined ? undefined : whole / urls.length
  const limits: EndpointSettings = { requestsPerSecond: share(requestsPerSecond), requestsPerDay: share(dailyBudget) }
  return { chain, rpc: new ChainRpc({ chain, endpoints: urls.map(url => ({ url, ...limits })), observer }) }
}

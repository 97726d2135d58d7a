// What a new configuration shall hold, as flags say it. Pure; every slip is told with what is accepted.

import { chainCommonlyCalled, referenceChains } from '../chains.ts'
import { nearestWord } from '../config/nearest.ts'
import { AlmanacError } from '../errors.ts'
import type { Address, SolanaNetwork } from '../model.ts'
import { redactUrl } from '../redact-url.ts'
import { parseContracts } from './chain-options.ts'
import type { InitFlags } from './init-command.ts'

export type ChainWish = {
  name: string
  /** Only of a chain that is none of the built-in ones; found out where it is not given. */
  id?: number
  rpc: string[]
  ws?: string
  index: 'full' | 'on-demand'
  contracts: Address[]
}

export type SolanaWish = { network: SolanaNetwork; rpc: string[]; ws?: string }

export type Wishes = { chains: ChainWish[]; solana: SolanaWish[]; store?: string }

const solanaNetworks: readonly SolanaNetwork[] = ['mainnet', 'devnet']

export function wishesOf(flags: InitFlags): Wishes {
  const sockets = new Map((flags.ws ?? []).map(text => chainPairOf('--ws', text)))
  const contracts = Map.groupBy(
    (flags.contract ?? []).map(text => chainPairOf('--contract', text)),
    ([name]) => name,
  )
  const chains = (flags.chain ?? []).map(text => {
    const [name, urls] = chainPairOf('--chain', text)
    const ws = sockets.get(name)
    sockets.delete(name)
    const own = contracts.get(name) ?? []
    contracts.delete(name)
    return {
      name,
      rpc: parseUrls('--chain', urls),
      ...(ws === undefined ? {} : { ws: parseSocket('--ws', ws) }),
      index: flags.index ?? 'on-demand',
      contracts: own.flatMap(([, list]) => parseContracts(list)),
    }
  })
  for (const name of [...sockets.keys(), ...contracts.keys()])
    throw new AlmanacError('bad_request', `${name} has a WebSocket endpoint or contracts, but no --chain.`, {
      hint: `add --chain ${name}=http://….`,
    })
  const solanaSockets = new Map((flags.solanaWs ?? []).map(text => pairOf('--solana-ws', text)))
  const solana = (flags.solana ?? []).map(text => {
    const [name, urls] = pairOf('--solana', text)
    const ws = solanaSockets.get(name)
    return {
      network: parseNetwork(name),
      rpc: parseUrls('--solana', urls),
      ...(ws === undefined ? {} : { ws: parseSocket('--solana-ws', ws) }),
    }
  })
  return { chains, solana, ...(flags.store === undefined ? {} : { store: flags.store }) }
}

function chainPairOf(flag: string, text: string): [name: string, value: string] {
  const [name, value] = pairOf(flag, text)
  return [chainNamed(name), value]
}

/** As the chain is called here, where it is a chain that is built in; otherwise as it was given. */
export function chainNamed(name: string): string {
  return chainCommonlyCalled(name) ?? name.trim().toLowerCase()
}

/** `name=value`; the value of a chain's contracts needs no name where there is no doubt. */
function pairOf(flag: string, text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  if (at > 0 && at < text.length - 1) return [text.slice(0, at).trim().toLowerCase(), text.slice(at + 1).trim()]
  throw new AlmanacError('bad_request', `${flag} lacks a name or a value.`, {
    hint: `write it as ${flag} name=value, such as ${flag === '--contract' ? 'eth=0x…' : 'eth=http://127.0.0.1:8545'}.`,
  })
}

/** The text may hold a key, so that only its host is ever shown. */
export function parseUrls(what: string, text: string): string[] {
  const urls = text.split(/,\s*(?=https?:\/\/)/).map(part => part.trim())
  for (const url of urls) {
    if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) continue
    throw new AlmanacError('bad_request', `${what} has an endpoint that is no URL: ${redactUrl(url)}.`, {
      hint: 'give http:// or https:// URLs, and a comma between several.',
    })
  }
  return urls
}

export function parseSocket(what: string, text: string): string {
  if (/^wss?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new AlmanacError('bad_request', `${what} has ${redactUrl(text)}, which is no WebSocket URL.`, {
    hint: 'give a ws:// or wss:// URL.',
  })
}

export function parseNetwork(text: string): SolanaNetwork {
  const found = solanaNetworks.find(name => name === text)
  if (found !== undefined) return found
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is no Solana network.`, {
    hint: `accepted are ${solanaNetworks.join(' and ')}.`,
  })
}

/** What a chain of this name most likely is meant to be. */
export function likelyChain(name: string): string | undefined {
  return nearestWord(
    name,
    referenceChains.map(chain => chain.name),
  )
}

// What a new configuration shall hold, as flags say it. Pure; every slip is told with what is accepted.

import { createInterface, type Interface } from 'node:readline/promises'
import { chainCommonlyCalled, referenceChains } from '../chains.ts'
import { nearestWord } from '../config/problems.ts'
import { AlmanacError, describeError } from '../errors.ts'
import type { Address, SolanaNetwork } from '../model.ts'
import { redactUrl } from '../redact.ts'
import type { InitFlags } from './init.ts'
import { parseContracts } from './options.ts'
import { printNote } from './terminal.ts'

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

// Asks a person on a terminal what the configuration shall hold. Whoever answers something unfit is told and asked again.

export class Questions {
  readonly #terminal: Interface

  constructor(terminal: Interface) {
    this.#terminal = terminal
  }

  /** Repeats itself until the answer can be read; an empty one is `otherwise`. */
  async ask<Value>(question: string, otherwise: string, read: (text: string) => Value): Promise<Value> {
    for (;;) {
      const text = (await this.#terminal.question(`${question}${otherwise === '' ? '' : ` [${otherwise}]`}: `)).trim()
      try {
        return read(text === '' ? otherwise : text)
      } catch (error) {
        if (!(error instanceof AlmanacError)) throw error
        printNote(describeError(error))
      }
    }
  }

  confirm(question: string, otherwise: boolean): Promise<boolean> {
    return this.ask(question, otherwise ? 'yes' : 'no', text => /^y(es)?$/i.test(text))
  }
}

/** Ctrl-C and the end of the input end the command, with nothing written. */
export async function withQuestions(run: (questions: Questions) => Promise<void>): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  let settled = false
  const closed = new Promise<never>((_, reject) =>
    terminal.once('close', () => {
      if (!settled) reject(new AlmanacError('interrupted', 'Nothing more was answered.'))
    }),
  )
  try {
    await Promise.race([run(new Questions(terminal)), closed])
  } finally {
    settled = true
    terminal.close()
  }
}

export async function askWishes(questions: Questions, flags: InitFlags): Promise<Wishes> {
  printNote('This writes a configuration for your own nodes. An empty answer takes what stands in brackets.')
  printNote(
    `Chains that are built in: ${referenceChains
      .filter(chain => !chain.retired)
      .map(({ name }) => name)
      .join(', ')}.`,
  )
  const names = await questions.ask('EVM chains, with a comma between them; - for none', 'eth', namesIn)
  const chains: ChainWish[] = []
  for (const name of names) chains.push(await askChain(questions, name, flags))
  const solana: SolanaWish[] = []
  if (await questions.confirm('Solana portfolios as well?', false)) solana.push(await askSolana(questions))
  if (chains.length + solana.length === 0)
    throw new AlmanacError('interrupted', 'No chain was named: nothing was written.')
  return { chains, solana, ...(flags.store === undefined ? {} : { store: flags.store }) }
}

async function askChain(questions: Questions, name: string, flags: InitFlags): Promise<ChainWish> {
  const rpc = await questions.ask(
    `${name}: JSON-RPC endpoints, the preferred first, with a comma between them`,
    'http://127.0.0.1:8545',
    text => parseUrls(name, text),
  )
  const ws = await questions.ask(`${name}: WebSocket endpoint; empty for none`, '', text => optional(text, name))
  const index =
    flags.index ??
    (await questions.ask(`${name}: index everything (full) or what is asked for (on-demand)`, 'on-demand', modeIn))
  const contracts =
    index === 'full'
      ? []
      : await questions.ask(`${name}: contracts to index at once; empty for none`, '', text =>
          text === '' ? [] : parseContracts(text),
        )
  return { name, rpc, ...(ws === undefined ? {} : { ws }), index, contracts }
}

async function askSolana(questions: Questions): Promise<SolanaWish> {
  const network = await questions.ask('Solana network', 'mainnet', parseNetwork)
  const rpc = await questions.ask('Solana endpoints', 'http://127.0.0.1:8899', text => parseUrls('solana', text))
  const ws = await questions.ask('Solana WebSocket endpoint; empty for none', '', text => optional(text, 'solana'))
  return { network, rpc, ...(ws === undefined ? {} : { ws }) }
}

function optional(text: string, what: string): string | undefined {
  return text === '' ? undefined : parseSocket(what, text)
}

function namesIn(text: string): string[] {
  return text === '-' ? [] : [...new Set(text.split(',').map(chainNamed))].filter(name => name !== '')
}

function modeIn(text: string): 'full' | 'on-demand' {
  if (text === 'full' || text === 'on-demand') return text
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is no way to index.`, {
    hint: 'answer full or on-demand.',
  })
}

// What a new configuration will hold, from flags or from questions on a terminal. It asks no endpoint.
import { chainCommonlyCalled, namedChain, nearestChain, offeredChains, parseChainText } from '../../chains.ts'
import { schemaAt } from '../../config/setting.ts'
import { settingsSchema } from '../../config/settings.ts'
import { AlmanacError } from '../../errors.ts'
import { type Address, type SolanaNetwork, solanaNetworks } from '../../model.ts'
import { redactMistyped } from '../../redact.ts'
import { isPrivateHost } from '../../rpc/endpoint-address.ts'
import { parseContracts } from '../options.ts'
import type { Questions } from '../questions.ts'
import { printNote } from '../terminal.ts'

type IndexMode = 'full' | 'on-demand'

export type InitFlags = Partial<Record<'chain' | 'ws' | 'contract' | 'solana' | 'solanaWs', string[]>> & {
  index?: IndexMode
  store?: string
  listen?: string
  output: string
  check: boolean
  yes?: true
}

export type ChainAnswers = {
  name: string
  /** Only of a chain that is not built in; asked of the endpoint if it is not given. */
  id?: number
  rpc: string[]
  ws?: string
  index: IndexMode
  contracts: Address[]
}

export type NamedChain = Pick<ChainAnswers, 'name' | 'id'>

export type SolanaAnswers = { network: SolanaNetwork; rpc: string[]; ws?: string }

export type Answers = { chains: ChainAnswers[]; solana: SolanaAnswers[]; store?: string; listen?: string }

export function answersOf(flags: InitFlags): Answers {
  const store = flags.store === undefined ? {} : { store: parseStore(flags.store) }
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
      ...{ name, index: flags.index ?? 'on-demand', ...endpointsOf('--chain', urls, ws) },
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
    return { network: parseNetwork(name), ...endpointsOf('--solana', urls, solanaSockets.get(name)) }
  })
  return { chains, solana, ...store }
}

function endpointsOf(flag: '--chain' | '--solana', urls: string, ws: string | undefined) {
  const wsFlag = flag === '--chain' ? '--ws' : '--solana-ws'
  return { rpc: parseUrls(flag, urls), ...(ws === undefined ? {} : { ws: parseSocket(wsFlag, ws) }) }
}

function chainPairOf(flag: string, text: string): [name: string, value: string] {
  const [name, value] = pairOf(flag, text)
  return [chainNamed(name), value]
}

/** The name of a known chain, or else the given name; of an id that no known chain has, the id in decimal. */
function chainNamed(text: string): string {
  const known = chainCommonlyCalled(text) ?? namedChain(text)?.name
  if (known !== undefined) return known
  const meant = parseChainText(text)
  return 'id' in meant ? String(meant.id) : meant.name
}

/** By its name, or by an id. */
export function isKnown(name: string): boolean {
  return namedChain(name) !== undefined || 'id' in parseChainText(name)
}

/** The known chain that a name means which looks mistyped. */
export function chainMeant(name: string): string | undefined {
  if (isKnown(name)) return undefined
  return nearestChain(
    name,
    offeredChains.map(chain => chain.name),
  )
}

function pairOf(flag: string, text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  if (at > 0 && at < text.length - 1) return [text.slice(0, at).trim().toLowerCase(), text.slice(at + 1).trim()]
  throw new AlmanacError('bad_request', `${flag} needs a name and a value.`, {
    hint: `pass ${flag} name=value, such as ${flag === '--contract' ? 'eth=0x…' : 'eth=http://127.0.0.1:8545'}.`,
  })
}

/** A URL may hold a key: messages show only its host. */
export function parseUrls(what: string, text: string): string[] {
  if (text === '')
    throw new AlmanacError('bad_request', `${what} needs an endpoint.`, {
      hint: 'paste the URL of a node, such as http://127.0.0.1:8546.',
    })
  const urls = text.split(/,\s*(?=https?:\/\/|[\w.-]+:\d+(?:[,/]|$))/).map(part => withScheme(part.trim()))
  for (const url of urls) {
    if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) continue
    throw new AlmanacError('bad_request', `${what} has an endpoint that is not a URL: ${redactMistyped(url)}.`, {
      hint: 'pass http:// or https:// URLs, separated by commas.',
    })
  }
  return urls
}

/** Nodes of a private network are called by host and port, and few of them have a certificate. */
function withScheme(text: string): string {
  const host = /^([\w.-]+):\d+(?:\/|$)/.exec(text)?.[1]
  return host !== undefined && isPrivateHost(host) ? `http://${text}` : text
}

function parseSocket(what: string, text: string): string {
  if (/^wss?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new AlmanacError('bad_request', `${what} has ${redactMistyped(text)}, which is not a WebSocket URL.`, {
    hint: 'pass a ws:// or wss:// URL.',
  })
}

/** The path of a file needs no word before it. */
export function parseStore(text: string): string {
  const store = /^[\w./~-]*[./][\w./~-]*$/.test(text) ? `file:${text}` : text
  if (schemaAt(settingsSchema, ['store'])!.safeParse(store).success) return store
  throw new AlmanacError('bad_request', `${redactMistyped(text)} is not a store.`, {
    hint: 'pass file:./almanac.db or another file, or postgres://user:password@host/database.',
  })
}

function parseNetwork(text: string): SolanaNetwork {
  const found = solanaNetworks.find(name => name === text)
  if (found !== undefined) return found
  throw new AlmanacError('bad_request', `${JSON.stringify(redactMistyped(text))} is not a Solana network.`, {
    hint: `pass ${solanaNetworks.join(' or ')}.`,
  })
}

/** All of them would fill the screen. */
const shownChains = ['eth', 'polygon', 'bsc', 'avalanche', 'arbitrum', 'base', 'optimism', 'linea']

/** What the questions need of the endpoints that are typed. */
export type Endpoints = {
  /**
   * Looks at them as soon as they are typed. It may change the answers as the user likes: other endpoints, or the name
   * of the chain that they serve unless that is one of `taken`. False: the user wants to type others.
   */
  check(typed: ChainAnswers | SolanaAnswers, taken?: readonly NamedChain[]): Promise<boolean>
  /** Says what each mode costs. */
  tellCost(chain: ChainAnswers): Promise<void>
  /** Looks at the contracts that are typed, and may change them. False: the user wants to type others. */
  checkContracts(chain: ChainAnswers): Promise<boolean>
}

export async function askForAnswers(questions: Questions, flags: InitFlags, endpoints: Endpoints): Promise<Answers> {
  printNote('This writes a configuration for your own nodes. An empty answer takes the value in brackets.')
  const named = `Chains have names: ${shownChains.join(', ')} … ? lists all ${offeredChains.length}.`
  printNote(`${named} Others go by their id, such as 33139.\n`)
  const { chains, isSolana } = await askChains(questions, flags, endpoints)
  const help =
    'Almanac answers the portfolio, balance, tokens and NFTs of a Solana wallet by asking a Solana node of yours.'
  const isAsked = isSolana || (await questions.confirm('\nSolana portfolios as well?', false, { help }))
  const solana = isAsked ? await askSolana(questions, endpoints) : []
  if (chains.length + solana.length === 0)
    throw new AlmanacError('bad_request', 'No chain was named, so nothing was written.', {
      hint: 'run it again and name a chain, such as eth, or answer yes to Solana.',
    })
  return { chains, solana, store: flags.store === undefined ? await askStore(questions) : parseStore(flags.store) }
}

export function askStore(questions: Questions): Promise<string> {
  const question = 'Where to keep the data: a file, or postgres://user:password@host/database'
  const help =
    'A file needs nothing else and serves one machine. PostgreSQL lets several processes or machines share the data; the database must exist.'
  return questions.ask(question, { otherwise: 'file:./almanac.db', help }, parseStore)
}

/** Asks for the list again where each of its chains was left out. */
async function askChains(
  questions: Questions,
  flags: InitFlags,
  endpoints: Endpoints,
): Promise<{ chains: ChainAnswers[]; isSolana: boolean }> {
  const tried = new Set<string>()
  for (;;) {
    const named = await askNames(questions)
    const names = named.filter(name => name !== solanaName)
    const isSolana = names.length < named.length
    const chains: ChainAnswers[] = []
    for (const [at, name] of names.entries()) {
      const later = names.slice(at + 1)
      chains.push(...(await askChain(questions, name, { flags, endpoints, chains, later, tried })))
    }
    if (chains.length > 0 || names.length === 0) return { chains, isSolana }
    printNote('No chain is left.')
  }
}

/** Asks again where a name is none. All names are settled before anything is asked about one of them. */
async function askNames(questions: Questions): Promise<string[]> {
  const about = { otherwise: 'eth', help: offeredChains.map(({ name }) => name).join(', ') }
  for (;;) {
    const names = await questions.ask('EVM chains, separated by commas; - for none', about, namesIn)
    const settled = await settledNames(questions, names)
    if (settled !== undefined) return settled
  }
}

/** Undefined where the user does not want a name that no chain has. */
async function settledNames(questions: Questions, names: readonly string[]): Promise<string[] | undefined> {
  // The list may have the name that was meant as well.
  const settled = new Set<string>()
  for (const name of names) {
    const meant = chainMeant(name)
    if (isKnown(name) || name === solanaName) settled.add(name)
    else if (meant !== undefined && (await isMeant(questions, name, meant))) settled.add(meant)
    else {
      const help =
        'A chain of your own may have any name; its node tells the id. With no, the chains are asked for again.'
      const question = `${name} is not a known chain. Is it a chain of your own?`
      if (!(await questions.confirm(question, false, { help }))) return undefined
      settled.add(name)
    }
  }
  return [...settled]
}

function isMeant(questions: Questions, name: string, meant: string): Promise<boolean> {
  const help = `No known chain is called ${name}. With no, you can keep the name or type the chains again.`
  return questions.confirm(`${name} is not a known chain. Did you mean ${meant}?`, true, { suggested: meant, help })
}

const usualEndpoint = 'http://127.0.0.1:8545'
const endpointHelp =
  'The HTTP URL of your own node or of a provider, with its key if it has one. Almanac asks the first, and the others where that one fails.'
const socketHelp =
  'A ws:// or wss:// URL of the node tells of changes at once. Without one Almanac asks from time to time, so nothing is missed.'

type Asked = {
  flags: InitFlags
  endpoints: Endpoints
  /** Those before. */
  chains: readonly ChainAnswers[]
  /** The names of those that are asked about next. */
  later: readonly string[]
  /** Endpoints that were typed, of chains that were left out too. */
  tried: Set<string>
}

/** None where the user leaves the chain out, such as one whose node is away. */
async function askChain(
  questions: Questions,
  called: string,
  { flags, endpoints, chains, later, tried }: Asked,
): Promise<ChainAnswers[]> {
  const answers: ChainAnswers = { name: called, rpc: [], index: flags.index ?? 'on-demand', contracts: [] }
  const taken = [...chains, ...later.map(name => ({ name }))]
  printNote('')
  do {
    // Not one that another chain has, or that has failed.
    answers.rpc = await questions.ask(
      `${called}: JSON-RPC endpoints, preferred first, separated by commas; - leaves this chain out`,
      { otherwise: tried.has(usualEndpoint) ? '' : usualEndpoint, help: endpointHelp },
      text => urlsUnlessLeftOut(called, text),
    )
    if (answers.rpc.length === 0) return []
    for (const url of answers.rpc) tried.add(url)
  } while (!(await endpoints.check(answers, taken)))
  const { name } = answers
  if (flags.check) printNote('')
  const socket = { otherwise: '', help: socketHelp }
  const ws = await questions.ask(`${name}: WebSocket endpoint; empty for none`, socket, text => optional(text, name))
  if (ws !== undefined) answers.ws = ws
  if (flags.index === undefined) {
    await endpoints.tellCost(answers)
    answers.index = await questions.ask(
      `${name}: index everything (full; wallet apps need it) or what is requested (on-demand)`,
      {
        otherwise: 'on-demand',
        help: 'full reads every block and serves every contract and wallet. on-demand reads a contract when it is first requested: enough for known collections.',
      },
      modeIn,
    )
  }
  if (answers.index === 'on-demand') {
    const help =
      'Addresses, 0x and 40 hex digits, separated by commas. Others are indexed when they are first requested.'
    const question = `${name}: contracts to index at once; empty for none`
    do {
      answers.contracts = await questions.ask(question, { otherwise: '', help }, contractsIn)
    } while (!(await endpoints.checkContracts(answers)))
  }
  return [answers]
}

async function askSolana(questions: Questions, { check }: Endpoints): Promise<SolanaAnswers[]> {
  const networks = { otherwise: 'mainnet', help: 'mainnet is the public network; devnet is the one for tests.' }
  const network = await questions.ask('Solana network', networks, parseNetwork)
  const answers: SolanaAnswers = { network, rpc: [] }
  const usual = 'http://127.0.0.1:8899'
  do {
    const question = 'Solana endpoints; - leaves Solana out'
    const about = { otherwise: answers.rpc.includes(usual) ? '' : usual, help: endpointHelp }
    answers.rpc = await questions.ask(question, about, text => urlsUnlessLeftOut('solana', text))
    if (answers.rpc.length === 0) return []
  } while (!(await check(answers)))
  const socket = { otherwise: '', help: socketHelp }
  const question = 'Solana WebSocket endpoint; empty for none'
  const ws = await questions.ask(question, socket, text => optional(text, 'solana'))
  if (ws !== undefined) answers.ws = ws
  return [answers]
}

function urlsUnlessLeftOut(what: string, text: string): string[] {
  return text === '-' ? [] : parseUrls(what, text)
}

export function contractsIn(text: string): Address[] {
  return isNone(text) ? [] : parseContracts(text)
}

function optional(text: string, what: string): string | undefined {
  return isNone(text) ? undefined : parseSocket(what, text)
}

/** Some take the question for one of yes and no. */
function isNone(text: string): boolean {
  return /^(|-|no?|none)$/i.test(text)
}

function namesIn(text: string): string[] {
  if (/[:/]/.test(text))
    throw new AlmanacError('bad_request', `${redactMistyped(text)} is an endpoint, not the name of a chain.`, {
      hint: 'name its chain first, such as eth; the endpoint is asked for next.',
    })
  return text === '-' ? [] : [...new Set(text.split(',').flatMap(namesInPart))]
}

const solanaName = 'solana'

/** Some names have a space in them, and some people put one between names: the longest that is known comes first. */
function namesInPart(part: string): string[] {
  const words = part.trim().split(/\s+/).filter(Boolean)
  const isName = (name: string): boolean => isKnown(name) || name === solanaName
  const ends = words.map((_, at) => words.length - at)
  const length = ends.find(end => isName(chainNamed(words.slice(0, end).join(' '))))
  if (length !== undefined)
    return [chainNamed(words.slice(0, length).join(' ')), ...namesInPart(words.slice(length).join(' '))]
  // Where another one after it is known, this is a name of its own; a number belongs to it.
  const at = words.findIndex(word => !/^\d/.test(word) && isName(chainNamed(word)))
  const own = words.slice(0, at === -1 ? undefined : at)
  return own.length === 0
    ? []
    : [chainNamed(own.join(' ')), ...(at === -1 ? [] : namesInPart(words.slice(at).join(' ')))]
}

function modeIn(text: string): IndexMode {
  if (text === 'full' || text === 'on-demand') return text
  // A word of the question.
  if (text === 'everything') return 'full'
  throw new AlmanacError('bad_request', `${JSON.stringify(redactMistyped(text))} is not an index mode.`, {
    hint: 'answer full or on-demand.',
  })
}

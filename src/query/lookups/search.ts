// What a search box finds in the store: contracts, ERC-20 tokens and wallets by address, name or label, and blocks and
// transactions by number or hash. Bounded in rows and time; it asks nodes for hashes alone. No HTTP.
import { within } from '../../abort.ts'
import { shownName } from '../../annotate/shown-facts.ts'
import type { Chain, ChainTable } from '../../chains.ts'
import { type Ledger, ledgerId, ledgerOf } from '../../ledgers.ts'
import { type Address, type ChainId, type Hash, parseAddress, parseHash, type SolanaNetwork } from '../../model.ts'
import { nearestWord } from '../../nearest-word.ts'
import type { RankedLabel } from '../../store/annotation-store.ts'
import type { Store } from '../../store/store.ts'
import type { AskTransaction } from '../explain.ts'
import type { AskBlock } from '../freshen.ts'
import type { ShownContracts } from '../shown-contracts.ts'
import { blockNumberOf } from './find-block.ts'

/** Contracts by name, and as many addresses by label. */
const namedMax = 10
/** Many contracts imitate the name of a known one, which need not be the first that the store has. */
const namedReadMax = 50
/** How many names are read for a text within them: 20,000 take a file some 20 ms. Of more, beginnings are looked up. */
const namesReadMax = 20_000
/** Half of a shorter text is in too many names. */
const mistypedMin = 5
/** As much as the index of a server has. */
const nameLengthMax = 64
/** A search is typed: an answer that comes later is of no use. */
const nodeWaitMs = 1_500

export type SearchResult =
  | ContractResult
  | { type: 'wallet'; address: string; label: string | null; chains: string[] }
  | { type: 'account'; network: SolanaNetwork; address: string }
  | { type: 'block'; chain: string; number: number; hash: string | null }
  | { type: 'transaction'; chain: string; hash: string; block: number | null }

/** Of NFTs, or an ERC-20 token. */
type ContractResult = { type: 'contract' | 'erc20'; chain: string; address: string; transfers: number } & Names
type Names = {
  label: string | null
  name: string | null
  symbol: string | null
  verified: boolean
  possible_spam: boolean
}

export type SearchAnswer = {
  results: SearchResult[]
  /** Where in names and labels the text was looked for; null where it was not. */
  names: 'anywhere' | 'beginnings' | null
}

export type SearchDependencies = {
  store: Store
  table: ChainTable
  contracts: ShownContracts
  /** Those that are configured: their nodes can be asked. */
  chains: readonly Chain[]
  networks: readonly SolanaNetwork[]
  askBlock: AskBlock | undefined
  askTransaction: AskTransaction | undefined
}

/** `isPubkey`: the text is an address of Solana. */
export async function search(
  { text, isPubkey }: { text: string; isPubkey: boolean },
  given: SearchDependencies,
): Promise<SearchAnswer> {
  const dependencies = { ...given, held: await heldChains(given) }
  const address = parseAddress(/^[0-9a-f]{40}$/i.test(text) ? `0x${text}` : text)
  if (address !== undefined) return { results: await byAddress(address, dependencies), names: null }
  const hash = parseHash(text)
  if (hash !== undefined) return { results: await byHash(hash, dependencies), names: null }
  const accounts = isPubkey
    ? dependencies.networks.map((network): SearchResult => ({ type: 'account', network, address: text }))
    : []
  const [blocks, named] = await Promise.all([byNumber(text, dependencies), byName(text, dependencies)])
  return { results: [...accounts, ...blocks, ...named.results], names: named.names }
}

type SearchScope = SearchDependencies & {
  /** Configured, or stored when they were. */
  held: readonly Chain[]
}

async function heldChains({ store, table, chains }: SearchDependencies): Promise<Chain[]> {
  const others = table.all.filter(chain => !chains.includes(chain))
  const states = await Promise.all(others.map(({ id }) => store.chainState(id)))
  return [...chains, ...others.filter((_, at) => states[at] !== undefined)]
}

async function byAddress(address: Address, dependencies: SearchScope): Promise<SearchResult[]> {
  const { store, held: chains } = dependencies
  const [activity, contracts, labels] = await Promise.all([
    store.activityOf(address),
    Promise.all(chains.map(chain => contractsOn(chain, address, dependencies))),
    Promise.all(chains.map(chain => store.labelsOf(chain.id, [address]))),
  ])
  const active = chains.filter(({ id }) => activity.has(id)).map(({ name }) => name)
  const labelled = chains.filter((_, at) => labels[at]!.has(address)).map(({ name }) => name)
  const known = active.length > 0 || labelled.length === chains.length ? active : labelled
  // Its page opens on the first of these: a label that it has on another chain alone is not shown there.
  const at = Math.max(
    0,
    chains.findIndex(({ name }) => name === known[0]),
  )
  const label = labels[at]?.get(address) ?? null
  return [...contracts.flat(), { type: 'wallet', address, label, chains: known }]
}

type ChainName = Pick<Chain, 'id' | 'name'>

/** What is stored of an address as a contract of NFTs, and as a token. */
async function contractsOn(chain: ChainName, address: Address, dependencies: SearchScope): Promise<ContractResult[]> {
  const [nft, token] = await Promise.all(
    (['nft', 'erc20'] as const).map(ledger => contractOn({ ...chain, ledger }, address, dependencies)),
  )
  // A mark is of the address, whatever it is.
  return [...(nft && (nft.transfers > 0 || !token) ? [nft] : []), ...(token ? [token] : [])]
}

/** Undefined where nothing is stored of such a contract. */
async function contractOn(
  { id, name: chain, ledger }: ChainName & { ledger: Ledger },
  address: Address,
  { store, contracts }: SearchScope,
): Promise<ContractResult | undefined> {
  const kept = ledgerId(id, ledger)
  const [transfers, facts, labels] = await Promise.all([
    store.transferCount({ chain: kept, contract: address }),
    contracts.ofOne(kept, address),
    store.labelsOf(id, [address]),
  ])
  if (transfers === 0 && (facts === undefined || ledger === 'erc20')) return undefined
  return {
    ...{ type: ledger === 'nft' ? 'contract' : 'erc20', chain, address, transfers },
    ...{ label: labels.get(address) ?? null, name: facts?.name ?? null, symbol: facts?.symbol ?? null },
    ...{ verified: facts?.verifiedCollection ?? false, possible_spam: facts?.possibleSpam ?? false },
  }
}

/** Every chain is asked for both at once, and the first that has it ends the search: no two chains have one hash. */
async function byHash(hash: Hash, dependencies: SearchDependencies): Promise<SearchResult[]> {
  const { store, chains, askBlock } = dependencies
  const blocks = chains.map(async ({ id, name: chain }): Promise<SearchResult> => {
    const number = await within(nodeWaitMs, blockNumberOf(store, id, hash, askBlock))
    if (number === undefined) throw new Error(`no block of ${chain}`)
    return { type: 'block', chain, number, hash }
  })
  const asking = chains.map(({ name }) => blockOfTransaction(name, hash, dependencies))
  const transactions = asking.map(async (asked, at): Promise<SearchResult> => {
    const block = await asked
    if (block == null) throw new Error(`not known to be on ${chains[at]!.name}`)
    return { type: 'transaction', chain: chains[at]!.name, hash, block }
  })
  const found = await Promise.any([...blocks, ...transactions]).catch(() => undefined)
  if (found !== undefined) return [found]
  const unsure = await Promise.all(asking)
  return chains.flatMap(({ name: chain }, at): SearchResult[] =>
    unsure[at] === null ? [{ type: 'transaction', chain, hash, block: null }] : [],
  )
}

/** Undefined where the chain does not have it; null where its nodes are slow, away or not asked, so that it may. */
async function blockOfTransaction(
  chain: string,
  hash: Hash,
  { askTransaction }: SearchDependencies,
): Promise<number | null | undefined> {
  const signal = AbortSignal.timeout(nodeWaitMs)
  const asking = askTransaction?.({ chain, contract: undefined, hash }, signal) ?? Promise.resolve('not asked' as const)
  const node = await within(nodeWaitMs, asking).catch(() => 'not asked' as const)
  return node === 'not asked' ? null : node?.block
}

async function byNumber(text: string, { store, held: chains }: SearchScope): Promise<SearchResult[]> {
  // People copy numbers with separators, and say of what they are.
  const digits = text.replace(/^(block\s+)?#?/i, '').replaceAll(/[,_\s]/g, '')
  if (!/^\d{1,12}$/.test(digits)) return []
  const number = Number(digits)
  const blocks = chains.map(async ({ id, name: chain }): Promise<SearchResult[]> => {
    const state = await store.chainState(id)
    if (state === undefined || number > state.head.number) return []
    const known = await store.lowestBlock(id, { from: number, to: number })
    return [{ type: 'block', chain, number, hash: known?.hash ?? null }]
  })
  return (await Promise.all(blocks)).flat()
}

async function byName(whole: string, dependencies: SearchScope): Promise<SearchAnswer> {
  const text = whole.slice(0, nameLengthMax)
  const found = await named({ text, limit: namedReadMax, fits: name => has(name, text) }, dependencies)
  if (found.results.length > 0 || text.length < mistypedMin || found.names !== 'anywhere') return found
  // One typing error leaves one half of the text as it is.
  const half = Math.ceil(text.length / 2)
  const halves = [text.slice(0, half), text.slice(half)].map(part =>
    named({ text: part, limit: namedReadMax, fits: name => isNear(name, text) }, dependencies),
  )
  const near = (await Promise.all(halves)).flatMap(({ results }) => results)
  return { ...found, results: unique(near).slice(0, namedMax) }
}

type NameSearch = { text: string; limit: number; fits: (name: string | undefined) => boolean }

/** Those whose names have the text, and fit. */
async function named({ text, limit, fits }: NameSearch, dependencies: SearchScope): Promise<SearchAnswer> {
  const { store, table } = dependencies
  const question = { text, limit, readMax: namesReadMax }
  const { contracts, labels, anywhere } = await store.named(question)
  const chainOf = (id: ChainId) => table.all.find(chain => chain.id === id)
  const results = new Map<string, Promise<SearchResult[]>>()
  for (const { chain: kept, contract, name, symbol } of contracts) {
    // The store compares names as they were given; a reader sees them without what does not print.
    if (![name, symbol].some(each => fits(shownName(each)))) continue
    const { chain, ledger } = ledgerOf(kept)
    const of = { ...(chainOf(chain) ?? { id: chain, name: `0x${chain.toString(16)}` }), ledger }
    results.set(
      `${kept} ${contract}`,
      contractOn(of, contract, dependencies).then(found => (found ? [found] : [])),
    )
  }
  for (const label of labels.filter(({ label }) => fits(label)).slice(0, namedMax))
    results.set(`label ${label.address}`, byLabel(label, dependencies))
  const found = unique((await Promise.all(results.values())).flat())
  return {
    results: found.sort((a, b) => placeOf(a, text) - placeOf(b, text)).slice(0, 2 * namedMax),
    names: anywhere ? 'anywhere' : 'beginnings',
  }
}

/** A labelled address is shown as its contracts, or as a wallet if it is not a contract. */
async function byLabel({ chain, address, label }: RankedLabel, dependencies: SearchScope) {
  const asked = dependencies.held.filter(({ id }) => chain === undefined || id === chain)
  const contracts = (await Promise.all(asked.map(each => contractsOn(each, address, dependencies)))).flat()
  if (contracts.length > 0) return contracts.map((contract): SearchResult => ({ ...contract, label }))
  return [{ type: 'wallet', address, label, chains: asked.length === 1 ? [asked[0]!.name] : [] } satisfies SearchResult]
}

function has(name: string | undefined, text: string): boolean {
  return name?.toLowerCase().includes(text.toLowerCase()) ?? false
}

/** Whether the text is the name but for a typing error, or as many of its words. */
function isNear(name: string | undefined, text: string): boolean {
  const words = name?.split(/\s+/) ?? []
  const count = text.split(/\s+/).length
  const runs = words.map((_, at) => words.slice(at, at + count).join(' '))
  return nearestWord(text, runs) !== undefined
}

function unique(results: readonly SearchResult[]): SearchResult[] {
  const byPlace = new Map<string, SearchResult>()
  for (const result of results) {
    if (!('address' in result)) continue
    byPlace.set(`${result.type} ${'chain' in result ? result.chain : ''} ${result.address}`, result)
  }
  return [...byPlace.values()]
}

/** The whole name first, then its beginning, then the rest; verified before others and spam last. */
function placeOf(result: SearchResult, text: string): number {
  const names = namesOf(result).map(name => name?.toLowerCase())
  const wanted = text.toLowerCase()
  const match = names.includes(wanted) ? 0 : names.some(name => name?.startsWith(wanted)) ? 1 : 2
  if (!('transfers' in result)) return match
  return match + (result.possible_spam ? 10 : 0) - (result.verified ? 0.5 : 0) - Math.min(result.transfers, 1e9) / 1e10
}

function namesOf(result: SearchResult): (string | null)[] {
  if ('transfers' in result) return [result.name, result.symbol, result.label]
  return result.type === 'wallet' ? [result.label] : []
}

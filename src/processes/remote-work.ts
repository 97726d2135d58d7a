// Work that one process does for another through the store: asking for it, claiming it, reporting its result. It does
// not know how the work is done.
import { setTimeout as delay } from 'node:timers/promises'
import { pause } from '../abort.ts'
import { type AlmanacError, fromPlain, type PlainError, toPlain } from '../errors.ts'
import type { Log } from '../log.ts'
import type {
  Address,
  AskedBalances,
  AskedNonce,
  BlockCalls,
  ChainId,
  ContractCall,
  Hash,
  MintReading,
  NodeBalances,
  NodeBlock,
  NodeCalls,
  ShownToken,
  SolanaNetwork,
} from '../model.ts'
import { oneFlight } from '../once.ts'
import type { NodeAnswer } from '../query/explain.ts'
import type { PortfolioFreshness } from '../query/freshen.ts'
import type { KeyRecord } from '../store/key-store.ts'
import type { WorkRequest, WorkStore } from '../store/store.ts'

export type Work =
  | { kind: 'contract'; chain: ChainId; contract: Address; asker: Asker }
  | { kind: 'wallet'; chain: ChainId; wallet: Address; asker: Asker }
  | { kind: 'portfolio'; network: SolanaNetwork; owner: Uint8Array }
  | { kind: 'mint'; network: SolanaNetwork; mint: Uint8Array }
  /** Reading what contracts say of tokens. */
  | { kind: 'token-uris'; chain: ChainId; tokens: readonly ShownToken[] }
  /** Reading the configuration of one process again. */
  | { kind: 'reload'; process: string }
  /** What a node says of native balances. */
  | ({ kind: 'balances'; asker?: Asker | undefined } & AskedBalances)
  /** What contracts say, by a node. */
  | ({ kind: 'calls'; asker?: Asker | undefined } & BlockCalls)
  /** What a node says of a block. */
  | { kind: 'block'; chain: ChainId; block: number | Hash; asker?: Asker | undefined }
  /** What a node says of the transactions that a wallet sent. */
  | ({ kind: 'nonce'; asker?: Asker | undefined } & AskedNonce)
  /** What a node says of a transaction. */
  | { kind: 'transaction'; chain: ChainId; contract: Address | undefined; hash: Hash }

/** The key that the work is for: keys take turns, and the calls to nodes are counted for it. */
export type Asker = Pick<KeyRecord, 'id' | 'indexWaiting' | 'indexPerDay'>

/** Of a process that indexes contracts of the chain on demand. */
export function evmTopic(chain: ChainId): string {
  return `evm/${chain}`
}

/** Of a process that looks wallets of the chain up. */
export function walletsTopic(chain: ChainId): string {
  return `wallets/${chain}`
}

export function solanaTopic(network: SolanaNetwork): string {
  return `solana/${network}`
}

/** Of every process with nodes of the chain, whichever way it indexes it. */
export function nodesTopic(chain: ChainId): string {
  return `nodes/${chain}`
}

/** Of one process alone. */
export function processTopic(process: string): string {
  return `process/${process}`
}

function topicOf(work: Work): string {
  if (work.kind === 'reload') return processTopic(work.process)
  if (work.kind === 'portfolio' || work.kind === 'mint') return solanaTopic(work.network)
  if (work.kind === 'wallet') return walletsTopic(work.chain)
  return work.kind === 'contract' ? evmTopic(work.chain) : nodesTopic(work.chain)
}

function nameOf(work: Work): string {
  if (work.kind === 'reload') return `reload/${work.process}`
  if (work.kind === 'token-uris') return `token-uris/${work.chain}/${work.tokens.map(textOfToken).join(',')}`
  if (work.kind === 'transaction') return `transaction/${work.chain}/${work.contract ?? ''}/${work.hash}`
  // At most 25 wallets: a database's index holds names of up to 2.7 kB.
  if (work.kind === 'balances')
    return `balances/${work.chain}/${work.block ?? ''}/${work.wallets.join(',')}${textOfAsker(work.asker)}`
  if (work.kind === 'calls')
    return `calls/${work.chain}/${work.block ?? ''}/${work.calls.map(textOfCall).join(',')}${textOfAsker(work.asker)}`
  if (work.kind === 'block') return `block/${work.chain}/${work.block}${textOfAsker(work.asker)}`
  if (work.kind === 'nonce') return `nonce/${work.chain}/${work.wallet}/${work.block}${textOfAsker(work.asker)}`
  if (work.kind === 'mint') return `mint/${work.network}/${Buffer.from(work.mint).toString('hex')}`
  if (work.kind === 'contract') return `contract/${work.chain}/${work.contract}${textOfAsker(work.asker)}`
  if (work.kind === 'wallet') return `wallet/${work.chain}/${work.wallet}${textOfAsker(work.asker)}`
  return `portfolio/${work.network}/${Buffer.from(work.owner).toString('hex')}`
}

/** Undefined for a name that another version wrote. */
function workOf(name: string): Work | undefined {
  const [kind, where, what, ...rest] = name.split('/') as [string, string, string, ...string[]]
  const [id = '', ...further] = rest
  const asker = askerOf(rest)
  if (kind === 'contract') return { kind, chain: Number(where) as ChainId, contract: what as Address, asker }
  if (kind === 'wallet') return { kind, chain: Number(where) as ChainId, wallet: what as Address, asker }
  if (kind === 'transaction')
    return {
      kind,
      chain: Number(where) as ChainId,
      contract: what === '' ? undefined : (what as Address),
      hash: id as Hash,
    }
  if (kind === 'balances') {
    const block = what === '' ? undefined : Number(what)
    const wallets = id.split(',') as Address[]
    return { kind, chain: Number(where) as ChainId, block, wallets, asker: askerOf(further) }
  }
  if (kind === 'calls') {
    const block = what === '' ? undefined : Number(what)
    const calls = id === '' ? [] : id.split(',').map(callOf)
    return { kind, chain: Number(where) as ChainId, block, calls, asker: askerOf(further) }
  }
  if (kind === 'token-uris') return { kind, chain: Number(where) as ChainId, tokens: what.split(',').map(tokenOf) }
  if (kind === 'block') {
    const block = what.startsWith('0x') ? (what as Hash) : Number(what)
    return { kind, chain: Number(where) as ChainId, block, asker }
  }
  if (kind === 'nonce') {
    const asked = { chain: Number(where) as ChainId, wallet: what as Address, block: Number(id) }
    return { kind, ...asked, asker: askerOf(further) }
  }
  if (kind === 'reload') return { kind, process: where }
  if (kind === 'mint') return { kind, network: where as SolanaNetwork, mint: Buffer.from(what, 'hex') }
  if (kind === 'portfolio') return { kind, network: where as SolanaNetwork, owner: Buffer.from(what, 'hex') }
  return undefined
}

function textOfAsker(asker: Asker | undefined): string {
  return asker === undefined ? '' : `/${asker.id}/${asker.indexWaiting ?? ''}/${asker.indexPerDay ?? ''}`
}

function askerOf([id = '', waiting = '', perDay = '']: readonly string[]): Asker {
  const limit = (text: string): number | undefined => (text === '' ? undefined : Number(text))
  return { id, indexWaiting: limit(waiting), indexPerDay: limit(perDay) }
}

function textOfToken({ contract, standard, tokenId }: ShownToken): string {
  return `${contract}:${standard}:${tokenId.toString(16)}`
}

function tokenOf(text: string): ShownToken {
  const [contract, standard, tokenId] = text.split(':') as [Address, ShownToken['standard'], string]
  return { contract, standard, tokenId: BigInt(`0x${tokenId}`) }
}

function textOfCall({ to, data }: ContractCall): string {
  return `${to}:${data}`
}

function callOf(text: string): ContractCall {
  const [to, data] = text.split(':') as [Address, string]
  return { to, data }
}

/** A name is a key of a database's index, whose entries hold 2.7 kB. */
const tokensPerWork = 20
/** With two words of data each. */
const callsPerWork = 14

/** Work of many tokens, in parts whose names are short enough. */
export function tokenUriWork(chain: ChainId, tokens: readonly ShownToken[]): Work[] {
  return inParts(tokens, tokensPerWork).map(part => ({ kind: 'token-uris', chain, tokens: part }))
}

function inParts<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, part) => list.slice(part * size, (part + 1) * size))
}

/** Work of many calls, in parts whose names are short enough. Without a call it tells the block. */
export function callWork({ chain, block, calls }: BlockCalls, asker: Asker): [Work, ...Work[]] {
  const workOf = (part: readonly ContractCall[]): Work => ({ kind: 'calls', chain, block, calls: part, asker })
  const [first = [], ...others] = inParts(calls, callsPerWork)
  return [workOf(first), ...others.map(workOf)]
}

const askPollMs = { first: 10, max: 100 }
const growth = 1.3

type Waiter = { waiting: number; result: WorkResult | undefined }

/** Asks other processes for work, and waits for it. One read of the store serves all waiters. */
export class RemoteWork {
  readonly #store: WorkStore
  readonly #waiters = new Map<string, Waiter>()
  /** Waiters that look at the same time share one read of the store. */
  readonly #look = oneFlight(() => this.#lookOnce())

  constructor(store: WorkStore) {
    this.#store = store
  }

  /** Undefined if the work was not done in time; it continues. */
  async ask(work: Work, waitMs: number): Promise<WorkResult | undefined> {
    const name = nameOf(work)
    await this.#store.requestWork({ name, topic: topicOf(work), waitMs })
    const waiter = this.#waiters.get(name) ?? { waiting: 0, result: undefined }
    waiter.waiting += 1
    waiter.result = undefined
    this.#waiters.set(name, waiter)
    const deadline = performance.now() + waitMs
    try {
      for (
        let restMs = askPollMs.first;
        waiter.result === undefined;
        restMs = Math.min(restMs * growth, askPollMs.max)
      ) {
        const leftMs = deadline - performance.now()
        if (leftMs <= 0) return undefined
        await delay(Math.min(restMs, leftMs))
        await this.#look()
      }
      return waiter.result
    } finally {
      waiter.waiting -= 1
      if (waiter.waiting === 0) this.#waiters.delete(name)
    }
  }

  async #lookOnce(): Promise<void> {
    const names = [...this.#waiters].filter(([, { result }]) => result === undefined).map(([name]) => name)
    if (names.length === 0) return
    for (const [name, result] of await this.#store.workOutcomes(names)) {
      const waiter = this.#waiters.get(name)
      if (waiter !== undefined) waiter.result = readResult(result)
    }
  }
}

type WorkClaimerOptions = {
  store: WorkStore
  log: Log
  /** What this process can do now. */
  topics: () => Promise<readonly string[]>
  /** Returns when the work is done, or after `waitMs`. */
  perform: (work: Work, waitMs: number) => Promise<WorkOutcome>
}

const claimPollMs = 25
const retryMs = 1_000
const atOnceMax = 256
/** After this time others may claim it too: its process may be gone. Doing it twice changes nothing. */
const holdMs = 5_000

/** Claims work that this process can do, does it, and reports the result. */
export class WorkClaimer {
  readonly #options: WorkClaimerOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #underWay = 0

  constructor(options: WorkClaimerOptions) {
    this.#options = options
    this.#running = this.#claim()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #claim(): Promise<void> {
    const { store, log, topics } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      let restMs = claimPollMs
      try {
        const limit = atOnceMax - this.#underWay
        const own = limit > 0 ? await topics() : []
        const claimed = own.length > 0 ? await store.takeWork({ topics: own, holdMs, limit }) : []
        for (const request of claimed) void this.#perform(request)
      } catch (error) {
        log.debug({ err: error }, 'Remote work not read')
        restMs = retryMs
      }
      await pause(restMs, signal)
    }
  }

  async #perform({ name, waitMs }: WorkRequest): Promise<void> {
    this.#underWay += 1
    try {
      await this.#options.store.finishWork(name, await this.#result(name, waitMs))
    } catch (error) {
      // The waiting process answers without it, and asks again with the next request.
      this.#options.log.debug({ err: error, work: name }, 'Remote work result not reported')
    } finally {
      this.#underWay -= 1
    }
  }

  async #result(name: string, waitMs: number): Promise<string> {
    const work = workOf(name)
    if (work === undefined) return writeResult({})
    try {
      return writeResult(await this.#options.perform(work, waitMs))
    } catch (failure) {
      return writeResult({ failure })
    }
  }
}

/** What work brought beside what it stored. */
export type WorkOutcome = {
  /** Of a portfolio. */
  freshness?: PortfolioFreshness | undefined
  mint?: MintReading
  balances?: NodeBalances
  calls?: NodeCalls
  nonce?: number
  /** Null where the node's chain does not have it. */
  block?: NodeBlock | null
  /** Of a transaction: null where the node does not know it. */
  transaction?: Exclude<NodeAnswer, undefined> | null
  reload?: ReloadOutcome
}

/** Names of settings: those that changed and are in force, and those that changed and are not. */
export type ReloadOutcome = { applied: string[]; needRestart: string[] }

export type WorkResult = WorkOutcome | { error: AlmanacError }

function writeResult(result: WorkOutcome | { failure: unknown }): string {
  return JSON.stringify('failure' in result ? { error: toPlain(result.failure) } : result)
}

function readResult(text: string): WorkResult {
  const { error, ...outcome } = JSON.parse(text) as WorkOutcome & { error?: PlainError }
  return error === undefined ? outcome : { error: fromPlain(error) }
}

// Asks contracts for the URIs of tokens that answers show, many in one batch and within a budget, and stores them. A
// contract that refuses, loops or answers nonsense has none. Nothing is fetched from where a URI points.
import { LRUCache } from 'lru-cache'
import { pause } from '../../abort.ts'
import { bytesOfAnswer } from '../../annotate/label-text.ts'
import { AlmanacError, messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { EvmMetrics } from '../../metrics.ts'
import type { Address, ChainId, ShownToken } from '../../model.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import type { AnnotationStore } from '../../store/annotation-store.ts'
import type { RateBudget } from '../rate-budget.ts'
import type { RpcPort } from '../rpc/port.ts'
import { askContracts, askNoContract, type ContractPort, contractCall, ofContracts } from './contract-reader.ts'

const selectors = { ERC721: '0xc87b56dd', ERC1155: '0x0e89341c' } as const

/** Large art that is drawn on chain takes tens of millions; a loop still ends within a second on usual nodes. */
const gas = 30_000_000
/** A `data:` URI of 1 MB of JSON in base64. An answer of one stays below the bound of `askContracts`. */
const uriBytesMax = Math.ceil((2 ** 20 * 4) / 3) + 200
const tokensAtOnce = 16
/** A batch that takes longer is followed by a rest of the same length. */
const longMs = 250
const waitingMax = 2_000
/** A caller that waited for as long has answered long ago. */
const waitMsMax = 30_000
const restMs = { first: 1_000, max: 300_000 }
const dayMs = 86_400_000
/** A collection can give each of a million tokens a URI of 1.4 MB, and one client can page through all of them. */
const storedBytesPerDay = 256 * 2 ** 20
/** A contract that took too long is left alone for an hour. */
const slowContracts = { max: 1_000, ttl: 3_600_000 }

export type TokenUriReaderOptions = {
  chain: { id: ChainId; name: string }
  store: Pick<AnnotationStore, 'annotate'>
  /** False while nothing may be stored. */
  hasRoom: () => boolean
  rpc: Pick<RpcPort, 'ask'>
  budget: RateBudget
  metrics: EvmMetrics
  log: Log
}

type Waiting = { token: ShownToken; done: Promise<void>; over: () => void }

export class TokenUriReader {
  readonly #options: TokenUriReaderOptions
  readonly #stopping = new AbortController()
  /** The first that was asked for comes first. */
  readonly #waiting = new Map<string, Waiting>()
  readonly #slow = new LRUCache<Address, true>(slowContracts)
  #reading: Promise<void> | undefined
  #restUntilMs = 0
  #restMs = restMs.first
  #stored = { day: 0, bytes: 0 }

  constructor(options: TokenUriReaderOptions) {
    this.#options = options
  }

  /** Returns when the tokens were read or given up, or the time is over. It does not fail. */
  async ensure(tokens: readonly ShownToken[], waitMs: number): Promise<void> {
    if (this.#stopping.signal.aborted || this.#mustRest()) return
    const asked = tokens.flatMap(token => this.#wait(token) ?? [])
    if (asked.length === 0) return
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined
    })
    const over = new AbortController()
    await Promise.race([Promise.all(asked), pause(Math.min(waitMs, waitMsMax), over.signal)])
    over.abort()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#reading
  }

  /** Undefined if it is not read: too many wait, or its contract is slow. */
  #wait(token: ShownToken): Promise<void> | undefined {
    const name = `${token.contract} ${token.tokenId}`
    const waiting = this.#waiting.get(name)
    if (waiting !== undefined) return waiting.done
    if (this.#waiting.size >= waitingMax || this.#slow.has(token.contract)) return undefined
    const { promise: done, resolve: over } = Promise.withResolvers<void>()
    this.#waiting.set(name, { token, done, over })
    return done
  }

  #mustRest(): boolean {
    const day = Math.floor(Date.now() / dayMs)
    if (day !== this.#stored.day) this.#stored = { day, bytes: 0 }
    return performance.now() < this.#restUntilMs || this.#stored.bytes > storedBytesPerDay || !this.#options.hasRoom()
  }

  async #readAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const count = Math.min(tokensAtOnce, this.#options.budget.ofOneSecond)
      const some = [...this.#waiting.entries().take(count)]
      const startedMs = performance.now()
      if (!this.#stopping.signal.aborted && !this.#mustRest()) await this.#read(some.map(([, { token }]) => token))
      // Those that were not read are asked for again when they are shown again.
      for (const [name, { over }] of some) {
        this.#waiting.delete(name)
        over()
      }
      // Contracts can burn all the gas of each call: at most half of the node's time is theirs.
      const tookMs = performance.now() - startedMs
      if (tookMs > longMs && this.#waiting.size > 0) await pause(tookMs, this.#stopping.signal)
    }
  }

  async #read(tokens: readonly ShownToken[]): Promise<void> {
    const { chain, store, rpc, budget, metrics, log } = this.#options
    const { signal } = this.#stopping
    try {
      const { uris, slow } = await readTokenUris(tokens, { rpc, budget, signal })
      for (const contract of slow) this.#slow.set(contract, true)
      const readAtMs = Date.now()
      const read = uris.map(({ contract, tokenId, uri }) => ({ contract, tokenId, uri, readAtMs }))
      await store.annotate({ tokenUris: { chain: chain.id, uris: read } })
      for (const { uri } of read) this.#stored.bytes += uri?.length ?? 0
      metrics.tokenUriReadings.inc({ chain: chain.name, outcome: 'read' }, read.length)
      metrics.tokenUriReadings.inc({ chain: chain.name, outcome: 'slow' }, tokens.length - read.length)
      this.#restMs = restMs.first
    } catch (error) {
      if (signal.aborted) return
      metrics.tokenUriReadings.inc({ chain: chain.name, outcome: 'failed' }, tokens.length)
      if (error instanceof AlmanacError)
        log.debug({ chain: chain.name, reason: messageOf(error) }, 'Token URIs not read')
      else log.error({ err: error, chain: chain.name }, 'Token URIs not read')
      this.#restUntilMs = performance.now() + this.#restMs
      this.#restMs = Math.min(this.#restMs * 2, restMs.max)
    }
  }
}

type Readings = {
  uris: (ShownToken & { uri: string | undefined })[]
  /** Contracts that took too long when asked alone; their tokens are not among the others. */
  slow: Set<Address>
}

/**
 * Fails if the endpoints do. If an answer is too large, too slow or refused in unknown words, tokens are asked for one
 * by one, so that one contract cannot hide the others.
 */
export async function readTokenUris(tokens: readonly ShownToken[], port: ContractPort): Promise<Readings> {
  try {
    const values = await askContracts(tokens.map(callOf), port)
    return { uris: tokens.map((token, at) => ({ ...token, uri: uriOf(token, values[at]) })), slow: new Set() }
  } catch (error) {
    const kind = rpcFailureOf(error)?.kind
    if (kind === undefined || !ofContracts.has(kind)) throw error
    if (tokens.length > 1) return await readOneByOne(tokens, port)
    if (kind !== 'response-too-large') await askNoContract(port)
    const [token] = tokens as [ShownToken]
    return kind === 'timeout'
      ? { uris: [], slow: new Set([token.contract]) }
      : { uris: [{ ...token, uri: undefined }], slow: new Set() }
  }
}

async function readOneByOne(tokens: readonly ShownToken[], port: ContractPort): Promise<Readings> {
  const all: Readings = { uris: [], slow: new Set() }
  for (const token of tokens) {
    if (all.slow.has(token.contract)) continue
    const { uris, slow } = await readTokenUris([token], port)
    all.uris.push(...uris)
    for (const contract of slow) all.slow.add(contract)
  }
  return all
}

function callOf({ contract, tokenId, standard }: ShownToken) {
  return contractCall(contract, `${selectors[standard]}${wordOf(tokenId)}`, 'latest', gas)
}

/** Undefined for what is not text that can be shown: empty, too long, not UTF-8, or with control characters. */
function uriOf({ tokenId }: ShownToken, answer: unknown): string | undefined {
  const bytes = bytesOfAnswer(answer, uriBytesMax + 1)
  if (bytes === undefined || bytes.length === 0 || bytes.length > uriBytesMax) return undefined
  try {
    const given = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const uri = given.replaceAll('{id}', wordOf(tokenId))
    return uri.length > uriBytesMax || control.test(uri) ? undefined : uri
  } catch {
    return undefined
  }
}

/** JSON in a `data:` URI may have line ends. */
const control = /[^\P{Cc}\t\n\r]/u

function wordOf(tokenId: bigint): string {
  return tokenId.toString(16).padStart(64, '0')
}

// Fetches metadata and pictures from where the operator permits it: when they are asked for, a few at a time, in turn
// for each key, within bounds of requests and bytes, and stores what came. It never crawls.
import { LRUCache } from 'lru-cache'
import { followSignals, pause } from '../../abort.ts'
import { atMost } from '../../at-most.ts'
import { AlmanacError, messageOf } from '../../errors.ts'
import { type FetchAnswer, type FetchRules, fetchFailureOf, guardedFetch, type Permit } from '../../guarded-fetch.ts'
import type { Log } from '../../log.ts'
import type { IndexingKey } from '../../query/freshen.ts'
import { type ContentId, contentIdOf, hasHash, type UnixNode, unixNodeOf } from '../../query/metadata/content-hash.ts'
import { mediaTypeOf, pixelSizeOf } from '../../query/metadata/media-type.ts'
import { jsonObject } from '../../query/metadata/token-metadata.ts'
import type { WebAddress } from '../../query/metadata/web-address.ts'
import { factNameOf, jsonType, type WebFacts, type WebPurpose } from '../../query/metadata/web-facts.ts'
import type { WebFact, WebFactStatus, WebFactStore } from '../../store/web-fact-store.ts'

export type WebSettings = {
  ipfs: readonly string[]
  ipns: readonly string[]
  ar: readonly string[]
  /** Names of hosts, `*.` before one for those below it, or `any`. */
  https: readonly string[]
  bytesMax: number
  timeoutMs: number
  redirectsMax: number
  requestsPerSecond: number
  requestsPerHost: number
  storeBytesMax: number
  keepDays: number
}

/** Bytes of a day: of all keys, and of each whose indexing is limited. */
export type WebBudget = {
  readonly left: number
  leftForKey(payer: Payer): number
  use(bytes: number, payer?: Payer): void
}
type Payer = { id: string; hasShare: boolean }

type Options = {
  settings: WebSettings
  store: WebFactStore
  /** False while nothing may be stored. */
  hasRoom: () => boolean
  budget: WebBudget
  log: Log
  resolve?: FetchRules['resolve']
  isPublic?: FetchRules['isPublic']
}

const fetchesAtOnce = 8
/** Of them: pictures are larger than metadata. */
const picturesAtOnce = 3
const metadataBytesMax = 2 ** 20 + 65_536
/** A file of many blocks takes several requests, and all of them at most as long as three. */
const requestsOfTime = 3
/** Of all keys and of one; what comes beyond is asked for again when it is shown again. */
const waitingMax = { all: 2_000, key: 500 }
/** A fetch that would have to wait longer for its host is given up. */
const slotMsMax = 5_000
const dayMs = 86_400_000
const retryMs = { temporarily_unavailable: 10 * 60_000, other: dayMs }
/** Folders and files of many blocks: each is a request. */
const blocksMax = 40
const blockBytesMax = 2 * 2 ** 20
const foldersBytesMax = 4 * 2 ** 20
/** A folder is that of all tokens of a collection. */
const keptFolders = { maxSize: 8 * 2 ** 20, ttl: 3_600_000, sizeCalculation: (block: Buffer) => block.length + 200 }
const hostsMax = 1_000

type Found = { body: Buffer<ArrayBuffer>; evidence: WebFact['evidence'] }
type Job = {
  address: WebAddress
  purpose: WebPurpose
  key: IndexingKey
  seen: boolean
  done: Promise<void>
  over: () => void
}

export class WebReader implements WebFacts {
  readonly #options: Options
  readonly #gateways: readonly URL[]
  readonly #stopping = new AbortController()
  readonly #jobs = new Map<string, Job>()
  /** Of each key, in the order in which keys come next. */
  readonly #waiting = new Map<string, Job[]>()
  readonly #running = new Set<Promise<void>>()
  #pictures = 0
  #nextRequestMs = 0
  readonly #nextOfHostMs = new LRUCache<string, number>(atMost(hostsMax))
  readonly #folders = new LRUCache<string, Buffer>(keptFolders)
  /** Gateways that answered with something else when they were asked for a block. */
  readonly #withoutBlocks = new LRUCache<string, true>({ max: 100, ttl: 3_600_000 })

  constructor(options: Options) {
    this.#options = options
    const { ipfs, ipns, ar } = options.settings
    this.#gateways = [...ipfs, ...ipns, ...ar].map(text => new URL(text))
  }

  mayAsk(address: WebAddress): boolean {
    return this.#urlsOf(address).length > 0
  }

  async stored(addresses: readonly WebAddress[], contentBytesMax: number): Promise<(WebFact | undefined)[]> {
    if (addresses.length === 0) return []
    const names = addresses.map(factNameOf)
    const facts = await this.#options.store.webFacts(names, contentBytesMax)
    const known = new Map(facts.map(fact => [fact.name.toString('hex'), fact]))
    return names.map(name => known.get(name.toString('hex')))
  }

  isOld({ status, evidence, readAtMs }: WebFact, nowMs: number): boolean {
    if (status === 'success' && evidence === 'hash') return false
    const keptMs = status === 'temporarily_unavailable' ? retryMs.temporarily_unavailable : retryMs.other
    return nowMs - readAtMs > (status === 'success' ? this.#options.settings.keepDays * dayMs : keptMs)
  }

  fetch(
    address: WebAddress,
    { purpose, key, seen = false }: { purpose: WebPurpose; key: IndexingKey; seen?: boolean },
  ): Promise<void> | undefined {
    const known = this.#jobs.get(address.name)
    if (known !== undefined) return known.done
    const ofKey = this.#waiting.get(key.id) ?? []
    if (this.#jobs.size >= waitingMax.all || ofKey.length >= waitingMax.key) return undefined
    if (this.#stopping.signal.aborted || !this.#mayPay(key) || !this.mayAsk(address)) return undefined
    const { promise: done, resolve: over } = Promise.withResolvers<void>()
    const job = { address, purpose, key, seen, done, over }
    this.#jobs.set(address.name, job)
    this.#waiting.set(key.id, [...ofKey, job])
    this.#startMore()
    return done
  }

  async close(): Promise<void> {
    this.#stopping.abort(new AlmanacError('interrupted', 'The service is stopping'))
    await Promise.all(this.#running)
  }

  #mayPay(key: IndexingKey): boolean {
    const { budget, hasRoom } = this.#options
    return key.indexPerDay !== 0 && hasRoom() && Math.min(budget.left, budget.leftForKey(payerOf(key))) > 0
  }

  #startMore(): void {
    while (this.#running.size < fetchesAtOnce) {
      const job = this.#next()
      if (job === undefined) return
      if (job.purpose === 'picture') this.#pictures++
      const running = this.#perform(job).finally(() => {
        if (job.purpose === 'picture') this.#pictures--
        this.#running.delete(running)
        this.#jobs.delete(job.address.name)
        job.over()
        this.#startMore()
      })
      this.#running.add(running)
    }
  }

  /** Of the key that has waited longest since its turn. */
  #next(): Job | undefined {
    for (const [id, jobs] of this.#waiting) {
      const at = jobs.findIndex(({ purpose }) => purpose === 'metadata' || this.#pictures < picturesAtOnce)
      if (at === -1) continue
      this.#waiting.delete(id)
      if (jobs.length > 1) this.#waiting.set(id, jobs.toSpliced(at, 1))
      return jobs[at]
    }
    return undefined
  }

  async #perform({ address, purpose, key, seen }: Job): Promise<void> {
    const { store, settings, log } = this.#options
    if (this.#stopping.signal.aborted || !this.#mayPay(key)) return
    using linked = followSignals(this.#stopping.signal)
    const late = (): void => linked.abort(tooLate(`${address.kind} address not read in time`))
    const timer = setTimeout(late, requestsOfTime * settings.timeoutMs)
    const bytesMax = purpose === 'metadata' ? Math.min(metadataBytesMax, settings.bytesMax) : settings.bytesMax
    const turn = { payer: payerOf(key), signal: linked.signal, bytesMax, purpose }
    try {
      const fact = { name: factNameOf(address), readAtMs: Date.now(), ...(await this.#factOf(address, turn)) }
      await store.putWebFact(fact, { bytesMax: settings.storeBytesMax, seen })
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      log.debug({ reason: messageOf(error) }, 'Web metadata not stored')
    } finally {
      clearTimeout(timer)
    }
  }

  async #factOf(address: WebAddress, turn: Turn): Promise<Omit<WebFact, 'name' | 'readAtMs'>> {
    try {
      const found = await this.#find(address, turn)
      if ('status' in found) return none(found.status)
      const { body, evidence } = found
      const text = turn.purpose === 'metadata' ? jsonObject(utf8Of(body)) : undefined
      const type = text === undefined ? mediaTypeOf(body) : jsonType
      if (type === undefined) return { ...none('unsupported_media'), evidence }
      const content = text === undefined ? body : (Buffer.from(text) as Buffer<ArrayBuffer>)
      const { width, height } = pixelSizeOf(content, type) ?? { width: null, height: null }
      return { status: 'success', evidence, type, size: content.length, width, height, content }
    } catch (error) {
      if (this.#stopping.signal.aborted || fetchFailureOf(error) === undefined) throw error
      return none(statusOf(fetchFailureOf(error)!))
    }
  }

  async #find(address: WebAddress, turn: Turn): Promise<Found | { status: WebFactStatus }> {
    const id = address.kind === 'ipfs' ? contentIdOf(address.root) : undefined
    const checked = id && (await this.#checked(address, id, turn))
    if (checked !== undefined) return { body: checked, evidence: 'hash' }
    let status: WebFactStatus = 'host_unavailable'
    let failure: unknown
    for (const url of this.#urlsOf(address)) {
      try {
        const answer = await this.#ask(url, turn)
        const isWhole = id?.codec === 'raw' && address.path === ''
        if (answer.status === 200 && !(isWhole && !hasHash(answer.body, id)))
          return { body: answer.body, evidence: isWhole ? 'hash' : 'gateway' }
        status = answer.status === 429 || answer.status >= 500 ? 'temporarily_unavailable' : 'host_unavailable'
        failure = undefined
      } catch (error) {
        if (fetchFailureOf(error) === undefined) throw error
        failure = error
      }
    }
    if (failure !== undefined) throw failure
    return { status }
  }

  /** Block by block, each checked against its hash. Undefined where no gateway sends one, or it is of another kind. */
  async #checked(address: WebAddress, root: ContentId, turn: Turn): Promise<Buffer<ArrayBuffer> | undefined> {
    const state = { blocksLeft: blocksMax, bytesLeft: turn.bytesMax + foldersBytesMax, turn }
    try {
      let id: ContentId | undefined = root
      for (const name of address.path.split('/').slice(1)) {
        const node: UnixNode | undefined = id?.codec === 'node' ? unixNodeOf(await this.#folder(id, state)) : undefined
        if (node?.kind !== 'folder') return undefined
        id = node.links.find(link => link.name === decodeURIComponent(name))?.id
      }
      return id && (await this.#content(id, state))
    } catch (error) {
      if (error instanceof NoBlock) return undefined
      throw error
    }
  }

  async #folder(id: ContentId, state: BlockState): Promise<Buffer> {
    const name = id.digest.toString('hex')
    const known = this.#folders.get(name)
    if (known !== undefined) return known
    const block = await this.#block(id, state)
    this.#folders.set(name, block)
    return block
  }

  async #content(id: ContentId, state: BlockState): Promise<Buffer<ArrayBuffer>> {
    const block = await this.#block(id, state)
    if (id.codec === 'raw') return block
    const node = unixNodeOf(block)
    if (node?.kind !== 'file') throw new NoBlock()
    const parts = [Buffer.from(node.bytes)]
    for (const link of node.links) {
      if (link.id === undefined) throw new NoBlock()
      parts.push(await this.#content(link.id, state))
    }
    return Buffer.concat(parts)
  }

  async #block(id: ContentId, state: BlockState): Promise<Buffer<ArrayBuffer>> {
    if (state.blocksLeft-- <= 0) throw new NoBlock()
    for (const gateway of this.#options.settings.ipfs) {
      if (this.#withoutBlocks.has(gateway)) continue
      const url = `${rootOf(gateway)}/ipfs/${id.text}?format=raw`
      const asked = this.#ask(url, { ...state.turn, bytesMax: blockBytesMax }, blockType)
      const answer = await asked.catch(error => {
        if (fetchFailureOf(error) === undefined || state.turn.signal.aborted) throw error
      })
      if (answer?.status === 200 && hasHash(answer.body, id)) {
        state.bytesLeft -= answer.body.length
        if (state.bytesLeft < 0) throw new NoBlock()
        return answer.body
      }
      // One that sends the file instead, whichever is asked for.
      const type = answer?.headers['content-type'] ?? ''
      if (answer?.status === 406 || (answer?.status === 200 && !type.startsWith(blockType)))
        this.#withoutBlocks.set(gateway, true)
    }
    throw new NoBlock()
  }

  async #ask(url: string, { payer, signal, bytesMax }: Omit<Turn, 'purpose'>, accept = '*/*'): Promise<FetchAnswer> {
    const { settings, budget, resolve, isPublic } = this.#options
    await this.#slot(new URL(url).host, signal)
    let answer: FetchAnswer | undefined
    try {
      const { timeoutMs, redirectsMax } = settings
      answer = await guardedFetch(
        { url, headers: { accept, 'user-agent': 'almanac' }, signal },
        {
          ...{
            permits: (asked: URL) => this.#permit(asked),
            redirectsMax,
            bytesMax,
            timeoutMs,
            headersTimeoutMs: timeoutMs,
          },
          ...(resolve && { resolve }),
          ...(isPublic && { isPublic }),
        },
      )
      return answer
    } finally {
      // What failed may have sent as much as it was allowed to.
      budget.use(answer?.body.length ?? Math.min(bytesMax, 64 * 1_024), payer)
    }
  }

  async #slot(host: string, signal: AbortSignal): Promise<void> {
    const { requestsPerSecond, requestsPerHost } = this.#options.settings
    const now = performance.now()
    const at = Math.max(now, this.#nextRequestMs, this.#nextOfHostMs.get(host) ?? 0)
    if (at - now > slotMsMax) throw tooLate(`${host} is asked too often`)
    this.#nextRequestMs = Math.max(now, this.#nextRequestMs) + 1_000 / requestsPerSecond
    this.#nextOfHostMs.set(host, at + 1_000 / requestsPerHost)
    if (at > now) await pause(at - now, signal)
  }

  /** The gateways of the operator as they were written, and what lies below their names: they redirect there. */
  #permit(url: URL): Permit | undefined {
    if (this.#gateways.some(({ origin }) => origin === url.origin)) return { http: true, private: true }
    if (this.#gateways.some(({ hostname }) => url.hostname.endsWith(`.${hostname}`))) return {}
    const isNamed = (host: string): boolean =>
      host === 'any' || host === url.hostname || (host.startsWith('*.') && url.hostname.endsWith(host.slice(1)))
    return this.#options.settings.https.some(isNamed) ? {} : undefined
  }

  #urlsOf({ kind, root, path, url }: WebAddress): string[] {
    const { settings } = this.#options
    const own = url !== undefined && this.#permit(new URL(url)) !== undefined ? [url] : []
    if (kind === 'https') return own
    const between = kind === 'ar' ? '' : `/${kind}`
    const urls = settings[kind].map(gateway => `${rootOf(gateway)}${between}/${root}${path}`)
    return urls.length > 0 ? urls : own
  }
}

/** A block that no gateway sends, or that is not part of a plain file. */
class NoBlock extends Error {}

/** Whose work it is, until when, and how much it may bring. */
type Turn = { payer: Payer; signal: AbortSignal; bytesMax: number; purpose: WebPurpose }
type BlockState = { blocksLeft: number; bytesLeft: number; turn: Turn }
const blockType = 'application/vnd.ipld.raw'

function tooLate(message: string): AlmanacError {
  return new AlmanacError('timeout', message, { details: { fetch: 'timeout' } })
}

function payerOf({ id, indexPerDay }: IndexingKey): Payer {
  return { id, hasShare: indexPerDay !== undefined }
}

/** With or without what gateways have at their root. */
function rootOf(gateway: string): string {
  return gateway.replace(/\/+$/, '').replace(/\/ip[fn]s$/, '')
}

function none(status: WebFactStatus): Omit<WebFact, 'name' | 'readAtMs'> {
  return { status, evidence: 'gateway', type: null, size: 0, width: null, height: null, content: undefined }
}

function statusOf(failure: NonNullable<ReturnType<typeof fetchFailureOf>>): WebFactStatus {
  if (failure === 'too_large') return 'unsupported_media'
  return failure === 'timeout' || failure === 'unreachable' || failure === 'no_address'
    ? 'temporarily_unavailable'
    : 'host_unavailable'
}

function utf8Of(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}

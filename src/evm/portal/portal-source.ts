// History from a portal: blocks that were checked where they were read, with the hashes and roots recomputed. A wrong
// range is left out for a while, and a portal that is away or often wrong gives nothing until it is asked again. It is
// never asked for the head.
import type { Chain } from '../../chains.ts'
import { blockCount, missingIntervals } from '../../coverage.ts'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Hash, Interval } from '../../model.ts'
import type { Failure } from '../proof/failure.ts'
import { BlocksInTime } from '../source/blocks-in-time.ts'
import {
  type Anchor,
  type BulkHeader,
  type BulkRequest,
  type BulkSource,
  SourceLost,
  type SourceStatus,
} from '../source/bulk-source.ts'
import { type DecodedRange, strayReason } from '../source/chain-source.ts'
import type { Decoder } from '../source/decode-pool.ts'
import { RangeSize } from '../source/range-size.ts'
import type { PortalResult } from './portal-blocks.ts'
import { type PortalAnswer, PortalClient, type PortalClientOptions, PortalFailure } from './portal-client.ts'
import { headersIn, learntChain } from './portal-headers.ts'

export type PortalSourceOptions = PortalClientOptions & {
  chain: Chain
  decoder: Decoder
  log: Log
  /** A block that the operator says is of the chain. */
  anchor?: Hash | undefined
  /** The number of the block with this hash among those that are stored. */
  storedNumber?: ((hash: Hash, interval: Interval, signal: AbortSignal) => Promise<number | undefined>) | undefined
  /** Headers of these blocks as nodes answer them: they may have fields that the dataset lacks. */
  headersOf?: ((interval: Interval, signal: AbortSignal) => Promise<readonly unknown[]>) | undefined
  /** How long a wrong range is not asked for again. */
  refusedMs?: number | undefined
  /** How long it rests where it is away or slow; each time twice as long as before, until it gives a good part. */
  restMs?: { first: number; max: number } | undefined
}

const refusedMs = 600_000
const restMs = { first: 30_000, max: 600_000 }
/** After as many ranges that were wrong in a row, the others are not worth asking for either. */
const wrongMax = 8
/** A dataset with more wrong ranges than this is not worth asking for. */
const refusedMax = 1_000
/** Of a status. */
const refusedShown = 100
/** After as many slow parts, less one for each good one, it rests. One that gave nothing makes it rest at once. */
const slowMax = 3
/** Large enough for the few requests that a portal takes in a second, small enough to hold a dozen in memory. */
const sizes = { targetBytes: 8_000_000, blocksInitial: 8, blocksMax: 1_000 }
/** Headers are mostly asked for one below another. */
const headersAtOnce = 200
const headersKept = 2_000
/** Of stored blocks, for the one that the operator names. */
const headersSearched = 10_000

export function portalSource(options: PortalSourceOptions): BulkSource {
  return new PortalSource(options)
}

type Refused = Interval & { untilMs: number; block: number; reason: string }

class PortalSource implements BulkSource {
  readonly kind = 'portal'
  readonly name: string
  readonly #options: PortalSourceOptions
  readonly #client: PortalClient
  readonly #size = new RangeSize(sizes)
  readonly #blocksInTime = new BlocksInTime(sizes.blocksMax)
  readonly #headers = new Map<number, BulkHeader>()
  #chain: Chain
  #start: number | undefined
  #head: number | undefined
  /** Why it gives nothing until it is asked again, which happens only after its rest. */
  #failure: string | undefined
  #restsUntilMs = 0
  #rests = 0
  #slow = 0
  #wrongInARow = 0
  #refused: Refused[] = []
  /** The headers of recent ranges lacked fields. */
  #needsHeaders = false
  #anchorNumber: number | undefined
  /** For the anchor, in vain. */
  #hasSearched = false
  refusals = 0

  constructor(options: PortalSourceOptions) {
    this.#options = options
    this.#chain = options.chain
    this.#client = new PortalClient(options)
    this.name = this.#client.name
  }

  get holds(): readonly Interval[] {
    const [from, to] = [this.#start, this.#head]
    if (from === undefined || to === undefined || from > to || this.#failure !== undefined) return []
    return missingIntervals(this.#refusedNow(), { from, to })
  }

  get named(): BulkSource['named'] {
    const { anchor: hash } = this.#options
    if (hash === undefined) return undefined
    return { hash, isFound: this.#anchorNumber !== undefined ? true : this.#hasSearched ? false : undefined }
  }

  get proofs(): number {
    return this.#anchorNumber === undefined ? 0 : 1
  }

  async look(signal: AbortSignal): Promise<void> {
    // Whatever blocks it names, a portal that failed is left to rest.
    if (this.#client.isQuiet || performance.now() < this.#restsUntilMs) return
    this.#headers.clear()
    try {
      // What failed before is asked once: others may wait for the look.
      const isPatient = this.#failure === undefined
      const head = await this.#client.finalizedHead({ isPatient }, signal)
      // One that began above its own head was wrong, and may be right by now.
      if (this.#start === undefined || this.#start > head) this.#start = await this.#client.start({ isPatient }, signal)
      this.#head = head
      if (this.#chain.quirks.headers === undefined)
        this.#chain = await learntChain(this.#chain, this.#client, { from: this.#start, to: head }, signal)
      this.#failure = undefined
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof PortalFailure && error.kind === 'slow') this.#fail(error)
      else this.#failFor(messageOf(error))
    }
  }

  blocksAt(number: number, scope: BulkRequest['scope'] = 'transfers'): number {
    const held = this.holds.find(({ from, to }) => number >= from && number <= to)
    const blocks = Math.min(this.#size.blocks, this.#blocksInTime.of(scope))
    return Math.max(1, Math.min(blocks, number - (held?.from ?? number) + 1))
  }

  async range(interval: Interval, { scope, lastHash }: BulkRequest, signal: AbortSignal): Promise<DecodedRange> {
    if (!this.holds.some(({ from, to }) => interval.from >= from && interval.to <= to))
      throw new SourceLost(`the portal ${this.name} does not have blocks ${interval.from} to ${interval.to} now`)
    const { range, completed, tookMs } = await this.#decoded(interval, scope, this.#needsHeaders, signal)
    const last = range.headers.at(-1)!
    const stray = lastHash === undefined || range.interval.to < interval.to ? undefined : strayOf(range, lastHash)
    if (stray !== undefined) throw this.#refuse([range.interval], { block: last.number, message: stray })
    this.#needsHeaders = completed > 0
    this.#wrongInARow = 0
    this.#blocksInTime.learn(scope, range.headers.length, tookMs)
    this.#size.learn({ kind: 'answered', blocks: range.headers.length, bytes: range.bytes })
    const anchor = range.headers.find(({ hash }) => hash === this.#options.anchor)
    // A hash that a header does not hash to may be shown for any block.
    if (anchor === undefined || range.headersProven === false) return range
    this.#anchorNumber = anchor.number
    if (anchor === last) return { ...range, anchor: 'receipts-root' }
    // What is below the anchor hangs on it, whatever is above.
    return this.range({ from: interval.from, to: anchor.number }, { scope, lastHash: anchor.hash }, signal)
  }

  async header(number: number, signal: AbortSignal): Promise<BulkHeader | undefined> {
    const known = this.#headers.get(number)
    const [from, to] = [this.#start ?? 0, this.#head ?? -1]
    // That of a block whose transactions were wrong may be right: it hashes to its hash.
    if (known !== undefined || this.#failure !== undefined || number < from || number > to) return known
    const interval = { from: Math.max(from, number - headersAtOnce + 1), to: number }
    try {
      const answer = await this.#client.blocks(interval, { content: 'header' }, signal)
      this.#judge(answer)
      const headers = headersIn(this.#chain, answer)
      if (this.#headers.size > headersKept) this.#headers.clear()
      for (const header of headers) this.#headers.set(header.number, header)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PortalFailure)) throw error
      if (error.kind === 'start') this.#start = error.start
      else this.#fail(error)
    }
    return this.#headers.get(number)
  }

  /** No portal can be asked for a hash: the block was read, is stored, or is near the top, where anchors mostly are. */
  async anchorIn({ from, to }: Interval, signal: AbortSignal): Promise<Anchor | undefined> {
    const { anchor: hash, storedNumber } = this.#options
    if (hash === undefined) return undefined
    this.#anchorNumber ??=
      (await storedNumber?.(hash, { from, to }, signal)) ?? (await this.#topNamed(hash, { from, to }, signal))
    this.#hasSearched = true
    const number = this.#anchorNumber
    if (number === undefined || number < from || number > to) return undefined
    return { number, hash, evidence: 'receipts-root' }
  }

  async #topNamed(hash: Hash, { from, to }: Interval, signal: AbortSignal): Promise<number | undefined> {
    for (let number = to; number >= Math.max(from, to - headersSearched + 1); number--) {
      const header = await this.header(number, signal)
      if (header === undefined) return undefined
      // A hash that a header does not hash to may be shown for any block.
      if (header.hash === hash && header.unproven !== true) return number
    }
    return undefined
  }

  status(): SourceStatus {
    const { holds } = this
    const [lowest, highest] = [holds.at(0)?.from, holds.at(-1)?.to]
    const refused = this.#refusedNow().map(({ from, to, block, reason }) => ({
      name: `${from} to ${to}`,
      block,
      reason,
    }))
    const reason = this.#failure
    const isWaiting = this.#client.isQuiet || this.#head === undefined
    const ready = isWaiting ? 'waiting' : holds.length > 0 ? 'ready' : 'empty'
    return {
      kind: this.kind,
      name: this.name,
      blocks: blockCount(holds),
      ...(lowest === undefined || highest === undefined ? {} : { from: lowest, to: highest }),
      state: reason === undefined ? ready : 'failed',
      ...(reason === undefined ? {} : { reason }),
      refused: refused.slice(0, refusedShown),
    }
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  get #refusedMs(): number {
    return this.#options.refusedMs ?? refusedMs
  }

  /** Asked for and decoded; with the headers of nodes where the dataset's cannot be hashed. */
  async #decoded(
    interval: Interval,
    scope: BulkRequest['scope'],
    withHeaders: boolean,
    signal: AbortSignal,
  ): Promise<Extract<PortalResult, { ok: true }>> {
    const [answer, headers] = await Promise.all([
      this.#blocks(interval, signal),
      withHeaders ? this.#nodeHeaders(interval, signal) : undefined,
    ])
    const part = { from: interval.from, to: interval.from + answer.count - 1 }
    const task = { chain: this.#chain, scope, interval: part, bodies: [answer.body], lacking: answer.lacking }
    const result = await this.#options.decoder.portal({ ...task, headers: headers?.slice(0, answer.count) })
    signal.throwIfAborted()
    const isUnproven = result.ok ? result.range.headersProven === false : result.failure.check === 'block-hash'
    const mayHelp = this.#options.headersOf !== undefined && this.#chain.quirks.headers !== undefined
    if (isUnproven && mayHelp && !withHeaders) return this.#decoded(part, scope, true, signal)
    if (result.ok) return result
    if (result.isTooMuch !== true || answer.count === 1) throw this.#refuse(result.wrong ?? [part], result.failure)
    // A slow or busy machine takes no more at once, or the answer was made to be slow: fewer blocks tell which.
    const fewer = this.#blocksInTime.tooMany(scope, answer.count)
    this.#size.learn({ kind: 'range-too-large', blocks: answer.count, blocksAllowed: fewer })
    return this.#decoded({ from: part.from, to: part.from + fewer - 1 }, scope, withHeaders, signal)
  }

  async #blocks(interval: Interval, signal: AbortSignal): ReturnType<PortalClient['blocks']> {
    const without = this.#chain.quirks.stateSyncTransactions === true ? [] : ['log.transactionHash']
    try {
      const answer = await this.#client.blocks(interval, { content: 'whole', without }, signal)
      this.#judge(answer)
      // Its line takes no more at once.
      if (answer.isCut)
        this.#size.learn({ kind: 'range-too-large', blocks: blockCount([interval]), blocksAllowed: answer.count })
      return answer
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PortalFailure)) throw error
      const { message, block = interval.from } = error
      if (error.kind === 'wrong') throw this.#refuse([{ from: block, to: block }], { block, message })
      if (error.start === undefined || error.start <= interval.from) throw this.#fail(error)
      this.#start = error.start
      throw new SourceLost(`the portal ${this.name} has no blocks below ${error.start}`)
    }
  }

  /** Nodes may lack old blocks, or be away: then the dataset's have to do. */
  async #nodeHeaders(interval: Interval, signal: AbortSignal): Promise<readonly unknown[] | undefined> {
    try {
      return await this.#options.headersOf?.(interval, signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#options.log.debug(
        { chain: this.#chain.name, err: error },
        'Nodes gave no headers for blocks of the portal.',
      )
      return undefined
    }
  }

  #refusedNow(): Refused[] {
    const now = performance.now()
    this.#refused = this.#refused.filter(({ untilMs }) => untilMs > now)
    return this.#refused
  }

  #refuse(wrong: readonly Interval[], { block, message: reason }: Pick<Failure, 'block' | 'message'>): SourceLost {
    this.refusals++
    this.#wrongInARow++
    const untilMs = performance.now() + this.#refusedMs
    for (const { from, to } of wrong)
      this.#refused.push({ from, to, block: from <= block && block <= to ? block : from, reason, untilMs })
    const [{ from }, { to }] = [wrong[0]!, wrong.at(-1)!]
    const refused = this.#refusedNow().length
    if (this.#wrongInARow >= wrongMax || refused >= refusedMax) {
      const isRow = this.#wrongInARow >= wrongMax
      this.#failFor(
        isRow ? `${this.#wrongInARow} wrong answers in a row` : `${refused} ranges refused`,
        this.#refusedMs,
      )
      this.#wrongInARow = 0
    }
    return new SourceLost(`the portal ${this.name} gave wrong blocks from ${from} to ${to}: ${reason}`)
  }

  /** What comes slowly is taken, and not asked for much longer. */
  #judge({ slowness }: PortalAnswer): void {
    this.#slow = slowness === undefined ? Math.max(0, this.#slow - 1) : this.#slow + 1
    if (slowness === undefined && this.#slow === 0) this.#rests = 0
    if (slowness !== undefined && this.#slow >= slowMax) this.#fail(new PortalFailure('slow', slowness))
  }

  #fail({ kind, message }: PortalFailure): SourceLost {
    if (kind === 'slow' || kind === 'wrong') this.refusals++
    const { first, max } = this.#options.restMs ?? restMs
    this.#failFor(message, Math.min(max, first * 2 ** this.#rests++))
    this.#slow = 0
    return new SourceLost(`the portal ${this.name} cannot be used now: ${message}`)
  }

  #failFor(reason: string, ms = 0): void {
    this.#restsUntilMs = performance.now() + ms
    const about = { chain: this.#chain.name, portal: this.name, reason, rests_seconds: Math.ceil(ms / 1_000) }
    if (this.#failure !== reason) this.#options.log.warn(about, 'Portal cannot be used now')
    this.#failure = reason
  }
}

function strayOf({ interval, headers }: DecodedRange, lastHash: Hash): string | undefined {
  return strayReason(interval, headers.at(-1)?.hash, lastHash)
}

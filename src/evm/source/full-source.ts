// Reads whole blocks with all their logs, checked. It asks for receipts if the endpoints have them, because their root
// proves that no log is missing, else for range logs, which the bloom checks. What fails a check is asked of another
// endpoint, and so is what one endpoint cannot prove.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Block, Hash, Interval } from '../../model.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import type { WholeScope } from '../../views.ts'
import { checkBlockHash } from '../proof/block-hash.ts'
import type { Doubt, Failure } from '../proof/failure.ts'
import { takesRawReceipts } from '../proof/raw-receipts.ts'
import { ofSameHost, RangeRefused, type RpcCall, type RpcPort } from '../rpc/port.ts'
import {
  Absence,
  type ActivityGrain,
  askChecked,
  type ChainSource,
  checkFailed,
  type DecodedRange,
  type Header,
  HeaderSource,
  strayReason,
} from './chain-source.ts'
import { type Decoder, inlineDecoder } from './decode-pool.ts'
import { callsOf, type RangeRequest } from './decode-range.ts'
import { type HeaderWalk, type Link, linkBelow } from './header-walk.ts'
import { type Probed, probeChain } from './probe.ts'
import { rangeDifference } from './range-difference.ts'
import { RawHeaders, withRaw } from './raw-headers.ts'

const patienceMs = 60_000
/** How long a probe holds that gave up a proof, or that did not hear every endpoint. */
const unsettledMs = 600_000

export type FullSourceOptions = {
  /** Recovers the sender of one transaction in N; absent or 0: of none. */
  senderSample?: number | undefined
  /** What the blocks are read for: `transfers` leaves the activity of wallets out. Absent: `full`. */
  scope?: WholeScope | undefined
}

export class FullSource extends HeaderSource implements ChainSource {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  readonly #decoder: Decoder
  readonly #senderSample: number | undefined
  /** What its ranges are complete for. */
  readonly scope: WholeScope
  readonly #rawHeaders: RawHeaders
  /** Recent ranges were proven by them alone. */
  #needsRaw = false
  #probed: Promise<Probed> | undefined
  #probeAgainMs = 0
  /** Since when no second opinion is to be had: of old blocks it may be missing where it is not of new ones. */
  readonly #silentSinceMs = new Map<ActivityGrain, number>()
  /** Why the last range that was not proven was not. */
  doubt: string | undefined

  constructor(chain: Chain, rpc: RpcPort, decoder: Decoder = inlineDecoder, options: FullSourceOptions = {}) {
    super(chain, rpc)
    this.#decoder = decoder
    this.#chain = chain
    this.#rpc = rpc
    this.#rawHeaders = new RawHeaders(rpc)
    this.#senderSample = options.senderSample
    this.scope = options.scope ?? 'full'
  }

  /** `lastHash` is the hash of the last block, if it is proven: a range of another chain is then asked elsewhere. */
  async range(interval: Interval, grain: ActivityGrain, signal: AbortSignal, lastHash?: Hash): Promise<DecodedRange> {
    const { chain, hasReceipts: withReceipts } = await this.#known(signal)
    const given = { chain, request: { interval, grain, withReceipts }, lastHash }
    const { first, asked } = await this.#proven(given, signal).catch(error => {
      // Endpoints may lose a method that they had: what can be asked is learnt again.
      const isLost = rpcFailureOf(error)?.kind === 'method-missing'
      if (isLost && this.#probeAgainMs === Number.POSITIVE_INFINITY) this.#probeAgainMs = 0
      throw error
    })
    const range = first.doubt === undefined ? first : await this.#secondOpinion(asked, first, first.doubt, signal)
    if (range.doubt !== undefined) this.doubt = range.doubt.reason
    return range
  }

  /** With the bytes of headers, if the last ranges needed them; asked again with them where a header is not proven. */
  async #proven(given: Asked, signal: AbortSignal): Promise<{ first: AskedRange; asked: Asked }> {
    const { interval } = given.request
    const rawHeaders = this.#needsRaw ? await this.#rawHeaders.of(interval, undefined, signal) : undefined
    let asked: Asked = { ...given, rawHeaders }
    let first = await this.#ask(asked, new Set(), signal)
    if (first.headersProven === false && given.chain.quirks.headers !== undefined) {
      const proving = await this.#rawHeaders.of(interval, first.headers, signal)
      if (proving !== undefined) {
        asked = { ...given, rawHeaders: proving }
        first = await this.#ask(asked, new Set(), signal)
      }
    }
    this.#needsRaw = first.byRawHeaders === true
    return { first, asked }
  }

  #ask(asked: Asked, not: ReadonlySet<string>, signal: AbortSignal): Promise<AskedRange> {
    const { chain, request, lastHash, rawHeaders } = asked
    const calls = callsOf(request)
    const [senderSample, scope] = [this.#senderSample, this.scope]
    const options = { signal, nullIsMissing: true, rawReceipts: takesRawReceipts(chain) }
    return askChecked({
      chain,
      rpc: this.#rpc,
      interval: request.interval,
      ask: exclude => this.#rpc.askRaw(calls, { ...options, exclude: new Set([...not, ...exclude]) }),
      check: async ({ endpoint, bodies }) => {
        const result = await this.#decoder.range({ chain, senderSample, scope, request, bodies, rawHeaders })
        if (!result.ok) return refutation(result.failure, calls)
        const last = result.range.headers.at(-1)?.hash
        const stray = lastHash === undefined ? undefined : strayReason(request.interval, last, lastHash)
        return stray ?? { ...result.range, endpoint }
      },
    })
  }

  /** The hash of a block below one whose hash is known, by headers. */
  async linkBelow(walk: HeaderWalk, signal: AbortSignal): Promise<Link> {
    const { chain } = await this.#known(signal)
    const { doubt, ...link } = await linkBelow({ chain, rpc: this.#rpc, raw: this.#rawHeaders }, walk, signal)
    if (doubt !== undefined) this.doubt = doubt
    return link
  }

  /** Only one that hashes to its hash: the parent that another names is the word of its endpoint. */
  async provenHeaderOf(block: Pick<Block, 'number' | 'hash'>, signal: AbortSignal): Promise<Header | undefined> {
    const { chain } = await this.#known(signal)
    const form = chain.quirks.headers
    return this.headerOf(block, signal, async header => {
      if (form === undefined || checkBlockHash(header, form).is === 'equal') return form !== undefined
      const raw = await this.#rawHeaders.of({ from: block.number, to: block.number }, [block], signal)
      return raw !== undefined && checkBlockHash(withRaw(header, raw[0]), form).is === 'equal'
    })
  }

  /** Prefers what is proven. Two endpoints that say the same are worth more than one; two that differ, nothing. */
  async #secondOpinion(asked: Asked, first: AskedRange, doubt: Doubt, signal: AbortSignal): Promise<DecodedRange> {
    const { chain, request } = asked
    const exclude = ofSameHost(this.#rpc, first.endpoint)
    if (exclude === undefined) return first
    let second: AskedRange
    try {
      second = await this.#ask(asked, exclude, signal)
    } catch (error) {
      if (!(error instanceof RangeRefused || error instanceof AlmanacError)) throw error
      // It may not have the blocks, or be away for a moment. Where a proof is to be had, that is worth some patience.
      const sinceMs = this.#silentSinceMs.get(request.grain) ?? performance.now()
      this.#silentSinceMs.set(request.grain, sinceMs)
      const isPatient = performance.now() - sinceMs < patienceMs
      if (chain.quirks.headers === undefined || !doubt.elsewhere || !isPatient) return first
      throw error
    }
    this.#silentSinceMs.delete(request.grain)
    const same = isSame(first, second)
    if (second.doubt === undefined && (doubt.elsewhere || same)) return second
    if (same) return { ...first, evidence: 'two-endpoints' }
    if (second.doubt !== undefined && second.doubt.elsewhere !== doubt.elsewhere)
      return doubt.elsewhere ? second : first
    // They differ in logs that no root proves, so those that one of them alone names are left out.
    if (!doubt.elsewhere && holdsAll(second, first)) return first
    if (!doubt.elsewhere && holdsAll(first, second)) return { ...second, evidence: 'one-endpoint', doubt }
    const message = `${first.endpoint} and ${second.endpoint} differ, and neither is proven: ${doubt.reason}`
    throw checkFailed(chain, request.interval, message)
  }

  /** The chain as it was probed, with what its newest header showed since. */
  async #known(signal: AbortSignal): Promise<Probed> {
    const probed = await this.#probe(signal)
    this.probedForm = probed.chain.quirks.headers
    return { ...probed, chain: this.withNewFields(probed.chain) }
  }

  /** Once in the life of the source; again if it failed, and in the background while it is not settled. */
  #probe(signal: AbortSignal): Promise<Probed> {
    if (this.#probed === undefined || performance.now() > this.#probeAgainMs) {
      const before = this.#probed
      this.#probeAgainMs = performance.now() + unsettledMs
      const probed = probeChain(this.#chain, this.#rpc, signal)
      probed.then(
        ({ isSettled }) => {
          this.#probed = probed
          if (isSettled) this.#probeAgainMs = Number.POSITIVE_INFINITY
        },
        () => (this.#probed = before),
      )
      this.#probed ??= probed
    }
    return this.#probed
  }
}

/** Why an answer is refused. */
function refutation({ isAbsent = false, block, message }: Failure, calls: readonly RpcCall[]): string | Absence {
  const method = calls.at(-1)?.method
  return isAbsent && method !== undefined ? new Absence(message, { block, method }) : message
}

type Asked = {
  chain: Chain
  request: RangeRequest
  lastHash: Hash | undefined
  rawHeaders?: readonly unknown[] | undefined
}
type AskedRange = DecodedRange & { endpoint: string }

function headers(range: DecodedRange): string {
  return range.headers.map(({ hash, timestamp }) => `${hash} ${timestamp}`).join()
}

/** Whether `range` has each transfer of `part`, at whatever place in the block: nodes do not agree on places either. */
function holdsAll(range: DecodedRange, part: DecodedRange): boolean {
  const contents = ({ transfers }: DecodedRange): string[] =>
    transfers.map(({ block, contract, payload }) => `${block} ${contract} ${Buffer.from(payload).toString('latin1')}`)
  const held = new Set(contents(range))
  return headers(range) === headers(part) && contents(part).every(row => held.has(row))
}

function isSame(a: DecodedRange, b: DecodedRange): boolean {
  return rangeDifference(a, [b]) === undefined
}

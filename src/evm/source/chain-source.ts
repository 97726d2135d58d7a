// What the indexer asks of a chain: checked and decoded blocks, and headers, which this file reads by JSON-RPC.
// `full-source.ts` and `watched-source.ts` read the blocks.
import type { Chain, HeaderForm } from '../../chains.ts'
import { AlmanacError, messageOf } from '../../errors.ts'
import { isHexOf, quantityHex, quantityOf } from '../../hex.ts'
import { type Block, blockNumberMax, type Evidence, type Hash, type Interval, type TransferRow } from '../../model.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import type { PackedActivity } from '../../store/packed-activity.ts'
import type { MalformedCounts } from '../decode/decode.ts'
import { checkBlockHash } from '../proof/block-hash.ts'
import type { Doubt } from '../proof/failure.ts'
import type { RpcCall, RpcHeader, RpcPort, Suspicion } from '../rpc/port.ts'

export interface ChainSource {
  /** Not by an endpoint of `exclude`. */
  head(signal: AbortSignal, exclude?: ReadonlySet<string>): Promise<HeadReport>
  headerOf(block: Pick<Block, 'number' | 'hash'>, signal: AbortSignal): Promise<Header | undefined>
  headerByNumber(number: number, signal: AbortSignal): Promise<Header | undefined>
  /** With every header. Fails with a RangeRefused if the endpoints do not give the interval at once. */
  range(interval: Interval, grain: ActivityGrain, signal: AbortSignal): Promise<DecodedRange>
}

export type Header = Block & { parentHash: Hash }

/** A block that is known from its logs alone has no parent hash. */
export type RangeHeader = Block & { parentHash?: Hash }

export type HeadReport = {
  /** Who said so. */
  endpoint: string
  latest: Header
  /** The block that the node calls final; undefined if it does not know the tag or has no final block yet. */
  finalized: Header | undefined
}

/** Consecutive blocks that passed every check of their kind, with what was decoded from them. */
export type DecodedRange = {
  interval: Interval
  evidence: Evidence
  /** Why the evidence is only the word of endpoints; absent if everything is proven. */
  doubt?: Doubt
  /** False where a header is the word of endpoints: so is the parent that it names, and all below. */
  headersProven?: boolean
  /** A header is proven only by the bytes that came with it. */
  byRawHeaders?: true
  /** What its last block is known to be of the chain by, whatever is above it. */
  anchor?: 'canonical' | 'receipts-root'
  /**
   * Lowest first. In a range to follow every block, each the parent of the next; else blocks with rows and the ends.
   */
  headers: readonly RangeHeader[]
  /** In chain order. */
  transfers: readonly TransferRow[]
  /** One row per address and block, lowest block first, or one per address: see `ActivityGrain`. */
  activity: PackedActivity
  /** Who answered, where one endpoint gave all of it. */
  endpoint?: string
  /** Size of the answers: range sizes are learnt from it. */
  bytes: number
  logs: number
  /** Absent where blocks were not read whole. */
  transactions?: number
  malformed: MalformedCounts
}

/** Hot blocks are replaced one by one, so their activity is kept by block; history is merged before it is written. */
export type ActivityGrain = 'block' | 'range'

/** Reads headers: the head and the final block in one batch, and single headers by hash or number. */
export class HeaderSource {
  readonly #rpc: RpcPort
  readonly #chain: Chain
  /** Off once the endpoints have shown that they do not know the tag. */
  #asksFinalized: boolean
  #finalized: Header | undefined
  /** Hashed fields that the chain's form lacks, as the newest header shows them: of a fork that the table lacks. */
  newFields: readonly string[] = []
  /** Of an operator's own chain, where a probe found it. */
  protected probedForm: HeaderForm | undefined

  constructor(chain: Chain, rpc: RpcPort) {
    this.#rpc = rpc
    this.#chain = chain
    this.#asksFinalized = chain.finalizedTag
  }

  async head(signal: AbortSignal, exclude: ReadonlySet<string> = new Set()): Promise<HeadReport> {
    const objection = (values: readonly unknown[]): string | undefined =>
      values.map((value, at) => this.#objection(value, { isHead: at === 0 })).find(said => said !== undefined)
    const options = { signal, exclude, urgent: true, objection }
    const latestCall = headerCall('eth_getBlockByNumber', 'latest')
    if (this.#asksFinalized) {
      const calls = [latestCall, headerCall('eth_getBlockByNumber', 'finalized')]
      try {
        const { endpoint, values } = await this.#rpc.ask(calls, options)
        this.#finalized = readHeader(values[1]) ?? this.#finalized
        return { endpoint, latest: this.#latest(values[0], endpoint), finalized: this.#finalized }
      } catch (error) {
        // Asking for the head alone shows whether the tag or the endpoint is at fault.
        const { endpoint, values } = await this.#rpc.ask([latestCall], options)
        const kind = rpcFailureOf(error)?.kind
        if (this.#finalized === undefined && (kind === 'tag-unknown' || kind === 'refused')) this.#asksFinalized = false
        // While it cannot be asked, the last final block that a node named stands: a depth could go beyond it.
        return { endpoint, latest: this.#latest(values[0], endpoint), finalized: this.#finalized }
      }
    }
    const { endpoint, values } = await this.#rpc.ask([latestCall], options)
    return { endpoint, latest: this.#latest(values[0], endpoint), finalized: undefined }
  }

  /** By the first endpoint whose answer is enough. */
  headerOf(
    block: Pick<Block, 'number' | 'hash'>,
    signal: AbortSignal,
    isEnough?: (header: RpcHeader) => boolean | Promise<boolean>,
  ): Promise<Header | undefined> {
    return this.#header(headerCall('eth_getBlockByHash', block.hash), block, signal, isEnough)
  }

  headerByNumber(number: number, signal: AbortSignal): Promise<Header | undefined> {
    return this.#header(headerCall('eth_getBlockByNumber', quantityHex(number)), { number }, signal)
  }

  /** An endpoint that lags or follows another branch does not speak for those that answer as well. */
  async #header(
    call: RpcCall,
    block: Pick<Block, 'number'> & { hash?: Hash },
    signal: AbortSignal,
    isEnough: (header: RpcHeader) => boolean | Promise<boolean> = () => true,
  ): Promise<Header | undefined> {
    const asked = new Set<string>()
    const objection = ([value]: readonly unknown[]): string | undefined => this.#objection(value, block)
    for (;;) {
      const options = { signal, exclude: asked, urgent: true, objection }
      const answers = await this.#rpc.ask([call], options).catch(error => {
        if (asked.size === 0) throw error
      })
      if (answers === undefined) return undefined
      const [value] = answers.values
      const header = readHeader(value)
      if (header !== undefined && (await isEnough(value as RpcHeader))) return header
      asked.add(answers.endpoint)
      if (asked.size >= this.#rpc.endpoints.length) return undefined
    }
  }

  /** What is wrong with a header, by what was asked for and by its own hash. */
  #objection(value: unknown, asked: { number?: number; hash?: Hash; isHead?: boolean }): string | undefined {
    const header = readHeader(value)
    if (header === undefined) return undefined
    const { number = header.number, hash = header.hash } = asked
    if (header.number !== number || header.hash !== hash)
      return `block ${header.number} ${header.hash} instead of block ${number} ${asked.hash ?? ''}`.trimEnd()
    const { headers } = this.#chain.quirks
    const verdict = checkBlockHash(value as RpcHeader, this.#tried(headers ?? this.probedForm))
    if (verdict.is === 'equal' && asked.isHead === true) this.newFields = verdict.fields ?? []
    return verdict.is === 'different' && headers !== undefined
      ? `block ${number} as ${hash}, whose header hashes to ${verdict.hash}`
      : undefined
  }

  /** With what the newest header showed, which is tried first: in every thread that gets the form. */
  #tried(form: HeaderForm | undefined): HeaderForm | undefined {
    return form && this.newFields.length > 0 ? { ...form, learnt: this.newFields } : form
  }

  /** The same for a chain as it was probed. */
  protected withNewFields(chain: Chain): Chain {
    const headers = this.#tried(chain.quirks.headers)
    return headers === chain.quirks.headers ? chain : { ...chain, quirks: { ...chain.quirks, headers: headers! } }
  }

  #latest(value: unknown, endpoint: string): Header {
    const header = readHeader(value)
    if (header !== undefined) return header
    this.#rpc.distrust(endpoint, 'it has no readable head')
    const message = `${this.#chain.name} endpoint ${endpoint} answered eth_getBlockByNumber(latest) without a readable block.`
    const hint = 'check that the node is synced, or add a second endpoint.'
    throw new AlmanacError('upstream_invalid', message, { retryable: true, hint })
  }
}

function headerCall(method: string, block: string): RpcCall {
  return { method, params: [block, false] }
}

export function readHeader(value: unknown): Header | undefined {
  const header = value as RpcHeader | null | undefined
  if (typeof header !== 'object' || header === null) return undefined
  const readable =
    isHexOf(header.hash, 32) &&
    isHexOf(header.parentHash, 32) &&
    quantityOf(header.number, blockNumberMax) >= 0 &&
    quantityOf(header.timestamp, 2 ** 40) >= 0
  return readable ? headerOf(header) : undefined
}

/** Of a header that passed `checkHeaders`. */
export function headerOf(header: RpcHeader): Header {
  return {
    number: Number(header.number),
    hash: String(header.hash).toLowerCase() as Hash,
    parentHash: header.parentHash.toLowerCase() as Hash,
    timestamp: Number(header.timestamp),
  }
}

/** Nothing came of a block, though its header says that there is something. */
export class Absence {
  readonly reason: string
  readonly suspicion: Suspicion

  constructor(reason: string, suspicion: Suspicion) {
    this.reason = reason
    this.suspicion = suspicion
  }
}

/**
 * Asks until an endpoint's answer passes the check. An endpoint that fails it is not asked again, and is distrusted
 * unless it has dropped what it was asked for.
 */
export async function askChecked<Answers extends { endpoint: string }, Result extends object>({
  chain,
  rpc,
  interval,
  ask,
  check,
}: {
  chain: Chain
  rpc: RpcPort
  interval: Interval
  ask: (exclude: ReadonlySet<string>) => Promise<Answers>
  /** The result, or the reason why the answers cannot be right. */
  check: (answers: Answers) => Checked<Result> | Promise<Checked<Result>>
}): Promise<Result> {
  const distrusted = new Set<string>()
  let failed: AlmanacError | undefined
  for (;;) {
    const answers = await ask(distrusted).catch(error => {
      // Those that are left have dropped these blocks, or are of another chain.
      const kind = rpcFailureOf(error)?.kind
      throw kind === 'no-endpoint' || kind === 'wrong-chain' ? (failed ?? error) : error
    })
    const { endpoint } = answers
    const checked = await checkedBy(() => check(answers))
    if (typeof checked !== 'string' && !(checked instanceof Absence)) return checked
    // It is not asked for them again.
    if (checked instanceof Absence && (await rpc.hasDropped(endpoint, checked.suspicion))) continue
    const reason = rpc.distrust(endpoint, checked instanceof Absence ? checked.reason : checked)
    distrusted.add(endpoint)
    const who = distrusted.size === 1 ? `endpoint ${endpoint}` : `all ${distrusted.size} endpoints`
    failed = checkFailed(chain, interval, `${who}: ${reason}`)
    if (distrusted.size >= rpc.endpoints.length) throw failed
  }
}

type Checked<Result> = Result | string | Absence

/** What an answer makes our code throw is a reason against the answer. */
async function checkedBy<Result>(check: () => Promise<Checked<Result>> | Checked<Result>): Promise<Checked<Result>> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof AlmanacError && error.code !== 'internal') throw error
    return `it answered what cannot be read (${messageOf(error)})`
  }
}

export function checkFailed(chain: Chain, { from, to }: Interval, reason: string): AlmanacError {
  return new AlmanacError('upstream_invalid', `${chain.name} blocks ${from} to ${to} failed their check: ${reason}.`, {
    retryable: true,
    hint: otherProviderHint(chain),
  })
}

export function otherProviderHint(chain: Chain): string {
  return `add an endpoint of another provider to chains.${chain.name}.rpc; nothing wrong is stored meanwhile.`
}

/** Why a range is not of the chain, whose block `to` has another hash. */
export function strayReason({ to }: Interval, hash: Hash | undefined, expected: Hash): string | undefined {
  return hash === expected
    ? undefined
    : `block ${to} came as ${hash}; the block above it names ${expected} as its parent`
}

export function numbersOf({ from, to }: Interval): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

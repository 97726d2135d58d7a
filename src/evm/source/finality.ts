// Says which block of a chain is final: the highest one on whose hash the endpoints agree, and never one close to the
// head. Where they disagree the chain is disputed. It stores nothing and blames no endpoint.
import { followSignals } from '../../abort.ts'
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Dispute } from '../../status.ts'
import { onlyAt, type RpcPort } from '../rpc/port.ts'
import { type Header, HeaderSource, type HeadReport } from './chain-source.ts'

export type FinalityOptions = {
  chain: Chain
  rpc: RpcPort
  /** The other endpoints are asked at most this often. */
  voteEveryMs?: number
}

/** The highest blocks that are stored. */
export type StoredBlocks = { tip?: number | undefined; final?: number }

/** An endpoint that takes longer has no word. */
const answerMsMax = 3_000
/** A head that is older than this, and so far below the others, lags. */
const freshMs = 60_000
/** While the final block does not move, the others are asked less often, to find out whether this one lags. */
const idleFactor = 6
/** A dispute does not end because one side falls silent, unless it stays so. */
const silenceMsMax = 600_000

export class Finality {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  /** Of each endpoint; endpoints may change. */
  #known: { endpoints: readonly string[]; sources: ReadonlyMap<string, HeaderSource> } | undefined
  voteEveryMs: number
  #agreed: Header | undefined
  #dispute: Dispute | undefined
  #disputedMs = 0
  #lagging: ReadonlySet<string> = new Set()
  #votedMs = Number.NEGATIVE_INFINITY
  #voting: Promise<void> | undefined

  constructor({ chain, rpc, voteEveryMs = 0 }: FinalityOptions) {
    this.#chain = chain
    this.#rpc = rpc
    this.voteEveryMs = voteEveryMs
  }

  get #sources(): ReadonlyMap<string, HeaderSource> {
    const [chain, rpc] = [this.#chain, this.#rpc]
    const { endpoints } = rpc
    if (this.#known?.endpoints !== endpoints) {
      const sources = new Map(endpoints.map(name => [name, new HeaderSource(chain, onlyAt(rpc, name))]))
      this.#known = { endpoints, sources }
    }
    return this.#known!.sources
  }

  get dispute(): Dispute | undefined {
    return this.#dispute
  }

  /** Endpoints far behind the others at the last vote: the head is not theirs to tell. */
  get lagging(): ReadonlySet<string> {
    return this.#lagging
  }

  /**
   * The final block as far as it is known; undefined while it is unknown or disputed. A vote that the report gives
   * reason for goes on in the background, so that no endpoint delays the head; only the first one is waited for.
   */
  async look(report: HeadReport, stored: StoredBlocks, signal: AbortSignal): Promise<Header | undefined> {
    const moves = this.#numberOf([report]) > (this.#agreed?.number ?? -1) || this.#dispute !== undefined
    const sinceMs = performance.now() - this.#votedMs
    const isDue = this.#sources.size === 1 ? moves : sinceMs >= this.voteEveryMs * (moves ? 1 : idleFactor)
    if (isDue && this.#voting === undefined) {
      this.#votedMs = performance.now()
      this.#voting = this.#vote(report, stored, signal).finally(() => {
        this.#voting = undefined
      })
    }
    if (this.#sources.size === 1 || this.#agreed === undefined) await this.#voting
    return this.#dispute === undefined ? this.#agreed : undefined
  }

  async #vote(report: HeadReport, { tip, final = -1 }: StoredBlocks, stop: AbortSignal): Promise<void> {
    const healthy = new Set(this.#rpc.status().flatMap(({ endpoint, healthy }) => (healthy ? [endpoint] : [])))
    const others = [...this.#sources].filter(([name]) => name !== report.endpoint && healthy.has(name))
    const heads = await soon(stop, signal =>
      Promise.all(others.map(([, source]) => source.head(signal).catch(() => undefined))),
    )
    const words = [report, ...heads.filter(head => head !== undefined)].map(word => ({
      ...word,
      // The report may carry a final block that another endpoint named before.
      known: word === report && this.#sources.size > 1 ? [word.latest] : [word.latest, word.finalized],
    }))
    const highest = Math.max(...words.map(({ latest }) => latest.number))
    const floor = Math.max(final, this.#agreed?.number ?? -1)
    const late = words.filter(({ latest }) => this.#lags(latest, highest, floor))
    this.#lagging = new Set(late.length < words.length ? late.map(({ endpoint }) => endpoint) : [])
    const voters = words.filter(({ latest }) => !this.#lags(latest, tip ?? highest, floor))
    // A dispute that one side leaves is not settled by the other.
    if (voters.length < 2 && this.#dispute !== undefined && performance.now() - this.#disputedMs < silenceMsMax) return
    // An endpoint far below the others' final blocks whose newest block is recent may follow another chain.
    const punctual = voters.filter(voter => !late.includes(voter))
    const lowest = Math.min(...punctual.map(({ latest }) => latest.number))
    if (lowest < highest - this.#blocksMax && punctual.some(voter => this.#numberOf([voter]) >= lowest)) {
      // By time as well: where the form of headers is not known, the hash alone does not hold the time.
      const words = await this.#headersAt(lowest, punctual, stop)
      const sides = sidesOf(words, ({ hash, timestamp }) => `${hash} ${timestamp}`)
      if (sides.length > 1) return this.#disagree(sides)
    }
    const number = voters.length === 0 ? -1 : this.#numberOf(voters)
    if (number < 0 || (number <= (this.#agreed?.number ?? -1) && this.#dispute === undefined)) return
    this.#count(await this.#headersAt(number, voters, stop), voters.length)
  }

  /** The highest block that no voter objects to by its number; below 0 if there is none. */
  #numberOf(voters: readonly HeadReport[]): number {
    const { finalizedTag, finalityDepth, finalDepthMin } = this.#chain
    const head = Math.min(...voters.map(({ latest }) => latest.number))
    // The head itself never counts as final, whatever depth an operator names.
    const highest = head - Math.max(1, finalDepthMin)
    const named = voters.flatMap(({ finalized, latest }) =>
      finalizedTag && finalized !== undefined ? [Math.min(finalized.number, latest.number)] : [],
    )
    // One whose final block stands still does not hold the others back, but then the chain's depth counts as well.
    const heard = named.filter(each => each >= Math.max(...named) - finalityDepth)
    const byDepth = heard.length < named.length || named.length === 0 ? head - finalityDepth : highest
    return Math.min(highest, byDepth, ...heard)
  }

  /**
   * By its time as well: a single endpoint that invents a head far above must not make the others look late. Below what
   * is final already an endpoint has nothing to say, whatever its time.
   */
  #lags({ number, timestamp }: Header, highest: number, floor: number): boolean {
    return number < floor || (number < highest - this.#blocksMax && Date.now() - timestamp * 1_000 > freshMs)
  }

  get #blocksMax(): number {
    return Math.max(8, Math.ceil(freshMs / this.#chain.blockTimeMs))
  }

  /** What each voter has at a height, as far as it answers. */
  async #headersAt(number: number, voters: readonly Voter[], stop: AbortSignal): Promise<Word[]> {
    const headers = await soon(stop, signal =>
      Promise.all(
        voters.map(
          voter => voter.known.find(header => header?.number === number) ?? this.#headerOf(voter, number, signal),
        ),
      ),
    )
    return voters.flatMap(({ endpoint }, at) => {
      const header = headers[at]
      return header === undefined ? [] : [{ endpoint, header }]
    })
  }

  async #headerOf({ endpoint, latest }: HeadReport, number: number, signal: AbortSignal): Promise<Header | undefined> {
    const header = await this.#sources
      .get(endpoint)
      ?.headerByNumber(number, signal)
      .catch(() => undefined)
    // The chain may have moved between the two questions; the next look tells.
    const moved = number === latest.number - 1 && header?.hash !== latest.parentHash
    return moved || header?.number !== number ? undefined : header
  }

  #count(words: readonly Word[], voters: number): void {
    const sides = sidesOf(words, ({ hash }) => hash)
    const [first] = words
    if (first === undefined) return
    if (sides.length > 1) {
      this.#disagree(sides)
      return
    }
    // A dispute ends where they agree on its block or a later one, not with one that does not answer.
    const { block = -1 } = this.#dispute ?? {}
    if (this.#dispute !== undefined && (words.length < Math.min(2, voters) || first.header.number < block)) return
    if (first.header.number > (this.#agreed?.number ?? -1)) this.#agreed = first.header
    this.#dispute = undefined
  }

  #disagree(sides: readonly Word[][]): void {
    this.#disputedMs = performance.now()
    this.#dispute = {
      block: sides[0]![0]!.header.number,
      // In an order that does not follow the one in which they were heard.
      hashes: sides
        .map(side => ({ hash: side[0]!.header.hash, endpoints: side.map(({ endpoint }) => endpoint).sort() }))
        .sort((a, b) => (a.endpoints[0]! < b.endpoints[0]! ? -1 : 1)),
      since: this.#dispute?.since ?? new Date().toISOString(),
    }
  }
}

type Voter = HeadReport & { known: readonly (Header | undefined)[] }

type Word = { endpoint: string; header: Header }

function sidesOf(words: readonly Word[], by: (header: Header) => string): Word[][] {
  return [...Map.groupBy(words, ({ header }) => by(header)).values()]
}

async function soon<Answer>(stop: AbortSignal, ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
  using linked = followSignals(stop)
  const timer = setTimeout(() => linked.abort(new Error(`no answer within ${answerMsMax} ms`)), answerMsMax)
  try {
    return await ask(linked.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** The final block for one command. Fails where the endpoints disagree. */
export async function finalHeaderOf(
  report: HeadReport,
  { chain, rpc }: Pick<FinalityOptions, 'chain' | 'rpc'>,
  signal: AbortSignal,
): Promise<Header | undefined> {
  const finality = new Finality({ chain, rpc })
  const final = await finality.look(report, {}, signal)
  if (finality.dispute === undefined) return final
  const text = disputeText(chain.name, finality.dispute)
  throw new AlmanacError('upstream_invalid', text, { retryable: true, hint: disputeHint(chain.name) })
}

export function disputeHint(chain: string): string {
  return `remove the wrong endpoint from chains.${chain}.rpc, or wait until the endpoints agree.`
}

export function disputeText(chain: string, { block, hashes }: Dispute): string {
  const sides = hashes.map(({ hash, endpoints }) => `${hash} (${endpoints.join(', ')})`)
  return `${chain} endpoints disagree on block ${block}, which should be final: ${sides.join(' or ')}.`
}

// Says which block of a chain is final: the highest one on whose hash the endpoints agree, and never one close to the
// head. Where they disagree the chain is disputed. It stores nothing and blames no endpoint.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Dispute } from '../../model.ts'
import { onlyAt, type RpcPort } from '../rpc/port.ts'
import { type Header, HeaderSource, type HeadReport } from './chain-source.ts'

export type FinalityOptions = {
  chain: Chain
  rpc: RpcPort
  /** The other endpoints are asked at most this often. */
  voteEveryMs?: number
}

/** An endpoint that takes longer has no word. */
const answerMsMax = 3_000
/** A head that is older than this, and so far below the others, lags. */
const freshMs = 60_000
/** Where the final block does not move, the others are asked less often: whether the one that is asked lags. */
const idleFactor = 6
/** A dispute does not end because one side falls silent, unless it stays so. */
const silenceMsMax = 600_000

export class Finality {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  readonly #sources: ReadonlyMap<string, HeaderSource>
  readonly #voteEveryMs: number
  #agreed: Header | undefined
  #dispute: Dispute | undefined
  #disputedMs = 0
  #lagging: ReadonlySet<string> = new Set()
  #votedMs = Number.NEGATIVE_INFINITY
  #voting: Promise<void> | undefined

  constructor({ chain, rpc, voteEveryMs = 0 }: FinalityOptions) {
    this.#chain = chain
    this.#rpc = rpc
    this.#voteEveryMs = voteEveryMs
    this.#sources = new Map(rpc.endpoints.map(name => [name, new HeaderSource(chain, onlyAt(rpc, name))]))
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
   * reason for goes on in the background, so that no endpoint delays the head; only the first one is waited for. `tip`
   * is the highest block that is stored.
   */
  async look(report: HeadReport, tip: number | undefined, signal: AbortSignal): Promise<Header | undefined> {
    const moves = this.#numberOf([report]) > (this.#agreed?.number ?? -1) || this.#dispute !== undefined
    const sinceMs = performance.now() - this.#votedMs
    const isDue = this.#sources.size === 1 ? moves : sinceMs >= this.#voteEveryMs * (moves ? 1 : idleFactor)
    if (isDue && this.#voting === undefined) {
      this.#votedMs = performance.now()
      this.#voting = this.#vote(report, tip, signal).finally(() => {
        this.#voting = undefined
      })
    }
    if (this.#sources.size === 1 || this.#agreed === undefined) await this.#voting
    return this.#dispute === undefined ? this.#agreed : undefined
  }

  async #vote(report: HeadReport, tip: number | undefined, stop: AbortSignal): Promise<void> {
    const soon = (): AbortSignal => AbortSignal.any([stop, AbortSignal.timeout(answerMsMax)])
    const healthy = new Set(this.#rpc.status().flatMap(({ endpoint, healthy }) => (healthy ? [endpoint] : [])))
    const others = [...this.#sources].filter(([name]) => name !== report.endpoint && healthy.has(name))
    const asked = soon()
    const heads = await Promise.all(others.map(([, source]) => source.head(asked).catch(() => undefined)))
    const words = [report, ...heads.filter(head => head !== undefined)]
    const highest = Math.max(...words.map(({ latest }) => latest.number))
    this.#lagging = new Set(words.filter(({ latest }) => this.#lags(latest, highest)).map(({ endpoint }) => endpoint))
    const voters = words.filter(({ latest }) => !this.#lags(latest, tip ?? highest))
    // A dispute that one side leaves is not settled by the other.
    if (voters.length < 2 && this.#dispute !== undefined && performance.now() - this.#disputedMs < silenceMsMax) return
    const number = voters.length === 0 ? -1 : this.#numberOf(voters)
    if (number < 0 || (number <= (this.#agreed?.number ?? -1) && this.#dispute === undefined)) return
    // The report may carry a final block that another endpoint named before.
    const named = ({ endpoint, finalized }: HeadReport): Header | undefined =>
      endpoint !== report.endpoint || this.#sources.size === 1 ? finalized : undefined
    const signal = soon()
    const headers = voters.map(voter =>
      named(voter)?.number === number ? named(voter) : this.#headerOf(voter, number, signal),
    )
    this.#count(voters, await Promise.all(headers))
  }

  /** The highest block that no voter objects to by its number; below 0 if there is none. */
  #numberOf(voters: readonly HeadReport[]): number {
    const { finalizedTag, finalityDepth, finalDepthMin } = this.#chain
    const head = Math.min(...voters.map(({ latest }) => latest.number))
    const named = voters.flatMap(({ finalized }) => (finalizedTag && finalized !== undefined ? [finalized.number] : []))
    // The head itself never counts as final: the block after it proves history.
    const highest = head - Math.max(1, finalDepthMin)
    return Math.min(highest, named.length === 0 ? head - finalityDepth : Math.min(...named))
  }

  /** By its time as well: a single endpoint that invents a head far above must not make the others look late. */
  #lags({ number, timestamp }: Header, highest: number): boolean {
    const blocksMax = Math.max(8, Math.ceil(freshMs / this.#chain.blockTimeMs))
    return number < highest - blocksMax && Date.now() - timestamp * 1_000 > freshMs
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

  #count(voters: readonly HeadReport[], headers: readonly (Header | undefined)[]): void {
    const words = headers.flatMap((header, at) => {
      const endpoint = voters[at]?.endpoint
      return header === undefined || endpoint === undefined ? [] : [{ header, endpoint }]
    })
    const sides = [...Map.groupBy(words, ({ header }) => header.hash)]
    const [first] = words
    if (first === undefined || (sides.length === 1 && words.length < 2 && this.#dispute !== undefined)) return
    if (sides.length === 1) {
      if (first.header.number > (this.#agreed?.number ?? -1)) this.#agreed = first.header
      this.#dispute = undefined
      return
    }
    this.#disputedMs = performance.now()
    this.#dispute = {
      block: first.header.number,
      hashes: sides.map(([hash, side]) => ({ hash, endpoints: side.map(({ endpoint }) => endpoint) })),
      since: this.#dispute?.since ?? new Date().toISOString(),
    }
  }
}

/** The final block for one command. Fails where the endpoints disagree. */
export async function finalHeaderOf(
  report: HeadReport,
  { chain, rpc }: Pick<FinalityOptions, 'chain' | 'rpc'>,
  signal: AbortSignal,
): Promise<Header | undefined> {
  const finality = new Finality({ chain, rpc })
  const final = await finality.look(report, undefined, signal)
  if (finality.dispute === undefined) return final
  const hint = `remove the wrong endpoint from chains.${chain.name}.rpc, or wait until the endpoints agree.`
  throw new AlmanacError('upstream_invalid', disputeText(chain.name, finality.dispute), { retryable: true, hint })
}

export function disputeText(chain: string, { block, hashes }: Dispute): string {
  const sides = hashes.map(({ hash, endpoints }) => `${hash} (${endpoints.join(', ')})`)
  return `${chain} endpoints disagree on block ${block}, which should be final: ${sides.join(' or ')}.`
}

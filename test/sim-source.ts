// A bulk source that gives blocks of a simulated chain from memory: the checks of a real one, without its files or
// network. It can lose blocks, give parts, and know anchors.
import { type Chain, ethereumHeaders } from '../src/chains.ts'
import { joinIntervals, missingIntervals } from '../src/coverage.ts'
import { type BulkRequest, type BulkSource, SourceLost, type SourceStatus } from '../src/evm/source/bulk-source.ts'
import { type DecodedRange, headerOf, numbersOf } from '../src/evm/source/chain-source.ts'
import { decodeRange } from '../src/evm/source/decode-range.ts'
import type { Interval } from '../src/model.ts'
import type { SimChain } from './sim/chain.ts'
import { blockText, receiptTexts } from './sim/json.ts'

export type SimSourceOptions = {
  chain: Chain
  sim: SimChain
  kind?: 'files' | 'portal'
  holds: Interval[]
  /** Blocks that are known to be the chain's. */
  anchors?: ReadonlyMap<number, 'canonical' | 'receipts-root'>
  /** Blocks that turn out to be wrong when they are read. */
  wrong?: ReadonlySet<number>
  /** Gives only the lower part of what is asked, as a stream that ends early. */
  endsEarly?: boolean
  blocksPerRange?: number
  /** Gives no header by itself, as a portal whose headers cannot be hashed. */
  lacksHeaders?: boolean
  /** Its headers cannot be hashed. */
  unproven?: boolean
}

export class SimSource implements BulkSource {
  readonly kind: 'files' | 'portal'
  readonly name: string
  readonly #options: SimSourceOptions
  #holds: readonly Interval[] = []
  readonly #refused: SourceStatus['refused'][number][] = []
  /** What was given, in order. */
  readonly given: (Interval & Pick<BulkRequest, 'scope'>)[] = []
  isClosed = false
  readonly proofs = 0

  constructor(options: SimSourceOptions) {
    this.kind = options.kind ?? 'files'
    this.name = `simulated ${this.kind}`
    this.#options = options
  }

  get holds(): readonly Interval[] {
    return this.#holds
  }

  get refusals(): number {
    return this.#refused.length
  }

  async look(): Promise<void> {
    const lost = this.#refused.map(({ block }) => ({ from: block!, to: block! }))
    this.#holds = joinIntervals(this.#options.holds).flatMap(held => missingIntervals(lost, held))
  }

  blocksAt(): number {
    return this.#options.blocksPerRange ?? 16
  }

  async range(asked: Interval, { scope, lastHash }: BulkRequest): Promise<DecodedRange> {
    const { chain, sim, anchors = new Map(), wrong, endsEarly } = this.#options
    const isHeld = this.#holds.some(({ from, to }) => from <= asked.from && asked.to <= to)
    if (this.isClosed || !isHeld) throw new SourceLost(`it has no blocks ${asked.from} to ${asked.to}`)
    const bad = numbersOf(asked).find(number => wrong?.has(number))
    if (bad !== undefined) return this.#lose(bad, 'the receipts root is another one')
    const interval = endsEarly && asked.to > asked.from ? { from: asked.from, to: asked.to - 1 } : asked
    const anchorsWithin = numbersOf(interval).filter(number => number < interval.to && anchors.has(number))
    const part = { from: Math.max(interval.from, (anchorsWithin.at(-1) ?? -1) + 1), to: interval.to }
    const last = sim.hashOf(part.to)
    if (lastHash !== undefined && part.to === asked.to && last !== lastHash) return this.#lose(part.to, 'another chain')
    const result = decodeRange({
      ...{
        chain: { ...chain, quirks: { headers: ethereumHeaders } },
        scope,
        interval: part,
        grain: 'range',
        bytes: 1_000,
      },
      answers: {
        blocks: numbersOf(part).map(number => JSON.parse(blockText(sim.block(number), true, rendered(sim)))),
        receipts: numbersOf(part).map(number =>
          receiptTexts(sim.block(number), rendered(sim)).map(text => JSON.parse(text)),
        ),
      },
    })
    if (!result.ok) throw new Error(result.failure.message)
    this.given.push({ ...part, scope })
    const anchor = anchors.get(part.to)
    return { ...result.range, ...(anchor === undefined ? {} : { anchor }) }
  }

  #lose(block: number, reason: string): never {
    this.#refused.push({ name: `block ${block}`, block, reason })
    void this.look()
    throw new SourceLost(`block ${block}: ${reason}`)
  }

  async header(number: number) {
    if (this.#options.lacksHeaders === true) return undefined
    const block = JSON.parse(blockText(this.#options.sim.block(number), false, rendered(this.#options.sim)))
    return this.isClosed
      ? undefined
      : { ...headerOf(block), ...(this.#options.unproven ? { unproven: true as const } : {}) }
  }

  async anchorIn({ from, to }: Interval) {
    const { anchors = new Map(), sim } = this.#options
    const number = numbersOf({ from, to }).findLast(each => anchors.has(each))
    if (number === undefined) return undefined
    return { number, hash: sim.hashOf(number) as never, evidence: anchors.get(number)! }
  }

  status(): SourceStatus {
    const [first, last] = [this.#holds[0], this.#holds.at(-1)]
    const blocks = this.#holds.reduce((sum, { from, to }) => sum + to - from + 1, 0)
    const ends = first === undefined ? {} : { from: first.from, to: last!.to }
    const state = blocks > 0 ? 'ready' : 'empty'
    return { kind: this.kind, name: this.name, blocks, ...ends, state, refused: this.#refused }
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

function rendered({ options: { chainId, logTimestamps } }: SimChain) {
  return { chainId, logTimestamps, stateSyncListed: true, stateSyncIndex: undefined }
}

// Decides which fetched ranges of whole blocks may be claimed: those that parent hashes connect to a block whose hash
// is proven. Ranges come in any order and from any endpoint; what is not connected yet waits. It asks nothing and
// stores nothing.
import type { Hash, Interval } from '../../model.ts'
import { type DecodedRange, strayReason } from '../source/chain-source.ts'

/** What a range says besides its rows: that it is complete, and who was active in it. */
export type Claim = Pick<DecodedRange, 'interval' | 'evidence' | 'activity' | 'endpoint'> & {
  /** The parent of the first block. */
  parentHash: Hash | undefined
  /** Of the last block. */
  hash: Hash | undefined
}

type LinkOptions = {
  /** Called with the endpoint that gave a range of another chain. */
  distrust?: (endpoint: string, reason: string) => void
  /** The last blocks of claimed intervals, by number: what is claimed above them must grow from them. */
  floors?: ReadonlyMap<number, Hash>
}

export function claimOf({ interval, evidence, activity, endpoint, headers }: DecodedRange): Claim {
  const ends = { parentHash: headers[0]?.parentHash, hash: headers.at(-1)?.hash }
  return { interval, evidence, activity, ...(endpoint === undefined ? {} : { endpoint }), ...ends }
}

export class LinkedClaims {
  /** The hash that a block must have, by its number: the proven block above it names it as its parent. */
  readonly #expected: Map<number, Hash>
  readonly #options: LinkOptions
  /** Not connected yet, by the number of the last block. */
  readonly #waiting = new Map<number, Claim>()
  /** Why the range that ends with a block was refused, until another one takes its place. */
  readonly #refused = new Map<number, string>()
  readonly #unfounded = new Set<number>()

  constructor(expected: ReadonlyMap<number, Hash>, options: LinkOptions = {}) {
    this.#expected = new Map(expected)
    this.#options = options
  }

  /** Undefined while the block above is not proven. */
  expectedHash(block: number): Hash | undefined {
    return this.#expected.get(block)
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Why a range does not connect; undefined while none is refused. */
  get trouble(): string | undefined {
    return this.#refused.values().next().value
  }

  /** Whether the range that ends with this block was refused because of what is claimed below: others give the same. */
  isUnfounded(block: number): boolean {
    return this.#unfounded.has(block)
  }

  /** The claims that the new one connects, itself among them, and one that turns out not to be of the same chain. */
  add(claim: Claim): { connected: Claim[]; refused?: Claim } {
    const connected: Claim[] = []
    this.#waiting.set(claim.interval.to, claim)
    for (let number = claim.interval.to; ; ) {
      const expected = this.#expected.get(number)
      const next = this.#waiting.get(number)
      if (expected === undefined || next === undefined) return { connected }
      this.#waiting.delete(number)
      const stray = strayReason(next.interval, next.hash, expected)
      if (stray !== undefined && next.endpoint !== undefined) this.#options.distrust?.(next.endpoint, stray)
      const reason = stray ?? this.#groundless(next)
      if (reason !== undefined) {
        this.#refused.set(number, reason)
        if (stray === undefined) this.#unfounded.add(number)
        return { connected, refused: next }
      }
      this.#expected.delete(number)
      this.#refused.delete(number)
      connected.push(next)
      number = next.interval.from - 1
      if (next.parentHash !== undefined) this.#expected.set(number, next.parentHash)
    }
  }

  #groundless({ interval: { from }, parentHash }: { interval: Interval; parentHash: Hash | undefined }) {
    const floor = this.#options.floors?.get(from - 1)
    if (floor === undefined || floor === parentHash) return undefined
    return `block ${from} grows from ${parentHash}, but block ${from - 1} is stored as ${floor}: run almanac verify with --repair over the blocks up to ${from - 1}`
  }
}

// Decides which fetched ranges of whole blocks may be claimed: those that parent hashes connect to a block whose hash
// is proven. Ranges come in any order and from any endpoint; what is not connected yet waits. It asks nothing and
// stores nothing.
import { strongestOf, weakestOf } from '../../coverage.ts'
import type { Block, Evidence, Hash } from '../../model.ts'
import { type DecodedRange, strayReason } from '../source/chain-source.ts'

/** What a range says besides its rows: that it is complete, and who was active in it. */
export type Claim = Pick<
  DecodedRange,
  'interval' | 'evidence' | 'headersProven' | 'anchor' | 'activity' | 'endpoint'
> & {
  /** The parent of the first block. */
  parentHash: Hash | undefined
  /** Of the last block. */
  hash: Hash | undefined
  /** The first and the last block. */
  ends: readonly Block[]
}

/**
 * The hash that a block must have, and how it is known that the chain has it: nothing that hangs on it is known better.
 * Without a hash any block is taken, as connected to nothing yet.
 */
export type Expected = { hash: Hash | undefined; evidence: Evidence }

export const unanchored: Expected = { hash: undefined, evidence: 'unanchored' }

type LinkOptions = {
  /** Called with the endpoint that gave a range of another chain. */
  distrust?: (endpoint: string, reason: string) => void
  /** The last blocks of claimed intervals, by number: what is claimed above them must grow from them. */
  floors?: ReadonlyMap<number, { hash: Hash; evidence: Evidence }>
}

export function claimOf(range: DecodedRange): Claim {
  const { interval, evidence, headersProven, anchor, activity, endpoint, headers } = range
  const [first, last] = [headers[0], headers.at(-1)]
  const hashes = { parentHash: first?.parentHash, hash: last?.hash }
  const ends = [first, last].filter(header => header !== undefined)
  const known = { interval, evidence, headersProven: headersProven !== false, activity }
  const given = { ...(anchor === undefined ? {} : { anchor }), ...(endpoint === undefined ? {} : { endpoint }) }
  return { ...known, ...given, ...hashes, ends }
}

export class LinkedClaims {
  /** The hash that a block must have, by its number: the connected block above it names it as its parent. */
  readonly #expected: Map<number, Expected>
  readonly #options: LinkOptions
  /** Not connected yet, by the number of the last block. */
  readonly #waiting = new Map<number, Claim>()
  /** Why the range that ends with a block was refused, until another one takes its place. */
  readonly #refused = new Map<number, { reason: string; isUnfounded: boolean }>()

  constructor(expected: ReadonlyMap<number, Expected>, options: LinkOptions = {}) {
    this.#expected = new Map(expected)
    this.#options = options
  }

  /** Whether a range that ends with this block can be connected at once. */
  isNext(block: number): boolean {
    return this.#expected.has(block)
  }

  /** Undefined while the block above is not connected, and where any is taken. */
  expectedHash(block: number): Hash | undefined {
    return this.#expected.get(block)?.hash
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Why a range does not connect; undefined while none is refused. */
  get trouble(): string | undefined {
    return this.#refused.values().next().value?.reason
  }

  /** Whether the range that ends with this block was refused because of what is claimed below: others give the same. */
  isUnfounded(block: number): boolean {
    return this.#refused.get(block)?.isUnfounded === true
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
      const stray = expected.hash && strayReason(next.interval, next.hash, expected.hash)
      if (stray !== undefined && next.endpoint !== undefined) this.#options.distrust?.(next.endpoint, stray)
      const anchor = next.anchor === undefined ? expected.evidence : strongestOf(next.anchor, expected.evidence)
      const reason = stray ?? this.#groundless(next, anchor)
      if (reason !== undefined) {
        this.#refused.set(number, { reason, isUnfounded: stray === undefined })
        return { connected, refused: next }
      }
      this.#expected.delete(number)
      this.#refused.delete(number)
      const evidence = claimedEvidence(next.evidence, anchor)
      connected.push({ ...next, evidence })
      number = next.interval.from - 1
      if (next.parentHash === undefined) continue
      this.#expected.set(number, {
        hash: next.parentHash,
        evidence: next.headersProven === false ? evidence : anchor,
      })
    }
  }

  /** What is connected goes before what is not: that is looked at when it is to rise. */
  #groundless({ interval: { from }, parentHash }: Pick<Claim, 'interval' | 'parentHash'>, anchor: Evidence) {
    const floor = this.#options.floors?.get(from - 1)
    if (floor === undefined || floor.hash === parentHash) return undefined
    if (floor.evidence === 'unanchored' && anchor !== 'unanchored') return undefined
    const differ = `block ${from} grows from ${parentHash}, but block ${from - 1} is stored as ${floor.hash}`
    if (anchor === 'unanchored') return differ
    return `${differ}: run almanac verify with --repair over the blocks up to ${from - 1}`
  }
}

/**
 * Of blocks by what was checked of them and by what they connect to. They may rise later only if everything else was
 * proven; anything less stays their source's word.
 */
function claimedEvidence(own: Evidence, anchor: Evidence): Evidence {
  if (own === 'receipts-root') return anchor
  return anchor === 'unanchored' && own !== 'unanchored' ? 'one-endpoint' : weakestOf(own, anchor)
}

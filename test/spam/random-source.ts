// A seeded source of randomness with the draws that made-up collections need. Two sources of one seed give the same.
import { draw, drawHex, seedOf } from '../sim/random.ts'

const stream = 99

export class RandomSource {
  readonly #seed: number
  #drawn = 0

  constructor(seed: number | string) {
    this.#seed = typeof seed === 'number' ? seed : seedOf(seed)
  }

  /** From 0 on, below 1. */
  next(): number {
    return draw(this.#seed, stream, this.#drawn++) / 0x1_0000_0000
  }

  /** Both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  /** As often between 10 and 100 as between 100 and 1,000. */
  magnitude(low: number, high: number): number {
    return Math.round(low * (high / low) ** this.next())
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!
  }

  /** `count` different ones, or all. */
  sample<T>(list: readonly T[], count: number): T[] {
    const rest = [...list]
    const wanted = Math.min(count, rest.length)
    for (let at = 0; at < wanted; at++) {
      const other = at + Math.floor(this.next() * (rest.length - at))
      ;[rest[at], rest[other]] = [rest[other]!, rest[at]!]
    }
    return rest.slice(0, wanted)
  }

  /** By weight. */
  weighted<T>(list: readonly (readonly [T, number])[]): T {
    let left = this.next() * list.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [value, weight] of list) {
      left -= weight
      if (left < 0) return value
    }
    return list.at(-1)![0]
  }

  address(): string {
    return `0x${drawHex(5, this.#seed, stream, this.#drawn++, 1)}`
  }
}

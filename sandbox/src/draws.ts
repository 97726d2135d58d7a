// Pseudo-random choices that are the same for the same seed.
import { createHash } from 'node:crypto'

export class Draws {
  readonly #seed: string
  #count = 0

  /** Different names give independent choices. */
  constructor(seed: string, name: string) {
    this.#seed = `${seed}/${name}`
  }

  /** An integer from 0 up to, not including, the bound. */
  below(bound: number): number {
    const digest = createHash('sha256')
      .update(`${this.#seed}/${this.#count++}`)
      .digest()
    return digest.readUInt32BE() % bound
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1)
  }

  oneOf<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }

  chance(percent: number): boolean {
    return this.below(100) < percent
  }
}

// Choices that are the same for the same seed. It knows nothing of what is chosen.
import { createHash } from 'node:crypto'

export class Draws {
  readonly #seed: string
  #count = 0

  /** Different names give choices that have nothing to do with each other. */
  constructor(seed: string, name: string) {
    this.#seed = `${seed}/${name}`
  }

  /** A whole number from 0 to below the bound. */
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

  /** True in so many of a hundred cases. */
  chance(percent: number): boolean {
    return this.below(100) < percent
  }
}

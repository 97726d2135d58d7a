// Which contract is looked at next: those that somebody asked for, then those whose rows changed last. Bounded: who is forgotten is found again by
// the round over all contracts.
import type { Address } from '../../model.ts'

export class ContractQueue {
  readonly #askedMax: number
  readonly #changedMax: number
  readonly #asked = new Set<Address>()
  /** The last changed stands last. */
  readonly #changed = new Set<Address>()
  #stack: Address[] = []

  constructor({ askedMax = 1_000, changedMax = 50_000 } = {}) {
    this.#askedMax = askedMax
    this.#changedMax = changedMax
  }

  get length(): number {
    return this.#asked.size + this.#changed.size
  }

  get hasAsked(): boolean {
    return this.#asked.size > 0
  }

  /** False where too many are waiting. */
  ask(contract: Address): boolean {
    if (!this.#asked.has(contract) && this.#asked.size >= this.#askedMax) return false
    this.#asked.add(contract)
    return true
  }

  change(contract: Address): void {
    if (this.#changed.has(contract)) return
    this.#changed.add(contract)
    this.#stack.push(contract)
    if (this.#stack.length > 2 * this.#changedMax) this.#forgetOldest()
  }

  take(limit: number): Address[] {
    const taken: Address[] = []
    for (const contract of this.#asked) {
      if (taken.length === limit) return taken
      this.#asked.delete(contract)
      this.#changed.delete(contract)
      taken.push(contract)
    }
    while (taken.length < limit) {
      const contract = this.#stack.pop()
      if (contract === undefined) break
      if (this.#changed.delete(contract) && !taken.includes(contract)) taken.push(contract)
    }
    return taken
  }

  #forgetOldest(): void {
    for (const contract of this.#stack.slice(0, -this.#changedMax)) this.#changed.delete(contract)
    this.#stack = this.#stack.slice(-this.#changedMax)
  }
}

// Labels that were looked up, for as long as nothing is committed: the addresses of exchanges and marketplaces stand on every other
// page. It decides nothing: the store says who wins.
import type { Address, ChainId } from '../model.ts'
import type { LabelHint } from '../store/label-store.ts'
import type { Store } from '../store/store.ts'

const addressesMax = 50_000

/** Null: looked up, and there is none. */
type Known = Map<Address, string | null>

export class KnownLabels {
  readonly #store: Store
  readonly #revision: () => number
  #known = new Map<ChainId, Known>()
  #count = 0
  #hint: LabelHint | undefined
  /** The revision that all of it is from. */
  #at: number | undefined

  constructor(store: Store, revision: () => number) {
    this.#store = store
    this.#revision = revision
  }

  /** Which addresses are worth a look. A change of labels is a change of the revision. */
  hint(): LabelHint | undefined {
    this.#keepUp()
    this.#hint ??= this.#store.labelHint()
    return this.#hint
  }

  /** In the order of the addresses. */
  async of(chain: ChainId, addresses: readonly Address[]): Promise<(string | undefined)[]> {
    this.#keepUp()
    const known = this.#knownOf(chain)
    const unknown = addresses.filter(address => !known.has(address))
    if (unknown.length > 0) {
      const found = await this.#store.labelsOf(chain, unknown)
      // A map of another revision by now is no longer reached from here.
      for (const address of unknown) known.set(address, found.get(address) ?? null)
      this.#count += unknown.length
    }
    return addresses.map(address => known.get(address) ?? undefined)
  }

  #keepUp(): void {
    const revision = this.#revision()
    if (revision === this.#at && this.#count <= addressesMax) return
    this.#at = revision
    this.#known = new Map()
    this.#count = 0
    this.#hint = undefined
  }

  #knownOf(chain: ChainId): Known {
    let known = this.#known.get(chain)
    if (known === undefined) {
      known = new Map()
      this.#known.set(chain, known)
    }
    return known
  }
}

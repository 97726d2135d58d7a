// How many deliveries are under way, in all and of one key, and whose turn is next: a key with many does not hold up
// the others, and receivers that hang do not hold up those that answer. It sends nothing.

export type PlacesMax = { all: number; ofKey: number; bytes: number; patienceMs: number }

/** Bodies of 256 kB at most: what is under way takes this much memory beside its connections. */
const usualPlaces: PlacesMax = { all: 256, ofKey: 128, bytes: 32 * 1_024 * 1_024, patienceMs: 1_000 }

type Taken = { key: string; sinceMs: number; bytes: number; cut: () => void }

type Place = {
  /** The memory that it takes, once it is known. */
  holds(bytes: number): void
  free(): void
}

export class Places {
  readonly #max: PlacesMax
  readonly #taken = new Set<Taken>()
  readonly #ofKey = new Map<string, number>()
  #bytes = 0

  constructor(max: PlacesMax = usualPlaces) {
    this.#max = max
  }

  get taken(): number {
    return this.#taken.size
  }

  countOf(key: string): number {
    return this.#ofKey.get(key) ?? 0
  }

  /**
   * Undefined where all are taken. The one that takes longest, of this key if it has all of its own, is then cut if it
   * had a second: it is tried again.
   */
  take(key: string, cut: () => void): Place | undefined {
    const isKeyFull = this.countOf(key) >= this.#max.ofKey
    if (isKeyFull || this.#taken.size >= this.#max.all || this.#bytes >= this.#max.bytes) {
      this.#cutLongest(isKeyFull ? key : undefined)
      return undefined
    }
    const taken: Taken = { key, sinceMs: performance.now(), bytes: 0, cut }
    this.#taken.add(taken)
    this.#ofKey.set(key, this.countOf(key) + 1)
    return {
      holds: bytes => {
        this.#bytes += bytes - taken.bytes
        taken.bytes = bytes
      },
      free: () => {
        if (!this.#taken.delete(taken)) return
        this.#bytes -= taken.bytes
        const left = this.countOf(key) - 1
        if (left === 0) this.#ofKey.delete(key)
        else this.#ofKey.set(key, left)
      },
    }
  }

  /** Of the key that has most, where none is named. */
  #cutLongest(key: string | undefined): void {
    const of = key ?? [...this.#ofKey].reduce((most, each) => (each[1] > most[1] ? each : most), ['', 0])[0]
    for (const taken of this.#taken) {
      if (taken.key !== of) continue
      // In the order in which they were taken.
      if (performance.now() - taken.sinceMs >= this.#max.patienceMs) taken.cut()
      return
    }
  }
}

/** One of each key in turn, those of keys with least under way first. */
export function inTurns<Item>(items: readonly Item[], keyOf: (item: Item) => string, places: Places): Item[] {
  const byKey = [...Map.groupBy(items, keyOf)].sort(([a], [b]) => places.countOf(a) - places.countOf(b))
  const ordered: Item[] = []
  for (let turn = 0; ordered.length < items.length; turn++)
    for (const [, its] of byKey) if (turn < its.length) ordered.push(its[turn]!)
  return ordered
}

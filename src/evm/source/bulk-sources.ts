// The bulk sources of one chain, in the order in which they are asked: files before a portal. They may be replaced
// while history is filled: a signal then tells readers to begin again.
import type { Interval, SourceStatus } from '../../model.ts'
import type { Anchor, BulkSource } from './bulk-source.ts'
import type { Header } from './chain-source.ts'

/** How often they look what they have, unless the configuration was read again. */
const lookEveryMs = 15_000

export class BulkSources {
  #all: readonly BulkSource[]
  #next: readonly BulkSource[] | undefined
  #turn = new AbortController()
  #lookedMs = Number.NEGATIVE_INFINITY
  /** How often they were configured: a look that was under way then saw nothing of it. */
  #configured = 0
  #looking: Promise<void> | undefined

  constructor(all: readonly BulkSource[] = []) {
    this.#all = all
  }

  get all(): readonly BulkSource[] {
    return this.#all
  }

  /** Fires when they are replaced. */
  get replaced(): AbortSignal {
    return this.#turn.signal
  }

  /** Takes others at the next look; without any, the same look again. */
  configure(next: readonly BulkSource[] | undefined): void {
    this.#lookedMs = Number.NEGATIVE_INFINITY
    this.#configured++
    if (next === undefined) return
    // What was made and never used has nothing open, but may hold a connection.
    for (const source of this.#next ?? []) void source.close()
    this.#next = next
    this.#turn.abort()
  }

  async look(signal: AbortSignal): Promise<void> {
    if (performance.now() - this.#lookedMs < lookEveryMs) return
    this.#looking ??= this.#lookNow(signal).finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  async #lookNow(signal: AbortSignal): Promise<void> {
    const before = this.#all
    if (this.#next !== undefined) {
      this.#all = this.#next
      this.#next = undefined
      this.#turn = new AbortController()
      await Promise.all(before.map(source => source.close()))
    }
    const [lookedMs, configured] = [performance.now(), this.#configured]
    await Promise.all(this.#all.map(source => source.look(signal)))
    if (configured === this.#configured) this.#lookedMs = lookedMs
  }

  /** The highest block of each that has any, the highest first. */
  get tops(): number[] {
    const tops = this.#all.flatMap(({ holds }) => holds.at(-1)?.to ?? [])
    return tops.sort((a, b) => b - a)
  }

  /** By the first that has it. */
  async header(number: number, signal: AbortSignal): Promise<Header | undefined> {
    for (const source of this.#all) {
      if (!source.holds.some(({ from, to }) => from <= number && number <= to)) continue
      const header = await source.header(number, signal)
      if (header !== undefined) return header
    }
    return undefined
  }

  /** The strongest that one of them knows, of those the highest. */
  async anchorIn(interval: Interval, signal: AbortSignal): Promise<Anchor | undefined> {
    const found: Anchor[] = []
    for (const source of this.#all) {
      const anchor = await source.anchorIn(interval, signal)
      if (anchor !== undefined) found.push(anchor)
    }
    const isProof = ({ evidence }: Anchor): number => (evidence === 'canonical' ? 1 : 0)
    return found.sort((a, b) => isProof(b) - isProof(a) || b.number - a.number)[0]
  }

  status(): SourceStatus[] {
    return this.#all.map(source => source.status())
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all, ...(this.#next ?? [])].map(source => source.close()))
  }
}

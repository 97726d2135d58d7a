// The bulk sources of one chain, in the order in which they are asked: files before a portal. They may be replaced
// while history is filled: a signal then tells readers to begin again.
import { holdsBlock } from '../../coverage.ts'
import type { Block, Hash, Interval } from '../../model.ts'
import { oneFlight } from '../../once.ts'
import type { SourceStatus } from '../../status.ts'
import { type Anchor, type BulkHeader, type BulkSource, SourceLost } from './bulk-source.ts'

/** How often they look what they have, unless the configuration was read again. */
const lookEveryMs = 15_000

export class BulkSources {
  #all: readonly BulkSource[]
  #next: readonly BulkSource[] | undefined
  #turn = new AbortController()
  #lookedMs = Number.NEGATIVE_INFINITY
  /** How often they were configured: a look that was under way then saw nothing of it. */
  #configured = 0
  readonly #lookNow = oneFlight((signal: AbortSignal) => this.#lookAtAll(signal))

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
    await this.#lookNow(signal)
  }

  async #lookAtAll(signal: AbortSignal): Promise<void> {
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

  /** Whether one of them has a block, by what it says. */
  hold(number: number): boolean {
    return this.#all.some(source => isHeld(number, source))
  }

  /** Whether one of them cannot be read now: blocks that it named may come back. */
  get areAway(): boolean {
    return this.status().some(
      ({ state, refused }) => state === 'waiting' || (state === 'failed' && refused.length === 0),
    )
  }

  /** Whether one of them failed, and none has anything. */
  get haveFailed(): boolean {
    const states = this.status().map(({ state }) => state)
    return states.includes('failed') && !states.includes('ready') && !states.includes('waiting')
  }

  /** The hash that the operator names, where each of them has looked for it in vain. */
  get misnamed(): Hash | undefined {
    const named = this.#all.flatMap(source => source.named ?? [])
    return named.every(({ isFound }) => isFound === false) ? named[0]?.hash : undefined
  }

  /** The highest block above another that one of them gives. A file that cannot be read is held no longer. */
  async topAbove(number: number, signal: AbortSignal): Promise<Block | undefined> {
    const tried = new Set<string>()
    for (;;) {
      const tops = this.#all.flatMap((source, at) => {
        const top = source.holds.at(-1)?.to ?? -1
        return top > number && !tried.has(`${at} ${top}`) ? [{ source, top, name: `${at} ${top}` }] : []
      })
      const [highest] = tops.sort((a, b) => b.top - a.top)
      if (highest === undefined) return undefined
      const { source, top, name } = highest
      tried.add(name)
      const header = await source.header(top, signal)
      if (header === undefined) continue
      // A portal has what it gives the header of. That of a file says nothing of what follows it.
      if (source.kind === 'files' && !(await isReadable(source, top, signal))) continue
      return { number: header.number, hash: header.hash, timestamp: header.timestamp }
    }
  }

  /** By the first that has it and proves it, else by the first that has it. */
  async header(number: number, signal: AbortSignal): Promise<BulkHeader | undefined> {
    let word: BulkHeader | undefined
    for (const source of this.#all) {
      const header = await source.header(number, signal)
      if (header !== undefined && header.unproven !== true) return header
      word ??= header
    }
    return word
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

function isHeld(number: number, { holds }: Pick<BulkSource, 'holds'>): boolean {
  return holdsBlock(holds, number)
}

async function isReadable(source: BulkSource, number: number, signal: AbortSignal): Promise<boolean> {
  try {
    await source.range({ from: number, to: number }, { scope: 'transfers' }, signal)
    return true
  } catch (error) {
    if (!(error instanceof SourceLost)) throw error
    return false
  }
}

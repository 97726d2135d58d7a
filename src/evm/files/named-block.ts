// Finds the block that the operator names by its hash: at the end of a file with that hash in its name, in what is read
// for the index, else header by header, one file after another, beside all other work. It reads no file itself.
import { setTimeout as delay } from 'node:timers/promises'
import type { Hash, Interval } from '../../model.ts'
import { SourceLost } from '../source/bulk-source.ts'
import type { Header } from '../source/chain-source.ts'
import type { HeldFile } from './file-catalogue.ts'
import { TakenBlocks } from './taken-blocks.ts'

export type NamedBlockOptions = {
  hash: Hash
  headerAt: (number: number) => Promise<Header | undefined>
  /** Reads every header of a file. */
  search: (file: HeldFile) => Promise<number | undefined>
}

/** A few files are searched in less. Thousands take minutes, and history is filled meanwhile. */
const waitMs = 1_000

export class NamedBlock {
  readonly hash: Hash
  /** Its number, once it was found. */
  at: number | undefined
  readonly #options: NamedBlockOptions
  /** Of each file, the blocks that are others. */
  readonly #others = new WeakMap<HeldFile, TakenBlocks>()
  #waiting = new Set<HeldFile>()
  #searching: Promise<void> | undefined
  #searched = 0
  #isClosed = false

  constructor(options: NamedBlockOptions) {
    this.#options = options
    this.hash = options.hash
  }

  /** Where it is within the interval, if that is known by now; what is not known is searched for. */
  async within({ from, to }: Interval, files: readonly HeldFile[]): Promise<number | undefined> {
    if (this.at === undefined) {
      const unknown = files.filter(file => !this.#isSeen(file))
      await this.#lookAtNames(unknown)
      for (const file of unknown) this.#waiting.add(file)
      if (this.at === undefined && this.#waiting.size > 0)
        await Promise.race([this.#search(), delay(waitMs, undefined, { ref: false })])
    }
    if (this.at === undefined || this.at < from || this.at > to) return undefined
    return (await this.#options.headerAt(this.at))?.hash === this.hash ? this.at : undefined
  }

  /** Takes note of blocks that were read for another reason. */
  saw(file: HeldFile, headers: readonly Pick<Header, 'number' | 'hash'>[]): void {
    const named = headers.find(({ hash }) => hash === this.hash)
    if (named !== undefined) this.at = named.number
    else this.#note(file, { from: headers[0]!.number, to: headers.at(-1)!.number })
  }

  /** How far the search is; undefined while there is none. */
  get progress(): { done: number; of: number } | undefined {
    if (this.#searching === undefined) return undefined
    return { done: this.#searched, of: this.#searched + this.#waiting.size }
  }

  /** Whether a block of the files has the hash, or may have it. */
  isIn(files: readonly HeldFile[]): boolean {
    return this.at !== undefined || !files.every(file => this.#isSeen(file))
  }

  close(): void {
    this.#isClosed = true
  }

  /** A name of ere has the first bytes of the last block's hash. */
  async #lookAtNames(files: readonly HeldFile[]): Promise<void> {
    for (const { name, holds } of files)
      if (holds !== undefined && name.includes(`-${this.hash.slice(2, 10)}`))
        if ((await this.#options.headerAt(holds.to))?.hash === this.hash) this.at = holds.to
  }

  #search(): Promise<void> {
    this.#searching ??= this.#searchAll().finally(() => {
      this.#searching = undefined
    })
    return this.#searching
  }

  async #searchAll(): Promise<void> {
    this.#searched = 0
    for (const file of this.#waiting) {
      if (this.#isClosed || this.at !== undefined) break
      this.#waiting.delete(file)
      try {
        const at = await this.#options.search(file)
        if (at !== undefined) this.at = at
        else if (file.holds !== undefined) this.#note(file, file.holds)
      } catch (error) {
        // A file that is wrong is left out. What a thread that ended had to do is done when it is asked for again.
        if (!(error instanceof SourceLost)) break
      }
      this.#searched++
    }
    this.#waiting.clear()
  }

  #note(file: HeldFile, { from, to }: Interval): void {
    const others = this.#others.get(file) ?? new TakenBlocks()
    this.#others.set(file, others)
    others.take({ from, to })
  }

  #isSeen(file: HeldFile): boolean {
    const { holds, problem } = file
    if (holds === undefined || problem !== undefined) return true
    const others = this.#others.get(file)?.intervals
    return others?.some(({ from, to }) => from <= holds.from && holds.to <= to) ?? false
  }
}

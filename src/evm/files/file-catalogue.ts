// The history files of a chain: which there are, what each holds by its index, and which of them is asked for a block.
// It reads no block.
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Chain } from '../../chains.ts'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Interval } from '../../model.ts'
import { isHistoryFile } from './check-folder.ts'
import { type FileStamp, isSameFile, stampOf, UnreadableFile } from './e2store.ts'
import { headerBelow } from './file-headers.ts'
import { type FileFailure, failureOf } from './file-range.ts'
import { HistoryFile } from './history-file.ts'
import { networkOfChain, networkOfName } from './networks.ts'
import { type FileProof, mayBeProven } from './prove-file.ts'
import { TakenBlocks } from './taken-blocks.ts'

export type HeldFile = {
  name: string
  stamp: FileStamp
  /** By its index; absent where that cannot be read. */
  holds?: Interval & { bytesPerBlock: number; hasProofs: boolean; mayBeProven: boolean }
  /** Why it is not used. */
  problem?: { block?: number; reason: string; againMs: number }
  /** What proves it, once that was asked. */
  proof?: Promise<FileProof>
}

/** Blocks that one file is asked for. */
export type Piece = Interval & { file: HeldFile }

/** A file that the system cannot read is tried again after this. */
const againAfterMs = 60_000
const filesAtOnce = 64

export class FileCatalogue {
  readonly #chain: Chain
  readonly #paths: readonly string[]
  readonly #log: Log
  #files = new Map<string, HeldFile>()
  #pieces: readonly Piece[] = []
  #holds: readonly Interval[] = []
  /** By what they were last said to be passed over for. */
  #passedOver = new Set<string>()
  /** What is wrong with a path that the operator gave. */
  failure: string | undefined
  hasLooked = false

  constructor({ chain, paths, log }: { chain: Chain; paths: readonly string[]; log: Log }) {
    this.#chain = chain
    this.#paths = paths
    this.#log = log
  }

  get files(): readonly HeldFile[] {
    return [...this.#files.values()]
  }

  get holds(): readonly Interval[] {
    return this.#holds
  }

  /** What has a block, and the blocks around it that the same file is asked for. */
  pieceAt(number: number): Piece | undefined {
    let [low, high] = [0, this.#pieces.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#pieces[middle]!.to < number) low = middle + 1
      else high = middle
    }
    const piece = this.#pieces[low]
    return piece !== undefined && piece.from <= number ? piece : undefined
  }

  /** Only the index of a file that is new or has changed is read. */
  async look(signal: AbortSignal): Promise<void> {
    const before = this.#files
    const found = new Map<string, HeldFile>()
    let read = 0
    for (const stamp of await this.#find(signal)) {
      const known = before.get(stamp.path)
      const isKnown = known !== undefined && isSameFile(known.stamp, stamp)
      const isToTry = known?.problem !== undefined && known.problem.againMs <= performance.now()
      found.set(stamp.path, isKnown && !isToTry ? known : this.#read(stamp, known?.problem?.reason))
      if (++read % filesAtOnce === 0) await setImmediate()
      signal.throwIfAborted()
    }
    this.#files = found
    this.hasLooked = true
    this.#choose()
  }

  /** Leaves a file out until it changes; one that has changed, until it is looked at. */
  refuse(file: HeldFile, failure: FileFailure): void {
    if (file.problem !== undefined || this.#files.get(file.stamp.path) !== file) return
    if (failure.isPassing === 'changed') this.#files.delete(file.stamp.path)
    else this.#mark(file, failure)
    this.#choose()
  }

  #mark(file: HeldFile, { block, message, isPassing }: FileFailure, saidBefore?: string): void {
    const againMs = isPassing === 'system' ? performance.now() + againAfterMs : Number.POSITIVE_INFINITY
    file.problem = { ...(block === undefined ? {} : { block }), reason: message, againMs }
    if (message !== saidBefore) this.#log.warn({ file: file.name, block, reason: message }, 'History file refused')
  }

  async #find(signal: AbortSignal): Promise<FileStamp[]> {
    const stamps = new Map<string, FileStamp>()
    this.failure = undefined
    for (const path of this.#paths) {
      try {
        const stats = await stat(path)
        if (!stats.isDirectory()) {
          stamps.set(path, stampOf(path, stats))
          continue
        }
        for (const name of (await readdir(path)).filter(isHistoryFile)) {
          signal.throwIfAborted()
          const each = join(path, name)
          // One that was removed since is not there.
          const found = await stat(each).catch(() => undefined)
          if (found?.isFile()) stamps.set(each, stampOf(each, found))
        }
      } catch (error) {
        signal.throwIfAborted()
        this.failure = `${path} cannot be read (${messageOf(error)})`
      }
    }
    return [...stamps.values()]
  }

  #read(stamp: FileStamp, saidBefore: string | undefined): HeldFile {
    const name = basename(stamp.path)
    const held: HeldFile = { name, stamp }
    try {
      const misnamed = this.#misnamed(name)
      if (misnamed !== undefined) throw new UnreadableFile(misnamed)
      using opened = new DisposableStack()
      const file = opened.adopt(new HistoryFile(stamp.path), each => each.close())
      const { from, to, bytesPerBlock } = file
      file.requireReceipts()
      // The number in the index is under no hash.
      headerBelow(file, from, undefined)
      const proven = mayBeProven(file, networkOfChain(this.#chain))
      held.holds = { from, to, bytesPerBlock, hasProofs: file.has('proof'), mayBeProven: proven }
    } catch (error) {
      this.#mark(held, failureOf(error), saidBefore)
    }
    return held
  }

  /** What a name says of the network; a name in another form says nothing. */
  #misnamed(name: string): string | undefined {
    const expected = networkOfChain(this.#chain)
    const named = /^([a-z0-9]+)-\d+-/i.exec(name)?.[1] ?? networkOfName(name)?.name
    if (named === undefined || named === expected?.name) return undefined
    if (expected === undefined && networkOfName(name) === undefined) return undefined
    return `is of the network ${named} by its name, and the chain is ${this.#chain.name}`
  }

  /** Of files with the same blocks, one: what may prove more first, then by name. */
  #choose(): void {
    const usable = this.files.filter(file => file.holds !== undefined && file.problem === undefined)
    usable.sort((a, b) => strength(b) - strength(a) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    const pieces: Piece[] = []
    const passedOver = new Set<string>()
    const taken = new TakenBlocks()
    for (const file of usable) {
      const free = taken.take(file.holds!)
      for (const { from, to } of free) pieces.push({ from, to, file })
      if (free.length === 0) passedOver.add(file.name)
    }
    for (const name of passedOver)
      if (!this.#passedOver.has(name))
        this.#log.info({ file: name }, 'History file passed over: others have its blocks')
    this.#passedOver = passedOver
    this.#pieces = pieces.sort((a, b) => a.from - b.from)
    this.#holds = taken.intervals
  }
}

function strength({ holds }: HeldFile): number {
  return holds?.mayBeProven || holds?.hasProofs ? 1 : 0
}

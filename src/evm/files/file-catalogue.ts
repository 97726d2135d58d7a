// The history files of a chain: which there are, what each holds by its index, and which of them is asked for a block.
// It reads no block.
import { lstat, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Chain } from '../../chains.ts'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Interval } from '../../model.ts'
import { type FileStamp, isSameFile, stampOf, UnreadableFile } from './e2store.ts'
import { headerBelow } from './file-headers.ts'
import { type FileFailure, failureOf } from './file-range.ts'
import { HistoryFile, isHistoryFile } from './history-file.ts'
import { networkOfChain, networkOfName } from './networks.ts'
import { type FileProof, mayBeProven } from './prove-file.ts'
import { TakenBlocks } from './taken-blocks.ts'

export type HeldFile = {
  name: string
  stamp: FileStamp
  /** By its index; absent where that cannot be read. */
  holds?: Interval & {
    bytesPerBlock: number
    hasProofs: boolean
    mayBeProven: boolean
    /** It is read whole before its blocks are used: it names what its headers hash to, or may be proven. */
    isCheckedWhole: boolean
  }
  /** Why it is not used. */
  problem?: { block?: number; reason: string; againMs: number }
  /** What proves it, once that was asked. */
  proof?: Promise<FileProof>
}

/** Blocks that one file is asked for. */
export type Piece = Interval & { file: HeldFile }

/** A file that the system cannot read is tried again after this. */
const againAfterMs = 60_000
/** What a look does before it lets others in between: there may be thousands of files. */
const turnMs = 8
const statsAtOnce = 16
/** A look that takes longer says how far it is, as often. */
const toldEveryMs = 5_000

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
  /** How far a look is that is under way. */
  looking: { done: number; of: number } | undefined
  /** How often a file was refused. */
  refusals = 0

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

  /** The files that are asked for blocks of an interval, highest first. */
  filesIn({ from, to }: Interval): HeldFile[] {
    const pieces = this.#pieces.filter(piece => piece.to >= from && piece.from <= to)
    return [...new Set(pieces.toReversed().map(({ file }) => file))]
  }

  /** Only the index of a file that is new or has changed is read. */
  async look(signal: AbortSignal): Promise<void> {
    const before = this.#files
    const found = new Map<string, HeldFile>()
    const stamps = await this.#find(signal)
    let [turnedMs, toldMs] = [performance.now(), performance.now()]
    for (const stamp of stamps) {
      const known = before.get(stamp.path)
      const isKnown = known !== undefined && isSameFile(known.stamp, stamp)
      const isToTry = known?.problem !== undefined && known.problem.againMs <= performance.now()
      found.set(stamp.path, isKnown && !isToTry ? known : this.#read(stamp, known?.problem?.reason))
      if (performance.now() - turnedMs < turnMs) continue
      this.looking = { done: found.size, of: stamps.length }
      if (performance.now() - toldMs > toldEveryMs) {
        this.#log.info({ chain: this.#chain.name, ...this.looking }, 'History files being read')
        toldMs = performance.now()
      }
      await setImmediate()
      signal.throwIfAborted()
      turnedMs = performance.now()
    }
    this.looking = undefined
    this.#files = found
    this.hasLooked = true
    this.#choose()
  }

  /** Leaves a file out until it changes, or until it is read again if it has changed. */
  refuse(file: HeldFile, failure: FileFailure): void {
    if (file.problem !== undefined || this.#files.get(file.stamp.path) !== file) return
    if (failure.isPassing === 'changed') this.#files.delete(file.stamp.path)
    else this.#mark(file, failure)
    this.#choose()
  }

  #mark(file: HeldFile, { block, message, isPassing }: FileFailure, saidBefore?: string): void {
    const againMs = isPassing === undefined ? Number.POSITIVE_INFINITY : performance.now() + againAfterMs
    file.problem = { ...(block === undefined ? {} : { block }), reason: message, againMs }
    if (message === saidBefore) return
    this.refusals++
    this.#log.warn({ file: file.name, block, reason: message }, 'History file refused')
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
        const names = (await readdir(path)).filter(isHistoryFile)
        for (let at = 0; at < names.length; at += statsAtOnce) {
          signal.throwIfAborted()
          const some = names.slice(at, at + statsAtOnce).map(name => join(path, name))
          for (const stamp of await Promise.all(some.map(stampAt))) if (stamp) stamps.set(stamp.path, stamp)
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
      const isCheckedWhole = proven || file.accumulator() !== undefined
      held.holds = { from, to, bytesPerBlock, hasProofs: file.has('proof'), mayBeProven: proven, isCheckedWhole }
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

/** Undefined where there is no file any more. A broken link counts as a file that cannot be read. */
async function stampAt(path: string): Promise<FileStamp | undefined> {
  try {
    const stats = await stat(path)
    return stats.isFile() ? stampOf(path, stats) : undefined
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT' && !(await lstat(path).catch(() => undefined))
    return isGone ? undefined : { path, size: 0, mtimeMs: 0, inode: 0 }
  }
}

function strength({ holds }: HeldFile): number {
  return holds?.mayBeProven || holds?.hasProofs ? 1 : 0
}

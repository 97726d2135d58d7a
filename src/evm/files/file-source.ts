// History from files: a bulk source over the era1 and ere files of a chain. Blocks are read and checked in the decoding
// threads; a file that turns out to be wrong is left out, with the block, until it changes.
import { setImmediate } from 'node:timers/promises'
import type { Chain } from '../../chains.ts'
import { blockCount } from '../../coverage.ts'
import type { Log } from '../../log.ts'
import type { Hash, Interval } from '../../model.ts'
import type { SourceStatus } from '../../status.ts'
import type { WholeScope } from '../../views.ts'
import { BlocksInTime } from '../source/blocks-in-time.ts'
import { type Anchor, type BulkRequest, type BulkSource, SourceLost } from '../source/bulk-source.ts'
import type { DecodedRange, Header } from '../source/chain-source.ts'
import type { Decoder } from '../source/decode-pool.ts'
import { TrustedRoots } from './beacon-roots.ts'
import { isSameFile } from './e2store.ts'
import { FileCatalogue, type HeldFile, type Piece } from './file-catalogue.ts'
import { headerBelow } from './file-headers.ts'
import { changed, type FileFailure, failureOf, OpenFile } from './file-range.ts'
import type { HistoryFile } from './history-file.ts'
import { NamedBlock } from './named-block.ts'
import { type Network, networkOfChain } from './networks.ts'
import { type FileProof, highestProven } from './prove-file.ts'

export type FileSourceOptions = {
  chain: Chain
  decoder: Pick<Decoder, 'file' | 'proof'>
  log: Log
  /** Folders with history files, or files. */
  paths: readonly string[]
  /** Files with `historical_summaries` or `historical_roots`, or URLs of beacon nodes. */
  summaries?: readonly string[] | undefined
  /** The hash of a block that the operator knows to be of the chain. */
  anchor?: Hash | undefined
}

export function fileSource(options: FileSourceOptions): BulkSource {
  return new FileSource(options)
}

// What one task reads. A block of Ethereum takes some 60 kB, an early one 1 kB.
const bytesAtOnce = 4 * 2 ** 20
const blocksAtOnceMax = 512
const headersInTurn = 64
/** A folder of files that are all wrong would fill a status. */
const refusedMax = 100

class FileSource implements BulkSource {
  readonly kind = 'files'
  readonly name: string
  readonly #options: FileSourceOptions
  readonly #network: Network | undefined
  readonly #catalogue: FileCatalogue
  readonly #trusted: TrustedRoots
  /** For headers, which are read here. */
  readonly #open = new OpenFile()
  readonly #blocksInTime = new BlocksInTime(blocksAtOnceMax)
  #headersRead = 0
  readonly #named: NamedBlock | undefined

  constructor(options: FileSourceOptions) {
    const { chain, paths, summaries = [], log } = options
    this.#options = options
    this.name = paths.length === 1 ? paths[0]! : `${paths[0]} and ${paths.length - 1} more`
    this.#network = networkOfChain(chain)
    this.#catalogue = new FileCatalogue({ chain, paths, log })
    this.#trusted = new TrustedRoots(summaries, { network: this.#network, log })
    const headerAt = (number: number) => this.header(number)
    const search = async (file: HeldFile) => (await this.#proofOf(file)).anchorAt
    if (options.anchor !== undefined) this.#named = new NamedBlock({ hash: options.anchor, headerAt, search })
  }

  async look(signal: AbortSignal): Promise<void> {
    await this.#catalogue.look(signal)
    if (this.#catalogue.files.some(({ holds }) => holds?.hasProofs)) await this.#trusted.look(signal)
  }

  get holds(): readonly Interval[] {
    return this.#catalogue.holds
  }

  get refusals(): number {
    return this.#catalogue.refusals
  }

  get named(): BulkSource['named'] {
    const { hasLooked, files } = this.#catalogue
    if (this.#named === undefined) return undefined
    const mayBeFound = !hasLooked || this.#named.progress !== undefined || this.#named.isIn(files)
    return { hash: this.#named.hash, isFound: this.#named.at !== undefined ? true : mayBeFound ? undefined : false }
  }

  get proofs(): number {
    return this.#trusted.changes + (this.#named?.at === undefined ? 0 : 1)
  }

  blocksAt(number: number, scope: WholeScope = 'transfers'): number {
    const piece = this.#catalogue.pieceAt(number)
    if (piece === undefined) return 1
    const fitting = Math.max(1, Math.floor(bytesAtOnce / piece.file.holds!.bytesPerBlock))
    return Math.min(number - piece.from + 1, this.#blocksInTime.of(scope), fitting)
  }

  async range(interval: Interval, { scope, lastHash }: BulkRequest, signal: AbortSignal): Promise<DecodedRange> {
    const { chain, decoder, anchor } = this.#options
    const { file, from } = this.#pieceAt(interval.to)
    const { provenTo } = file.holds?.isCheckedWhole === true ? await this.#proofOf(file) : {}
    signal.throwIfAborted()
    const roots = file.holds?.hasProofs === true ? this.#trusted.roots : {}
    const task = { file: file.stamp, chain, scope, lastHash, provenTo, anchor, roots }
    for (let lowest = Math.max(from, interval.from); ; ) {
      const result = await decoder.file({ ...task, interval: { from: lowest, to: interval.to } })
      signal.throwIfAborted()
      if (result.ok) {
        this.#blocksInTime.learn(scope, result.range.headers.length, result.tookMs)
        this.#named?.saw(file, result.range.headers)
        return result.range
      }
      const blocks = interval.to - lowest + 1
      if (result.failure.isPassing !== 'thread ended' || blocks === 1) throw this.#lost(file, result.failure)
      // A slow or busy machine takes no more at once, or a block is made to be slow: fewer blocks tell which.
      lowest = interval.to - this.#blocksInTime.tooMany(scope, blocks) + 1
    }
  }

  async header(number: number): Promise<Header | undefined> {
    // They are read one below another, up to thousands, in the thread that serves.
    if (++this.#headersRead % headersInTurn === 0) await setImmediate()
    const piece = this.#catalogue.pieceAt(number)
    return piece && this.#read(piece.file, file => plainHeader(headerBelow(file, number, undefined)))
  }

  /** The highest that is proven, else the one that the operator names: what is above it may rise by that later. */
  async anchorIn(interval: Interval, signal: AbortSignal): Promise<Anchor | undefined> {
    const proven = await this.#search(interval, signal, (file, within) => this.#provenIn(file, within))
    if (proven !== undefined) return { ...proven, evidence: 'canonical' }
    const named = await this.#named?.within(interval, this.#catalogue.filesIn(interval))
    signal.throwIfAborted()
    return named === undefined ? undefined : { number: named, hash: this.#named!.hash, evidence: 'receipts-root' }
  }

  /** Asks the files that have blocks of the interval, highest first. */
  async #search(
    { from, to }: Interval,
    signal: AbortSignal,
    find: (file: HeldFile, within: Interval) => Promise<number | undefined>,
  ): Promise<Pick<Header, 'number' | 'hash'> | undefined> {
    for (let above = to; above >= from; ) {
      const piece = this.#catalogue.pieceAt(above)
      if (piece === undefined) {
        above = this.#catalogue.holds.findLast(held => held.to < above)?.to ?? -1
        continue
      }
      const within = { from: Math.max(from, piece.from), to: above }
      try {
        const number = await find(piece.file, within)
        const header = number === undefined ? undefined : await this.header(number)
        if (header !== undefined) return { number: header.number, hash: header.hash }
        above = within.from - 1
      } catch (error) {
        // The file is left out now: another may have its blocks.
        if (!(error instanceof SourceLost)) throw error
      }
      // Lets others in between: there may be thousands of files.
      await setImmediate()
      signal.throwIfAborted()
    }
    return undefined
  }

  status(): SourceStatus {
    const { files, holds, failure, hasLooked } = this.#catalogue
    const refused = files.flatMap(({ name, problem }) => {
      if (problem === undefined) return []
      return [{ name, ...(problem.block === undefined ? {} : { block: problem.block }), reason: problem.reason }]
    })
    const blocks = blockCount(holds)
    const state = !hasLooked ? 'waiting' : blocks > 0 ? 'ready' : failure || refused.length > 0 ? 'failed' : 'empty'
    const unusable = refused.length > 0 ? `none of its ${files.length} files can be used` : undefined
    const reason = failure ?? (state === 'failed' ? unusable : (this.#trusted.failure ?? this.#underWay))
    return {
      ...{ kind: this.kind, name: this.name, blocks, state, refused: refused.slice(0, refusedMax) },
      ...(blocks === 0 ? {} : { from: holds[0]!.from, to: holds.at(-1)!.to }),
      ...(reason === undefined ? {} : { reason }),
    }
  }

  async close(): Promise<void> {
    this.#open.close()
    this.#trusted.close()
    this.#named?.close()
  }

  /** What it still looks for, or looked for in vain. */
  get #underWay(): string | undefined {
    const { looking, hasLooked } = this.#catalogue
    if (looking !== undefined && !hasLooked) return `it looks at its files: ${looking.done} of ${looking.of}`
    const search = this.#named?.progress
    if (search !== undefined) return `it looks for the block of \`anchor\`: ${search.done} of ${search.of} files`
    return this.named?.isFound === false ? 'no block of its files has the hash that `anchor` names' : undefined
  }

  #pieceAt(number: number): Piece {
    const piece = this.#catalogue.pieceAt(number)
    if (piece !== undefined) return piece
    throw new SourceLost(`No history file of ${this.#options.chain.name} has block ${number}.`)
  }

  /** Reads here what takes no time. Undefined where the file is wrong, which is then left out. */
  #read<Result>(file: HeldFile, read: (opened: HistoryFile) => Result): Result | undefined {
    try {
      const opened = this.#open.at(file.stamp)
      if (!isSameFile(opened.stamp(), file.stamp)) throw this.#lost(file, changed)
      return read(opened)
    } catch (error) {
      this.#open.close()
      if (!(error instanceof SourceLost)) this.#catalogue.refuse(file, failureOf(error))
      return undefined
    }
  }

  /** The highest block that is proven. */
  async #provenIn(file: HeldFile, { from, to }: Interval): Promise<number | undefined> {
    const { provenTo = -1 } = file.holds?.mayBeProven === true ? await this.#proofOf(file) : {}
    if (Math.min(provenTo, to) >= from) return Math.min(provenTo, to)
    if (file.holds?.hasProofs !== true) return undefined
    return this.#read(file, opened => highestProven(opened, { from, to }, this.#network, this.#trusted.roots))
  }

  /** Found out once a file. */
  async #proofOf(file: HeldFile): Promise<FileProof> {
    file.proof ??= this.#prove(file)
    try {
      return await file.proof
    } catch (error) {
      // A thread that ended takes nothing from the file.
      delete file.proof
      throw error
    }
  }

  async #prove(file: HeldFile): Promise<FileProof> {
    const { chain, decoder, anchor } = this.#options
    const result = await decoder.proof({ file: file.stamp, chain, anchor })
    if (result.ok) return result.proof
    throw this.#lost(file, result.failure)
  }

  #lost(file: HeldFile, failure: FileFailure): SourceLost {
    this.#catalogue.refuse(file, failure)
    const block = failure.block === undefined ? '' : `block ${failure.block} `
    return new SourceLost(`${file.name}: ${block}${failure.message}.`)
  }
}

function plainHeader({ number, hash, parentHash, timestamp }: Header): Header {
  return { number, hash, parentHash, timestamp }
}

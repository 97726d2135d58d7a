// Reads the headers of a file: whether each is the parent of the next, and whether the frozen accumulator has them.
// It reads no bodies and no receipts.
import { blockNumberMax, type Interval } from '../../model.ts'
import { UnreadableBytes } from '../proof/rlp-cursor.ts'
import { timeFault } from '../source/block-time.ts'
import { UnreadableFile } from './e2store.ts'
import { type FileHeader, readHeader } from './file-block.ts'
import type { ProofKind } from './header-proof.ts'
import { blocksPerEpoch, type HistoryFile } from './history-file.ts'
import { epochRoot, nodeBytes } from './merkle.ts'
import { type Network, nodeOf } from './networks.ts'

/** A problem of one block. */
export class BadBlock extends Error {
  readonly block: number

  constructor(block: number, message: string) {
    super(message)
    this.block = block
  }
}

/** Runs what reads a block, and adds its number to what is wrong with it. */
export function ofBlock<Result>(block: number, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnreadableBytes) throw new BadBlock(block, error.message)
    throw error
  }
}

/** Checks a header after the one before it. */
export function nextHeader(file: HistoryFile, number: number, before: FileHeader | undefined): FileHeader {
  return ofBlock(number, () => {
    const header = headerAt(file, number)
    if (before !== undefined) requireLink(before, header)
    return header
  })
}

/** Checks a header under the one after it. */
export function headerBelow(file: HistoryFile, number: number, above: FileHeader | undefined): FileHeader {
  const header = ofBlock(number, () => headerAt(file, number))
  if (above !== undefined) ofBlock(above.number, () => requireLink(header, above))
  return header
}

function headerAt(file: HistoryFile, number: number): FileHeader {
  const header = readHeader(file.header(number))
  if (header.number !== number) throw new UnreadableFile(`is block ${header.number} by its header`)
  if (number > blockNumberMax) throw new UnreadableFile(`has a number above ${blockNumberMax}, which no chain has`)
  requireTime(header)
  return header
}

function requireLink(parent: FileHeader, header: FileHeader): void {
  if (header.parentHash !== parent.hash)
    throw new UnreadableFile(`names ${header.parentHash} as its parent, block ${parent.number} is ${parent.hash}`)
  if (!parent.isBeforeMerge && header.isBeforeMerge)
    throw new UnreadableFile('has a difficulty, and the block before it has none')
  requireTime(header, parent)
}

function requireTime(header: FileHeader, parent?: FileHeader): void {
  const fault = timeFault(header, parent)
  if (fault !== undefined) throw new UnreadableFile(fault)
}

export function requireGenesis({ number, hash }: FileHeader, network: Network | undefined): void {
  if (number === 0 && network !== undefined && hash !== network.genesisHash)
    throw new BadBlock(number, `is ${hash}, and ${network.name} begins with ${network.genesisHash}`)
}

/** Collects what the accumulator is computed from, block by block. */
export class HeaderRecords {
  readonly #records: Buffer | undefined
  readonly #file: HistoryFile
  #count = 0

  constructor(file: HistoryFile) {
    this.#file = file
    this.#records = file.has('difficulty') ? Buffer.alloc(2 * nodeBytes * file.count) : undefined
  }

  add(header: FileHeader): void {
    if (!header.isBeforeMerge) return
    const at = 2 * nodeBytes * this.#count++
    this.#records?.write(header.hash.slice(2), at, 'hex')
    this.#records?.set(this.#file.difficulty(header.number), at + nodeBytes)
  }

  /** How many headers are from before the merge. */
  get count(): number {
    return this.#count
  }

  /** Of the headers before the merge; undefined if there are none, or no difficulties. */
  root(): Buffer | undefined {
    if (this.#records === undefined || this.#count === 0) return undefined
    return epochRoot(this.#records.subarray(0, 2 * nodeBytes * this.#count))
  }
}

export type Proven = Interval & { by: ProofKind | 'checksum' }

/** What the frozen accumulator says of the headers before the merge: proven, or why not. */
export function byAccumulator(
  file: HistoryFile,
  records: HeaderRecords,
  network: Network | undefined,
): Proven | { why: string } | undefined {
  if (records.count === 0 || network?.accumulator === undefined || network.mergeBlock === undefined) return undefined
  const epochBlocks = Math.min(blocksPerEpoch, network.mergeBlock - file.from)
  if (file.from % blocksPerEpoch !== 0 || records.count !== epochBlocks)
    return { why: `the accumulator proves whole epochs, and the file has ${records.count} blocks of one` }
  const computed = records.root()
  if (computed === undefined)
    return { why: 'the file has no total difficulties, which the accumulator is computed from' }
  const root = nodeOf(network.accumulator(), file.from / blocksPerEpoch)
  if (root !== undefined && computed.equals(root))
    return { from: file.from, to: file.from + records.count - 1, by: 'accumulator' }
  throw new UnreadableFile(
    `has headers of another chain: they hash to ${computed.toString('hex')}, the accumulator of ${network.name} has ${root?.toString('hex')}`,
  )
}

// Writes blocks of a simulated chain as files of history, era1 or ere. A file is made in memory.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Interval } from '../../src/model.ts'
import { accumulatorOf, type BeaconChain } from '../history-proofs.ts'
import { type WrittenBlock, writeEra1, writeEre } from '../history-writer.ts'
import type { SimBlock } from './block.ts'
import type { SimChain } from './chain.ts'
import { headerBytes, receiptBytes, slimReceiptBytes, transactionBytes } from './encode.ts'
import { rlp, rlpList } from './rlp.ts'

export type ExportOptions = {
  folder: string
  format: 'era1' | 'ere'
  chainId: number
  /** What names of files begin with. */
  network?: string
  /** Files end before the multiples of it; at most 8,192. */
  blocksPerFile?: number
  /** Of ere. */
  difficulties?: boolean
  /** Of ere: what proves the blocks. Undefined: files have no proofs. */
  beacon?: BeaconChain | undefined
  /** Of ere: false leaves them out. */
  receipts?: boolean
}

export type ExportedFile = Interval & { name: string; path: string }

/** The canonical blocks of an interval. */
export function exportChain(
  chain: SimChain,
  { from, to }: Interval,
  options: Omit<ExportOptions, 'chainId'>,
): ExportedFile[] {
  function* blocks(): Generator<SimBlock> {
    for (let number = from; number <= to; number++) yield chain.block(number)
  }
  return exportBlocks(blocks(), { chainId: chain.options.chainId, ...options })
}

/** `blocks`: consecutive, lowest first. */
export function exportBlocks(blocks: Iterable<SimBlock>, options: ExportOptions): ExportedFile[] {
  const { folder, blocksPerFile = 8_192 } = options
  mkdirSync(folder, { recursive: true })
  const files: ExportedFile[] = []
  let written: WrittenBlock[] = []
  let beforeMerge = 0
  let total = 0
  let last: SimBlock | undefined
  const endFile = (): void => {
    if (last === undefined || written.length === 0) return
    const from = last.number - written.length + 1
    const { name, bytes } = fileOf({ from, lastHash: last.hash, beforeMerge }, written, options)
    const path = join(folder, name)
    writeFileSync(path, bytes)
    files.push({ name, path, from, to: last.number })
    written = []
    beforeMerge = 0
  }
  for (const block of blocks) {
    if (block.number % blocksPerFile === 0) endFile()
    if (block.header.difficulty > 0) {
      beforeMerge++
      // Every block before the merge has a difficulty of 1.
      total = block.number + 1
    }
    written.push(writtenBlock(block, total, options))
    last = block
  }
  endFile()
  return files
}

function fileOf(
  { from, lastHash, beforeMerge }: { from: number; lastHash: string; beforeMerge: number },
  blocks: readonly WrittenBlock[],
  { format, network = 'local', blocksPerFile = 8_192, beacon, receipts = true }: ExportOptions,
): { name: string; bytes: Buffer } {
  const era = `${network}-${`${Math.floor(from / blocksPerFile)}`.padStart(5, '0')}`
  if (format === 'ere') {
    const lacks = `${beacon === undefined ? '-noproofs' : ''}${receipts ? '' : '-noreceipts'}`
    return { name: `${era}-${lastHash.slice(2, 10)}${lacks}.ere`, bytes: writeEre(from, blocks) }
  }
  const accumulator = accumulatorOf(blocks.slice(0, beforeMerge))
  return { name: `${era}-${accumulator.toString('hex', 0, 4)}.era1`, bytes: writeEra1(from, blocks, accumulator) }
}

function writtenBlock(block: SimBlock, total: number, options: ExportOptions): WrittenBlock {
  const { format, chainId, difficulties = false, beacon, receipts = true } = options
  if (block.drawn === true) throw new Error(`Block ${block.number} has a drawn hash: files need real ones.`)
  // State-sync transactions are under no root, and files have no place for them.
  const listed = block.transactions.filter(({ stateSync }) => !stateSync)
  const transactions = listed.map(each => asItem(each.type, transactionBytes(chainId, each)))
  const given = listed.map(each => (format === 'ere' ? slimReceiptBytes(each) : asItem(each.type, receiptBytes(each))))
  const difficulty = Buffer.alloc(32)
  difficulty.writeUInt32LE(total)
  return {
    header: headerBytes(block.header),
    body: rlpList([rlpList(transactions), rlpList([])]),
    receipts: receipts ? rlpList(given) : undefined,
    difficulty: difficulties || format === 'era1' ? difficulty : undefined,
    proof: beacon?.proof(block.number),
  }
}

/** Typed ones stand in a list as bytes. */
function asItem(type: number, bytes: Buffer): Buffer {
  return type === 0 ? bytes : rlp(bytes)
}

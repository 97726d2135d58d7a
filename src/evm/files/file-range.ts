// Reads, checks and decodes a run of blocks of a file: everything slow between the disk and the store, so that any
// thread can do it. What it gives is checked but for what is above the last block.
import type { Chain } from '../../chains.ts'
import { messageOf } from '../../errors.ts'
import { ledgerOf } from '../../ledgers.ts'
import type { Hash, Interval } from '../../model.ts'
import type { WholeScope } from '../../views.ts'
import { earlyCollectionsOf, threeTopicsOf } from '../decode/token-events.ts'
import { UnreadableBytes } from '../proof/rlp-cursor.ts'
import type { Anchor } from '../source/bulk-source.ts'
import { type DecodedRange, strayReason } from '../source/chain-source.ts'
import { decodeBlocks } from './decode-blocks.ts'
import { type FileStamp, isSameFile } from './e2store.ts'
import { type FileBlock, type FileHeader, readBlock } from './file-block.ts'
import { BadBlock, headerBelow, ofBlock, requireGenesis } from './file-headers.ts'
import { checkProof } from './header-proof.ts'
import { HistoryFile } from './history-file.ts'
import { type BeaconRoots, networkOfChain } from './networks.ts'

export type FileTask = {
  file: FileStamp
  chain: Chain
  /** Blocks that the file has. */
  interval: Interval
  scope: WholeScope
  /** The hash of the last block, if it is known. */
  lastHash?: Hash | undefined
  /** The block up to which the file as a whole is proven. */
  provenTo?: number | undefined
  /** A block hash that the operator gives. */
  anchor?: Hash | undefined
  /** What the proofs of blocks are checked against. */
  roots: BeaconRoots
}

export type FileFailure = {
  block?: number
  message: string
  /** Not the fault of the file's bytes: the file was replaced, or the system or the thread could not read it now. */
  isPassing?: 'changed' | 'system' | 'thread ended'
}

export type FileResult = { ok: true; range: DecodedRange; tookMs: number } | { ok: false; failure: FileFailure }

/** The last file that was read stays open: the next blocks are mostly of the same one. */
export class OpenFile {
  #file: HistoryFile | undefined
  #stamp: FileStamp | undefined

  at(stamp: FileStamp): HistoryFile {
    if (this.#file !== undefined && this.#stamp !== undefined && isSameFile(this.#stamp, stamp)) return this.#file
    this.close()
    const file = new HistoryFile(stamp.path)
    this.#file = file
    this.#stamp = file.stamp()
    return file
  }

  close(): void {
    this.#file?.close()
    this.#file = undefined
  }
}

// Of one task. The thread must show in between that it is alive, and what was read is held until it is decoded.
const readMsMax = 5_000
const readBytesMax = 48 * 2 ** 20

/** The blocks asked for, or the upper part: up to an anchor, or as many as fit into the time and the room of a task. */
export function readFileRange(task: FileTask, files: OpenFile): FileResult {
  try {
    const file = files.at(task.file)
    if (!isSameFile(file.stamp(), task.file)) return { ok: false, failure: changed }
    const result = readParts(file, task)
    // A file that is written meanwhile may be half of each.
    return isSameFile(file.stamp(), task.file) ? result : { ok: false, failure: changed }
  } catch (error) {
    files.close()
    return { ok: false, failure: failureOf(error) }
  }
}

export const changed: FileFailure = { message: 'has changed since it was looked at', isPassing: 'changed' }

function readParts(file: HistoryFile, task: FileTask): FileResult {
  const { interval, chain, scope, lastHash } = task
  const startedMs = performance.now()
  const blocks: FileBlock[] = []
  const anchorOf = anchorFinder(file, task)
  const { chain: chainId, ledger } = ledgerOf(chain.id)
  const listed = threeTopicsOf(ledger, earlyCollectionsOf(chain.id))
  let anchor: Anchor['evidence'] | undefined
  let above: FileHeader | undefined
  let bytes = 0
  for (let number = interval.to; number >= interval.from; number--) {
    const header = headerBelow(file, number, above)
    requireGenesis(header, networkOfChain(chain))
    if (number === interval.to) {
      const stray = lastHash === undefined ? undefined : strayReason(interval, header.hash, lastHash)
      if (stray !== undefined) throw new BadBlock(number, stray)
      anchor = anchorOf(header)
      // What a proven block is above of needs no other anchor.
    } else if (anchor !== 'canonical' && anchorOf(header) !== undefined) break
    const [body, receipts] = ofBlock(number, () => [file.body(number), file.receipts(number)] as const)
    bytes += body.length + receipts.length
    const records = { header, body, receipts, areSlim: file.areReceiptsSlim, chainId, listed }
    const block = ofBlock(number, () => readBlock(records))
    // What takes most of the time is done where the time is measured.
    if (ledger === 'nft') ofBlock(number, () => recoverSenders(block, scope))
    blocks.push(block)
    above = header
    if (bytes > readBytesMax || performance.now() - startedMs > readMsMax) break
  }
  const range = decodeBlocks(chain, blocks.reverse(), { scope, bytes: Math.round(blocks.length * file.bytesPerBlock) })
  const tookMs = performance.now() - startedMs
  return { ok: true, range: anchor === undefined ? range : { ...range, anchor }, tookMs }
}

/** Those that decoding asks for, but for early collections: with three topics a transfer is of a fungible token. */
function recoverSenders({ transactions, logs }: FileBlock, scope: WholeScope): void {
  if (scope === 'full') for (const transaction of transactions) transaction.from
  else
    for (const [at, { topics }] of logs.logs.entries())
      if (topics.length !== 3) transactions[logs.transactionIndexes[at]!]?.from
}

/** What a block is known to be of the chain by. */
function anchorFinder(file: HistoryFile, { provenTo, anchor, roots, chain }: FileTask) {
  const [network, hasProofs] = [networkOfChain(chain), file.has('proof')]
  return (header: FileHeader): Anchor['evidence'] | undefined => {
    if (provenTo !== undefined && header.number <= provenTo) return 'canonical'
    if (hasProofs) {
      const verdict = ofBlock(header.number, () => checkProof(file.proof(header.number), header, { network, roots }))
      if (verdict.is === 'wrong') throw new BadBlock(header.number, verdict.why)
      if (verdict.is === 'proven') return 'canonical'
    }
    return header.hash === anchor ? 'receipts-root' : undefined
  }
}

/** Whatever reading a file makes this code throw is the fault of the file. */
export function failureOf(error: unknown): FileFailure {
  if (error instanceof BadBlock) return { block: error.block, message: error.message }
  if (error instanceof UnreadableBytes) return { message: error.message }
  const isSystem = error instanceof Error && 'code' in error && 'syscall' in error
  if (isSystem) return { message: `cannot be read (${messageOf(error)})`, isPassing: 'system' }
  return { message: `has what cannot be read (${messageOf(error)})` }
}

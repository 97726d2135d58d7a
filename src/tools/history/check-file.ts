// Checks a whole file: every header, link and root, and what proves that its blocks are canonical. It stores nothing.
import { basename } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { defineChain } from '../../chains.ts'
import { decodeBlocks } from '../../evm/files/decode-blocks.ts'
import { UnreadableFile } from '../../evm/files/e2store.ts'
import { type FileBlock, type FileHeader, readBlock } from '../../evm/files/file-block.ts'
import { HeaderRecords, nextHeader, ofBlock, type Proven, requireGenesis } from '../../evm/files/file-headers.ts'
import { failureOf } from '../../evm/files/file-range.ts'
import { checkProof } from '../../evm/files/header-proof.ts'
import { blocksPerEpoch, HistoryFile } from '../../evm/files/history-file.ts'
import { type BeaconRoots, type Network, networkOfName } from '../../evm/files/networks.ts'
import { proofOfWhole } from '../../evm/files/prove-file.ts'

export type CheckOptions = {
  roots: BeaconRoots
  /** Called with the blocks that were checked, and what they take in their file, about. */
  onBlocks?: (more: { blocks: number; bytes: number }) => void
  signal: AbortSignal
}

export type FileReport = {
  file: string
  bytes: number
  /** By its name. Transactions and proofs of another network are refused. */
  network: string | undefined
  holds: FileContents | undefined
  checked: Counts
  /** What is proven to be canonical, lowest first. By links, so is all of the file below it. */
  proven: Proven[]
  /** Why the rest is not. */
  unproven: string | undefined
  problem: { block?: number; message: string } | undefined
}

export type FileContents = {
  format: HistoryFile['format']
  from: number
  to: number
  /** Whether these are all blocks of an epoch. */
  whole: boolean
  receipts: boolean
  difficulties: boolean
  proofs: boolean
}

/** Of the blocks that were checked, up to the first that failed. */
export type Counts = {
  blocks: number
  transactions: number
  logs: number
  /** Rows of NFT transfers. */
  transfers: number
  /** Of the first and the last of them. */
  parentHash: string | undefined
  lastHash: string | undefined
}

export async function checkFile(path: string, bytes: number, options: CheckOptions): Promise<FileReport> {
  const name = basename(path)
  const network = networkOfName(name)
  const report: FileReport = {
    ...{ file: name, bytes, network: network?.name, holds: undefined, proven: [] },
    ...{ unproven: undefined, problem: undefined },
    checked: { blocks: 0, transactions: 0, logs: 0, transfers: 0, parentHash: undefined, lastHash: undefined },
  }
  try {
    using opened = new DisposableStack()
    const file = opened.adopt(new HistoryFile(path), each => each.close())
    report.holds = contentsOf(file, network)
    file.requireReceipts()
    await checkBlocks(file, network, report, options)
  } catch (error) {
    options.signal.throwIfAborted()
    const { block, message } = failureOf(error)
    report.problem = { ...(block === undefined ? {} : { block }), message }
    // A file that is not what it seems proves nothing.
    report.proven = []
  }
  return report
}

function contentsOf(file: HistoryFile, network: Network | undefined): FileContents {
  const { format, from, to, count } = file
  const isEpoch = from % blocksPerEpoch === 0
  const whole = isEpoch && (count === blocksPerEpoch || (format === 'era1' && to + 1 === network?.mergeBlock))
  const has = { receipts: file.has('receipts'), difficulties: file.has('difficulty'), proofs: file.has('proof') }
  return { format, from, to, whole, ...has }
}

/** Its transfers are those of a chain without early collections. */
const unknownNetwork = { chain: defineChain({ name: 'unknown', id: 0 }) }

/** Blocks that are decoded together. */
const blocksAtOnce = 32

async function checkBlocks(
  file: HistoryFile,
  network: Network | undefined,
  report: FileReport,
  { roots, onBlocks, signal }: CheckOptions,
): Promise<void> {
  const { checked } = report
  const records = new HeaderRecords(file)
  let before: FileHeader | undefined
  let batch: FileBlock[] = []
  for (let number = file.from; number <= file.to; number++) {
    const header = nextHeader(file, number, before)
    requireGenesis(header, network)
    const block = ofBlock(number, () => {
      records.add(header)
      const parts = { body: file.body(number), receipts: file.receipts(number), areSlim: file.areReceiptsSlim }
      const read = readBlock({ header, ...parts, chainId: network?.chain.id })
      if (file.has('proof')) addProof(report, checkProof(file.proof(number), header, { network, roots }), number)
      return read
    })
    before = header
    checked.parentHash ??= header.parentHash
    checked.lastHash = header.hash
    checked.blocks++
    checked.transactions += block.transactions.length
    checked.logs += block.logCount
    batch.push(block)
    if (batch.length < blocksAtOnce && number < file.to) continue
    const { chain } = network ?? unknownNetwork
    checked.transfers += decodeBlocks(chain, batch, { scope: 'transfers', bytes: 0 }).transfers.length
    onBlocks?.({ blocks: batch.length, bytes: batch.length * file.bytesPerBlock })
    batch = []
    // Lets a signal through.
    await setImmediate()
    signal.throwIfAborted()
  }
  await proveWhole(file, network, records, report)
}

function addProof(report: FileReport, verdict: ReturnType<typeof checkProof>, number: number): void {
  if (verdict.is !== 'proven') {
    if (verdict.is === 'wrong') throw new UnreadableFile(verdict.why)
    report.unproven ??= `block ${number}: ${verdict.why}`
    return
  }
  const last = report.proven.at(-1)
  if (last?.to === number - 1 && last.by === verdict.by) last.to = number
  else report.proven.push({ from: number, to: number, by: verdict.by })
}

/** Where the blocks have no proofs of their own, what proves them all at once. */
async function proveWhole(
  file: HistoryFile,
  network: Network | undefined,
  records: HeaderRecords,
  report: FileReport,
): Promise<void> {
  const { proven, why } = await proofOfWhole(file, network, records)
  if (network === undefined) {
    report.unproven ??= 'its name begins with no network that is known, so a node or `anchor` must connect its blocks'
    return
  }
  if (report.proven.length === 0) {
    if (proven !== undefined) report.proven.push(proven)
    else report.unproven ??= why
  }
  const provenTo = report.proven.at(-1)?.to
  if (provenTo !== file.to) report.unproven ??= `nothing at hand proves block ${(provenTo ?? file.from - 1) + 1}`
}

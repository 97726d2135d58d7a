// Finds out what a file proves of itself as a whole: its headers against the frozen accumulator, its bytes against the
// list of a network's files. It reads no bodies and no receipts, but every header, so it runs once for each file.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { Chain } from '../../chains.ts'
import type { Hash, Interval } from '../../model.ts'
import { type FileStamp, isSameFile, stampOf, UnreadableFile } from './e2store.ts'
import type { FileHeader } from './file-block.ts'
import {
  byAccumulator,
  HeaderRecords,
  headerBelow,
  nextHeader,
  ofBlock,
  type Proven,
  requireGenesis,
} from './file-headers.ts'
import { changed, type FileFailure, failureOf } from './file-range.ts'
import { checkProof } from './header-proof.ts'
import { blocksPerEpoch, HistoryFile } from './history-file.ts'
import { type BeaconRoots, type Network, networkOfChain, nodeOf } from './networks.ts'

export type ProofTask = {
  file: FileStamp
  chain: Chain
  /** A block hash that the operator gives: which block of the file has it, if one has. */
  anchor?: Hash | undefined
}

export type FileProof = {
  /** The last block that is proven canonical; with it, all below in the file. */
  provenTo?: number | undefined
  /** The block with the operator's hash. */
  anchorAt?: number | undefined
}

export type ProofResult = { ok: true; proof: FileProof } | { ok: false; failure: FileFailure }

export async function proveFile({ file: stamp, chain, anchor }: ProofTask): Promise<ProofResult> {
  try {
    using opened = new DisposableStack()
    // Beside the one that ranges are read from: this one takes turns with them.
    const file = opened.adopt(new HistoryFile(stamp.path), each => each.close())
    // The proof is remembered for the file that was read, and must not count for one that replaced it.
    if (!isSameFile(file.stamp(), stamp)) return { ok: false, failure: changed }
    const network = networkOfChain(chain)
    const records = new HeaderRecords(file)
    let before: FileHeader | undefined
    let anchorAt: number | undefined
    for (let number = file.from; number <= file.to; number++) {
      before = nextHeader(file, number, before)
      requireGenesis(before, network)
      if (file.has('difficulty')) records.add(before)
      if (before.hash === anchor) anchorAt = number
      if (number % headersAtOnce === 0) await setImmediate()
    }
    const { proven } = await proofOfWhole(file, network, records)
    if (!isSameFile(stampOf(stamp.path, await stat(stamp.path)), stamp)) return { ok: false, failure: changed }
    return { ok: true, proof: { provenTo: proven?.to, anchorAt } }
  } catch (error) {
    return { ok: false, failure: failureOf(error) }
  }
}

/** After these the thread answers the question whether it is alive. */
const headersAtOnce = 512

/** What proves all blocks of a file, or those before the merge, at once; else why nothing does. */
export async function proofOfWhole(
  file: HistoryFile,
  network: Network | undefined,
  records: HeaderRecords,
): Promise<{ proven?: Proven; why?: string }> {
  const said = file.accumulator()
  const computed = records.root()
  if (said !== undefined && computed !== undefined && !said.equals(computed))
    throw new UnreadableFile(
      `says that its headers hash to ${said.toString('hex')}, they hash to ${computed.toString('hex')}`,
    )
  if (network === undefined) return {}
  const byRoot = byAccumulator(file, records, network)
  if (byRoot !== undefined) return 'why' in byRoot ? byRoot : { proven: byRoot }
  const listed = network.era1Checksums && nodeOf(network.era1Checksums(), file.from / blocksPerEpoch)
  if (file.format !== 'era1' || listed === undefined) return {}
  if (listed.equals(await sha256Of(file.path))) return { proven: { from: file.from, to: file.to, by: 'checksum' } }
  return { why: `its SHA-256 is not that of the list of ${network.name}'s files` }
}

/** Whether `proveFile` can find a proof. */
export function mayBeProven(
  file: Pick<HistoryFile, 'format' | 'from' | 'to' | 'has'>,
  network: Network | undefined,
): boolean {
  if (network === undefined || file.from % blocksPerEpoch !== 0) return false
  if (network.era1Checksums !== undefined) return file.format === 'era1'
  const { accumulator, mergeBlock = 0 } = network
  const last = Math.min(file.from + blocksPerEpoch, mergeBlock) - 1
  return accumulator !== undefined && file.from <= last && file.to >= last && file.has('difficulty')
}

/** Blocks are proven up to where the roots that are known end, mostly: so their end is searched by halves. */
export function highestProven(
  file: HistoryFile,
  { from, to }: Interval,
  network: Network | undefined,
  roots: BeaconRoots,
): number | undefined {
  const isProven = (number: number): boolean => {
    const header = headerBelow(file, number, undefined)
    return ofBlock(number, () => checkProof(file.proof(number), header, { network, roots })).is === 'proven'
  }
  if (isProven(to)) return to
  if (to === from || !isProven(from)) return undefined
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (isProven(middle)) low = middle
    else high = middle
  }
  return low
}

async function sha256Of(path: string): Promise<Buffer> {
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer)
  return digest.digest()
}

// Altered files of history: whatever is changed in one, what would be stored is the same, or the file is refused; and a
// proof is lost or stands for the same blocks.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeBlocks } from '../src/evm/files/decode-blocks.ts'
import { readBlock } from '../src/evm/files/file-block.ts'
import { BadBlock, nextHeader, ofBlock } from '../src/evm/files/file-headers.ts'
import { HistoryFile } from '../src/evm/files/history-file.ts'
import { type BeaconRoots, networkOfName } from '../src/evm/files/networks.ts'
import { UnreadableBytes } from '../src/evm/proof/rlp-cursor.ts'
import { checkFile } from '../src/tools/history/check-file.ts'

/** Runs with a file of these bytes, and removes it. */
export async function withFile<Result>(
  name: string,
  bytes: Uint8Array,
  run: (path: string) => Promise<Result> | Result,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-history-'))
  try {
    writeFileSync(join(folder, name), bytes)
    return await run(join(folder, name))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What would be stored of a file, as text; undefined if it is refused. */
export function storedOf(path: string): string | undefined {
  const network = networkOfName(path.split('/').at(-1)!)!
  let file: HistoryFile | undefined
  try {
    file = new HistoryFile(path)
    const blocks = []
    for (let number = file.from; number <= file.to; number++) {
      const header = nextHeader(file, number, blocks.at(-1)?.header)
      const parts = { body: file.body(number), receipts: file.receipts(number), areSlim: file.areReceiptsSlim }
      blocks.push(ofBlock(number, () => readBlock({ header, ...parts, chainId: network.chain.id })))
    }
    const { headers, transfers, activity } = decodeBlocks(network.chain, blocks, { scope: 'full', bytes: 0 })
    const transactions = blocks.flatMap(block =>
      block.transactions.map(({ hash, from, to, value, nonce }) => [hash, from, to, value, nonce]),
    )
    return JSON.stringify({ headers, transfers, transactions, activity: Buffer.from(activity).toString('hex') })
  } catch (error) {
    if (error instanceof UnreadableBytes || error instanceof BadBlock) return undefined
    throw error
  } finally {
    file?.close()
  }
}

/** What an altered file does other than it may; undefined if nothing. */
export async function harmOf(
  name: string,
  altered: Uint8Array,
  whole: { stored: string; proven: string; roots: BeaconRoots },
): Promise<string | undefined> {
  return await withFile(name, altered, async path => {
    const stored = storedOf(path)
    if (stored !== undefined && stored !== whole.stored) return 'other rows would be stored'
    const { proven, problem } = await checkFile(path, altered.length, {
      roots: whole.roots,
      signal: new AbortController().signal,
    })
    if (problem === undefined && stored === undefined) return 'the check passes what cannot be read'
    if (proven.length > 0 && JSON.stringify(proven) !== whole.proven) return 'other blocks are proven'
    return undefined
  })
}

export function flipped(bytes: Uint8Array, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[bit >> 3]! ^= 1 << (bit & 7)
  return copy
}

/** Where the records of a file begin, and its end. */
export function recordStarts(bytes: Buffer): number[] {
  const starts: number[] = []
  let at = 0
  for (; at < bytes.length; at += 8 + bytes.readUInt32LE(at + 2)) starts.push(at)
  return [...starts, at]
}

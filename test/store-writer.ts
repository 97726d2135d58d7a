// A process that writes to a store until it is killed, for tests of what others see and what is left. It prints the number
// of each block that it has committed. Run: node test/store-writer.ts <url> backfill|bulk|follow
import type { Address, ChainId, Hash } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { joinActivity, packActivity } from '../src/store/packed-activity.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { HotBlock } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'

export const writerChain = 1 as ChainId
export const writerContract = `0x${'c'.repeat(40)}` as Address
export const writerWallet = `0x${'1'.repeat(40)}` as Address
/** Rows of each block; a block is there with all of them or not at all. */
export const rowsPerBlock = 20
const hotBlocksMax = 8
const blocksPerCommit = 3

export function writerBlock(number: number): HotBlock {
  const hash = `0x${number.toString(16).padStart(64, '0')}` as Hash
  const timestamp = number * 10
  const at = { block: number, transactionIndex: 0, hash, timestamp }
  const payload = packTransfer({
    standard: 'ERC721',
    batch: false,
    from: writerWallet,
    to: writerWallet,
    operator: undefined,
    tokenId: BigInt(number),
    amount: 1n,
    value: 1n,
    transactionHash: hash,
    idCount: 1,
  })
  const transfers = Array.from({ length: rowsPerBlock }, (_, logIndex) => ({
    block: number,
    transactionIndex: 0,
    logIndex,
    batchIndex: 0,
    contract: writerContract,
    payload,
  }))
  return {
    number,
    hash,
    timestamp,
    transfers,
    activity: packActivity([{ address: writerWallet, first: at, last: at }]),
  }
}

if (process.argv[1] === import.meta.filename) {
  const [, , url = '', mode] = process.argv
  // A file keeps bulk commits in runs, and merges them.
  const store =
    mode === 'bulk'
      ? await openSqliteStore(url.slice('file:'.length), {
          role: 'owner',
          foldBlocks: 1,
          runsPerMerge: 3,
          recordsWorthMerging: 1,
        })
      : await openStore(url, { role: 'owner' })
  const covered = await store.coverage(writerChain, 'full')
  let next = (covered.at(-1)?.to ?? 0) + 1
  while (true) {
    const blocks = Array.from({ length: blocksPerCommit }, (_, index) => writerBlock(next + index))
    const last = blocks.at(-1)!
    if (mode !== 'follow')
      await store.commitCold({
        chain: writerChain,
        ...(mode === 'bulk' ? { ranges: [{ from: next, to: last.number, hash: last.hash }] } : {}),
        covered: [{ scope: 'full', from: next, to: last.number, evidence: 'bloom' }],
        blocks,
        transfers: blocks.flatMap(block => block.transfers),
        activity: joinActivity(blocks.map(block => block.activity)),
      })
    else {
      const claim = { scope: 'full', from: next, evidence: 'bloom' } as const
      await store.commitHot({ chain: writerChain, ancestor: next - 1, blocks, covered: claim, head: last })
      await store.putChainState(writerChain, { finalized: last.number - hotBlocksMax })
    }
    next = last.number + 1
    process.stdout.write(`${last.number}\n`)
  }
}

// Made-up history for benchmarks: many contracts of very different size, in the mix of kinds that real chains have, committed
// newest first as the backfill does. The same options give the same rows.
import type { Block, ChainId, Hash, TransferRow } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { contractPicker, digest, makeContracts } from './made-contracts.ts'
import { filled, type GeneratedContract, RowMaker, roomFor } from './made-rows.ts'
import { Random } from './random.ts'
import { type Shape, shapes } from './shape.ts'

export type GenerateOptions = {
  chain: ChainId
  transfers: number
  shape?: Shape
  /** The share of all transfers that the largest contract gets; by default what Zipf's law gives it. */
  largestShare?: number
  /** Also the activity of wallets. */
  activity?: boolean
  /** The first block that is there already: the history goes on below it. */
  below?: number
  onCommit?: (commit: { transfers: number; touches: number; commitMs: number; rows: readonly TransferRow[] }) => void
}

/** `contracts`: sorted by count, the largest first. */
export type Generated = { contracts: GeneratedContract[]; from: number; to: number; commitMs: number }

const headNumber = 20_000_000
const secondsPerBlock = 12
const genesisTime = 1_438_269_973
const transfersPerCommit = 20_000
const touchesPerCommit = 80_000

/** Fills the store and says what went in. `commitMs` is the time spent inside the store. */
export async function generateTransfers(store: Store, options: GenerateOptions): Promise<Generated> {
  const { chain, transfers, shape = shapes.small } = options
  const { transfersPerBlock } = shape
  const touchesPerBlock = options.activity === true ? shape.touchesPerBlock : 0
  const random = new Random(transfers + shape.contracts + (options.below ?? 0))
  const contracts = makeContracts(shape.contracts)
  const pick = contractPicker(shape, random, options.largestShare)
  const maker = new RowMaker(random, shape)
  const blocksPerCommit = Math.floor(
    Math.min(transfersPerCommit / transfersPerBlock, touchesPerCommit / (touchesPerBlock || 1)),
  )
  let left = transfers
  const newest = options.below === undefined ? headNumber : options.below - 1
  let to = newest
  let commitMs = 0
  if (options.below === undefined) await store.putChainState(chain, { head: blockAt(headNumber) })
  while (left > 0) {
    const rowCount = Math.min(left, blocksPerCommit * transfersPerBlock)
    const blockCount = Math.ceil(rowCount / transfersPerBlock)
    const from = to - blockCount + 1
    const blocks: Block[] = []
    const rows: TransferRow[] = []
    const activity = roomFor(blockCount * touchesPerBlock)
    let end = 0
    for (let index = 0; index < blockCount; index++) {
      const block = blockAt(from + index)
      blocks.push(block)
      const inBlock = Math.min(transfersPerBlock, rowCount - index * transfersPerBlock)
      maker.fillBlock(block, inBlock, () => contracts[pick(1 - left / transfers)]!, rows)
      end = maker.activityOf(block, touchesPerBlock, activity, end)
    }
    const startedAt = performance.now()
    await store.commitCold({
      chain,
      covered: [{ scope: 'full', from, to, evidence: 'receipts-root' }],
      ranges: [{ from, to, hash: blocks.at(-1)!.hash }],
      blocks,
      transfers: rows,
      activity: end === 0 ? noActivity : filled(activity, end),
    })
    const lastedMs = performance.now() - startedAt
    commitMs += lastedMs
    options.onCommit?.({ transfers: rows.length, touches: blockCount * touchesPerBlock, commitMs: lastedMs, rows })
    left -= rowCount
    to = from - 1
  }
  return {
    contracts: contracts.filter(contract => contract.transfers > 0).sort((a, b) => b.transfers - a.transfers),
    from: to + 1,
    to: newest,
    commitMs,
  }
}

function blockAt(number: number): Block {
  const hash = `0x${digest(`block ${number}`).toString('hex')}` as Hash
  return { number, hash, timestamp: genesisTime + number * secondsPerBlock }
}

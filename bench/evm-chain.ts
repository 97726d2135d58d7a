// The blocks of a made-up chain as a node writes them, each with its hash, roots, bloom and signatures, from the first on.
import {
  assembleHeader,
  type PlacedTransaction,
  placeTransactions,
  realBlockHash,
  realTransactionHash,
  type SimBlock,
  timestampOf,
} from '../test/sim/block.ts'
import { partiesOf } from '../test/sim/events.ts'
import { blockText, logTexts, rawReceiptsText, receiptTexts } from '../test/sim/json.ts'
import { defaultSimChainOptions } from '../test/sim/options.ts'
import { transfersOfBlock } from '../test/sim/truth.ts'
import { EvmWorld } from './evm-world.ts'
import type { Shape } from './shape.ts'

/** `full` and `light`: the block; `logs`: with commas between them; `receipts` and `raw`: the list, as objects and as bytes. */
export const answerKinds = ['full', 'light', 'logs', 'receipts', 'raw'] as const
export type AnswerKind = (typeof answerKinds)[number]

export type AnswerBlock = {
  hash: string
  texts: Record<AnswerKind, string>
  /** What an index must hold up to this block: rows of transfers, and addresses that took part. */
  transfers: number
  wallets: number
}

const seed = 1

/** From block 0, which is empty, to the head. */
export function* makeBlocks(shape: Shape, chainId: number, head: number): Generator<SimBlock> {
  const options = { ...defaultSimChainOptions, chainId, seed, hashes: 'real' as const }
  const world = new EvmWorld(shape, seed)
  let parentHash = `0x${'00'.repeat(32)}`
  for (let number = 0; number <= head; number++) {
    const made = number === 0 ? [] : world.transactionsOf(number)
    const transactions = placeTransactions(made, transaction => realTransactionHash(chainId, transaction))
    const header = assembleHeader(options, { number, branch: 0, parentHash }, transactions)
    const hash = realBlockHash(header)
    yield { number, branch: 0, hash, timestamp: timestampOf(options, number), transactions, header }
    parentHash = hash
  }
}

/** The same blocks as a node answers them. */
export function* makeAnswers(shape: Shape, chainId: number, head: number): Generator<AnswerBlock> {
  const render = { chainId, stateSyncListed: true, stateSyncIndex: undefined, logTimestamps: false }
  const wallets = new Set<string>()
  let transfers = 0
  for (const block of makeBlocks(shape, chainId, head)) {
    for (const address of block.transactions.flatMap(addressesOf)) wallets.add(address)
    transfers += transfersOfBlock(block).length
    const logs = logTexts(block, render).map(({ text }) => text)
    const texts = {
      full: blockText(block, true, render),
      light: blockText(block, false, render),
      logs: logs.join(),
      receipts: `[${receiptTexts(block, render).join()}]`,
      raw: rawReceiptsText(block, render),
    }
    yield { hash: block.hash, texts, transfers, wallets: wallets.size }
  }
}

function addressesOf({ from, to, created, events }: PlacedTransaction): string[] {
  return [from, to, created, ...events.flatMap(partiesOf)].filter(address => address !== null)
}

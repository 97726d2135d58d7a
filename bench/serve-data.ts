// Fills a store with transfers for the serving benchmark: one large contract and many small ones, in the same blocks. The
// same count gives the same rows every time.
import { createHash } from 'node:crypto'
import { referenceChains } from '../src/chains.ts'
import type { Address, Block, Hash, TransferRow } from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from '../src/store/transfer-payload.ts'

export const chain = referenceChains[0]!.id

const rowsPerBlock = 10
const batchRows = 100_000
const firstBlock = 1_000_000
const genesisTime = 1_500_000_000
const smallContracts = 99

const addressOf = (name: string): Address =>
  `0x${createHash('sha256').update(name).digest('hex').slice(0, 40)}` as Address

/** One row of every block is of this contract: a tenth of all. */
export const largeContract = addressOf('large contract')
export const contracts: readonly Address[] = Array.from({ length: smallContracts }, (_, index) =>
  addressOf(`contract ${index}`),
)

export function lastBlock(transfers: number): number {
  return firstBlock + Math.ceil(transfers / rowsPerBlock) - 1
}

/** A block below which every contract has at least `rows` transfers. */
export function blockWithRowsBelow(rows: number): number {
  // Nine rows of a block fall on the small contracts by chance: twice the mean distance is far beyond it.
  return firstBlock + Math.ceil((rows * 2 * smallContracts) / (rowsPerBlock - 1))
}

export async function fillStore(store: Store, transfers: number, progress: (done: number) => void): Promise<void> {
  const random = randomWords(transfers)
  const wallets = Array.from({ length: Math.min(200_000, transfers / 20) }, () => hexOf(random, 5) as Address)
  for (let start = 0; start < transfers; start += batchRows) {
    const end = Math.min(start + batchRows, transfers)
    const rows: TransferRow[] = []
    for (let index = start; index < end; index++) rows.push(rowAt(index, random, wallets))
    const from = firstBlock + start / rowsPerBlock
    const blocks: Block[] = []
    for (let number = from; number < from + Math.ceil((end - start) / rowsPerBlock); number++) {
      blocks.push({ number, hash: hexOf(random, 8) as Hash, timestamp: genesisTime + number * 12 })
    }
    await store.commitCold({
      chain,
      covered: [{ scope: 'full', from: start === 0 ? 0 : from, to: blocks.at(-1)!.number, evidence: 'receipts-root' }],
      blocks,
      transfers: rows,
      activity: [],
    })
    if (end === transfers) await store.putHead(chain, blocks.at(-1)!)
    progress(end)
  }
}

function rowAt(index: number, random: () => number, wallets: readonly Address[]): TransferRow {
  const place = index % rowsPerBlock
  const contract = place === 0 ? largeContract : contracts[random() % smallContracts]!
  const erc1155 = random() % 5 === 0
  const mint = random() % 4 === 0
  return {
    contract,
    block: firstBlock + Math.floor(index / rowsPerBlock),
    transactionIndex: place * 7,
    logIndex: place * 23,
    batchIndex: 0,
    payload: packTransfer({
      standard: erc1155 ? 'ERC1155' : 'ERC721',
      batch: false,
      from: mint ? zeroAddress : wallets[random() % wallets.length]!,
      to: wallets[random() % wallets.length]!,
      operator: erc1155 ? wallets[random() % wallets.length]! : undefined,
      tokenId: BigInt(random() % 10_000),
      amount: erc1155 ? BigInt(1 + (random() % 20)) : 1n,
      value: random() % 3 === 0 ? BigInt(random()) * 10n ** 9n : 0n,
      transactionHash: hexOf(random, 8) as Hash,
      idCount: 1,
    }),
  }
}

function hexOf(random: () => number, words: number): string {
  let hex = '0x'
  for (let word = 0; word < words; word++) hex += random().toString(16).padStart(8, '0')
  return hex
}

/** Xorshift on 32 bits. */
function randomWords(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
}

// The store that who owns what is measured on: one contract with as many holders as asked for, many smaller ones, and
// wallets of which a few have most transfers. Made once, and kept where a file is named.

import type { Address, Block, ChainId, Hash, TransferFacts, TransferRow } from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from '../test/pack-transfer.ts'
import { digest, makeContracts } from './made-contracts.ts'
import { walletAddress } from './made-rows.ts'
import { Random, zipf } from './random.ts'

export const heldChain = 1 as ChainId
const checkpoint = 'bench:holdings'
const contractCount = 2_000
/** Of all transfers, those of the contract with the most holders. */
const largestShare = 0.25
const transfersPerBlock = 10
const blocksPerCommit = 2_000
const headNumber = 20_000_000
const genesisTime = 1_438_269_973

export type HeldShape = { transfers: number; wallets: number; holders: number }
export type HeldStore = HeldShape & { largest: Address; editions: Address; from: number; fillSeconds: number }

/** Uses the file where it is such a store, and makes it otherwise. */
export async function heldStore(store: Store, shape: HeldShape): Promise<HeldStore> {
  const kept = await store.checkpoint(checkpoint)
  if (kept !== undefined) return JSON.parse(kept) as HeldStore
  const startedAt = performance.now()
  const maker = new HeldRows(shape)
  await store.putChainState(heldChain, { head: blockAt(headNumber) })
  let to = headNumber
  for (let left = shape.transfers; left > 0; ) {
    const blockCount = Math.min(blocksPerCommit, Math.ceil(left / transfersPerBlock))
    const from = to - blockCount + 1
    const blocks = Array.from({ length: blockCount }, (_, at) => blockAt(from + at))
    // Newest first, as backfill goes.
    const transfers = blocks.toReversed().flatMap(({ number }) => maker.rowsOf(number))
    await store.commitCold({
      ...{ chain: heldChain, blocks, transfers, activity: noActivity },
      covered: [{ scope: 'full', from, to, evidence: 'receipts-root' }],
      ranges: [{ from, to, hash: blocks.at(-1)!.hash }],
    })
    left -= transfers.length
    to = from - 1
  }
  await store.addCoverage(heldChain, 'full', { from: 0, to, evidence: 'bloom' })
  const [largest, , editions] = maker.contracts.map(({ contract }) => contract)
  const fillSeconds = Math.round((performance.now() - startedAt) / 1_000)
  const made: HeldStore = { ...shape, largest: largest!, editions: editions!, from: to + 1, fillSeconds }
  await store.putCheckpoint(checkpoint, JSON.stringify(made))
  return made
}

class HeldRows {
  readonly contracts = makeContracts(contractCount)
  readonly #random: Random
  readonly #pick: (unit: number) => number
  readonly #shape: HeldShape
  /** Ids of the largest contract that were given to their holders. */
  #held = 0

  constructor(shape: HeldShape) {
    this.#shape = shape
    this.#random = new Random(shape.transfers)
    this.#pick = zipf(contractCount, largestShare)
  }

  rowsOf(block: number): TransferRow[] {
    return Array.from({ length: transfersPerBlock }, (_, at) => {
      const index = this.#pick(this.#random.unit())
      const payload = packTransfer(this.#facts(index))
      const { contract } = this.contracts[index]!
      return { contract, block, transactionIndex: at, logIndex: 3 * at, batchIndex: 0, payload }
    })
  }

  #facts(index: number): TransferFacts {
    const random = this.#random
    const isErc1155 = this.contracts[index]!.standard === 'ERC1155'
    const { holders, wallets } = this.#shape
    // What is made first is newest: every id of the largest contract gets a holder of its own.
    const isLast = index === 0 && this.#held < holders
    const id = isLast ? this.#held++ : index === 0 ? random.below(holders) : Math.floor(random.unit() ** 3 * 10_000)
    const isMint = random.below(3) === 0
    return {
      ...{ standard: isErc1155 ? 'ERC1155' : 'ERC721', batch: false, operator: undefined, value: 0n, idCount: 1 },
      from: isMint ? zeroAddress : this.#wallet(),
      to: isLast ? heldWallet(id % wallets) : this.#wallet(),
      tokenId: BigInt(id),
      amount: isErc1155 ? BigInt(1 + random.below(5)) : 1n,
      transactionHash: `0x${random.word().toString(16).padStart(64, '0')}` as Hash,
    }
  }

  #wallet(): Address {
    return drawnWallet(this.#random, this.#shape.wallets)
  }
}

/** The lower its number, the more transfers a wallet has. */
export function heldWallet(number: number): Address {
  // Number 0 is the zero address.
  return walletAddress(number + 1)
}

/** A few wallets have most transfers, as in life. */
export function drawnWallet(random: Random, wallets: number): Address {
  return heldWallet(Math.floor(random.unit() ** 3 * wallets))
}

function blockAt(number: number): Block {
  const hash = `0x${digest(`block ${number}`).toString('hex')}` as Hash
  return { number, hash, timestamp: genesisTime + number * 12 }
}

// The stored rows that a contract is judged on: the newest and the oldest, so that neither a busy life nor a quiet one hides how it began. It reads the
// store and decides nothing.
import type { Address, Block, ChainId, TransferFacts } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import { type StoredTransfer, transfersOfPage } from '../../store/stored-transfers.ts'
import { unpackTransfer } from '../../store/transfer-payload.ts'

export type SampledRow = TransferFacts & { block: number; timestamp: number }

export type ContractSample = {
  /** Newest first, without a hole. */
  newest: readonly SampledRow[]
  oldest: readonly SampledRow[]
  /** Names the rows that there are: their number and the newest one. */
  basis: string
  transfers: number
  /** The newest block of the chain when they were read; the rows are complete up to it as far as they are indexed. */
  head: Block
}

const newestRows = 400
const oldestRows = 200
const attempts = 3

/** Undefined where nothing is stored, or the chain moves faster than it can be read. */
export async function sampleContract(
  store: Store,
  chain: ChainId,
  contract: Address,
): Promise<ContractSample | undefined> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await store.chainState(chain)
    const newest =
      transfersOfPage(await store.transferPage({ chain, contract, order: 'desc', limit: newestRows })) ?? []
    const oldest =
      newest.length < newestRows
        ? []
        : (transfersOfPage(await store.transferPage({ chain, contract, order: 'asc', limit: oldestRows })) ?? [])
    const transfers = await store.transferCount({ chain, contract })
    const after = await store.chainState(chain)
    if (before === undefined || after === undefined || newest.length === 0) return undefined
    // Rows of one moment and a head of another would make a token that just moved look like one that its contract denies.
    if (before.head.hash !== after.head.hash) continue
    const [first] = newest
    const last = newest.at(-1)!
    return {
      newest: newest.map(rowOf),
      oldest: oldest.filter(row => isBefore(row, last)).map(rowOf),
      basis: `${transfers} ${first!.block}-${first!.transactionIndex}-${first!.logIndex}-${first!.batchIndex} ${first!.blockHash.slice(2, 10)}`,
      transfers,
      head: after.head,
    }
  }
  return undefined
}

function rowOf({ payload, block, timestamp }: StoredTransfer): SampledRow {
  return { ...unpackTransfer(payload), block, timestamp }
}

function isBefore(a: StoredTransfer, b: StoredTransfer): boolean {
  return (
    (a.block - b.block ||
      a.transactionIndex - b.transactionIndex ||
      a.logIndex - b.logIndex ||
      a.batchIndex - b.batchIndex) < 0
  )
}

// Every stored transfer of a contract within a range, row by row, for work that looks at whole ranges. Pages for answers are read as they are.
import type { Address, ChainId, Hash, Interval, Position } from '../model.ts'
import { hexOf } from './bytes.ts'
import { payloadLengthAt } from './transfer-payload.ts'
import type { TransferPage, TransferReader } from './transfer-store.ts'

export type StoredTransfer = Position & { blockHash: Hash; timestamp: number; payload: Uint8Array }

const rowsPerPage = 1_000

/** Oldest first. */
export async function* storedTransfers(
  store: TransferReader,
  { chain, contract, from, to }: Interval & { chain: ChainId; contract: Address },
): AsyncGenerator<StoredTransfer> {
  const range = { chain, contract, fromBlock: from, toBlock: to, order: 'asc' } as const
  let limit = rowsPerPage
  for (let after: StoredTransfer | undefined; ; ) {
    const page = await store.transferPage({ ...range, limit, ...(after === undefined ? {} : { after }) })
    const rows = transfersOfPage(page)
    if (rows === undefined) {
      // A damaged payload hides where the next one starts. A page of one row needs no such knowledge.
      limit = 1
      continue
    }
    yield* rows
    if (page.length < limit) return
    after = rows.at(-1)
  }
}

/** Undefined where the payloads' own lengths do not add up. */
export function transfersOfPage(page: TransferPage): StoredTransfer[] | undefined {
  const rows: StoredTransfer[] = []
  let at = 0
  for (let row = 0; row < page.length; row++) {
    const length = page.length === 1 ? page.payloads.length : payloadLengthAt(page.payloads, at)
    if (!(at + length <= page.payloads.length)) return undefined
    rows.push({
      block: page.blocks[row]!,
      transactionIndex: page.transactionIndexes[row]!,
      logIndex: page.logIndexes[row]!,
      batchIndex: page.batchIndexes[row]!,
      blockHash: hexOf<Hash>(page.blockHashes.subarray(row * 32, row * 32 + 32)),
      timestamp: page.timestamps[row]!,
      payload: page.payloads.subarray(at, at + length),
    })
    at += length
  }
  return at === page.payloads.length ? rows : undefined
}

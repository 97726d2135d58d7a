// The model of who owns what, made of transfers as they are answered. It shares no code with `src/query`.
import type { Address, Hash } from '../src/model.ts'
import type { TransferRecord } from './evm-truth.ts'
import { HoldingsModel, type ModelTransfer } from './holdings-model.ts'

/** From records of any contracts, newest first. Those of one ERC-721 log are one range. */
export function modelOfRecords(records: readonly TransferRecord[], block = Number.POSITIVE_INFINITY): HoldingsModel {
  const transfers: ModelTransfer[] = []
  for (const record of records.toReversed()) {
    const last = transfers.at(-1)
    const isSameLog =
      last !== undefined && last.block === Number(record.block_number) && last.logIndex === record.log_index
    if (isSameLog && record.contract_type === 'ERC721') last.idCount++
    else transfers.push(transferOf(record, isSameLog ? last.batchIndex + 1 : 0))
  }
  return new HoldingsModel(transfers, block)
}

function transferOf(record: TransferRecord, batchIndex: number): ModelTransfer {
  return {
    contract: record.token_address as Address,
    block: Number(record.block_number),
    transactionIndex: record.transaction_index,
    logIndex: record.log_index,
    batchIndex,
    standard: record.contract_type,
    batch: record.transaction_type === 'Batch',
    from: record.from_address as Address,
    to: record.to_address as Address,
    operator: (record.operator ?? undefined) as Address | undefined,
    tokenId: BigInt(record.token_id),
    amount: BigInt(record.amount),
    value: BigInt(record.value),
    transactionHash: record.transaction_hash as Hash,
    idCount: 1,
  }
}

// What answers must hold for the seeded world, written down from the contract and not with the service's own code.
import { type SeededTransfer, seeded, seededBlock } from '../seed.ts'

export type Dialect = 'reference' | 'live'
export type ApiVersion = 'v2' | 'v2.2'

export type Wanted = { dialect: Dialect; version: ApiVersion; format?: 'decimal' | 'hex' }

/** One record of the transfers operation. */
export function expectedRecord(transfer: SeededTransfer, { dialect, version, format }: Wanted): object {
  const moment = new Date(seededBlock(seeded.chains.eth, transfer.block).timestamp * 1_000).toISOString()
  const flag = (value: boolean) => (dialect === 'live' ? value : String(value))
  const label = (address: string) => (address === seeded.alice ? seeded.aliceLabel : null)
  const named = transfer.contract === seeded.collection
  return {
    token_address: transfer.contract,
    token_id: format === 'hex' ? `0x${transfer.tokenId.toString(16)}` : transfer.tokenId.toString(),
    from_address: transfer.from,
    from_address_label: label(transfer.from),
    to_address: transfer.to,
    to_address_label: label(transfer.to),
    value: transfer.value.toString(),
    amount: transfer.amount.toString(),
    contract_type: transfer.standard,
    block_number: transfer.block.toString(),
    block_timestamp: dialect === 'live' ? moment : moment.slice(0, 19),
    block_hash: transfer.blockHash,
    transaction_hash: transfer.transactionHash,
    transaction_type: transfer.batch ? 'Batch' : 'Single',
    transaction_index: transfer.transactionIndex,
    log_index: transfer.logIndex,
    operator: transfer.operator ?? null,
    possible_spam: flag(transfer.contract === seeded.editions),
    verified_collection: flag(named),
    ...(version === 'v2.2' ? { token_name: named ? 'Collection' : null, token_symbol: named ? 'COLL' : null } : {}),
  }
}

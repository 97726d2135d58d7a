// What happened to a contract, a token or a wallet within some blocks, read in one moment where it is not much. It
// keeps nothing.
import { type Address, zeroAddress } from '../../model.ts'
import type { IndexReader, IndexRecords } from '../../store/index-reader.ts'
import { readTokenRecord, tokenIdOfKey, tokenKeyBytes, tokenPlaceAt } from '../../store/indexes/by-token.ts'
import { byWallet, readWalletRecord, walletFlags } from '../../store/indexes/by-wallet.ts'
import { newestOfBlock, oldestOfBlock } from '../../store/runs/place-key.ts'
import type { TransferReader } from '../../store/store.ts'
import { transfersOfPage, unpackTransfer } from '../../store/transfer-payload.ts'
import { type ContractSubject, placeOf, type Subject, spansOf } from './subject.ts'

export type TokenChange = {
  /** Only of a wallet, where the zero address stands for all others. */
  contract?: Address | undefined
  tokenId: bigint
  idCount: number
  isErc1155: boolean
  from: Address
  to: Address
  amount: bigint
  place: Uint8Array
}

/** What happened within some blocks. `bytes` differ where anything of it does. */
export type Changes = {
  bytes: Buffer
  /** Oldest first; undefined where there are more. */
  list: readonly TokenChange[] | undefined
  /** More than was asked for: the list is not whole. */
  more: boolean
}

const noChanges: Changes = { bytes: Buffer.alloc(0), list: [], more: false }

export async function changesOf(
  store: TransferReader & { indexes: IndexReader },
  subject: Subject,
  blocks: { from: number; to: number },
  max: number,
): Promise<Changes> {
  if (blocks.to < blocks.from) return noChanges
  if (!('wallet' in subject) && subject.tokenId === undefined) return await contractChanges(store, subject, blocks, max)
  const parts: Uint8Array[] = []
  const list: TokenChange[] = []
  for (const span of spansOf(subject, blocks)) {
    const records = await store.indexes.indexRecords({ ...span, limit: max + 1 })
    if (records.length > max) return { bytes: Buffer.alloc(0), list: undefined, more: true }
    const found =
      'wallet' in subject ? walletChanges(records, subject.wallet) : tokenChanges(records, subject.tokenId!, blocks)
    for (const change of found) {
      parts.push(change.key, change.value)
      list.push(change)
    }
  }
  list.sort((a, b) => Buffer.compare(b.place, a.place))
  return { bytes: Buffer.concat(parts), list, more: false }
}

async function contractChanges(
  transfers: TransferReader,
  { chain, contract }: ContractSubject,
  { from, to }: { from: number; to: number },
  max: number,
): Promise<Changes> {
  const range = { chain, contract, fromBlock: from, toBlock: to }
  const page = await transfers.transferPage({ ...range, order: 'asc', limit: max + 1 })
  if (page.length === 0) return noChanges
  const rows = page.length > max ? undefined : transfersOfPage(page)
  if (rows === undefined) return { bytes: Buffer.alloc(0), list: undefined, more: true }
  const list = rows.map(row => {
    const { standard, ...facts } = unpackTransfer(row.payload)
    return { ...facts, isErc1155: standard === 'ERC1155', place: placeOf(row) }
  })
  return { bytes: Buffer.concat([...list.map(({ place }) => place), page.payloads]), list, more: false }
}

function* walletChanges(records: IndexRecords, wallet: Address) {
  for (let record = 0, start = 0; record < records.length; record++) {
    const end = records.valueEnds[record]!
    const key = records.keys.subarray(record * byWallet.keyBytes, (record + 1) * byWallet.keyBytes)
    const value = records.values.subarray(start, end)
    start = end
    const { flags, contract, ...facts } = readWalletRecord(value)
    yield {
      ...facts,
      contract: records.contracts.get(contract),
      isErc1155: (flags & walletFlags.erc1155) !== 0,
      from: flags & walletFlags.gave ? wallet : zeroAddress,
      to: flags & walletFlags.received ? wallet : zeroAddress,
      ...{ place: key.slice(byWallet.placeAt), key, value },
    }
  }
}

function* tokenChanges(records: IndexRecords, tokenId: bigint, { from, to }: { from: number; to: number }) {
  for (let record = 0, start = 0; record < records.length; record++) {
    const end = records.valueEnds[record]!
    const key = records.keys.subarray(record * tokenKeyBytes, (record + 1) * tokenKeyBytes)
    const value = records.values.subarray(start, end)
    start = end
    const place = key.slice(tokenPlaceAt)
    const facts = readTokenRecord(value)
    const first = tokenIdOfKey(key)
    const isWithin = comparesWithin(place, { from, to })
    if (isWithin && tokenId >= first && tokenId < first + BigInt(facts.idCount))
      yield { ...facts, tokenId: first, place, key, value }
  }
}

function comparesWithin(place: Uint8Array, { from, to }: { from: number; to: number }): boolean {
  const first = placeOf({ ...newestOfBlock, block: to })
  const last = placeOf({ ...oldestOfBlock, block: from })
  return Buffer.compare(place, first) >= 0 && Buffer.compare(place, last) <= 0
}

// What a sheet is of, and where its records lie in the indexes. It keeps nothing.
import type { Address, ChainId, Position } from '../../model.ts'
import type { IndexQuery, IndexReader, IndexRecords } from '../../store/index-reader.ts'
import { byBlock } from '../../store/indexes/by-block.ts'
import { tokenKey, tokenKeyBytes, tokenKinds } from '../../store/indexes/by-token.ts'
import { byWallet, walletSpan } from '../../store/indexes/by-wallet.ts'
import { newestOfBlock, oldestOfBlock, placeBytes, writePlace } from '../../store/runs/place-key.ts'
import { idCountMax } from '../../store/transfer-payload.ts'
import type { Pace } from '../pace.ts'

export type ContractSubject = { chain: ChainId; contract: Address; tokenId?: bigint | undefined }
export type WalletSubject = { chain: ChainId; wallet: Address }
export type Subject = ContractSubject | WalletSubject

/** Two words: the chain, and what is unique on it. */
export function nameOf(subject: Subject): string {
  if ('wallet' in subject) return `${subject.chain} wallet:${subject.wallet}`
  return `${subject.chain} ${subject.contract}${subject.tokenId === undefined ? '' : `:${subject.tokenId}`}`
}

/** Some 2 ms of work, and little memory. Each read begins in all runs anew. */
const recordsPerRead = 4_000
/** Many requests may begin in one turn of the event loop. */
const recordsOfFirstRead = 1_000
const idMax = 2n ** 256n - 1n
const newest = { ...newestOfBlock, block: Number.POSITIVE_INFINITY }
const oldest = { ...oldestOfBlock, block: 0 }

export function placeOf(position: Position): Uint8Array {
  const place = new Uint8Array(placeBytes)
  writePlace(place, 0, position)
  return place
}

/** As readers give and get them. */
const keyBytesOf = { by_wallet: byWallet.keyBytes, by_token: tokenKeyBytes, by_block: byBlock.keyBytes }

type Span = Omit<IndexQuery, 'limit' | 'after'>

/** Ranges come before the tokens that they cover. */
export function spansOf(subject: Subject, blocks: { from: number; to: number }): Span[] {
  const { chain } = subject
  if ('wallet' in subject) return [{ chain, index: 'by_wallet', order: 'keys', ...walletSpan(subject.wallet, blocks) }]
  const whole = { chain, contract: subject.contract, index: 'by_token', order: 'keys' } as const
  const { range, single } = tokenKinds
  const { tokenId } = subject
  if (tokenId === undefined)
    return [{ ...whole, from: tokenKey(range, 0n, newest), to: tokenKey(single, idMax, oldest) }]
  const last = tokenKey(single, tokenId, { ...oldestOfBlock, block: blocks.from })
  return [
    rangeSpan(subject.chain, subject.contract, tokenId),
    { ...whole, from: tokenKey(single, tokenId, { ...newestOfBlock, block: blocks.to }), to: last },
  ]
}

/** All ranges that can cover an id: none is longer than what a payload can tell. */
export function rangeSpan(chain: ChainId, contract: Address, tokenId: bigint): Span {
  const lowest = tokenId - BigInt(idCountMax) + 1n
  const from = tokenKey(tokenKinds.range, lowest < 0n ? 0n : lowest, newest)
  return { chain, contract, index: 'by_token', order: 'keys', from, to: tokenKey(tokenKinds.range, tokenId, oldest) }
}

/** `firstRead`: how many records are read first, where few are enough as a rule; more with each further read. */
export async function* recordsOf(
  indexes: IndexReader,
  span: Span,
  pace: Pace,
  firstRead = recordsOfFirstRead,
): AsyncGenerator<IndexRecords> {
  const keyBytes = keyBytesOf[span.index]
  let after: Uint8Array | undefined
  for (let limit = firstRead; ; limit = Math.min(limit * 4, recordsPerRead)) {
    const records = await indexes.indexRecords({ ...span, after, limit })
    yield records
    if (records.length < limit) return
    after = records.keys.slice((records.length - 1) * keyBytes, records.length * keyBytes)
    await pace.rest()
  }
}

// The first stored transfer of tokens, by single looks into the index by token: where no sheet of the contract tells it.
import { type Address, type ChainId, zeroAddress } from '../../model.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import {
  readTokenRecord,
  tokenIdOfKey,
  tokenKey,
  tokenKeyBytes,
  tokenKinds,
  tokenPlaceAt,
} from '../../store/indexes/by-token.ts'
import { blockOfPlace, newestOfBlock, oldestOfBlock } from '../../store/runs/place-key.ts'
import { Pace } from './pace.ts'
import type { TokenRef } from './questions.ts'
import { rangeSpan, recordsOf } from './subject.ts'

/** `minter` where the sender of a mint is known, and the token is not an ERC-1155 one. */
export type TokenMint = { block: number; minter: Address | undefined }

type Found = { place: Uint8Array; value: Uint8Array }

/** Undefined for a token without transfers. */
export async function readMint(indexes: IndexReader, chain: ChainId, token: TokenRef): Promise<TokenMint | undefined> {
  const { contract, tokenId } = token
  const records = await indexes.indexRecords({
    ...{ chain, contract, index: 'by_token', order: 'back', limit: 1 },
    from: tokenKey(tokenKinds.single, tokenId, { ...newestOfBlock, block: Number.POSITIVE_INFINITY }),
    to: tokenKey(tokenKinds.single, tokenId, { ...oldestOfBlock, block: 0 }),
  })
  let oldest: Found | undefined
  if (records.length > 0) oldest = { place: records.keys.slice(tokenPlaceAt, tokenKeyBytes), value: records.values }
  for await (const ranges of recordsOf(indexes, rangeSpan(chain, contract, tokenId), new Pace()))
    for (let record = 0, start = 0; record < ranges.length; record++) {
      const value = ranges.values.slice(start, ranges.valueEnds[record])
      start = ranges.valueEnds[record]!
      const key = record * tokenKeyBytes
      const place = ranges.keys.slice(key + tokenPlaceAt, key + tokenKeyBytes)
      const isCovered = tokenId < tokenIdOfKey(ranges.keys, key) + BigInt(readTokenRecord(value).idCount)
      if (isCovered && (oldest === undefined || Buffer.compare(place, oldest.place) > 0)) oldest = { place, value }
    }
  if (oldest === undefined) return undefined
  const { from, to, sentBy, isErc1155 } = readTokenRecord(oldest.value)
  const isKnown = !isErc1155 && from === zeroAddress && to !== zeroAddress && sentBy === 'recipient'
  return { block: blockOfPlace(oldest.place, 0), minter: isKnown ? to : undefined }
}

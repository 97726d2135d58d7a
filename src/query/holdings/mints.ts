// The first stored transfer of tokens, by single looks into the index by token: where no sheet of the contract tells
// it.
import { LRUCache } from 'lru-cache'
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
import type { TokenRef } from './questions.ts'
import { rangeSpan } from './subject.ts'

/** `minter` where the sender of a mint is known, and the token is not an ERC-1155 one. */
export type TokenMint = { block: number; minter: Address | undefined }

type Found = { place: Uint8Array; value: Uint8Array }

/** Some 200 bytes each. */
const keptMax = 50_000
/** Those who emit ranges decide how many there are: a page looks this often at as many. */
const rangesMax = 2_000
const idMax = 2n ** 256n - 1n

export class Mints {
  readonly #indexes: IndexReader
  /** With what stays the same while final rows do. */
  readonly #kept = new LRUCache<string, { stamp: string; mint: TokenMint }>({ max: keptMax })

  constructor(indexes: IndexReader) {
    this.#indexes = indexes
  }

  /** In the order of the tokens; undefined for one without transfers, or below too many ranges. */
  async of(chain: ChainId, tokens: readonly TokenRef[], finalized: number): Promise<(TokenMint | undefined)[]> {
    if (tokens.length === 0) return []
    const { takenBack, filled } = await this.#indexes.rowChanges(chain)
    const stamp = `${takenBack} ${filled}`
    const ranges = new Map<Address, Promise<boolean>>()
    const hasRanges = (contract: Address): Promise<boolean> => {
      const known = ranges.get(contract) ?? this.#hasRanges(chain, contract)
      ranges.set(contract, known)
      return known
    }
    return await Promise.all(
      tokens.map(async token => {
        const name = `${chain} ${token.contract} ${token.tokenId}`
        const kept = this.#kept.get(name)
        if (kept?.stamp === stamp) return kept.mint
        const mint = await this.#read(chain, token, hasRanges)
        if (mint !== undefined && mint.block <= finalized) this.#kept.set(name, { stamp, mint })
        return mint
      }),
    )
  }

  async #hasRanges(chain: ChainId, contract: Address): Promise<boolean> {
    const span = rangeSpan(chain, contract, idMax)
    const from = tokenKey(tokenKinds.range, 0n, { ...newestOfBlock, block: Number.POSITIVE_INFINITY })
    return (await this.#indexes.indexRecords({ ...span, from, limit: 1 })).length > 0
  }

  async #read(
    chain: ChainId,
    { contract, tokenId }: TokenRef,
    hasRanges: (contract: Address) => Promise<boolean>,
  ): Promise<TokenMint | undefined> {
    const records = await this.#indexes.indexRecords({
      ...{ chain, contract, index: 'by_token', order: 'back', limit: 1 },
      from: tokenKey(tokenKinds.single, tokenId, { ...newestOfBlock, block: Number.POSITIVE_INFINITY }),
      to: tokenKey(tokenKinds.single, tokenId, { ...oldestOfBlock, block: 0 }),
    })
    const single = { place: records.keys.slice(tokenPlaceAt, tokenKeyBytes), value: records.values }
    const first = records.length > 0 ? single : undefined
    const oldest = (await hasRanges(contract)) ? await this.#oldestRange(chain, { contract, tokenId }, first) : first
    if (oldest === undefined) return undefined
    const { from, to, sentBy, isErc1155 } = readTokenRecord(oldest.value)
    const isKnown = !isErc1155 && from === zeroAddress && to !== zeroAddress && sentBy === 'recipient'
    return { block: blockOfPlace(oldest.place, 0), minter: isKnown ? to : undefined }
  }

  /** The oldest range over a token, or what was found so far if that is older. Undefined where there are too many. */
  async #oldestRange(chain: ChainId, token: TokenRef, found: Found | undefined): Promise<Found | undefined> {
    const span = rangeSpan(chain, token.contract, token.tokenId)
    const ranges = await this.#indexes.indexRecords({ ...span, limit: rangesMax + 1 })
    if (ranges.length > rangesMax) return undefined
    let oldest = found
    for (let record = 0, start = 0; record < ranges.length; record++) {
      const value = ranges.values.slice(start, ranges.valueEnds[record])
      start = ranges.valueEnds[record]!
      const key = record * tokenKeyBytes
      const place = ranges.keys.slice(key + tokenPlaceAt, key + tokenKeyBytes)
      const isCovered = token.tokenId < tokenIdOfKey(ranges.keys, key) + BigInt(readTokenRecord(value).idCount)
      if (isCovered && (oldest === undefined || Buffer.compare(place, oldest.place) > 0)) oldest = { place, value }
    }
    return oldest
  }
}

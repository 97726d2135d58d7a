// The first stored transfer of tokens, looked for in the index by token: where no sheet of the contract tells it.
import { LRUCache } from 'lru-cache'
import { atMost } from '../../at-most.ts'
import { type Address, type ChainId, zeroAddress } from '../../model.ts'
import type { IndexReader, TokenRecordAt } from '../../store/index-reader.ts'
import { readTokenRecord, tokenIdOfKey, tokenKeyBytes, tokenPlaceAt } from '../../store/indexes/by-token.ts'
import { blockOfPlace } from '../../store/runs/place-key.ts'
import type { TokenRef } from './questions.ts'
import { rangeSpan } from './subject.ts'

/** `minter` where the sender of a mint is known, and the token is not an ERC-1155 one. */
export type TokenMint = { block: number; minter: Address | undefined }

/** A token with the oldest record that was found of it. */
type Look = TokenRef & { oldest: TokenRecordAt | undefined }

/** Some 200 bytes each. */
const keptMax = 50_000
/** Those who emit ranges decide how many there are. */
const rangesMax = 4_000

/** `stamp` stays the same while final rows do. */
type Moment = { chain: ChainId; stamp: string; finalized: number }

export class Mints {
  readonly #indexes: IndexReader
  /** With what stays the same while final rows do. */
  readonly #kept = new LRUCache<string, { stamp: string; mint: TokenMint }>(atMost(keptMax))

  /** Contracts without ranges, up to a block that was final. */
  readonly #withoutRanges = new LRUCache<string, { stamp: string; block: number }>(atMost(keptMax))

  constructor(indexes: IndexReader) {
    this.#indexes = indexes
  }

  /** In the order of the tokens; undefined for one without transfers, or below too many ranges. */
  async of(chain: ChainId, tokens: readonly TokenRef[], finalized: number): Promise<(TokenMint | undefined)[]> {
    if (tokens.length === 0) return []
    const { takenBack, filled } = await this.#indexes.rowState(chain)
    const stamp = `${takenBack} ${filled}`
    const names = tokens.map(({ contract, tokenId }) => `${chain} ${contract} ${tokenId}`)
    const mints = names.map(name => {
      const kept = this.#kept.get(name)
      return kept?.stamp === stamp ? kept.mint : undefined
    })
    const unknown = tokens.keys().filter(at => mints[at] === undefined)
    const looks = Array.from(unknown, (at): Look & { at: number } => ({ ...tokens[at]!, at, oldest: undefined }))
    await this.#look({ chain, stamp, finalized }, looks)
    for (const { at, oldest } of looks) {
      const mint = mintOf(oldest)
      mints[at] = mint
      if (mint !== undefined && mint.block <= finalized) this.#kept.set(names[at]!, { stamp, mint })
    }
    return mints
  }

  async #look({ chain, stamp, finalized }: Moment, looks: readonly Look[]): Promise<void> {
    if (looks.length === 0) return
    const byContract = Map.groupBy(looks, ({ contract }) => contract)
    const without = new Map<Address, number>()
    for (const contract of byContract.keys()) {
      const known = this.#withoutRanges.get(`${chain} ${contract}`)
      if (known?.stamp === stamp) without.set(contract, known.block)
    }
    const unknown = [...byContract.keys()].filter(contract => !without.has(contract))
    const { records, withRanges } = await this.#indexes.oldestOfTokens(chain, looks, unknown)
    for (const [at, look] of looks.entries()) look.oldest = records[at]
    // Ranges that came since are of later blocks, while the stamp is the same.
    const mayHaveOlder = (block: number, { oldest }: Look): boolean =>
      oldest === undefined || blockOfPlace(oldest.place, 0) > block
    const since = [...without].flatMap(([contract, block]) =>
      byContract.get(contract)!.some(look => mayHaveOlder(block, look)) ? [contract] : [],
    )
    const later = since.length === 0 ? undefined : await this.#indexes.oldestOfTokens(chain, [], since)
    for (const contract of [...unknown, ...since])
      if (withRanges.has(contract) || later?.withRanges.has(contract))
        await this.#lookAtRanges(chain, byContract.get(contract)!)
      else this.#withoutRanges.set(`${chain} ${contract}`, { stamp, block: finalized })
  }

  /** Of tokens of one contract: takes what is older of the ranges that cover them; nothing where they are too many. */
  async #lookAtRanges(chain: ChainId, looks: readonly Look[]): Promise<void> {
    const inOrder = looks.toSorted((a, b) => (a.tokenId < b.tokenId ? -1 : 1))
    const [lowest, highest] = [inOrder[0]!, inOrder.at(-1)!]
    const span = rangeSpan(chain, highest.contract, highest.tokenId)
    const { from } = rangeSpan(chain, lowest.contract, lowest.tokenId)
    // Ranges come by their first ids.
    let passed = 0
    const { length, keys, values, valueEnds } = await this.#indexes.indexRecords({
      ...span,
      from,
      limit: rangesMax + 1,
    })
    if (length > rangesMax) for (const look of looks) look.oldest = undefined
    else
      for (let record = 0, start = 0; record < length; record++) {
        const value = values.slice(start, valueEnds[record])
        start = valueEnds[record]!
        const key = record * tokenKeyBytes
        const first = tokenIdOfKey(keys, key)
        const end = first + BigInt(readTokenRecord(value).idCount)
        const place = keys.slice(key + tokenPlaceAt, key + tokenKeyBytes)
        while (passed < inOrder.length && inOrder[passed]!.tokenId < first) passed++
        for (let at = passed; at < inOrder.length && inOrder[at]!.tokenId < end; at++)
          inOrder[at]!.oldest = older({ place, value }, inOrder[at]!.oldest)
      }
  }
}

function older(a: TokenRecordAt, b: TokenRecordAt | undefined): TokenRecordAt {
  return b === undefined || Buffer.compare(a.place, b.place) > 0 ? a : b
}

function mintOf(oldest: TokenRecordAt | undefined): TokenMint | undefined {
  if (oldest === undefined) return undefined
  const { from, to, sentBy, isErc1155 } = readTokenRecord(oldest.value)
  const isKnown = !isErc1155 && from === zeroAddress && to !== zeroAddress && sentBy === 'recipient'
  return { block: blockOfPlace(oldest.place, 0), minter: isKnown ? to : undefined }
}

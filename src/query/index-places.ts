// Where the transfers of a list are, from the records of an index: filtered, in order, in bounded steps. It reads no
// transfer.
import { AlmanacError } from '../errors.ts'
import type { Address, ChainId, Interval, Position } from '../model.ts'
import type { ContractPlace, IndexQuery, IndexReader, IndexRecords } from '../store/index-reader.ts'
import { blockSpan, byBlock } from '../store/indexes/by-block.ts'
import { tokenIdOfKey, tokenKey, tokenKeyBytes, tokenKinds, tokenPlaceAt } from '../store/indexes/by-token.ts'
import { byWallet, walletFlags, walletSpan } from '../store/indexes/by-wallet.ts'
import { newestOfBlock, oldestOfBlock, positionOfPlace, wordAt, writePlace } from '../store/runs/place-key.ts'
import { rangeSpan } from './holdings/subject.ts'
import { Pace } from './pace.ts'
import type { WalletFilter } from './transfer-subject.ts'

/** How many records one request looks at: some tenths of a second. Beyond, a page is shorter and a total not told. */
const recordsMax = 200_000
/** As many as take some milliseconds, between which the thread serves. */
const recordsPerStep = 4_096

/** A stretch of an index, and how its records are read. */
export type Span = Pick<IndexQuery, 'chain' | 'index' | 'contract' | 'from' | 'to'> & {
  keyBytes: number
  placeAt: number
  /** Undefined: every record is one of the list. */
  matches?: ((records: IndexRecords, value: Uint8Array) => boolean) | undefined
  contractOf: (records: IndexRecords, value: Uint8Array) => Address
}

export function walletTransfers(chain: ChainId, wallet: Address, blocks: Interval, filter: WalletFilter): Span {
  const { keyBytes, placeAt } = byWallet
  const contractOf: Span['contractOf'] = ({ contracts }, value) => contracts.get(wordAt(value, 1))!
  const role = { both: 0, from: walletFlags.gave, to: walletFlags.received }[filter.direction]
  const wanted = new Set(filter.contracts)
  const matches: Span['matches'] = (records, value) =>
    (value[0]! & role) === role && (wanted.size === 0 || wanted.has(contractOf(records, value)))
  const isFiltered = role !== 0 || wanted.size > 0
  const span = { chain, index: 'by_wallet', ...walletSpan(wallet, blocks), keyBytes, placeAt, contractOf } as const
  return isFiltered ? { ...span, matches } : span
}

export function allTransfers(chain: ChainId, blocks: Interval): Span {
  const { keyBytes, placeAt } = byBlock
  const contractOf: Span['contractOf'] = ({ contracts }, value) => contracts.get(wordAt(value, 0))!
  return { chain, index: 'by_block', ...blockSpan(blocks), keyBytes, placeAt, contractOf }
}

/** Transfers up to the block, or all. */
export type Token = { chain: ChainId; contract: Address; tokenId: bigint; toBlock?: number | undefined }

const newest = { block: Number.POSITIVE_INFINITY, ...newestOfBlock }
const oldest = { block: 0, ...oldestOfBlock }

/** Those of the token alone; ranges that cover it are found by `coveringRanges`. */
export function tokenTransfers({ chain, contract, tokenId, toBlock = newest.block }: Token): Span {
  return {
    ...{ chain, index: 'by_token', contract, keyBytes: tokenKeyBytes, placeAt: tokenPlaceAt },
    from: tokenKey(tokenKinds.single, tokenId, { ...newest, block: toBlock }),
    to: tokenKey(tokenKinds.single, tokenId, oldest),
    contractOf: () => contract,
  }
}

/** A range of ids, and how far into it the token is. */
export type CoveringRange = { place: Position; offset: number }

/** The ERC-2309 ranges that cover a token. Checks all ranges that may; throws where there are too many. */
export async function coveringRanges(
  reader: IndexReader,
  { chain, contract, tokenId }: Token,
): Promise<CoveringRange[]> {
  const span: Span = { ...tokenTransfers({ chain, contract, tokenId }), ...rangeSpan(chain, contract, tokenId) }
  const found: CoveringRange[] = []
  const stoppedAt = await walk(reader, span, { order: 'desc' }, (records, at, value) => {
    const offset = Number(tokenId - tokenIdOfKey(records.keys, at * span.keyBytes))
    // Its last bytes tell how many ids it has.
    if (offset < wordAt(value, value.length - 4)) found.push({ place: placeOf(records, at, span), offset })
    return false
  })
  if (stoppedAt !== undefined)
    throw new AlmanacError('answer_too_large', `The contract ${contract} has more ranges of ids than are searched`)
  return found
}

export type PlacesQuery = { order: 'asc' | 'desc'; after: Position | undefined; limit: number }

export type Places = {
  places: ContractPlace[]
  /** The last record that was read, where the bound of a request ended the search before the list did. */
  stoppedAt: Position | undefined
}

export async function findPlaces(reader: IndexReader, span: Span, wanted: PlacesQuery): Promise<Places> {
  const places: ContractPlace[] = []
  const { limit, ...options } = wanted
  const stoppedAt = await walk(reader, span, { ...options, firstStep: limit }, (records, at, value) => {
    if (span.matches?.(records, value) === false) return false
    places.push({ ...placeOf(records, at, span), contract: span.contractOf(records, value) })
    return places.length >= limit
  })
  return { places, stoppedAt }
}

/**
 * Every matching record of a span, the newest first, until `visit` has enough. Where there are more than one request
 * looks at, it returns the place of the last one: the next request goes on after it.
 */
export function visitAll(
  reader: IndexReader,
  span: Span,
  visit: (records: IndexRecords, value: Uint8Array) => unknown,
  options: Pick<WalkOptions, 'after' | 'pace'> = {},
): Promise<Position | undefined> {
  return walk(reader, span, { order: 'desc', ...options }, (records, _, value) => {
    return span.matches?.(records, value) !== false && visit(records, value) === true
  })
}

type WalkOptions = {
  order: 'asc' | 'desc'
  after?: Position | undefined
  /** How many records are read first; more with each further step. */
  firstStep?: number
  /** Absent: one of its own. */
  pace?: Pace
}

/** Until `visit` has enough, the span ends, or the bound is reached: then it returns the place of the last record. */
async function walk(
  reader: IndexReader,
  span: Span,
  { order, after, firstStep = recordsPerStep, pace = new Pace() }: WalkOptions,
  visit: (records: IndexRecords, at: number, value: Uint8Array) => boolean,
): Promise<Position | undefined> {
  const { keyBytes, placeAt, matches: _, contractOf: __, ...query } = span
  let afterKey = after && keyAt(span, after)
  let limit = Math.min(firstStep, recordsPerStep)
  for (let seen = 0; ; limit = Math.min(limit * 4, recordsPerStep)) {
    const direction = order === 'desc' ? 'keys' : 'back'
    const records = await reader.indexRecords({ ...query, order: direction, after: afterKey, limit })
    for (let at = 0, start = 0; at < records.length; at++) {
      const end = records.valueEnds[at]!
      if (visit(records, at, records.values.subarray(start, end))) return undefined
      start = end
    }
    if (records.length < limit) return undefined
    afterKey = records.keys.slice((records.length - 1) * keyBytes, records.length * keyBytes)
    seen += records.length
    if (seen >= recordsMax) return positionOfPlace(afterKey, placeAt)
    // Reads of a file do not wait: without this the thread would serve no other request until the end.
    await pace.rest()
  }
}

function placeOf({ keys }: IndexRecords, at: number, { keyBytes, placeAt }: Span): Position {
  return positionOfPlace(keys, at * keyBytes + placeAt)
}

/** What an ascending list has from the log of a place on, the log itself included. */
export function fromLogOn(span: Span, { block, transactionIndex, logIndex }: Position): Span {
  return { ...span, to: keyAt(span, { block, transactionIndex, logIndex, batchIndex: 0 }) }
}

/** All keys of a span begin alike. */
function keyAt({ from, placeAt }: Span, position: Position): Uint8Array {
  const key = from.slice()
  writePlace(key, placeAt, position)
  return key
}

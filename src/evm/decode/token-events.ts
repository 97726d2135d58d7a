// The events that move tokens, by signature hash, with the layout of their data, and the collections with events of
// their own. Transfers and activity share it, so that both mean the same by a well-formed event.
import { nibbles, noNibble } from '../../hex.ts'
import { type Ledger, ledgerOf } from '../../ledgers.ts'
import { type Address, type ChainId, cryptoPunks, firstCryptoPunks, parseAddress } from '../../model.ts'

export const topics = {
  /** Transfer(address,address,uint256): ERC-20, ERC-721 and what came before them. */
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  /** TransferSingle(address,address,address,uint256,uint256): ERC-1155. */
  transferSingle: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  /** TransferBatch(address,address,address,uint256[],uint256[]): ERC-1155. */
  transferBatch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
  /** ConsecutiveTransfer(uint256,uint256,address,address): ERC-2309. */
  consecutiveTransfer: '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d',
  /** Assign(address,uint256): CryptoPunks and others. */
  assign: '0x8a0e37b73a0d9c82e205d4d1a3ff3d0b57ce5f4d7bccf6bac03336dc101cb7ba',
  /** PunkTransfer(address,address,uint256). */
  punkTransfer: '0x05af636b70da6819000c49f85b21fa82081c632069bb626f30932034099107d8',
  /** PunkBought(uint256,uint256,address,address). */
  punkBought: '0x58e5d5a525e3b40bc15abaa38b5882678db1ee68befd2f60bafe3a7fd06db9e3',
} as const

/** Every first topic that any ledger is decoded from. */
export const transferTopics: readonly string[] = Object.values(topics)

/** Every first topic that `decodeTransfers` reads for a ledger: the filter of `eth_getLogs`. */
export function topicsOf(chain: ChainId): readonly string[] {
  return ledgerOf(chain).ledger === 'erc20' ? tokenTopics : transferTopics
}

const tokenTopics = [topics.transfer]

const topicByFirstByte = new Array<string | undefined>(256)
for (const topic of transferTopics) topicByFirstByte[Number.parseInt(topic.slice(2, 4), 16)] = topic

/**
 * The one of `topics` that a first topic is, in capitals too: a proof is over bytes, and those are the same. Most logs
 * are of other events, so their first byte, which no two of `topics` share, decides before any text is compared.
 */
export function transferTopic(first: unknown): string | undefined {
  if (typeof first !== 'string') return undefined
  const topic = topicByFirstByte[firstByteOf(first)]
  return topic === undefined || first === topic || first.toLowerCase() === topic ? topic : undefined
}

/** Of `0x…` text; 256 or more where it does not begin with two digits. */
export function firstByteOf(text: string): number {
  return ((nibbles[text.charCodeAt(2)] ?? noNibble) << 4) | (nibbles[text.charCodeAt(3)] ?? noNibble)
}

export const zeroWord = `0x${'0'.repeat(64)}`

/** Where a word starts in the text of `data`. */
export function wordAt(word: number): number {
  return 2 + 64 * word
}

/** Whether the data is whole bytes of hex text with at least this many words. As in the ABI, more is allowed. */
export function holdsWords(data: unknown, words: number): data is string {
  return typeof data === 'string' && data.length >= wordAt(words) && data.length % 2 === 0 && data.startsWith('0x')
}

/**
 * Where the ids and amounts of a TransferBatch start in the text, and how many there are. It accepts what the ABI
 * allows: any offsets, overlapping arrays, bytes in between. Undefined if an array exceeds the data or the lengths
 * differ. The length of the data bounds work and count.
 */
export function batchOf(data: unknown): { idsAt: number; amountsAt: number; count: number } | undefined {
  if (!holdsWords(data, 2)) return undefined
  const ids = arrayAt(data, wordNumber(data, wordAt(0)))
  const amounts = arrayAt(data, wordNumber(data, wordAt(1)))
  if (ids === undefined || amounts === undefined || ids.count !== amounts.count) return undefined
  return { idsAt: ids.at, amountsAt: amounts.at, count: ids.count }
}

function arrayAt(data: string, offsetBytes: number): { at: number; count: number } | undefined {
  const at = 2 + 2 * offsetBytes
  if (offsetBytes < 0 || at + 64 > data.length) return undefined
  const count = wordNumber(data, at)
  if (count < 0 || at + 64 + 64 * count > data.length) return undefined
  return { at: at + 64, count }
}

/** A word as a number, or -1 if it is not hex or needs more than its last four bytes: no data is that long. */
function wordNumber(data: string, at: number): number {
  for (let place = at; place < at + 56; place++) if (data.charCodeAt(place) !== 0x30) return -1
  const digits = data.slice(at + 56, at + 64)
  return /^[0-9a-fA-F]{8}$/.test(digits) ? Number.parseInt(digits, 16) : -1
}

/** Raise it with every change of the list below, so that an older index can be recognised. */
export const earlyCollectionsVersion = 1

/**
 * - `punks`: Assign, PunkTransfer and PunkBought move tokens; Transfer carries no token and is read only for its
 *   parties.
 * - `three-topics`: Transfer with three topics moves a token, with the id in the data; it is not ERC-20.
 * - `fungible`: Transfer with one topic is an amount, not a token.
 */
export type EarlyCollectionKind = 'punks' | 'three-topics' | 'fungible'

export type EarlyCollection = {
  chain: number
  contract: string
  name: string
  kind: EarlyCollectionKind
  reason: string
}

/** By contract. */
export type EarlyCollections = ReadonlyMap<string, EarlyCollectionKind>

// Collections whose events are older than the standards. Transfer with one topic and 96 bytes needs no entry:
// CryptoKitties and the copies of its contract from 2017 and 2018 emit it. The only other reading is an ERC-20 without
// indexed arguments, which violates ERC-20; list such a token as `fungible`.
export const earlyCollections: readonly EarlyCollection[] = [
  {
    chain: 1,
    contract: cryptoPunks,
    name: 'CryptoPunks',
    kind: 'punks',
    reason:
      'June 2017, before any standard. An accepted bid clears the bid before PunkBought is emitted: its recipient is zero.',
  },
  {
    chain: 1,
    contract: firstCryptoPunks,
    name: 'CryptoPunks, first contract',
    kind: 'punks',
    reason: 'The same events. Buying overwrites the offer before PunkBought is emitted: its seller is the buyer.',
  },
  {
    chain: 1,
    contract: '0xf5b0a3efb8e8e4c201e2a935f110eaaf3ffecb8d',
    name: 'Axie',
    kind: 'three-topics',
    reason: 'Written to the ERC-721 draft of early 2018, whose Transfer does not index the token id.',
  },
  {
    chain: 1,
    contract: '0x41a322b28d0ff354040e2cbc676f0320d8c8850d',
    name: 'SuperRare, first contract',
    kind: 'three-topics',
    reason: 'Uses the ERC-721 of zeppelin-solidity 1.x, whose Transfer does not index the token id.',
  },
  {
    chain: 1,
    contract: '0xd73be539d6b2076bab83ca6ba62dfe189abc6bbe',
    name: 'Blockchain Cuties',
    kind: 'three-topics',
    reason: 'Written to the ERC-721 draft of early 2018, whose Transfer does not index the token id.',
  },
  {
    chain: 1,
    contract: '0xdcaad9fd9a74144d226dbf94ce6162ca9f09ed7e',
    name: 'CryptoStrikers',
    kind: 'three-topics',
    reason: 'Uses the ERC-721 of zeppelin-solidity 1.x, whose Transfer does not index the token id.',
  },
]

/** First bytes of listed contracts: they tell most others apart before any text is made or compared. */
export function firstBytesOf(listed: EarlyCollections): ReadonlySet<number> {
  return new Set([...listed.keys()].map(firstByteOf))
}

/** First bytes of the contracts whose transfers with three topics a ledger may hold; undefined: of all. */
export function threeTopicsOf(ledger: Ledger, listed: EarlyCollections): ReadonlySet<number> | undefined {
  return ledger === 'erc20' ? undefined : firstBytesOf(listed)
}

export function earlyCollectionsOf(
  chain: ChainId,
  list: readonly EarlyCollection[] = earlyCollections,
): EarlyCollections {
  const ready = new Map<Address, EarlyCollectionKind>()
  const { chain: plain } = ledgerOf(chain)
  for (const { chain: id, contract, kind } of list) {
    const address = parseAddress(contract)
    if (id === plain && address !== undefined) ready.set(address, kind)
  }
  return ready
}

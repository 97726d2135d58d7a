// The events that move tokens, by the hash of their signature, and how their data is laid out. Shared by the transfers and the
// activity, so that both mean the same by a well-formed event.
import { type Address, type ChainId, parseAddress } from '../../model.ts'

export const topics = {
  /** Transfer(address,address,uint256): ERC-20, ERC-721 and what came before them. */
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  /** TransferSingle(address,address,address,uint256,uint256): ERC-1155. */
  transferSingle: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  /** TransferBatch(address,address,address,uint256[],uint256[]): ERC-1155. */
  transferBatch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
  /** ConsecutiveTransfer(uint256,uint256,address,address): ERC-2309. */
  consecutiveTransfer: '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d',
  /** Assign(address,uint256): CryptoPunks, and not only they. */
  assign: '0x8a0e37b73a0d9c82e205d4d1a3ff3d0b57ce5f4d7bccf6bac03336dc101cb7ba',
  /** PunkTransfer(address,address,uint256). */
  punkTransfer: '0x05af636b70da6819000c49f85b21fa82081c632069bb626f30932034099107d8',
  /** PunkBought(uint256,uint256,address,address). */
  punkBought: '0x58e5d5a525e3b40bc15abaa38b5882678db1ee68befd2f60bafe3a7fd06db9e3',
} as const

/** Every first topic that `decodeTransfers` looks at: what a filtered `eth_getLogs` has to ask for. */
export const transferTopics: readonly string[] = Object.values(topics)

/** Digits of `data`, after its `0x`, to the start of a word. */
export function wordAt(word: number): number {
  return 2 + 64 * word
}

/** Whether the data is text of whole bytes that holds at least this many words. More is allowed, as in the ABI. */
export function holdsWords(data: unknown, words: number): data is string {
  return typeof data === 'string' && data.length >= wordAt(words) && data.length % 2 === 0 && data.startsWith('0x')
}

/** The ids and amounts of a TransferBatch: where their first words start in the text, and how many there are. */
export type Batch = { idsAt: number; amountsAt: number; count: number }

/**
 * Reads the layout of a TransferBatch. Accepted is what the ABI lets a decoder accept: offsets of any value and order, arrays
 * that overlap, bytes between and after them. Undefined where an array leaves the data or the lengths differ. The
 * work and the count are bounded by the length of the data, whatever the event claims.
 */
export function batchOf(data: unknown): Batch | undefined {
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

/** A word as a number, or -1 where it is not hex or needs more than its last four bytes. No data is that long. */
function wordNumber(data: string, at: number): number {
  for (let place = at; place < at + 56; place++) if (data.charCodeAt(place) !== 0x30) return -1
  const digits = data.slice(at + 56, at + 64)
  return /^[0-9a-fA-F]{8}$/.test(digits) ? Number.parseInt(digits, 16) : -1
}

// Collections whose events came before the standards settled: data with reasons, per chain and contract. Raise the version with
// every change of the list, so that an index made with an older one can be told and read again.

export const earlyCollectionsVersion = 1

/**
 * - `punks`: Assign, PunkTransfer and PunkBought move tokens; Transfer carries no token and is read only for its parties.
 * - `three-topics`: Transfer with three topics is a token's movement, the id in the data, and not an ERC-20 one.
 * - `fungible`: Transfer with one topic is an amount, and not a token's movement.
 */
export type EarlyCollectionKind = 'punks' | 'three-topics' | 'fungible'

export type EarlyCollection = {
  chain: number
  contract: string
  name: string
  kind: EarlyCollectionKind
  reason: string
}

/** A list made ready for look-ups. */
export type EarlyCollections = ReadonlyMap<string, EarlyCollectionKind>

// Transfer with one topic and 96 bytes needs no entry: CryptoKitties and all who copied its contract in 2017 and 2018 emit it,
// and an ERC-20 with no indexed argument, the only other reading, is against the letter of ERC-20. Such tokens can be listed
// here as `fungible` when one is met.
export const earlyCollections: readonly EarlyCollection[] = [
  {
    chain: 1,
    contract: '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb',
    name: 'CryptoPunks',
    kind: 'punks',
    reason:
      'June 2017, before any standard. An accepted bid clears the bid before PunkBought is emitted: its recipient is zero.',
  },
  {
    chain: 1,
    contract: '0x6ba6f2207e343923ba692e5cae646fb0f566db8d',
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

export function earlyCollectionsOf(
  chain: ChainId,
  list: readonly EarlyCollection[] = earlyCollections,
): EarlyCollections {
  const ready = new Map<Address, EarlyCollectionKind>()
  for (const { chain: id, contract, kind } of list) {
    const address = parseAddress(contract)
    if (id === chain && address !== undefined) ready.set(address, kind)
  }
  return ready
}

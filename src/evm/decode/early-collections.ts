// Collections whose events came before the standards settled: data with reasons, per chain and contract. Raise the version with
// every change of the list, so that an index made with an older one can be told and read again.
import { type Address, type ChainId, parseAddress } from '../../model.ts'

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

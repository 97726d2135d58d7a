// The rules of the metadata operations: what is answered of a mint, and of an address without one. No HTTP and no JSON.
import { encodeKey } from '../base58.ts'
import { AlmanacError } from '../errors.ts'
import type { MintFacts, MintReading, SolanaNetwork } from '../model.ts'
import type { Freshen, IndexingKey } from './freshen.ts'
import { noReader } from './portfolio.ts'

export type MintAnswer = Omit<MintReading, 'facts'> & { facts: MintFacts }

export async function mintOf(
  { network, mint }: { network: SolanaNetwork; mint: Uint8Array },
  { key, freshen }: { key: IndexingKey; freshen: Freshen | undefined },
): Promise<MintAnswer> {
  if (freshen?.mint === undefined) throw noReader(network)
  const { facts, ...reading } = await freshen.mint(network, mint, key)
  if (facts === null) throw noSuchMint(encodeKey(mint), network)
  return { ...reading, facts }
}

export function noSuchMint(mint: string, network: string): AlmanacError {
  return new AlmanacError('not_found', `There is no mint at ${mint} on Solana ${network}`)
}

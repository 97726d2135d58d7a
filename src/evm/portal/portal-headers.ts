// Reads headers of a portal, each with its hash recomputed, and learns from them how an operator's own chain hashes
// its headers. What does not hash to its hash is left out; what cannot be hashed is marked.
import { builtInChains, type Chain, ethereumHeaders } from '../../chains.ts'
import type { Interval } from '../../model.ts'
import { checkBlockHash } from '../proof/block-hash.ts'
import type { RpcHeader } from '../rpc/port.ts'
import type { BulkHeader } from '../source/bulk-source.ts'
import { readHeader } from '../source/chain-source.ts'
import { isHashable, portalHeaders } from './portal-blocks.ts'
import type { PortalAnswer, PortalClient } from './portal-client.ts'

/** Those of an answer that are proven by themselves, and those that lack what would prove them. */
export function headersIn(chain: Chain, { body, lacking }: Pick<PortalAnswer, 'body' | 'lacking'>): BulkHeader[] {
  return portalHeaders({ chain, bodies: [body], lacking }).flatMap(given => {
    const header = readHeader(given)
    const { is } = checkBlockHash(given as unknown as RpcHeader, chain.quirks.headers)
    if (header === undefined || is === 'different') return []
    if (is === 'equal') return [header]
    return isHashable(header.number, { chain, lacking }) ? [] : [{ ...header, unproven: true }]
  })
}

/** The chain with Ethereum's headers, if it is one that the table does not know and its newest headers are such. */
export async function learntChain(
  chain: Chain,
  client: PortalClient,
  { from, to }: Interval,
  signal: AbortSignal,
): Promise<Chain> {
  if (builtInChains.some(({ name }) => name === chain.name)) return chain
  const learnt = { ...chain, quirks: { ...chain.quirks, headers: ethereumHeaders } }
  const sampled = { from: Math.max(from, to - samples + 1), to }
  const headers = headersIn(learnt, await client.blocks(sampled, { content: 'header' }, signal))
  const proven = headers.filter(({ unproven }) => unproven !== true)
  return proven.length === sampled.to - sampled.from + 1 ? learnt : chain
}

const samples = 6

// Finds what connects missing whole blocks to the chain: the hash that the highest block of each gap must have, and the
// stored blocks that the lowest must grow from. It also takes back rows that were stored ahead of a claim and whose
// chain is gone.
import type { Chain } from '../../chains.ts'
import { weakestOf } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import type { Block, CoveredInterval, Hash, Interval } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { FullSource } from '../source/full-source.ts'
import { hashesOf, type Link } from '../source/header-walk.ts'
import { LinkedClaims } from './linked-claims.ts'

/** A block whose hash is known. */
type Anchor = Link & { number: number }

export type AnchorOptions = {
  chain: Chain
  store: Store
  /** The final block that is followed. */
  final: Pick<Block, 'number' | 'hash'> | undefined
  /** What is claimed, lowest first. */
  covered: readonly CoveredInterval[]
}

type LinkOptions = AnchorOptions & {
  rpc: RpcPort
  source: FullSource
  /** Whether claimed blocks below a gap must be of the same chain; a repair may begin above others that are not. */
  checksBelow?: boolean
  /** Called with the number of headers that were read. */
  onHeaders?: ((headers: number) => void) | undefined
}

export async function linkedClaims(
  missing: readonly Interval[],
  options: LinkOptions,
  signal: AbortSignal,
): Promise<LinkedClaims> {
  const { chain, rpc, store, source, covered, checksBelow = true, onHeaders } = options
  const expected = new Map<number, Link>()
  const floors = new Map<number, Hash>()
  for (const { from, to } of missing) {
    const anchor = await anchorOf(to, options)
    expected.set(to, anchor.number === to ? anchor : await source.linkBelow({ anchor, to, onHeaders }, signal))
    const below = checksBelow && covered.some(interval => interval.to === from - 1)
    const floor = below ? await store.lowestBlock(chain.id, { from: from - 1, to: from - 1 }) : undefined
    if (floor !== undefined) floors.set(floor.number, floor.hash)
  }
  return new LinkedClaims(expected, { floors, distrust: (endpoint, reason) => rpc.distrust(endpoint, reason) })
}

/** How many headers connect the missing blocks to their anchors. */
export async function headersToWalk(missing: readonly Interval[], options: AnchorOptions): Promise<number> {
  let headers = 0
  for (const { to } of missing) headers += (await anchorOf(to, options)).number - to
  return headers
}

/** Headers that are read to reach an anchor that is proven, where a nearer one is the word of endpoints. */
const headersToProofMax = 10_000

/**
 * The final block, or the lowest of a claimed interval: it was connected when it was claimed, as far as its evidence
 * says. The nearest one at or above `block`, if it is proven or none that is proven is near.
 */
async function anchorOf(block: number, { chain, store, covered, final }: AnchorOptions): Promise<Anchor> {
  const above = covered.filter(({ from }) => from > block)
  const anchors: Anchor[] = final === undefined || final.number < block ? [] : [{ ...final, evidence: 'receipts-root' }]
  for (const interval of new Set([above[0], above.find(isConnected)])) {
    const lowest = interval === undefined ? undefined : await store.lowestBlock(chain.id, interval)
    if (interval === undefined || lowest === undefined) continue
    anchors.push({ ...lowest, evidence: isConnected(interval) ? 'receipts-root' : interval.evidence })
  }
  anchors.sort((a, b) => a.number - b.number)
  const isNear = ({ number }: Anchor): boolean => number - block <= headersToProofMax
  const anchor = anchors.find(each => each.evidence === 'receipts-root' && isNear(each)) ?? anchors[0]
  if (anchor !== undefined) return anchor
  throw new AlmanacError('upstream_failed', `${chain.name} has no final block at or above ${block} yet.`, {
    retryable: true,
    hint: 'wait until an endpoint names a final block; history is claimed once it is connected to it.',
  })
}

/** Both proofs rest on headers that hash to their block hash, up to the anchor that they were connected to. */
function isConnected({ evidence }: CoveredInterval): boolean {
  return weakestOf(evidence, 'bloom') === 'bloom'
}

/** Drops pending ranges whose last block is no longer the chain's. The others are filled again. */
export async function dropLostRanges(
  { chain, rpc, store }: Pick<LinkOptions, 'chain' | 'rpc' | 'store'>,
  signal: AbortSignal,
): Promise<void> {
  // Of what no endpoint has any more nothing can be told.
  const pending = (await store.pendingRanges(chain.id)).filter(({ to }) => to >= rpc.historyFrom)
  if (pending.length === 0) return
  const hashes = await hashesOf({ rpc, numbers: pending.map(({ to }) => to) }, signal)
  for (const [at, { from, to, hash }] of pending.entries())
    if (hashes[at] !== undefined && hashes[at] !== hash) await store.dropRange(chain.id, 'full', { from, to })
}

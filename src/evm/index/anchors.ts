// Finds what connects missing whole blocks to the chain: the hash that the highest block of each gap must have, and the
// stored blocks that the lowest must grow from. It also takes back rows that were stored ahead of a claim and whose
// chain is gone.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Block, Hash, Interval } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { RpcPort } from '../rpc/port.ts'
import { hashBelow, hashesOf } from '../source/header-walk.ts'
import { LinkedClaims } from './linked-claims.ts'

/** A block whose hash is proven. */
type Anchor = Pick<Block, 'number' | 'hash'>

export type AnchorOptions = {
  chain: Chain
  rpc: RpcPort
  store: Store
  /** The final block that is followed. */
  final: Anchor | undefined
  /** What is claimed, lowest first. */
  covered: readonly Interval[]
  /** Whether claimed blocks below a gap must be of the same chain; a repair may begin above others that are not. */
  checksBelow?: boolean
  /** Called with the number of headers that were read. */
  onHeaders?: ((headers: number) => void) | undefined
}

/** A claimed interval is an anchor: it was connected when it was claimed. */
export async function linkedClaims(
  missing: readonly Interval[],
  options: AnchorOptions,
  signal: AbortSignal,
): Promise<LinkedClaims> {
  const { chain, rpc, store, covered, checksBelow = true, onHeaders } = options
  const expected = new Map<number, Hash>()
  const floors = new Map<number, Hash>()
  for (const { from, to } of missing) {
    const anchor = await anchorOf(to, options)
    const hash = anchor.number === to ? anchor.hash : await hashBelow({ chain, rpc, anchor, to, onHeaders }, signal)
    expected.set(to, hash)
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

/** The nearest block at or above `block` whose hash is proven. */
async function anchorOf(block: number, { chain, store, covered, final }: AnchorOptions): Promise<Anchor> {
  const above = covered.find(({ from }) => from > block)
  const claimed = above === undefined ? undefined : await store.lowestBlock(chain.id, above)
  const isFinalNearer = final !== undefined && final.number >= block && final.number < (claimed?.number ?? Infinity)
  const anchor = isFinalNearer ? final : claimed
  if (anchor !== undefined) return anchor
  throw new AlmanacError('upstream_failed', `${chain.name} has no final block at or above ${block} yet.`, {
    retryable: true,
    hint: 'wait until an endpoint names a final block; history is claimed once it is connected to it.',
  })
}

/** Drops pending ranges whose last block is no longer the chain's. The others are filled again. */
export async function dropLostRanges(
  { chain, rpc, store }: Pick<AnchorOptions, 'chain' | 'rpc' | 'store'>,
  signal: AbortSignal,
): Promise<void> {
  const pending = await store.pendingRanges(chain.id)
  if (pending.length === 0) return
  const hashes = await hashesOf({ rpc, numbers: pending.map(({ to }) => to) }, signal)
  for (const [at, { from, to, hash }] of pending.entries())
    if (hashes[at] !== undefined && hashes[at] !== hash) await store.dropRange(chain.id, 'full', { from, to })
}

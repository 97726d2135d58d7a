// Finds what connects missing whole blocks to the chain: the hash that the highest block of each gap must have, and the
// stored blocks that the lowest must grow from. It also takes back rows that were stored ahead of a claim and whose
// chain is gone.
import type { Chain } from '../../chains.ts'
import { weakestOf } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import type { Block, CoveredInterval, Evidence, Interval } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { BulkSources } from '../source/bulk-sources.ts'
import type { FullSource } from '../source/full-source.ts'
import { hashesOf, type Link } from '../source/header-walk.ts'
import { type Expected, LinkedClaims, unanchored } from './linked-claims.ts'

/** A block whose hash is known. */
type KnownBlock = Link & { number: number }

export type AnchorOptions = {
  chain: Chain
  store: Store
  /** The final block that is followed. */
  final: Pick<Block, 'number' | 'hash'> | undefined
  /** What is claimed, lowest first. */
  covered: readonly CoveredInterval[]
  /** Of blocks that are read again for the activity of wallets: what their transfers are claimed by. */
  stored?: readonly CoveredInterval[] | undefined
}

export type LinkOptions = AnchorOptions & {
  /** Without an endpoint where the chain has no node. */
  rpc: RpcPort
  source: FullSource
  /** Have headers too. */
  bulk?: BulkSources | undefined
  /** Blocks that are connected to nothing near are taken as well, and connected later. */
  mayFloat?: boolean
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
  const { chain, rpc, store, covered, checksBelow = true } = options
  const expected = new Map<number, Expected>()
  const floors = new Map<number, Link>()
  for (const { from, to } of missing) {
    expected.set(to, await expectedOf(to, options, signal))
    const below = checksBelow ? covered.find(interval => interval.to === from - 1) : undefined
    const floor = below && (await store.lowestBlock(chain.id, { from: from - 1, to: from - 1 }))
    if (below && floor) floors.set(floor.number, { hash: floor.hash, evidence: below.evidence })
  }
  return new LinkedClaims(expected, { floors, distrust: (endpoint, reason) => rpc.distrust(endpoint, reason) })
}

/** Headers that are read to connect blocks that could be connected later. */
const headersToFloatMax = 100_000

async function expectedOf(to: number, options: LinkOptions, signal: AbortSignal): Promise<Expected> {
  const { chain, rpc } = options
  const mayFloat = options.mayFloat === true && storedAt(to, options) === undefined
  const anchor = await anchorOf(to, options)
  if (anchor === undefined && mayFloat && rpc.endpoints.length === 0) return unanchored
  if (anchor === undefined) throw noAnchor(chain, to)
  if (mayFloat && anchor.number - to > headersToFloatMax) return unanchored
  try {
    return await linkBelow({ ...options, anchor, to }, signal)
  } catch (error) {
    signal.throwIfAborted()
    // The block beside it is claimed: what does not connect to that would be refused later.
    if (!mayFloat || anchor.number === to + 1) throw error
    return unanchored
  }
}

type Walk = Pick<LinkOptions, 'chain' | 'rpc' | 'source' | 'bulk' | 'onHeaders'> & { anchor: KnownBlock; to: number }

/** The hash of a block below one whose hash is known, by headers of bulk sources as far as they go. */
export async function linkBelow({ anchor, to, ...options }: Walk, signal: AbortSignal): Promise<Link> {
  const { chain, rpc, source, bulk, onHeaders } = options
  let { number, hash, evidence } = anchor
  while (number > to) {
    const header = await bulk?.header(number, signal)
    // Nodes are asked where the header is of another chain, or proves nothing and theirs may.
    if (header === undefined || header.hash !== hash || (header.unproven && rpc.endpoints.length > 0)) break
    hash = header.parentHash
    // What hangs on it cannot rise: it is the word of a source, whatever connects that later.
    if (header.unproven) evidence = 'one-endpoint'
    number--
    onHeaders?.(1)
  }
  if (number === to) return { hash, evidence }
  if (rpc.endpoints.length > 0)
    return await source.linkBelow({ anchor: { number, hash, evidence }, to, onHeaders }, signal)
  throw new AlmanacError('upstream_failed', `No source of ${chain.name} has the header of block ${number}, ${hash}.`, {
    retryable: true,
    hint: `give chains.${chain.name}.history a file with that block, or set chains.${chain.name}.rpc to a node.`,
  })
}

/** How many headers connect the missing blocks to their anchors. */
export async function headersToWalk(missing: readonly Interval[], options: AnchorOptions): Promise<number> {
  let headers = 0
  for (const { to } of missing) {
    const anchor = await anchorOf(to, options)
    if (anchor === undefined) throw noAnchor(options.chain, to)
    headers += anchor.number - to
  }
  return headers
}

/** What is stored of a block that is read again; undefined where nothing is. */
function storedAt(block: number, { stored = [] }: AnchorOptions): CoveredInterval | undefined {
  return stored.find(({ from, to }) => from <= block && block <= to)
}

/** Headers that are read to reach an anchor that is proven, where a nearer one is the word of endpoints. */
const headersToProofMax = 10_000

/**
 * The final block, or the lowest known one of a claimed interval: it was connected when it was claimed, as far as its
 * evidence says. The nearest one at or above `block`, if it is proven or none that is proven is near.
 */
async function anchorOf(block: number, options: AnchorOptions): Promise<KnownBlock | undefined> {
  const { chain, store, covered, stored = covered, final } = options
  const above = stored.filter(({ to }) => to >= block)
  // What is read again for activity must be the blocks whose transfers are stored: nothing else says which those are.
  const own = storedAt(block, options)
  if (own !== undefined) {
    const lowest = await store.lowestBlock(chain.id, { from: block, to: own.to })
    return lowest && { ...lowest, evidence: linkEvidence(own.evidence) }
  }
  const anchors: KnownBlock[] =
    final === undefined || final.number < block ? [] : [{ ...final, evidence: 'receipts-root' }]
  for (const interval of new Set([above[0], above.find(isConnected)])) {
    if (interval === undefined) continue
    const lowest = await store.lowestBlock(chain.id, { from: Math.max(interval.from, block), to: interval.to })
    if (lowest !== undefined) anchors.push({ ...lowest, evidence: linkEvidence(interval.evidence) })
  }
  anchors.sort((a, b) => a.number - b.number)
  const isNear = ({ number }: KnownBlock): boolean => number - block <= headersToProofMax
  return anchors.find(each => isConnected(each) && isNear(each)) ?? anchors[0]
}

function noAnchor(chain: Chain, block: number): AlmanacError {
  return new AlmanacError('upstream_failed', `${chain.name} has no final block at or above ${block} yet.`, {
    retryable: true,
    hint: 'wait until an endpoint names a final block; history is claimed once it is connected to it.',
  })
}

/** What a block that is claimed so proves of the blocks below it. */
export function linkEvidence(evidence: Evidence): Evidence {
  return evidence === 'bloom' ? 'receipts-root' : evidence
}

/** All proofs rest on headers that hash to their block hash, up to the anchor that they were connected to. */
export function isConnected({ evidence }: { evidence: Evidence }): boolean {
  return weakestOf(evidence, 'bloom') === 'bloom'
}

/**
 * Drops pending ranges whose last block is no longer the chain's, and those that no source has any more, such as those
 * of a file that was refused after its rows were stored. The others are filled again.
 */
export async function dropLostRanges(
  { chain, rpc, store, bulk }: Pick<LinkOptions, 'chain' | 'rpc' | 'store' | 'bulk'>,
  signal: AbortSignal,
): Promise<void> {
  const pending = await store.pendingRanges(chain.id)
  if (pending.length === 0) return
  const atNodes = pending.filter(({ to }) => rpc.endpoints.length > 0 && to >= rpc.historyFrom)
  const hashes = await hashesOf({ rpc, numbers: atNodes.map(({ to }) => to) }, signal)
  const told = new Map(atNodes.map((range, at) => [range, hashes[at]]))
  for (const range of pending) {
    const { from, to } = range
    const header = told.has(range) ? undefined : await bulk?.header(to, signal)
    const hash = told.get(range) ?? (header?.unproven ? undefined : header?.hash)
    const isLost = !told.has(range) && header === undefined
    if (isLost || (hash !== undefined && hash !== range.hash)) await store.dropRange(chain.id, 'full', { from, to })
  }
}

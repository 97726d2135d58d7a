// Connects blocks that were stored before anything they hang on was known, or before a proof of it: their evidence
// rises without their being read again. What hung on nothing and turns out to be of another chain is dropped, so that
// another source gives it.
import { wholeCoverage } from '../../coverage.ts'
import { type Block, type CoveredInterval, chainScopes, type Evidence, type Hash, type Interval } from '../../model.ts'
import { activityPages, setActivityGap } from '../../store/activity-gaps.ts'
import { noActivity } from '../../store/packed-activity.ts'
import type { WholeScope } from '../../views.ts'
import type { BulkSources } from '../source/bulk-sources.ts'
import type { Header } from '../source/chain-source.ts'
import { type LinkOptions, linkEvidence } from './anchors.ts'

export type RaiseOptions = Pick<LinkOptions, 'chain' | 'store' | 'rpc' | 'source'> & {
  bulk: BulkSources
  /** Called with blocks that were dropped. */
  onDropped: (dropped: Interval & { reason: string }) => void
}

/** `isLinked`: they hang on a block that is taken for the chain's, so that only a proof is more. */
type Rising = Interval & { scope: WholeScope; isLinked: boolean }

/** Looks at every interval once; those that cannot rise stay as they are. */
export async function raiseClaims(options: RaiseOptions, signal: AbortSignal): Promise<void> {
  const { chain, store } = options
  // Activity was read from blocks that were held against those of the transfers: it rises with them.
  for (const scope of ['transfers', 'full'] as const) {
    const claims = await store.coverage(chain.id, chainScopes)
    const whole = wholeCoverage(claims, 'transfers')
    for (const { from, to, evidence } of claims.filter(each => each.scope === scope)) {
      if (!mayRise({ evidence })) continue
      const isLinked = evidence !== 'unanchored'
      const known = whole.filter(each => (isLinked ? each.evidence === 'canonical' : isGround(each.evidence)))
      signal.throwIfAborted()
      await raise({ from, to, scope, isLinked }, known, options, signal)
    }
  }
}

export function mayRise({ evidence }: { evidence: Evidence }): boolean {
  return evidence === 'unanchored' || evidence === 'receipts-root'
}

/** One source's word is no more than what the blocks have. */
function isGround(evidence: Evidence): boolean {
  return evidence !== 'unanchored' && evidence !== 'one-endpoint'
}

async function raise(
  interval: Rising,
  known: readonly CoveredInterval[],
  options: RaiseOptions,
  signal: AbortSignal,
): Promise<void> {
  const { chain, store } = options
  const { from, to, scope } = interval
  const same = known.filter(each => each.from <= to && each.to >= from)
  for (const { evidence, ...each } of same)
    await store.addCoverage(chain.id, scope, {
      ...{ from: Math.max(from, each.from), to: Math.min(to, each.to) },
      evidence,
    })
  if (same.length > 0) return
  const above = known.find(each => each.from <= to + 1 && to + 1 <= each.to)
  if (above !== undefined && (await raiseFromAbove(interval, above, options, signal))) return
  await raiseFromWithin(interval, options, signal)
}

/** True if the block above decides. */
async function raiseFromAbove(
  { from, to, scope, isLinked }: Rising,
  above: CoveredInterval,
  options: RaiseOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { chain, store, onDropped } = options
  const [top, stored] = await Promise.all([to, to + 1].map(at => store.lowestBlock(chain.id, { from: at, to: at })))
  if (top === undefined || stored === undefined) return false
  const header = await headerOf(stored, options, signal)
  if (header === undefined) return false
  if (header.parentHash === top.hash) {
    await store.addCoverage(chain.id, scope, { from, to, evidence: linkEvidence(above.evidence) })
    return true
  }
  if (isLinked) return false
  await drop({ from, to }, options)
  const reason = `block ${to} is stored as ${top.hash}, but block ${to + 1} grows from ${header.parentHash}`
  onDropped({ from, to, reason })
  return true
}

/** A proof, or the operator's word, of a block inside: it reaches from there down. */
async function raiseFromWithin(
  { from, to, scope, isLinked }: Rising,
  options: RaiseOptions,
  signal: AbortSignal,
): Promise<void> {
  const { chain, store, bulk, onDropped } = options
  const anchor = await bulk.anchorIn({ from, to }, signal)
  if (anchor === undefined || (isLinked && anchor.evidence !== 'canonical')) return
  // Blocks of the interval hang together, so any that is known leads to all below it.
  let at: Pick<Block, 'number' | 'hash'> | undefined = await store.lowestBlock(chain.id, { from: anchor.number, to })
  let child: Header | undefined
  while (at !== undefined && at.number > anchor.number) {
    child = await headerOf(at, options, signal)
    at = child && { number: child.number - 1, hash: child.parentHash }
  }
  if (at === undefined) return
  if (at.hash !== anchor.hash) {
    if (isLinked) return
    await drop({ from, to: anchor.number }, options)
    const reason = `block ${anchor.number} is stored as ${at.hash}, but ${anchor.hash} is the chain's`
    return onDropped({ from, to: anchor.number, reason })
  }
  const header = await headerOf(at, options, signal)
  if (header !== undefined)
    await claim({ from, to: anchor.number, scope, evidence: anchor.evidence }, child, header, options)
}

/** With the blocks on both sides of the new border, as of every covered interval. */
async function claim(
  covered: Interval & { scope: WholeScope; evidence: Evidence },
  child: Header | undefined,
  { number, hash, timestamp }: Header,
  { chain, store }: RaiseOptions,
): Promise<void> {
  const blocks = [{ number, hash, timestamp }]
  if (child !== undefined) blocks.push({ number: child.number, hash: child.hash, timestamp: child.timestamp })
  await store.commitCold({ chain: chain.id, covered: [covered], blocks, transfers: [], activity: noActivity })
}

/** Of exactly this block, by the first source that has it and proves it: blocks rise and fall by what it names. */
async function headerOf(
  block: { number: number; hash: Hash },
  { bulk, rpc, source }: RaiseOptions,
  signal: AbortSignal,
): Promise<Header | undefined> {
  const header = await bulk.header(block.number, signal)
  if (header?.hash === block.hash && header.unproven !== true) return header
  return rpc.endpoints.length === 0 ? undefined : await source.provenHeaderOf(block, signal)
}

/**
 * Wallets with a first or last transaction in the blocks lose both, because what else they did is not known, and are
 * marked as incomplete before: whatever happens in between, no answer claims more than is known.
 */
async function drop(interval: Interval, { chain, store }: RaiseOptions): Promise<void> {
  for await (const page of activityPages(store, chain.id, interval)) {
    const wallets = page.map(({ address }) => address)
    for (const wallet of wallets) await setActivityGap(store, chain.id, wallet, Infinity)
    if (wallets.length > 0) await store.dropActivity(chain.id, wallets)
  }
  await store.dropRange(chain.id, 'full', interval)
}

// Wallets whose activity on a chain is not whole: a transaction had to be taken back, and the ones that it stood for
// are not known. Kept as checkpoints, because there are few.
import type { ActivityRow, Address, ChainId, Interval } from '../model.ts'
import type { Store } from './store.ts'

export const gapsPrefix = 'activity-gaps/'

function nameOf(wallet: Address): string {
  return `${gapsPrefix}${wallet}`
}

/** What is stored of a wallet, without a chain; undefined where it has no gap there. */
export function withoutGap(stored: string, chain: ChainId): string | undefined {
  const gaps = JSON.parse(stored) as StoredGap[]
  const left = gaps.filter(gap => (Array.isArray(gap) ? gap[0] : gap) !== chain)
  return left.length < gaps.length ? JSON.stringify(left) : undefined
}

type StoredGap = ChainId | [ChainId, number]

/** With the block above which a last transaction closes the gap; Infinity where none does. */
export async function activityGaps(
  store: Pick<Store, 'checkpoint'>,
  wallet: Address,
): Promise<ReadonlyMap<ChainId, number>> {
  const stored = JSON.parse((await store.checkpoint(nameOf(wallet))) ?? '[]') as StoredGap[]
  return new Map(stored.map(gap => (Array.isArray(gap) ? gap : [gap, Infinity])))
}

/** Undefined: there is no gap. */
export async function setActivityGap(
  store: Store,
  chain: ChainId,
  wallet: Address,
  closedAbove: number | undefined,
): Promise<void> {
  const gaps = new Map(await activityGaps(store, wallet))
  if (gaps.get(chain) === closedAbove) return
  if (closedAbove === undefined) gaps.delete(chain)
  else gaps.set(chain, closedAbove)
  const stored = [...gaps].map(gap => (gap[1] === Infinity ? gap[0] : gap))
  await store.putCheckpoint(nameOf(wallet), JSON.stringify(stored))
}

/** Wallets of which the first or the last transaction is in an interval of final blocks, by address, some at a time. */
export async function* activityPages(
  store: Store,
  chain: ChainId,
  interval: Interval,
  limit = 1_000,
): AsyncGenerator<ActivityRow[]> {
  for (let after: Address | undefined; ; ) {
    const page = await store.activityWithin(chain, interval, { after, limit })
    yield page
    if (page.length < limit) return
    after = page.at(-1)?.address
  }
}

/**
 * Before finality is taken back: those with a first transaction that stays and a last one that goes, because what lies
 * between was not kept.
 */
export async function markCutWallets(
  store: Store,
  chain: ChainId,
  { to, finalized }: { to: number; finalized: number },
): Promise<void> {
  for await (const page of activityPages(store, chain, { from: to + 1, to: finalized }))
    for (const { address, first } of page) if (first.block <= to) await setActivityGap(store, chain, address, to)
}

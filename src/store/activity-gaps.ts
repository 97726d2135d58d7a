// Wallets whose activity on a chain is not whole: a transaction had to be taken back, and the ones that it stood for
// are not known. Kept as checkpoints, because there are few.
import type { Address, ChainId } from '../model.ts'
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

const walletsPerPage = 1_000

/**
 * Before finality is taken back: those with a first transaction that stays and a last one that goes, because what lies
 * between was not kept.
 */
export async function markCutWallets(
  store: Store,
  chain: ChainId,
  { to, finalized }: { to: number; finalized: number },
): Promise<void> {
  for (let after: Address | undefined; ; ) {
    const rows = await store.activityWithin(chain, { from: to + 1, to: finalized }, { after, limit: walletsPerPage })
    for (const { address, first } of rows) if (first.block <= to) await setActivityGap(store, chain, address, to)
    if (rows.length < walletsPerPage) return
    after = rows.at(-1)?.address
  }
}

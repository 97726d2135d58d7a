// Wallets whose activity on a chain is not whole: a transaction that never was had to be taken back, and the ones that
// it stood for are not known. Kept as checkpoints, because there are almost none.
import type { Address, ChainId } from '../model.ts'
import type { Store } from './store.ts'

function nameOf(wallet: Address): string {
  return `activity-gaps/${wallet}`
}

export async function activityGaps(store: Pick<Store, 'checkpoint'>, wallet: Address): Promise<ReadonlySet<ChainId>> {
  return new Set(JSON.parse((await store.checkpoint(nameOf(wallet))) ?? '[]') as ChainId[])
}

export async function setActivityGap(store: Store, chain: ChainId, wallet: Address, hasGap: boolean): Promise<void> {
  const gaps = new Set(await activityGaps(store, wallet))
  if (gaps.has(chain) === hasGap) return
  if (hasGap) gaps.add(chain)
  else gaps.delete(chain)
  await store.putCheckpoint(nameOf(wallet), JSON.stringify([...gaps]))
}

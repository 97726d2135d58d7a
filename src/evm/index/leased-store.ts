// A store whose writes hold only as long as a lease does: whoever was paused and wakes up cannot write over a successor.
import type { ChainId } from '../../model.ts'
import type { Lease } from '../../store/lease-store.ts'
import type { Store } from '../../store/store.ts'

/** Reads as the store does, writes under the lease. */
export function leasedStore(store: Store, lease: Lease): Store {
  return { ...store, ...store.fenced(lease) }
}

/**
 * Takes a chain for as long as a command runs, with a store that writes under the lease. Undefined while another process
 * indexes the chain.
 */
export async function holdChain(
  store: Store,
  { chain, holder, leaseMs }: { chain: ChainId; holder: string; leaseMs: number },
): Promise<{ store: Store; release: () => Promise<void> } | undefined> {
  const name = `index/${chain}`
  const lease = await store.claim(name, holder, leaseMs)
  if (lease === undefined) return undefined
  // A renewal that fails shows in the next write, which the fence refuses once the lease is lost.
  const timer = setInterval(() => void store.claim(name, holder, leaseMs).catch(() => {}), leaseMs / 4)
  return {
    store: leasedStore(store, lease),
    release: async () => {
      clearInterval(timer)
      await store.release(lease)
    },
  }
}

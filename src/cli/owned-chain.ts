// Takes a chain for a command that writes: the store as its owner, and the lease of the chain. It fails where a service indexes it.
import { randomUUID } from 'node:crypto'
import type { Chain } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import { holdChain } from '../evm/index/leased-store.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { openUnlocked } from './locked-store.ts'

const leaseMs = 10_000

/** Everything is given back when `opened` is disposed of. */
export async function takeChain(url: string, chain: Chain, opened: AsyncDisposableStack): Promise<Store> {
  const store = await openUnlocked(
    () => openStore(url, { role: 'owner' }),
    'stop it first: a running service fills its chains by itself.',
  )
  opened.defer(() => store.close())
  // A file has one owner, who need not wait for the lease of a predecessor that was killed.
  const holder = store.engine === 'sqlite' ? 'owner' : randomUUID()
  const held = await holdChain(store, { chain: chain.id, holder, leaseMs })
  if (held === undefined) throw alreadyIndexed(chain.name)
  opened.defer(held.release)
  return held.store
}

function alreadyIndexed(chain: string): AlmanacError {
  return new AlmanacError('store_locked', `Another process indexes ${chain} into this store.`, {
    retryable: true,
    hint: 'wait for it, or stop it first; one that was killed gives the chain back after ten seconds.',
  })
}

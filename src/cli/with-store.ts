// Opens the configured store for one command, beside whatever else uses it, and closes it again.

import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { Chain } from '../chains.ts'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import { leaseChain } from '../evm/index/leased-indexer.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { loadConfigFor } from './options.ts'

export async function withStore<Result>(
  command: Command,
  use: (store: Store, loaded: LoadedConfig) => Promise<Result>,
): Promise<Result> {
  const loaded = loadConfigFor(command)
  // Loaded here, so that help and version need not wait for an engine.
  const { openStore } = await import('../store/open.ts')
  const store = await openStore(loaded.config.store, { role: 'tool' })
  try {
    return await use(store, loaded)
  } finally {
    await store.close()
  }
}

// Opens a store for a command that needs it alone. It changes nothing but the advice: what helps differs from command to command.

/** `hint` says what to do where another process holds the store. */
export async function openUnlocked<Opened>(open: () => Promise<Opened>, hint: string): Promise<Opened> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof AlmanacError) || error.code !== 'store_locked') throw error
    throw new AlmanacError('store_locked', error.message, { cause: error.cause, hint })
  }
}

// Takes a chain for a command that writes: the store as its owner, and the lease of the chain. It fails where a service indexes it.

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
  const held = await leaseChain(store, { chain: chain.id, holder, leaseMs })
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

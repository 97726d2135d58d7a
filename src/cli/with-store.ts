// Opens the configured store for one command, beside whatever else uses it, and closes it again.
import type { Command } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import type { Store } from '../store/store.ts'
import { loadConfigFor } from './config-options.ts'

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

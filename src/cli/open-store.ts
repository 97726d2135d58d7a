// Opens the configured store for one command and closes it again. It loads no indexer, and creates no store: a wrong
// directory or a typo would look like an empty one.
import type { Command } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { withMeantConfig, withSandboxElsewhere } from './running-server.ts'
import { whileWaiting } from './terminal.ts'

/** Completes a command that works on the store beside a running service. */
export function withStore<Parameters extends unknown[]>(
  command: Command,
  run: (store: Store, loaded: LoadedConfig, ...parameters: Parameters) => Promise<void>,
): Command {
  return withMeantConfig<Parameters>(command, ['store'], async (loaded, ...parameters) => {
    await using opened = new AsyncDisposableStack()
    const store = await openTool(loaded.config.store, opened).catch(error => {
      throw withSandboxElsewhere(error, loaded)
    })
    await run(store, loaded, ...parameters)
  })
}

export async function openTool(url: string, opened: AsyncDisposableStack): Promise<Store> {
  const store = await whileWaiting('Waiting for the store', openStore(url, { role: 'tool', mustExist: true }))
  opened.defer(() => store.close())
  return store
}

/** Opens a store that no other process may use; `hint` says what to do if one does. */
export async function openUnlocked<Opened>(open: () => Promise<Opened>, hint: string): Promise<Opened> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof AlmanacError) || error.code !== 'store_locked') throw error
    throw new AlmanacError('store_locked', error.message, { cause: error.cause, hint })
  }
}

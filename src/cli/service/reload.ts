// Reads the configuration of a running service again: takes what can change while it runs, and says what needs a
// restart. A configuration that is not valid changes nothing.
import { settingChanges, withReloadable } from '../../config/changes.ts'
import type { LoadedConfig } from '../../config/load.ts'
import type { Config } from '../../config/settings.ts'
import { messageWithCauses } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { Mutex } from '../../once.ts'
import type { ReloadOutcome } from '../../processes/remote-work.ts'

export type ReloaderOptions = {
  loaded: LoadedConfig
  /** Reads file, environment and flags as the start did. */
  load: () => LoadedConfig
  log: Log
  /** Gives indexers what they can take. Absent: the process has none, and everything needs a restart. */
  apply?: (config: Config) => Promise<void>
}

export class Reloader {
  readonly #options: ReloaderOptions
  #running: Config
  /** Some indexers may have what others have not. */
  #isInParts = false
  readonly #mutex = new Mutex()

  constructor(options: ReloaderOptions) {
    this.#options = options
    this.#running = options.loaded.config
  }

  /** One at a time. Fails where the configuration cannot be read; the log has the reason too. */
  reload(): Promise<ReloadOutcome> {
    return this.#mutex.run(() => this.#reload())
  }

  async #reload(): Promise<ReloadOutcome> {
    const { log, apply } = this.#options
    const { config, file = null } = this.#load()
    const changes = settingChanges(this.#running, config)
    if (apply === undefined) return this.#said(file, [], [...changes.reloadable, ...changes.needRestart])
    const next = withReloadable(this.#running, config)
    try {
      if (changes.reloadable.length > 0 || this.#isInParts) await apply(next)
      this.#isInParts = false
    } catch (error) {
      this.#isInParts = true
      log.error({ reason: messageWithCauses(error) }, 'Configuration not applied in full; reload it again')
      throw error
    }
    this.#running = next
    return this.#said(file, changes.reloadable, changes.needRestart)
  }

  #load(): LoadedConfig {
    const { load, log } = this.#options
    try {
      const loaded = load()
      for (const { event, facts } of loaded.warnings) log.warn(facts, event)
      return loaded
    } catch (error) {
      log.error({ reason: messageWithCauses(error) }, 'Configuration not reloaded; nothing changed')
      throw error
    }
  }

  #said(file: string | null, applied: string[], needRestart: string[]): ReloadOutcome {
    const { log } = this.#options
    log.info({ file, applied }, 'Configuration reloaded')
    if (needRestart.length > 0) log.warn({ settings: needRestart }, 'Settings changed that need a restart')
    return { applied, needRestart }
  }
}

/**
 * Calls back at SIGHUP, and for one that came before `ready`. A service on a terminal is left alone: there the signal
 * means that the terminal has gone, and the service goes with it.
 */
export function onHangup(): { ready: (act: () => void) => void } {
  let act: (() => void) | undefined
  let isWanted = false
  if (!process.stderr.isTTY)
    process.on('SIGHUP', () => {
      isWanted = true
      act?.()
    })
  return {
    ready: given => {
      act = given
      if (isWanted) act()
    },
  }
}

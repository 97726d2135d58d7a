// Runs the service, or the sandbox if nothing is configured.
import { Command, Option } from 'commander'
import { addConfigOptions, loadConfigFor } from './options.ts'
import type { Role } from './service/service.ts'
import { printEnd } from './terminal.ts'

export function startCommand(): Command {
  const command = new Command('start')
    .description(
      'Run the service. The first SIGINT or SIGTERM lets running requests finish; a second exits immediately. Without a configuration, runs the sandbox (see demo).',
    )
    .addOption(
      new Option('--only <role>', 'Run one role: api serves requests, index reads chains.').choices(['api', 'index']),
    )
  addConfigOptions(command).action(async (options: { only?: Role }) => {
    const loaded = loadConfigFor(command)
    if (loaded.unconfigured && options.only === undefined) {
      const { demo } = await import('./demo.ts')
      await demo(file => loadConfigFor(command, file), { unconfigured: true })
      return
    }
    const { start } = await import('./service/service.ts')
    await start(loaded, { ...options, load: () => loadConfigFor(command) })
    printEnd()
  })
  return command
}

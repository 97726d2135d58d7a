// The command that runs the service. What it runs is loaded only when it is called, so that other commands start fast.
import { Command, Option } from 'commander'
import { addConfigOptions, loadConfigFor } from './options.ts'
import type { Role } from './service.ts'

export function startCommand(): Command {
  const command = new Command('start')
    .description(
      'Run the service until a signal ends it. The first signal lets running requests finish, a second does not. With no configuration, run the sandbox (see demo).',
    )
    .addOption(
      new Option('--only <role>', 'Run one half: api answers requests, index reads chains.').choices(['api', 'index']),
    )
  addConfigOptions(command).action(async (options: { only?: Role }) => {
    const loaded = loadConfigFor(command)
    if (loaded.unconfigured && options.only === undefined) {
      const { demo } = await import('./demo.ts')
      await demo(file => loadConfigFor(command, file), {})
      return
    }
    const { start } = await import('./service.ts')
    await start(loaded, options)
  })
  return command
}

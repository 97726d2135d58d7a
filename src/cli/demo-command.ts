// The command that runs the sandbox. What it runs is loaded only when it is called.
import { Command } from 'commander'
import { addConfigOptions, loadConfigFor } from './config-options.ts'

export type DemoFlags = { seed?: string }

export function demoCommand(): Command {
  const command = new Command('demo')
    .description(
      'Run the sandbox: local chains with made-up collections and traffic, indexed and served like any others. Nothing is kept.',
    )
    .option('--seed <text>', 'Other collections and wallets for another text; the same for the same one.')
  addConfigOptions(command, ['listen', 'dialect', 'log.level', 'log.format']).action(async (flags: DemoFlags) => {
    const { demo } = await import('./demo.ts')
    await demo(file => loadConfigFor(command, file), flags)
  })
  return command
}

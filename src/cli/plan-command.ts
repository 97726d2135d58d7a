// The command that estimates what a configuration will cost. What it runs is loaded only when it is called.
import { Command } from 'commander'
import { addConfigOptions, loadConfigFor } from './config-options.ts'

export type PlanFlags = { chain?: string; samples: string; json?: true }

export function planCommand(): Command {
  const command = new Command('plan')
    .description(
      'Estimate calls, bytes, time and disk that indexing the configured chains will take, measured on small parts of their history. Opens no store and writes nothing.',
    )
    .option('--chain <name>', 'Only this chain of the configuration.')
    .option('--samples <number>', 'How many parts of a history are read, of about 2 MB each.', '16')
    .option('--json', 'Print the estimate as JSON.')
  addConfigOptions(command, []).action(async (flags: PlanFlags) => {
    const loaded = loadConfigFor(command)
    const { plan } = await import('./plan.ts')
    await plan(loaded, flags)
  })
  return command
}

// The command that fills one range of one chain and ends. What it runs is loaded only when it is called.
import { Command } from 'commander'
import { addConfigOptions, loadConfigFor } from './config-options.ts'

export type SyncFlags = { chain: string; from: string; to: string; contract?: string; json?: true }

export function syncCommand(): Command {
  const command = new Command('sync')
    .description(
      'Index one range of final blocks of a chain as it is configured, then end. What is there already is not read again, so a repeat continues where a run stopped. Needs a store into which no other process indexes.',
    )
    .requiredOption('--chain <name>', 'A chain of the configuration.')
    .requiredOption('--from <block>', 'The first block.')
    .requiredOption('--to <block>', 'The last block.')
    .option(
      '--contract <list>',
      'On an on-demand chain: these contracts, comma-separated, instead of those configured.',
    )
    .option('--json', 'Print what was done as JSON.')
  addConfigOptions(command, ['store']).action(async (flags: SyncFlags) => {
    const loaded = loadConfigFor(command)
    const { sync } = await import('./sync.ts')
    await sync(loaded, flags)
  })
  return command
}

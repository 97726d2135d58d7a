// The command that compares the store with the node. What it runs is loaded only when it is called.
import { Command } from 'commander'
import { addConfigOptions, loadConfigFor } from './config-options.ts'

export type VerifyFlags = {
  chain: string
  from?: string
  to?: string
  samples: string
  blocks: string
  contract?: string
  repair?: true
  json?: true
}

export function verifyCommand(): Command {
  const command = new Command('verify')
    .description(
      'Read covered blocks again from the node, given or random ones, and compare them with the store row for row in both directions. Ends with 1 on any difference. Works beside a running service and writes nothing, unless it is told to repair.',
    )
    .requiredOption('--chain <name>', 'A chain of the configuration.')
    .option('--from <block>', 'The first block; with --to. Without them random ranges are taken.')
    .option('--to <block>', 'The last block.')
    .option('--samples <number>', 'How many random ranges.', '10')
    .option('--blocks <number>', 'How many blocks each random range has at the most.', '100')
    .option('--contract <list>', 'On an on-demand chain: only these contracts, comma-separated.')
    .option(
      '--repair',
      'Drop the ranges that differ, index them again and compare once more. Needs the service to be stopped. Ends with 0 if nothing differs any more.',
    )
    .option('--json', 'Print the result as JSON.')
  addConfigOptions(command, ['store']).action(async (flags: VerifyFlags) => {
    const loaded = loadConfigFor(command)
    const { verify } = await import('./verify.ts')
    await verify(loaded, flags)
  })
  return command
}

// The command that writes a configuration. What it runs is loaded only when it is called.
import { Command, Option } from 'commander'

export type InitFlags = {
  chain?: string[]
  ws?: string[]
  index?: 'full' | 'on-demand'
  contract?: string[]
  solana?: string[]
  solanaWs?: string[]
  store?: string
  output: string
  check: boolean
  yes?: true
}

const several = (value: string, before: string[] = []): string[] => [...before, value]

export function initCommand(): Command {
  const command = new Command('init')
    .description(
      'Write almanac.yaml for your own nodes: asks on a terminal, or takes flags; checks every endpoint, says what it can do, and estimates what indexing will cost.',
    )
    .option('--chain <name=url,…>', 'A chain and its JSON-RPC endpoints, in order of preference. Repeatable.', several)
    .option('--ws <name=url>', 'The WebSocket endpoint of a chain. Repeatable.', several)
    .addOption(
      new Option(
        '--index <mode>',
        'full reads every block of the chains, on-demand a contract when it is first asked for.',
      ).choices(['full', 'on-demand']),
    )
    .option(
      '--contract <name=0x…,…>',
      'Contracts of a chain that are indexed without being asked for. Repeatable.',
      several,
    )
    .option('--solana <network=url,…>', 'A Solana network, mainnet or devnet, and its endpoints.', several)
    .option('--solana-ws <network=url>', 'The WebSocket endpoint of a Solana network.', several)
    .option('--store <place>', 'Where the data will be: file:path or postgres://… Without it, file:./almanac.db.')
    .option('--output <file>', 'The file to write.', 'almanac.yaml')
    .option('--no-check', 'Ask no endpoint: neither check nor estimate.')
    .option('--yes', 'Ask nothing, and replace the file if it is there, keeping the former beside it.')
  command.action(async (flags: InitFlags) => {
    const { init } = await import('./init.ts')
    await init(flags)
  })
  return command
}

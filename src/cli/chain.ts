// Takes back what was stored as final by mistake. The service then follows the chain again from there.
import { Command } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import { markCutWallets } from '../store/activity-gaps.ts'
import { takeChain } from './open-chain.ts'
import { chooseChain, parseChain, wholeNumber, withConfig } from './options.ts'
import { confirmRemoval } from './questions.ts'
import { countText, printData, printJson } from './terminal.ts'

type UnfinalizeFlags = { to: number; yes?: true; json?: true }

export function chainCommand(): Command {
  const unfinalizeCommand = new Command('unfinalize')
    .summary('Forget everything above a block, and follow the chain from there.')
    .description(
      'Forget every row, block and claim above a block; the next start follows the chain again from there. For a block that was stored as final but is not on the chain. Stop the service first.',
    )
    .argument('<chain>', 'A configured chain.')
    .requiredOption(
      '--to <block>',
      'Highest block to keep. Choose one that all endpoints call final.',
      wholeNumber('--to'),
    )
    .option('--yes', 'Do not ask for confirmation.')
    .option('--json', 'Print the result as JSON.')
  return new Command('chain')
    .description('Correct the stored state of a chain.')
    .addCommand(withConfig(unfinalizeCommand, ['store'], unfinalize))
}

async function unfinalize(loaded: LoadedConfig, text: string, { to, yes, json }: UnfinalizeFlags): Promise<void> {
  const { name } = chooseChain(loaded, text)
  const chain = parseChain(loaded.chains, name)
  await using opened = new AsyncDisposableStack()
  const store = await takeChain({ url: loaded.config.store, chain, opened, mustExist: true })
  const finalized = (await store.chainState(chain.id))?.finalized ?? -1
  if (to >= finalized) {
    const known = finalized < 0 ? 'no block of it is final' : `its highest final block is ${finalized}`
    throw new AlmanacError('bad_request', `${name} cannot be taken back to block ${to}: ${known}.`)
  }
  if (yes !== true) await confirmRemoval(`Forget ${name} blocks ${to + 1} to ${finalized} and all above?`)
  // The marks come first: a wallet whose last transaction is lost must never count as complete.
  await markCutWallets(store, chain.id, { to, finalized })
  await store.unfinalize(chain.id, to)
  if (json) return printJson({ chain: name, finalized: to, before: finalized })
  printData(
    `${name} is final up to block ${countText(to)}, before it was ${countText(finalized)}. Start the service to follow it again from there.`,
  )
}

// Fills one range of one chain: opens the store as its owner, shows progress, and says what was done.

import { Command } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import { connectChain } from '../evm/create-evm.ts'
import { syncRange } from '../evm/index/sync-range.ts'
import type { Address } from '../model.ts'
import { CommandProgress } from './chain-progress.ts'
import {
  addConfigOptions,
  type ChosenChain,
  chooseChain,
  loadConfigFor,
  parseBlocks,
  parseContracts,
} from './options.ts'
import { interruption } from './process.ts'
import { bytesText, countText, durationText, printData, printJson } from './terminal.ts'
import { takeChain } from './with-store.ts'

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
    await sync(loaded, flags)
  })
  return command
}

/** How long no endpoint may answer before the command gives up. */
const patienceMs = 60_000

export async function sync(loaded: LoadedConfig, flags: SyncFlags): Promise<void> {
  const chosen = chooseChain(loaded, flags.chain)
  const interval = parseBlocks(flags)
  const scope = scopeOf(chosen, flags.contract)
  await using opened = new AsyncDisposableStack()
  const signal = interruption()
  const counted = { requests: 0, bytes: 0 }
  const observer = {
    request: ({ bytes }: { bytes: number }) => {
      counted.requests++
      counted.bytes += bytes
    },
    hedge: () => {},
  }
  const { chain, rpc } = connectChain(chosen.name, chosen.settings, { chains: loaded.chains, observer })
  opened.defer(() => rpc.close())
  const store = await takeChain(loaded.config.store, chain, opened)
  const progress = new CommandProgress(chosen.name)
  opened.defer(() => progress.close())
  const startedAt = performance.now()
  const done = { wanted: 0, missing: 0, blocks: 0, transfers: 0, logs: 0 }
  await syncRange(
    {
      ...{ chain, rpc, store, interval, scope, patienceMs },
      onPlanned: blocks => {
        Object.assign(done, blocks)
        progress.expect(blocks.missing)
      },
      onProgress: committed => {
        done.blocks += committed.blocks
        done.transfers += committed.rows
        done.logs += committed.logs
        progress.add(committed)
      },
    },
    signal,
  )
  progress.close()
  if (signal.aborted) throw stoppedEarly(done)
  const seconds = (performance.now() - startedAt) / 1_000
  if (flags.json) {
    printJson({
      chain: chosen.name,
      ...interval,
      ...(scope === 'full' ? {} : { contracts: scope }),
      blocks_present: done.wanted - done.missing,
      blocks_read: done.blocks,
      transfers: done.transfers,
      logs: done.logs,
      ...counted,
      seconds: Math.round(seconds * 1_000) / 1_000,
    })
    return
  }
  const { from, to } = interval
  const what = scope === 'full' ? '' : ` for ${countText(scope.length)} contract${scope.length === 1 ? '' : 's'}`
  printData(
    `${chosen.name} blocks ${from} to ${to} are complete${what}: ${countText(done.blocks)} blocks read, ${countText(done.wanted - done.missing)} were there; ` +
      `${countText(done.transfers)} transfers from ${countText(done.logs)} logs; ${countText(counted.requests)} requests, ${bytesText(counted.bytes)}, ${durationText(seconds)}.`,
  )
}

function scopeOf({ name, settings }: ChosenChain, contract: string | undefined): 'full' | readonly Address[] {
  if (settings.index === 'full') {
    if (contract === undefined) return 'full'
    throw new AlmanacError('bad_request', `--contract does not fit ${name}, which is indexed in full.`, {
      hint: 'leave --contract out: every contract is read.',
    })
  }
  const contracts = contract === undefined ? settings.contracts : parseContracts(contract)
  if (contracts.length > 0) return contracts
  throw new AlmanacError('bad_request', `${name} is indexed on demand and no contract is configured for it.`, {
    hint: `give --contract, list contracts under chains.${name}.contracts, or set chains.${name}.index to full.`,
  })
}

function stoppedEarly({ blocks, missing }: { blocks: number; missing: number }): AlmanacError {
  return new AlmanacError(
    'interrupted',
    `Stopped with ${countText(blocks)} of ${countText(missing)} missing blocks read and stored.`,
    { hint: 'run the same command again: it continues where it stopped.' },
  )
}

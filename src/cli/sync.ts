// Indexes one range of one chain: opens the store as its owner, shows progress, and reports what it did.

import { Command } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { durationText } from '../duration-text.ts'
import { AlmanacError } from '../errors.ts'
import { syncRange } from '../evm/index/sync-range.ts'
import { DecodePool } from '../evm/source/decode-pool.ts'
import type { Address } from '../model.ts'
import { type WholeScope, wholeScopeOf } from '../views.ts'
import { CommandProgress } from './chain-progress.ts'
import { interruption } from './current-process.ts'
import { connectNodes, guardRoom, shareBudget, takeChain } from './open-chain.ts'
import { type ChosenChain, chooseChain, chosenContracts, parseBlocks, wholeNumber, withConfig } from './options.ts'
import { bytesText, countOf, countText, printData, printJson } from './terminal.ts'

type SyncFlags = { chain: string; from: number; to: number; contract?: string; json?: true }

export function syncCommand(): Command {
  const command = new Command('sync')
    .description(
      'Index one range of blocks, then exit. Indexes final blocks only, and skips those already stored: run it again to continue where it stopped. No other process may index into the store.',
    )
    .requiredOption('--chain <name>', 'A configured chain.')
    .requiredOption('--from <block>', 'First block.', wholeNumber('--from'))
    .requiredOption('--to <block>', 'Last block.', wholeNumber('--to'))
    .option(
      '--contract <list>',
      'On an on-demand chain: index these contracts (comma-separated) instead of the configured ones.',
    )
    .option('--json', 'Print the result as JSON.')
  return withConfig(command, ['store'], sync)
}

/** Without an answer from any endpoint for this long, the command gives up. */
const patienceMs = 60_000

async function sync(loaded: LoadedConfig, flags: SyncFlags): Promise<void> {
  const chosen = chooseChain(loaded, flags.chain)
  const interval = parseBlocks(flags)
  const scope = scopeOf(chosen, flags.contract)
  await using opened = new AsyncDisposableStack()
  const signal = interruption()
  const counted = { requests: 0, bytes: 0 }
  const connected = connectNodes(loaded, chosen, opened, bytes => {
    counted.requests++
    counted.bytes += bytes
  })
  const { chain, rpc } = connected
  const taken = await takeChain({ url: loaded.config.store, chain, opened, mustExist: false })
  const { store } = await guardRoom(taken, loaded, opened)
  shareBudget(connected, store, opened)
  const decoder = new DecodePool()
  opened.defer(() => decoder.close())
  const progress = new CommandProgress(chosen.name)
  opened.defer(() => progress.close())
  const startedAt = performance.now()
  const done = { wanted: 0, missing: 0, headers: 0, blocks: 0, transfers: 0, logs: 0 }
  await syncRange(
    {
      ...{ chain, rpc, store, interval, scope, decoder, patienceMs },
      senderSample: chosen.settings.senderSample,
      onPlanned: blocks => {
        Object.assign(done, blocks)
        progress.expect(blocks.missing + blocks.headers)
      },
      onHeaders: headers => progress.add({ blocks: headers, rows: 0, bytes: 0 }),
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
      ...(typeof scope === 'string' ? {} : { contracts: scope }),
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
  const what = typeof scope === 'string' ? '' : ` for ${countOf(scope.length, 'contract')}`
  printData(
    `${chosen.name} blocks ${from} to ${to} are complete${what}: ${countOf(done.blocks, 'block')} read, ${countText(done.wanted - done.missing)} already stored; ` +
      `${countOf(done.transfers, 'transfer')} from ${countOf(done.logs, 'log')}; ${countOf(counted.requests, 'request')}, ${bytesText(counted.bytes)}, ${durationText(seconds)}.`,
  )
}

function scopeOf(chosen: ChosenChain, contract: string | undefined): WholeScope | readonly Address[] {
  const { name, settings } = chosen
  const contracts = chosenContracts(chosen, contract) ?? settings.contracts
  if (settings.index === 'full') return wholeScopeOf(settings.views)
  if (contracts.length > 0) return contracts
  throw new AlmanacError('bad_request', `${name} is indexed on demand, and no contract is configured for it.`, {
    hint: `pass --contract, list contracts under chains.${name}.contracts, or set chains.${name}.index to full.`,
  })
}

function stoppedEarly({ blocks, missing }: { blocks: number; missing: number }): AlmanacError {
  return new AlmanacError(
    'interrupted',
    `Stopped with ${countText(blocks)} of ${countText(missing)} missing blocks read and stored.`,
    { hint: 'run the same command again: it continues where it stopped.' },
  )
}

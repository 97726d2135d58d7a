// Compares the store with the node: chooses what to compare, shows progress, and prints what is different.

import { Command } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { blockCount } from '../coverage.ts'
import { AlmanacError } from '../errors.ts'
import { type AuditResult, type AuditTarget, auditRange, repairRange } from '../evm/audit/audit.ts'
import { type Difference, DifferenceList } from '../evm/audit/compare.ts'
import { givenTargets, randomTargets, type TargetOptions } from '../evm/audit/targets.ts'
import { connectChain } from '../evm/create-evm.ts'
import { finalHeaderOf } from '../evm/source/chain-source.ts'
import { FullSource } from '../evm/source/full-source.ts'
import { WatchedSource } from '../evm/source/watched-source.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { CommandProgress } from './chain-progress.ts'
import {
  addConfigOptions,
  type ChosenChain,
  chooseChain,
  loadConfigFor,
  parseBlocks,
  parseContracts,
  parseWhole,
} from './options.ts'
import { exitCodes, interruption } from './process.ts'
import { countText, paint, printData, printJson } from './terminal.ts'
import { takeChain } from './with-store.ts'

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
    await verify(loaded, flags)
  })
  return command
}

const differencesListed = 100
/** How long no endpoint may answer before a repair gives up. */
const patienceMs = 60_000

export async function verify(loaded: LoadedConfig, flags: VerifyFlags): Promise<void> {
  const chosen = chooseChain(loaded, flags.chain)
  const scope = scopeOf(chosen, flags.contract)
  const wanted = wantedOf(flags)
  await using opened = new AsyncDisposableStack()
  const signal = interruption()
  const observer = { request: () => {}, hedge: () => {} }
  const { chain, rpc } = connectChain(chosen.name, chosen.settings, { chains: loaded.chains, observer })
  opened.defer(() => rpc.close())
  const store = flags.repair
    ? await takeChain(loaded.config.store, chain, opened)
    : await openReading(loaded.config.store, opened)
  const source = scope === 'full' ? new FullSource(chain, rpc) : new WatchedSource(chain, rpc)
  const stored = (await store.chainState(chain.id))?.finalized ?? -1
  const final = await finalHeaderOf(await source.head(signal), chain, source, signal)
  const options = { store, chain, scope, finalized: Math.min(stored, final?.number ?? -1) }
  const targets = 'from' in wanted ? await givenTargets(options, wanted) : await randomTargets(options, wanted)

  const progress = new CommandProgress(chosen.name)
  opened.defer(() => progress.close())
  progress.expect(blocksOf(targets))
  const compare = async (compared: readonly AuditTarget[]): Promise<Comparison> => {
    const found: Comparison = { results: [], differences: new DifferenceList(differencesListed), differing: [] }
    for (const target of compared) {
      const before = found.differences.total
      const onBlocks = (blocks: number) => progress.add({ blocks, rows: 0, bytes: 0 })
      const { differences } = found
      found.results.push(await auditRange(target, { chain, store, source, differences, onBlocks }, signal))
      if (differences.total > before) found.differing.push(target)
    }
    return found
  }
  const first = await compare(targets)
  const repaired = flags.repair && first.differing.length > 0 ? first : undefined
  if (repaired !== undefined) {
    for (const target of repaired.differing) await repairRange(target, { chain, rpc, store, patienceMs }, signal)
    progress.expect(blocksOf(repaired.differing))
  }
  const last = repaired === undefined ? first : await compare(repaired.differing)
  progress.close()
  if (last.differences.total > 0) process.exitCode = exitCodes.change
  const before = repaired === undefined ? {} : { repaired: shown(chosen.name, repaired.results, repaired.differences) }
  if (flags.json) return printJson({ ...shown(chosen.name, last.results, last.differences), ...before })
  if (repaired !== undefined) {
    printData(described(chosen.name, repaired.results, repaired.differences))
    const ranges = `${countText(repaired.differing.length)} range${repaired.differing.length === 1 ? '' : 's'}`
    printData(`Dropped and indexed again: ${ranges}. Compared once more:`)
  }
  printData(described(chosen.name, last.results, last.differences))
}

type Comparison = { results: AuditResult[]; differences: DifferenceList; differing: AuditTarget[] }

async function openReading(url: string, opened: AsyncDisposableStack): Promise<Store> {
  const store = await openStore(url, { role: 'tool' })
  opened.defer(() => store.close())
  return store
}

function scopeOf({ name, settings }: ChosenChain, contract: string | undefined): TargetOptions['scope'] {
  if (settings.index === 'on-demand') return contract === undefined ? 'known' : parseContracts(contract)
  if (contract === undefined) return 'full'
  throw new AlmanacError('bad_request', `--contract does not fit ${name}, which is indexed in full.`, {
    hint: 'leave --contract out: every contract is compared.',
  })
}

function wantedOf({ from, to, samples, blocks }: VerifyFlags) {
  if (from !== undefined && to !== undefined) return parseBlocks({ from, to })
  if (from === undefined && to === undefined)
    return { samples: parseWhole('--samples', samples, 1), blocks: parseWhole('--blocks', blocks, 1) }
  throw new AlmanacError('bad_request', `--${from === undefined ? 'to' : 'from'} is given alone.`, {
    hint: 'give both --from and --to, or neither for random ranges.',
  })
}

function blocksOf(ranges: readonly (AuditTarget | AuditResult)[]): number {
  return ranges.reduce((sum, { interval }) => sum + blockCount([interval]), 0)
}

/** As `--json` shows it. */
function shown(chain: string, results: readonly AuditResult[], differences: DifferenceList) {
  return {
    chain,
    same: differences.total === 0,
    blocks: blocksOf(results),
    transfers: sumOf(results, 'transfers'),
    ranges: results.map(({ interval, contract, evidence, transfers }) => ({
      ...interval,
      ...(contract === undefined ? {} : { contract }),
      evidence,
      transfers,
    })),
    differences_total: differences.total,
    differences_by_kind: Object.fromEntries(differences.counts),
    differences: differences.listed,
  }
}

function described(chain: string, results: readonly AuditResult[], differences: DifferenceList): string {
  const compared = `${countText(blocksOf(results))} blocks in ${countText(results.length)} range${results.length === 1 ? '' : 's'}, ${countText(sumOf(results, 'transfers'))} transfers`
  const ranges = results.map(({ interval: { from, to }, contract, evidence, transfers }) => {
    const whose = contract === undefined ? '' : ` of ${contract}`
    return `blocks ${from} to ${to}${whose}: ${countText(transfers)} transfers, ${evidence}`
  })
  if (differences.total === 0)
    return [...ranges, `${chain} is the same in the store as on the chain: ${compared}.`].join('\n')
  const kinds = [...differences.counts].map(([kind, count]) => `${countText(count)} ${kind}`).join(', ')
  const more = differences.total - differences.listed.length
  return [
    ...ranges,
    ...differences.listed.map(differenceLine),
    ...(more > 0 ? [`and ${countText(more)} more`] : []),
    paint.bold(`${chain} differs: ${kinds}, in ${compared}.`),
  ].join('\n')
}

function differenceLine({ kind, block, contract, address, position, detail }: Difference): string {
  const place =
    position === undefined
      ? ''
      : ` transaction ${position.transactionIndex} log ${position.logIndex}${position.batchIndex === 0 ? '' : ` item ${position.batchIndex}`}`
  const subject = contract ?? address
  return `${kind.padEnd(10)} block ${block}${place}${subject === undefined ? '' : ` ${subject}`}: ${detail}`
}

function sumOf(results: readonly AuditResult[], field: 'transfers'): number {
  return results.reduce((sum, result) => sum + result[field], 0)
}

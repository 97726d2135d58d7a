// Compares the store with the node: chooses what to compare, shows progress, and prints the differences.
import { Command } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { blockCount, missingIntervals } from '../coverage.ts'
import { AlmanacError } from '../errors.ts'
import { type AuditResult, type AuditTarget, auditRange, repairRange } from '../evm/audit/audit.ts'
import { type Difference, DifferenceList } from '../evm/audit/compare.ts'
import { givenTargets, randomTargets, type TargetOptions } from '../evm/audit/targets.ts'
import { type AuditSource, type Witness, witnessesOf } from '../evm/audit/witnesses.ts'
import type { RpcPort } from '../evm/rpc/port.ts'
import { finalHeaderOf } from '../evm/source/finality.ts'
import { FullSource } from '../evm/source/full-source.ts'
import { WatchedSource } from '../evm/source/watched-source.ts'
import { ledgerId, ledgerName } from '../ledgers.ts'
import { tokenSettings, wholeScopeOf } from '../views.ts'
import { CommandProgress } from './chain-progress.ts'
import { exitCodes, interruption } from './current-process.ts'
import { connectNodes, guardRoom, shareBudget, takeChain } from './open-chain.ts'
import { openTool } from './open-store.ts'
import { chooseChain, chosenContracts, parseBlocks, wholeNumber } from './options.ts'
import { withMeantConfig } from './running-server.ts'
import { countOf, countText, paint, printData, printJson } from './terminal.ts'

type Ranges = { from?: number; to?: number; samples: number; blocks: number }
type VerifyFlags = Ranges & { chain?: string; contract?: string; erc20?: true; repair?: true; json?: true }

export function verifyCommand(): Command {
  const command = new Command('verify')
    .description(
      'Compare the store with the nodes: read covered blocks again from every endpoint, given or random ones, and compare them row by row in both directions. Exits with 1 on any difference, also between endpoints. Runs beside the service. Without --repair, writes nothing but its use of daily_budget.',
    )
    .option('--chain <name>', 'A configured chain. Default: the only one.')
    .option('--from <block>', 'First block; needs --to. Default: random ranges.', wholeNumber('--from'))
    .option('--to <block>', 'Last block.', wholeNumber('--to'))
    .option('--samples <number>', 'Number of random ranges.', wholeNumber('--samples', 1), 10)
    .option('--blocks <number>', 'Maximum blocks in each random range.', wholeNumber('--blocks', 1), 100)
    .option('--contract <list>', 'Where contracts are indexed on demand: only these, comma-separated.')
    .option(
      '--erc20',
      'Compare the ERC-20 tokens that are indexed, instead of NFTs: whole blocks where the chain keeps every token.',
    )
    .option(
      '--repair',
      'Drop the ranges that differ, index them again and compare once more. Leaves a range alone if endpoints disagree on it, or if one that answered before fails. Stop the service first. Exits with 0 if nothing differs any more.',
    )
    .option('--json', 'Print the result as JSON.')
  return withMeantConfig(command, ['store'], verify)
}

const differencesListed = 100
/** Without an answer from any endpoint for this long, a repair gives up. */
const patienceMs = 60_000

async function verify(loaded: LoadedConfig, flags: VerifyFlags): Promise<void> {
  const chosen = chooseChain(loaded, flags.chain)
  const ledger = flags.erc20 ? 'erc20' : 'nft'
  const name = ledgerName(chosen.name, ledger)
  const { index, views } = flags.erc20 ? tokenSettings(chosen.settings.views) : chosen.settings
  const whole = wholeScopeOf(views)
  const contracts = chosenContracts({ name, settings: { index } }, flags.contract)
  const scope: TargetOptions['scope'] = contracts ?? (index === 'full' ? whole : 'known')
  const wanted = wantedOf(flags)
  await using opened = new AsyncDisposableStack()
  const signal = interruption()
  const connected = connectNodes(loaded, chosen, opened)
  const { rpc } = connected
  const chain = { ...connected.chain, id: ledgerId(connected.chain.id, ledger) }
  const store = await (flags.repair
    ? takeChain({ url: loaded.config.store, chain: connected.chain, opened, mustExist: true })
    : openTool(loaded.config.store, opened))
  shareBudget(connected, store, opened)
  const { senderSample } = chosen.settings
  const sourceOf = (some: RpcPort): AuditSource =>
    scope === whole ? new FullSource(chain, some, undefined, { senderSample, scope }) : new WatchedSource(chain, some)
  const source = sourceOf(rpc)
  const witnesses = witnessesOf(rpc, sourceOf)
  const stored = (await store.chainState(chain.id))?.finalized ?? -1
  const final = await finalHeaderOf(await source.head(signal), { chain, rpc }, signal)
  const options = { store, chain, scope, finalized: Math.min(stored, final?.number ?? -1) }
  const targets = 'from' in wanted ? await givenTargets(options, wanted) : await randomTargets(options, wanted)

  const progress = new CommandProgress(name)
  opened.defer(() => progress.close())
  progress.expect(blocksOf(targets))
  const compare = async (compared: readonly AuditTarget[]): Promise<Comparison> => {
    const found: Comparison = {
      ...{ results: [], differences: new DifferenceList(differencesListed), differing: [] },
      witnesses,
    }
    for (const target of compared) {
      const before = found.differences.total
      const onBlocks = (blocks: number) => progress.add({ blocks, rows: 0, bytes: 0 })
      const { differences } = found
      const result = await auditRange(target, { chain, store, source, witnesses, differences, onBlocks }, signal)
      found.results.push(result)
      if (differences.total > before) found.differing.push({ target, result })
    }
    return found
  }
  const first = await compare(targets)
  const repairable = flags.repair ? first.differing.filter(({ result }) => isHeard(result)) : []
  const repaired = repairable.length > 0 ? first : undefined
  if (repaired !== undefined) {
    const guarded = await guardRoom(store, loaded, opened)
    const repair = { chain, rpc, store: guarded.store, scope: whole, senderSample, patienceMs, checksBelow: false }
    for (const { target, result } of repairable) {
      // What could not be stored again is not dropped.
      guarded.room.requireRoom()
      await repairRange(target, result.strays, repair, signal)
    }
    progress.expect(blocksOf(repaired.differing.map(({ target }) => target)))
  }
  const last = repaired === undefined ? first : await compare(repaired.differing.map(({ target }) => target))
  progress.close()
  if (last.differences.total > 0) process.exitCode = exitCodes.change
  const before = repaired === undefined ? {} : { repaired: shown(name, repaired) }
  if (flags.json) return printJson({ ...shown(name, last), ...before })
  if (repaired !== undefined) {
    printData(described(name, repaired))
    printData(`Dropped and indexed again: ${countOf(repairable.length, 'range')}. Compared once more:`)
  }
  printData(described(name, last))
}

/** Only then may a range be repaired: an endpoint that says otherwise would have been heard. */
function isHeard({ disputed, unheard }: AuditResult): boolean {
  return !disputed && unheard.length === 0
}

type Comparison = {
  results: AuditResult[]
  differences: DifferenceList
  differing: { target: AuditTarget; result: AuditResult }[]
  witnesses: readonly Witness[]
}

function wantedOf({ from, to, samples, blocks }: Ranges) {
  if (from !== undefined && to !== undefined) return parseBlocks({ from, to })
  if (from === undefined && to === undefined) return { samples, blocks }
  throw new AlmanacError('bad_request', `--${from === undefined ? 'to needs --from' : 'from needs --to'}.`, {
    hint: 'pass both --from and --to, or neither for random ranges.',
  })
}

function blocksOf(ranges: readonly (AuditTarget | AuditResult)[]): number {
  return ranges.reduce((sum, { interval }) => sum + blockCount([interval]), 0)
}

/** Ranges may overlap, and contracts share blocks. */
export function differentBlocks(results: readonly AuditResult[]): number {
  const intervals = results.map(({ interval }) => interval)
  const [from, to] = [Math.min(...intervals.map(each => each.from)), Math.max(...intervals.map(each => each.to))]
  return intervals.length === 0 ? 0 : to - from + 1 - blockCount(missingIntervals(intervals, { from, to }))
}

function shown(chain: string, { results, differences, witnesses }: Comparison) {
  return {
    chain,
    same: differences.total === 0,
    blocks: differentBlocks(results),
    transfers: transfersOf(results),
    ranges: results.map(({ interval, contract, evidence, transfers, unheard }) => ({
      ...interval,
      ...(contract === undefined ? {} : { contract }),
      evidence,
      transfers,
      ...(unheard.length === 0 ? {} : { unheard }),
    })),
    differences_total: differences.total,
    differences_by_kind: Object.fromEntries(differences.counts),
    differences: differences.listed,
    // Where there is one endpoint, it is the one that answered.
    ...(witnesses.length === 0
      ? {}
      : {
          endpoints: witnesses.map(({ endpoint, silent }) => ({
            endpoint,
            ...(silent === undefined ? {} : { silent }),
          })),
        }),
  }
}

function described(chain: string, { results, differences, witnesses }: Comparison): string {
  const compared = `${countOf(differentBlocks(results), 'block')} in ${countOf(results.length, 'range')}, ${countOf(transfersOf(results), 'transfer')}`
  const ranges = results.map(({ interval: { from, to }, contract, evidence, transfers }) => {
    const whose = contract === undefined ? '' : ` of ${contract}`
    return `blocks ${from} to ${to}${whose}: ${countOf(transfers, 'transfer')}, ${evidence}`
  })
  for (const { endpoint, silent } of witnesses)
    if (silent !== undefined) ranges.push(`not compared with ${endpoint}: ${silent}`)
  for (const { interval, unheard } of results)
    for (const { endpoint, reason } of unheard.slice(0, 1))
      ranges.push(
        `blocks ${interval.from} to ${interval.to}: not compared with ${endpoint}, and not repaired: ${reason}`,
      )
  const disputed = results.filter(result => result.disputed).length
  const kept =
    disputed === 0 ? [] : [`The endpoints disagree on ${countOf(disputed, 'range')}: neither compared nor repaired.`]
  if (differences.total === 0)
    return [...ranges, `${chain} is the same in the store as on the chain: ${compared}.`].join('\n')
  const kinds = [...differences.counts].map(([kind, count]) => `${countText(count)} ${kind}`).join(', ')
  const more = differences.total - differences.listed.length
  return [
    ...ranges,
    ...differences.listed.map(differenceLine),
    ...(more > 0 ? [`and ${countText(more)} more`] : []),
    ...kept,
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

function transfersOf(results: readonly AuditResult[]): number {
  return results.reduce((sum, { transfers }) => sum + transfers, 0)
}

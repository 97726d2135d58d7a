// Estimates what indexing will take: samples each configured chain, adds up, and says what the sampling itself took.

import { Command } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import type { ChainSettings } from '../config/settings.ts'
import { AlmanacError } from '../errors.ts'
import { type CostEstimate, estimateCost } from '../evm/audit/sample-cost.ts'
import { connectChain } from '../evm/create-evm.ts'
import { MeteredRpc } from '../evm/rpc/chain-rpc.ts'
import { finalHeaderOf } from '../evm/source/chain-source.ts'
import { FullSource } from '../evm/source/full-source.ts'
import { deploymentBlock } from '../evm/source/wallet-lookup.ts'
import type { Address, Interval } from '../model.ts'
import { addConfigOptions, chooseChain, loadConfigFor, parseWhole } from './options.ts'
import { interruption } from './process.ts'
import { bytesText, countText, durationText, printData, printJson, printNote, table } from './terminal.ts'

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
    await plan(loaded, flags)
  })
  return command
}

/** Measured on stores of some million rows: transfers take 110 to 125 bytes, indexes and free space included. */
const diskBytes = { transfer: 118, address: 130, block: 55 }

const assumptions = [
  `disk: ${diskBytes.transfer} bytes a transfer (measured: 110 to 125), ${diskBytes.address} an address (full chains only), ${diskBytes.block} a block with transfers`,
  'time: as fast as the endpoints answered now, within requestsPerSecond and dailyBudget; writing is not what limits',
  'history up to the final block; following the head, wallets and contracts that are asked for later come on top',
  'how many addresses are different is judged from how often samples share them, and is the least certain figure',
]

type Work = Interval & { chain: string; contract: Address | undefined; estimate: CostEstimate; limitedBy: Limit }
type Limit = 'endpoints' | 'requestsPerSecond' | 'dailyBudget'
type Spent = { calls: number; bytes: number; seconds: number }

export async function plan(loaded: LoadedConfig, flags: PlanFlags): Promise<void> {
  const samples = parseWhole('--samples', flags.samples, 1)
  const configured = Object.entries(loaded.config.chains)
  const chosen = flags.chain === undefined ? undefined : chooseChain(loaded, flags.chain)
  if (configured.length === 0) {
    throw new AlmanacError('not_configured', 'There is nothing to plan: no chain is configured.', {
      hint: 'add a chain under chains in the configuration.',
    })
  }
  const signal = interruption()
  const startedAt = performance.now()
  const spent: Spent = { calls: 0, bytes: 0, seconds: 0 }
  const works: Work[] = []
  for (const [name, settings] of chosen === undefined ? configured : [[chosen.name, chosen.settings] as const]) {
    if (process.stderr.isTTY) printNote(`Sampling ${name} …`)
    works.push(...(await planChain({ name, settings, loaded, samples, spent }, signal)))
  }
  spent.seconds = (performance.now() - startedAt) / 1_000
  if (flags.json) printJson(shown(works, spent))
  else printData(described(works, spent))
}

type ChainTask = { name: string; settings: ChainSettings; loaded: LoadedConfig; samples: number; spent: Spent }

async function planChain({ name, settings, loaded, samples, spent }: ChainTask, signal: AbortSignal): Promise<Work[]> {
  const observer = {
    request: ({ bytes }: { bytes: number }) => {
      spent.bytes += bytes
    },
    hedge: () => {},
  }
  const { chain, rpc } = connectChain(name, settings, { chains: loaded.chains, observer })
  const meter = new MeteredRpc(rpc)
  try {
    const source = new FullSource(chain, meter)
    const final = await finalHeaderOf(await source.head(signal), chain, source, signal)
    const history = { from: settings.from, to: final?.number ?? -1 }
    const works: Work[] = []
    const add = async (contract: Address | undefined, interval: Interval, callsBefore: number): Promise<void> => {
      const sampled = await estimateCost({ chain, rpc: meter, interval, contract, samples }, signal)
      const estimate = { ...sampled, calls: sampled.calls + callsBefore }
      works.push({ ...interval, chain: name, contract, ...limited(estimate, settings) })
    }
    if (settings.index === 'full') await add(undefined, history, 0)
    else
      for (const contract of settings.contracts) {
        const before = meter.calls
        const deployed = await deploymentBlock(contract, { rpc: meter, upTo: history.to }, signal)
        await add(contract, { ...history, from: Math.max(history.from, deployed ?? 0) }, meter.calls - before)
      }
    return works
  } finally {
    spent.calls += meter.calls
    await rpc.close()
  }
}

/** What configuration allows may be less than what the endpoints could give. */
function limited(
  estimate: CostEstimate,
  { requestsPerSecond, dailyBudget }: ChainSettings,
): { estimate: CostEstimate; limitedBy: Limit } {
  const times: [Limit, number][] = [
    ['endpoints', estimate.seconds],
    ['requestsPerSecond', requestsPerSecond === undefined ? 0 : estimate.calls / requestsPerSecond],
    ['dailyBudget', dailyBudget === undefined ? 0 : (estimate.calls / dailyBudget) * 86_400],
  ]
  const [limitedBy, seconds] = times.reduce((longest, next) => (next[1] > longest[1] ? next : longest))
  return { estimate: { ...estimate, seconds }, limitedBy }
}

function diskOf({ transfers, addresses, transferBlocks }: CostEstimate): number {
  return transfers * diskBytes.transfer + addresses * diskBytes.address + transferBlocks * diskBytes.block
}

type Figures = {
  calls: number
  bytes: number
  seconds: number
  transfers: number
  addresses: number
  disk_bytes: number
}

function figuresOf(estimate: CostEstimate): Figures {
  const { calls, bytes, transfers, addresses } = estimate
  const seconds = Math.round(estimate.seconds * 10) / 10
  return { calls, bytes, seconds, transfers, addresses, disk_bytes: diskOf(estimate) }
}

/** Contracts of one chain share its endpoints, so their times add up; chains run side by side. */
function sumOf(works: readonly Work[]): Figures {
  const list = works.map(({ estimate }) => figuresOf(estimate))
  const sum = (field: keyof Figures): number => list.reduce((total, figures) => total + figures[field], 0)
  return {
    calls: sum('calls'),
    bytes: sum('bytes'),
    seconds: sum('seconds'),
    transfers: sum('transfers'),
    addresses: sum('addresses'),
    disk_bytes: sum('disk_bytes'),
  }
}

function byChain(works: readonly Work[]): Map<string, Work[]> {
  return Map.groupBy(works, ({ chain }) => chain)
}

function totalOf(works: readonly Work[]): Figures {
  const longest = Math.max(0, ...[...byChain(works).values()].map(list => sumOf(list).seconds))
  return { ...sumOf(works), seconds: longest }
}

/** As `--json` shows it. */
function shown(works: readonly Work[], spent: Spent) {
  const chains = [...byChain(works)].map(([name, list]) => [
    name,
    {
      ...sumOf(list),
      parts: list.map(({ contract, from, to, estimate, limitedBy }) => ({
        ...(contract === undefined ? {} : { contract }),
        from,
        to,
        blocks: estimate.blocks,
        blocks_sampled: estimate.blocksSampled,
        ...figuresOf(estimate),
        limited_by: limitedBy,
      })),
    },
  ])
  const sampling = { ...spent, seconds: Math.round(spent.seconds * 10) / 10 }
  return { chains: Object.fromEntries(chains), total: totalOf(works), sampling, assumptions }
}

function described(works: readonly Work[], spent: Spent): string {
  const heading = ['CHAIN', 'WHAT', 'BLOCKS', 'SAMPLED', 'CALLS', 'BYTES', 'TIME', 'TRANSFERS', 'ADDRESSES', 'DISK']
  const cells = ({ calls, bytes, seconds, transfers, addresses, disk_bytes }: Figures): string[] => [
    countText(calls),
    bytesText(bytes),
    durationText(seconds),
    countText(transfers),
    countText(addresses),
    bytesText(disk_bytes),
  ]
  const rows = works.map(({ chain, contract, estimate }) => [
    chain,
    contract ?? 'everything',
    countText(estimate.blocks),
    countText(estimate.blocksSampled),
    ...cells(figuresOf(estimate)),
  ])
  const total = ['total', '', '', '', ...cells(totalOf(works))]
  const limits = works.filter(({ limitedBy }) => limitedBy !== 'endpoints')
  return [
    works.length === 0
      ? 'No contract is configured: nothing is read until one is asked for.'
      : table(heading, [...rows, total]),
    '',
    ...limits.map(({ chain, limitedBy }) => `${chain}: the time is set by chains.${chain}.${limitedBy}.`),
    `Sampling took ${countText(spent.calls)} calls, ${bytesText(spent.bytes)} and ${durationText(spent.seconds)}.`,
    ...assumptions.map(line => `Assumed: ${line}.`),
  ].join('\n')
}

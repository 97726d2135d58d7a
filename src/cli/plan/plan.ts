// Estimates what indexing will cost: samples each configured chain, adds up, and reports what the sampling itself took.
import { Command } from 'commander'
import type { LoadedConfig } from '../../config/load.ts'
import type { ChainSettings } from '../../config/settings.ts'
import { dayMs, parseHours } from '../../daily-hours.ts'
import { AlmanacError } from '../../errors.ts'
import { type CostEstimate, estimateCost } from '../../evm/audit/sample-cost.ts'
import { MeteredRpc } from '../../evm/rpc/chain-rpc.ts'
import { deploymentOf } from '../../evm/source/deployment.ts'
import { finalHeaderOf } from '../../evm/source/finality.ts'
import { FullSource } from '../../evm/source/full-source.ts'
import type { Address, Interval } from '../../model.ts'
import { isIndexed, type View, viewNames, wholeScopeOf } from '../../views.ts'
import { commandLine, interruption } from '../current-process.ts'
import { type EngineCosts, engineCosts } from './measured-costs.ts'
import { connectNodes } from '../open-chain.ts'
import { chooseChain, wholeNumber, withConfig } from '../options.ts'
import { modelledChains, modelText } from './model.ts'
import { bytesText, countText, durationText, printData, printJson, printNote, table } from '../terminal.ts'

type PlanFlags = { chain?: string; samples: number; model?: true; json?: true }

export function planCommand(): Command {
  const command = new Command('plan')
    .description(
      'Estimate what indexing will cost: the calls, bytes, time and disk for the configured chains, from small samples of their history. Opens no store and writes nothing.',
    )
    .option('--chain <name>', 'Only this configured chain.')
    .option(
      '--samples <number>',
      'Number of samples of each history, about 2 MB each.',
      wholeNumber('--samples', 1),
      16,
    )
    .option(
      '--model',
      'Ask no node: print what Ethereum, Polygon and a mid-size chain take in full, from measured costs.',
    )
    .option('--json', 'Print the estimate as JSON.')
  return withConfig(command, [], plan)
}

const assumptionsOf = (costs: EngineCosts): string[] => [
  `disk: ${costs.transfer} bytes a transfer (measured: ${costs.measured}) and ${indexesText(costs)}, ${costs.address} an address (full chains only), ${costs.block} a block with transfers`,
  ...(costs === engineCosts.file
    ? ['merging: rows are moved some at a time and need no disk of their own; the write-ahead log takes up to 100 MB']
    : []),
  `time: the endpoints answer as fast as now, within requests_per_second, daily_budget and backfill; two cores index ${bytesText(costs.jsonPerSecond)} of answers a second in full mode`,
  'history: up to the final block; following the head, and wallets and contracts requested later, come on top',
  'addresses: estimated from how often samples share them; the least certain figure',
]

function indexesText({ indexes }: EngineCosts): string {
  const parts = Object.entries(indexes).map(([view, bytes]) => `${bytes} in ${view}`)
  return parts.join(', ')
}

type Work = Interval & {
  chain: string
  contract: Address | undefined
  /** What is kept of whole blocks. */
  views: readonly View[]
  estimate: CostEstimate
  limitedBy: Limit
  diskBytes: number
  /** Of these, what the activity of wallets takes. */
  activityBytes: number
}
type Limit =
  | 'endpoints'
  | 'requests_per_second'
  | 'daily_budget'
  | 'backfill.blocks_per_second'
  | 'backfill.hours'
  /** What this machine indexes in a second. */
  | 'machine'
type Spent = { calls: number; bytes: number; seconds: number }

export async function plan(loaded: LoadedConfig, flags: PlanFlags): Promise<void> {
  if (flags.model) {
    if (flags.json) printJson({ model: modelledChains() })
    else printData(modelText())
    return
  }
  const configured = Object.entries(loaded.config.chains)
  const chosen = flags.chain === undefined ? undefined : chooseChain(loaded, flags.chain)
  if (configured.length === 0) {
    throw new AlmanacError('not_configured', 'No chain is configured, so there is nothing to plan.', {
      hint: `write a configuration with \`${commandLine} init\`, or name yours with --config.`,
    })
  }
  const signal = interruption()
  const startedAt = performance.now()
  const spent: Spent = { calls: 0, bytes: 0, seconds: 0 }
  const works: Work[] = []
  const costs = loaded.config.store.startsWith('file:') ? engineCosts.file : engineCosts.postgres
  for (const [name, settings] of chosen === undefined ? configured : [[chosen.name, chosen.settings] as const]) {
    if (process.stderr.isTTY) printNote(`Sampling ${name} …`)
    works.push(...(await planChain({ name, settings, loaded, samples: flags.samples, spent, costs }, signal)))
  }
  spent.seconds = (performance.now() - startedAt) / 1_000
  const assumptions = assumptionsOf(costs)
  if (flags.json) printJson({ ...shown(works, spent), assumptions })
  else {
    const room = roomLines(totalOf(works).disk_bytes, loaded.config.limits.storeBytesMax)
    printData([described(works, room, spent), ...assumptions.map(line => `Assumed: ${line}.`)].join('\n'))
  }
}

function roomLines(needed: number, bytesMax: number | undefined): string[] {
  return bytesMax !== undefined && bytesMax < needed
    ? [`limits.store_bytes_max allows ${bytesText(bytesMax)}: indexing would pause as store_full.`]
    : []
}

type ChainTask = {
  name: string
  settings: ChainSettings
  loaded: LoadedConfig
  samples: number
  spent: Spent
  costs: EngineCosts
}

async function planChain(
  { name, settings, loaded, samples, spent, costs }: ChainTask,
  signal: AbortSignal,
): Promise<Work[]> {
  await using opened = new AsyncDisposableStack()
  const { chain, rpc } = connectNodes(loaded, { name, settings }, opened, bytes => {
    spent.bytes += bytes
  })
  const meter = new MeteredRpc(rpc)
  try {
    const source = new FullSource(chain, meter)
    const final = await finalHeaderOf(await source.head(signal), { chain, rpc: meter }, signal)
    const history = { from: settings.from, to: final?.number ?? -1 }
    const works: Work[] = []
    const add = async (contract: Address | undefined, interval: Interval, callsBefore: number): Promise<void> => {
      const { views = viewNames } = settings
      const scope = wholeScopeOf(views)
      const sampled = await estimateCost({ chain, rpc: meter, interval, contract, scope, samples }, signal)
      const estimate = { ...sampled, calls: sampled.calls + callsBefore }
      works.push({
        ...interval,
        chain: name,
        contract,
        views,
        ...limited(estimate, settings, costs),
        diskBytes: diskOf(estimate, views, costs),
        activityBytes: estimate.addresses * costs.address,
      })
    }
    if (settings.index === 'full') await add(undefined, history, 0)
    else
      for (const contract of settings.contracts) {
        const before = meter.calls
        const deployed = await deploymentOf(contract, { rpc: meter, upTo: history.to }, signal)
        await add(contract, { ...history, from: Math.max(history.from, deployed?.block ?? 0) }, meter.calls - before)
      }
    return works
  } finally {
    spent.calls += meter.calls
  }
}

/** The configuration may allow less than the endpoints could give, and the machine may take less. */
function limited(
  estimate: CostEstimate,
  { requestsPerSecond, dailyBudget, index, backfill }: ChainSettings,
  { jsonPerSecond }: EngineCosts,
): { estimate: CostEstimate; limitedBy: Limit } {
  const { blocksPerSecond } = backfill
  const isFull = index === 'full'
  const times: [Limit, number][] = [
    ['endpoints', estimate.seconds],
    ['requests_per_second', requestsPerSecond === undefined ? 0 : estimate.calls / requestsPerSecond],
    ['daily_budget', dailyBudget === undefined ? 0 : (estimate.calls / dailyBudget) * 86_400],
    ['backfill.blocks_per_second', isFull && blocksPerSecond !== undefined ? estimate.blocks / blocksPerSecond : 0],
    ['machine', isFull ? estimate.bytes / jsonPerSecond : 0],
  ]
  const [limitedBy, seconds] = times.reduce((longest, next) => (next[1] > longest[1] ? next : longest))
  const hours = backfill.hours === undefined ? undefined : parseHours(backfill.hours)
  if (hours === undefined) return { estimate: { ...estimate, seconds }, limitedBy }
  const elapsed = seconds * (dayMs / hours.lengthMs)
  return { estimate: { ...estimate, seconds: elapsed }, limitedBy: 'backfill.hours' }
}

function diskOf(
  { transfers, addresses, transferBlocks }: CostEstimate,
  views: readonly View[],
  disk: EngineCosts,
): number {
  const indexes = views.filter(isIndexed).reduce((sum, view) => sum + disk.indexes[view], 0)
  return transfers * (disk.transfer + indexes) + addresses * disk.address + transferBlocks * disk.block
}

const formats = {
  ...{ calls: countText, bytes: bytesText, seconds: durationText },
  ...{ transfers: countText, addresses: countText, disk_bytes: bytesText },
}
const figureNames = Object.keys(formats) as (keyof typeof formats)[]
type Figures = Record<keyof typeof formats, number>

function figuresOf({ estimate, diskBytes }: Work): Figures {
  const { calls, bytes, transfers, addresses } = estimate
  const seconds = Math.round(estimate.seconds * 10) / 10
  return { calls, bytes, seconds, transfers, addresses, disk_bytes: diskBytes }
}

/** Contracts of one chain share its endpoints, so their times add up; chains run in parallel. */
function sumOf(works: readonly Work[]): Figures {
  const list = works.map(figuresOf)
  const sum = (name: keyof Figures): number => list.reduce((total, figures) => total + figures[name], 0)
  return Object.fromEntries(figureNames.map(name => [name, sum(name)])) as Figures
}

function byChain(works: readonly Work[]): Map<string, Work[]> {
  return Map.groupBy(works, ({ chain }) => chain)
}

function totalOf(works: readonly Work[]): Figures {
  const longest = Math.max(0, ...[...byChain(works).values()].map(list => sumOf(list).seconds))
  return { ...sumOf(works), seconds: longest }
}

function shown(works: readonly Work[], spent: Spent) {
  const chains = [...byChain(works)].map(([name, list]) => [
    name,
    {
      ...sumOf(list),
      parts: list.map(work => ({
        ...(work.contract === undefined ? { views: work.views } : { contract: work.contract }),
        from: work.from,
        to: work.to,
        blocks: work.estimate.blocks,
        blocks_sampled: work.estimate.blocksSampled,
        ...figuresOf(work),
        limited_by: work.limitedBy,
      })),
    },
  ])
  const sampling = { ...spent, seconds: Math.round(spent.seconds * 10) / 10 }
  return { chains: Object.fromEntries(chains), total: totalOf(works), sampling }
}

function described(works: readonly Work[], room: readonly string[], spent: Spent): string {
  const heading = ['CHAIN', 'WHAT', 'BLOCKS', 'SAMPLED', 'CALLS', 'BYTES', 'TIME', 'TRANSFERS', 'ADDRESSES', 'DISK']
  const cells = (figures: Figures) => figureNames.map(name => formats[name](figures[name]))
  const rows = works.map(work => [
    work.chain,
    work.contract ?? 'everything',
    countText(work.estimate.blocks),
    countText(work.estimate.blocksSampled),
    ...cells(figuresOf(work)),
  ])
  const total = ['total', '', '', '', ...cells(totalOf(works))]
  const limits = works.filter(({ limitedBy }) => limitedBy !== 'endpoints' && limitedBy !== 'machine')
  return [
    works.length === 0
      ? 'No contract is configured: nothing is indexed until one is requested.'
      : table(heading, [...rows, total]),
    '',
    ...works.filter(({ contract }) => contract === undefined).map(viewsLine),
    ...works.filter(({ limitedBy }) => limitedBy === 'machine').map(machineLine),
    ...limits.map(({ chain, limitedBy }) => `${chain}: the time is set by chains.${chain}.${limitedBy}.`),
    ...room,
    `Sampling took ${countText(spent.calls)} calls, ${bytesText(spent.bytes)} and ${durationText(spent.seconds)}.`,
  ].join('\n')
}

function machineLine({ chain }: Work): string {
  return `${chain}: the endpoints are faster than two cores index; more cores take less time.`
}

/** What the activity of wallets costs, or that it is left out. */
function viewsLine({ chain, views, activityBytes }: Work): string {
  return views.includes('activity')
    ? `${chain}: the activity of wallets takes ${bytesText(activityBytes)} of the disk; chains.${chain}.views: [transfers] leaves it out.`
    : `${chain}: the activity of wallets is left out by chains.${chain}.views, and no address is counted.`
}

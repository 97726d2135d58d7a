// Estimates what indexing will cost: samples each configured chain, adds up, and reports what the sampling itself took.
import { availableParallelism } from 'node:os'
import { Command } from 'commander'
import { commandLine, exitCodeOf, exitCodes, interruption } from '../../cli/current-process.ts'
import { chooseChain, wholeNumber } from '../../cli/options.ts'
import { withMeantConfig } from '../../cli/running-server.ts'
import { bytesText, countText, fitted, ProgressLine, printData, printJson, printNote } from '../../cli/terminal.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { AlmanacError, describeError } from '../../errors.ts'
import { planChain } from './chain-plan.ts'
import { type EngineCosts, engineCosts, fromFiles, sendersPerSecond } from './measured-costs.ts'
import { modelledChains, modelText } from './model.ts'
import { parsePrice, pricedCalls, priceText, shortPriceText } from './price.ts'
import { type ChainPlan, callsOf, described, type Spent, shown, totalOf } from './report.ts'

type PlanFlags = { chain?: string; samples: number; price?: number; model?: true; json?: true }

export function planCommand(): Command {
  const command = new Command('plan')
    .description(
      'Estimate what indexing will cost: the calls, bytes, time and disk that the configured chains will take, and which source each block comes from. Reads small samples of their history; opens no store and writes nothing.',
    )
    .option('--chain <name>', 'Only this configured chain.')
    .option(
      '--samples <number>',
      'Number of samples per chain. 16 take about 300 calls; more take 16 each.',
      wholeNumber('--samples', 1),
      16,
    )
    .option(
      '--price <number>',
      'What your provider asks for a million calls, such as 5 or 0.45: prints what the estimated calls cost.',
      parsePrice,
    )
    .option(
      '--model',
      'Ask no node: print what Ethereum, Polygon and a mid-size chain take in full, from measured costs.',
    )
    .option('--json', 'Print the estimate as JSON.')
  return withMeantConfig(command, [], async (loaded, flags: PlanFlags) => {
    const failures = await plan(loaded, flags)
    const codes = failures.map(exitCodeOf)
    // A failure that passes by itself matters less.
    if (codes.length > 0) process.exitCode = codes.find(code => code !== exitCodes.tryLater) ?? exitCodes.tryLater
  })
}

function assumptionsOf(costs: EngineCosts, plans: readonly ChainPlan[]): string[] {
  const works = plans.flatMap(plan => plan.works)
  // Where nothing was estimated, nothing was assumed.
  if (works.every(({ estimate }) => estimate.blocks === 0)) return []
  return [
    `disk: ${costs.transfer} bytes a transfer (measured: ${costs.measured}) and ${indexesText(costs)}, ${costs.address} an address (full chains only), ${costs.block} a block with transfers`,
    ...(costs === engineCosts.file
      ? ['merging: rows are moved some at a time and need no disk of their own; the write-ahead log takes up to 100 MB']
      : []),
    `time: the endpoints answer as fast as now, within requests_per_second, daily_budget and backfill; two cores index ${bytesText(costs.jsonPerSecond)} of answers a second in full mode`,
    ...(works.some(({ source }) => source === 'files')
      ? [
          `files: the same blocks are indexed ${fromFiles.speed} times as fast as from answers (measured), from a disk that keeps up`,
        ]
      : []),
    ...(works.some(({ senders }) => senders !== undefined)
      ? [
          `senders: each core recovers ${countText(sendersPerSecond)} a second (measured), and this machine has ${availableParallelism()}; everything is read once more for it`,
        ]
      : []),
    'history: up to the final block; following the head, and wallets and contracts requested later, come on top',
    'addresses: estimated from how often samples share them; the least certain figure',
  ]
}

function indexesText({ indexes }: EngineCosts): string {
  const parts = Object.entries(indexes).map(([view, bytes]) => `${bytes} in ${view}`)
  return parts.join(', ')
}

/** Prints the plan and returns why chains are missing in it, which it has told. Of a single chain it fails instead. */
export async function plan(loaded: LoadedConfig, flags: PlanFlags): Promise<AlmanacError[]> {
  if (flags.model) {
    const model = modelledChains()
    const cost =
      flags.price && pricedCalls(flags.price, Object.fromEntries(model.map(each => [each.chain, each.calls])))
    if (flags.json) printJson({ model, ...(cost ? { cost } : {}) })
    else printData([modelText(), ...(cost ? [priceText(cost, { areSummed: false })] : [])].join('\n'))
    return []
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
  const plans: ChainPlan[] = []
  const costs = loaded.config.store.startsWith('file:') ? engineCosts.file : engineCosts.postgres
  using opened = new DisposableStack()
  const line = opened.adopt(new ProgressLine(), each => each.close())
  let doing = ''
  // Some steps take long themselves.
  opened.adopt(
    setInterval(() => line.offer(() => doing), 1_000),
    clearInterval,
  )
  const planned = chosen === undefined ? configured : [[chosen.name, chosen.settings] as const]
  for (const [name, settings] of planned) {
    const onStep = (text: string): void => {
      doing = `Sampling ${name}: ${text}`
      line.offer(() => doing)
    }
    doing = `Waiting for the node of ${name} …`
    const task = { name, settings, loaded, samples: flags.samples, spent, costs, onStep }
    const outcome = planChain(task, signal).catch((failure: unknown): ChainPlan => {
      if (planned.length === 1 || !(failure instanceof AlmanacError) || signal.aborted) throw failure
      return { name, works: [], missing: [], sources: [], isArchive: false, notFinal: 0, failure }
    })
    plans.push(await outcome)
  }
  line.close()
  spent.seconds = (performance.now() - startedAt) / 1_000
  const assumptions = assumptionsOf(costs, plans)
  const calls = plans.filter(({ failure }) => failure === undefined).map(({ name, works }) => [name, callsOf(works)])
  const cost = flags.price && pricedCalls(flags.price, Object.fromEntries(calls))
  if (flags.json) printJson({ ...shown(plans, spent), ...(cost ? { cost } : {}), assumptions })
  else {
    const room = roomLines(totalOf(plans).disk_bytes, loaded.config.limits.storeBytesMax)
    const assumed = assumptions.length === 0 ? [] : [fitted(assumedText(costs), { output: process.stdout })]
    // Of one chain the first sentence has all of it.
    const priced = cost && Object.keys(cost.chains).length > 1 ? [priceText(cost)] : []
    const price = cost ? shortPriceText(cost) : ''
    printData([described(plans, { price, more: [...priced, ...room], spent }), ...assumed].join('\n'))
  }
  const failures = plans.flatMap(({ failure = [] }) => failure)
  for (const failure of failures) printNote(`\n${describeError(failure)}`)
  return failures
}

/** What a reader needs to judge the figures; the JSON has every cost that they rest on. */
function assumedText({ jsonPerSecond }: EngineCosts): string {
  const speed = `the endpoints stay as fast as now, and two cores index ${bytesText(jsonPerSecond)} of answers a second`
  return `Assumed: ${speed}. The disk for wallets is the least certain figure. Following the head, and what is requested later, come on top. All costs: --json.`
}

function roomLines(needed: number, bytesMax: number | undefined): string[] {
  return bytesMax !== undefined && bytesMax < needed
    ? [`limits.store_bytes_max allows ${bytesText(bytesMax)}: indexing would pause as store_full.`]
    : []
}

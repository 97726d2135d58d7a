// Pauses, resumes and throttles the history of chains through the store, and shows what holds. The process that fills
// it follows within two seconds; it may run anywhere.

import { userInfo } from 'node:os'
import { Command } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { parseHours } from '../daily-hours.ts'
import { durationText } from '../duration-text.ts'
import { AlmanacError } from '../errors.ts'
import { Reports } from '../processes/heartbeat.ts'
import type { BackfillStatus, ChainStatus } from '../status.ts'
import { type BackfillOrder, backfillOrder, type Ordered, orderBackfill } from '../store/backfill-order.ts'
import type { Store } from '../store/store.ts'
import { coveredBlocks } from './chain-progress.ts'
import { withStore } from './open-store.ts'
import { chooseChain, parseChain } from './options.ts'
import { countText, percentText, printable, printData, printJson, rateText, table } from './terminal.ts'

type Flags = { json?: true }
type ThrottleFlags = Flags & { blocksPerSecond?: number; hours?: string; off?: true }

const about =
  'New blocks and on-demand requests are still indexed. Survives restarts, and applies to the process that indexes the chain, on any machine.'

export function backfillCommand(): Command {
  const sub = (name: string, description: string) =>
    new Command(name)
      .description(description)
      .argument('[chain]', 'A configured chain. Default: all of them.')
      .option('--json', 'Print the result as JSON.')
  const pause = sub('pause', `Pause the backfill of a chain. ${about}`)
  const resume = sub('resume', 'Resume the backfill of a chain.')
  const throttle = sub('throttle', `Limit the backfill of a chain to a rate or to hours of the day. ${about}`)
    .option('--blocks-per-second <number>', 'Maximum blocks of history per second.', positiveNumber)
    .option('--hours <hours>', 'Hours of the day in UTC, such as 22:00-06:00.', requireHours)
    .option('--off', 'Return to the settings of the chain.')
  const status = sub('status', 'Show whether backfills are paused or throttled, and what is left.')
  return new Command('backfill')
    .description('Pause, resume and throttle backfills.')
    .addCommand(
      withStore(pause, (store, loaded, chain: string | undefined, flags: Flags) =>
        order(store, loaded, { chain, flags, change: { paused: ordered() } }),
      ),
    )
    .addCommand(
      withStore(resume, (store, loaded, chain: string | undefined, flags: Flags) =>
        order(store, loaded, { chain, flags, change: { paused: null } }),
      ),
    )
    .addCommand(
      withStore(throttle, (store, loaded, chain: string | undefined, flags: ThrottleFlags) =>
        order(store, loaded, { chain, flags, change: { throttle: throttleOf(flags) } }),
      ),
    )
    .addCommand(
      withStore(status, (store, loaded, chain: string | undefined, flags: Flags) =>
        show(store, loaded, { chain, flags }),
      ),
    )
}

function ordered(): Ordered {
  return { by: `${userInfo().username} (command)`, at: new Date().toISOString() }
}

function throttleOf({ blocksPerSecond, hours, off }: ThrottleFlags) {
  const given = { ...(blocksPerSecond && { blocks_per_second: blocksPerSecond }), ...(hours && { hours }) }
  if (Object.keys(given).length > 0 === (off === true))
    throw new AlmanacError('bad_request', 'Pass --blocks-per-second, --hours or both, or --off alone.')
  return off ? null : { ...given, ...ordered() }
}

type Order = { chain: string | undefined; flags: Flags; change: Parameters<typeof orderBackfill>[2] }

async function order(store: Store, loaded: LoadedConfig, { chain, flags, change }: Order): Promise<void> {
  for (const name of chosen(loaded, chain)) await orderBackfill(store, parseChain(loaded.chains, name).id, change)
  await show(store, loaded, { chain, flags, changed: change.paused === null ? 'resumed' : 'ordered' })
}

function chosen(loaded: LoadedConfig, chain: string | undefined): string[] {
  const all = Object.keys(loaded.config.chains)
  if (chain !== undefined || all.length === 0) return [chooseChain(loaded, chain ?? '').name]
  return all
}

type Shown = { chain: string | undefined; flags: Flags; changed?: 'resumed' | 'ordered' }

/** What is ordered, and what the process that has the chain last said of it. */
async function show(store: Store, loaded: LoadedConfig, { chain, flags, changed }: Shown): Promise<void> {
  const { chains: reported } = await new Reports(store).status()
  const rows = await Promise.all(
    chosen(loaded, chain).map(async name => {
      const order = await backfillOrder(store, parseChain(loaded.chains, name).id)
      return { name, order, reported: reported[name], rules: rulesOf(order, loaded, name) }
    }),
  )
  if (flags.json) {
    const facts = rows.map(({ name, order, reported }) => [name, jsonOf(order, reported)])
    return printJson(Object.fromEntries(facts))
  }
  const lines = rows.map(({ name, rules, reported }) => [
    printable(name),
    stateText(rules),
    rules.blocks_per_second === undefined ? '-' : rateText(rules.blocks_per_second),
    rules.hours === undefined ? '-' : `${rules.hours} UTC`,
    ...progressOf(reported),
  ])
  const notes = rows.flatMap(({ name, rules }) =>
    changed === 'resumed' && rules.paused?.by === 'settings'
      ? [`${name} stays paused by chains.${name}.backfill.paused: change the configuration and reload it.`]
      : [],
  )
  printData(
    [table(['CHAIN', 'HISTORY', 'RATE MAX', 'HOURS', 'COVERED', 'LEFT', 'INDEXER'], lines), ...notes].join('\n'),
  )
}

/** As this configuration and the orders say; the process that has the chain may have read another one. */
function rulesOf({ paused, throttle }: BackfillOrder, { config }: LoadedConfig, name: string) {
  const settings = config.chains[name]!.backfill
  return {
    paused: paused ?? (settings.paused ? { by: 'settings' } : undefined),
    hours: throttle?.hours ?? settings.hours,
    blocks_per_second: throttle?.blocks_per_second ?? settings.blocksPerSecond,
  } satisfies Partial<BackfillStatus>
}

function stateText({ paused }: Pick<BackfillStatus, 'paused'>): string {
  if (paused === undefined) return 'open'
  const ageSeconds = paused.at === undefined ? undefined : (Date.now() - Date.parse(paused.at)) / 1_000
  const since = ageSeconds === undefined ? '' : `, ${durationText(Math.max(0, ageSeconds))} ago`
  return `paused by ${printable(paused.by)}${since}`
}

function progressOf(status: ChainStatus | undefined): string[] {
  if (status === undefined) return ['-', '-', 'none runs']
  const blocks = coveredBlocks(status)
  const left = status.eta_seconds == null || status.eta_seconds === 0 ? '-' : durationText(status.eta_seconds)
  const covered = blocks === undefined ? '-' : `${percentText(blocks.done, blocks.total)} of ${countText(blocks.total)}`
  return [covered, left, `${status.state}, history ${status.backfill?.state.replace('_', ' ') ?? 'unknown'}`]
}

function jsonOf(order: BackfillOrder, reported: ChainStatus | undefined) {
  const ordered = { paused: order.paused ?? null, throttle: order.throttle ?? null }
  if (reported === undefined) return { ordered, indexer: null }
  const { state, eta_seconds, blocks_left = null, backfill = null } = reported
  return { ordered, indexer: { state, eta_seconds, blocks_left, backfill } }
}

function positiveNumber(text: string): number {
  const value = Number(text)
  if (Number.isFinite(value) && value > 0) return value
  throw new AlmanacError('bad_request', `--blocks-per-second is ${JSON.stringify(text)}.`, {
    hint: 'pass a number above 0.',
  })
}

function requireHours(text: string): string {
  if (parseHours(text) !== undefined) return text
  throw new AlmanacError('bad_request', `--hours is ${JSON.stringify(text)}.`, {
    hint: 'pass two times of the day in UTC, such as 22:00-06:00.',
  })
}

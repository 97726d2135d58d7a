// How far chains are: of a running service on the screen or in the log, and of a command on stderr.

import { blockCount, missingIntervals } from '../coverage.ts'
import { durationText } from '../duration-text.ts'
import { Progress } from '../evm/index/chain-stats.ts'
import { oldHint } from '../head-age.ts'
import type { Log } from '../log.ts'
import type { Interval } from '../model.ts'
import type { ChainStatus, StatusReport } from '../status.ts'
import { type WholeScope, wholeScopeOf } from '../views.ts'
import type { Render, Screen } from './screen/screen.ts'
import { barText, countText, ProgressLine, percentText, printable, rateText, waitingText } from './terminal.ts'

const redrawMs = 500
const logLookMs = 2_000
const logLineMs = 30_000
/** What is wrong stays so until somebody comes, and says so again from time to time. */
const logTroubleMs = 600_000

export type ProgressParts = {
  status: () => Promise<StatusReport>
  /** Undefined if stderr is not a terminal. `rowsOf` says what it shows. */
  screen: { screen: Screen; rowsOf: (report: StatusReport) => Promise<Render> } | undefined
  log: Log
}

/** Shows the progress of a service until the returned function is called. */
export function showProgress({ status, screen: shown, log }: ProgressParts): () => void {
  const screen = shown?.screen
  const logged = new Map<
    string,
    { state: string; why?: string | undefined; oldMs?: number | undefined; atMs: number }
  >()
  let asking = false
  let ended = false
  const show = async (report: StatusReport): Promise<void> => {
    if (shown !== undefined) {
      const render = await shown.rowsOf(report)
      if (!ended) shown.screen.draw(render)
      return
    }
    for (const [network, { state, reason, slot, lag_seconds }] of Object.entries(report.solana)) {
      const name = `solana ${network}`
      if (logged.get(name)?.state === state) continue
      logged.set(name, { state, atMs: performance.now() })
      if (state === 'live') log.info({ network, state, slot, lag_seconds }, 'Solana network live')
      else log.warn({ network, state, slot, lag_seconds, reason }, 'Solana network stalled')
    }
    // The thread that has ended is one line in the log, whatever the number of its chains.
    const chains = report.indexer?.answers === false ? {} : report.chains
    for (const [name, chain] of Object.entries(chains)) {
      const last = logged.get(name)
      const now = performance.now()
      const held = heldText(chain)
      const state = `${chain.state}${held}${chain.head_old === true ? ', old' : ''}`
      // Numbers in a reason go on counting.
      const why = isHeldUp(chain.state) ? (chain.reason ?? '').replaceAll(/\d+/g, '') : undefined
      // A change is logged at once; a chain that stays live, or whose history is held, has no other news.
      const isQuiet = chain.state === 'live' || held !== ''
      const restMs = isQuiet
        ? Number.POSITIVE_INFINITY
        : why !== undefined && last?.why === why
          ? logTroubleMs
          : logLineMs
      const isOld = chain.head_old === true
      const head_old = isOld && (last?.oldMs === undefined || now - last.oldMs >= logTroubleMs)
      if (last?.state === state && now - last.atMs < restMs && !head_old) continue
      logged.set(name, { state, why, oldMs: head_old ? now : isOld ? last?.oldMs : undefined, atMs: now })
      // Said once for all chains where the room of the store is watched.
      if (chain.state === 'store_full') continue
      logChain(log, name, { ...chain, head_old }, { isAgain: last?.state === state })
    }
  }
  const look = async (): Promise<void> => {
    if (asking) return
    asking = true
    try {
      await show(await status())
    } catch (error) {
      log.debug({ err: error }, 'Chain progress not read')
    } finally {
      asking = false
    }
  }
  const timer = setInterval(() => void look(), screen === undefined ? logLookMs : redrawMs)
  timer.unref()
  const redraw = (): void => screen?.redraw()
  if (screen !== undefined) process.stderr.on('resize', redraw)
  // Also where the process ends without a word, the terminal gets its cursor back.
  const end = (): void => {
    ended = true
    clearInterval(timer)
    process.stderr.off('resize', redraw)
    process.off('exit', end)
    screen?.close()
  }
  process.on('exit', end)
  return end
}

export function logChain(log: Log, chain: string, status: ChainStatus, { isAgain = false } = {}): void {
  const { state, reason, head, lag_seconds, head_age_seconds, rates, eta_seconds, backfill } = status
  const facts = { chain, state, head, lag_seconds }
  // A dispute has its own warning when it begins, with both sides.
  if (isHeldUp(state)) log[state === 'disputed' && !isAgain ? 'info' : 'warn']({ ...facts, reason }, `Chain ${state}`)
  else if (state === 'live') log.info(facts, 'Chain live')
  else if (heldText(status) !== '')
    log.info({ ...facts, ...coveredBlocks(status), backfill, eta_seconds }, 'Chain history held')
  else log.info({ ...facts, ...coveredBlocks(status), ...shortRates(rates), eta_seconds }, 'Chain backfilling')
  if (status.head_old === true)
    log.warn(
      { chain, head, head_age_seconds, hint: oldHint(chain) },
      'Chain head old; its node may have stopped importing blocks',
    )
}

type Held = { state: ChainStatus['state']; backfill?: ChainStatus['backfill'] | undefined }

/** Why history is not filled though some is left; empty where it is. */
export function heldText({ state, backfill }: Held): string {
  if (state !== 'backfilling') return ''
  if (backfill?.state === 'paused') return `paused by ${printable(backfill.paused?.by ?? 'unknown')}`
  // A server of another version may say more.
  return backfill?.state === 'outside_hours' ? `waits for ${backfill.hours} UTC` : ''
}

/** With one decimal: more are noise to a reader. */
function shortRates(rates: ChainStatus['rates']): Record<string, number> {
  return Object.fromEntries(Object.entries(rates ?? {}).map(([name, rate]) => [name, Math.round(rate * 10) / 10]))
}

/** States that have a reason instead of progress. */
export function isHeldUp(state: ChainStatus['state']): boolean {
  return state === 'stalled' || state === 'disputed' || state === 'store_full'
}

export type CoverageFacts = {
  head: number
  covered: readonly (Interval & { scope: string })[]
  from?: number | undefined
  index?: string | undefined
  views?: readonly string[] | undefined
}

type CoveredBlocks = {
  done: number
  total: number
  /** Blocks that are covered but for the wallets, where these are more: wallets come in a pass of their own. */
  transfers_done?: number
}

/** Blocks covered, and blocks to cover; undefined if contracts are read one by one. */
export function coveredBlocks({ head, from = 0, index, views, covered }: CoverageFacts): CoveredBlocks | undefined {
  if (index === 'on-demand' || head < from) return undefined
  const total = head - from + 1
  const doneOf = (wanted: WholeScope): number => {
    const some = covered.filter(({ scope }) => scope === 'full' || scope === wanted)
    return total - blockCount(missingIntervals(some, { from, to: head }))
  }
  const [done, transfers] = [doneOf(wholeScopeOf(views)), doneOf('transfers')]
  return { done, total, ...(transfers > done ? { transfers_done: transfers } : {}) }
}

/** Such as `transfers 48.2%`; empty where wallets are as far. */
export function transfersText({ transfers_done, total }: CoveredBlocks): string {
  return transfers_done === undefined ? '' : `transfers ${percentText(transfers_done, total)}`
}

/** The progress of a command. */
export class CommandProgress {
  readonly #label: string
  readonly #rates = new Progress()
  readonly #line = new ProgressLine()
  readonly #timer: NodeJS.Timeout
  readonly #startedMs = performance.now()
  #done = 0
  #total = 0

  constructor(label: string) {
    this.#label = label
    this.#timer = setInterval(() => this.#show(), this.#line.everyMs)
    this.#timer.unref()
  }

  expect(total: number): void {
    this.#total = total
    this.#rates.add({ blocks: 0, rows: 0, bytes: 0 })
  }

  add(done: { blocks: number; rows: number; bytes: number }): void {
    this.#done += done.blocks
    this.#rates.add(done)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#line.close()
  }

  #show(): void {
    if (this.#total === 0) {
      const text = waitingText(`Waiting for the node of ${this.#label}`, this.#startedMs)
      if (text !== undefined) this.#line.show(text)
      return
    }
    const facts = {
      label: this.#label,
      done: this.#done,
      total: this.#total,
      blocksPerSecond: this.#rates.rates()?.blocks_per_second,
      secondsLeft: this.#rates.secondsFor(this.#total - this.#done),
    }
    this.#line.show(progressText(facts, { bar: process.stderr.isTTY === true }))
  }
}

export type ProgressFacts = {
  label: string
  done: number
  total: number
  blocksPerSecond: number | undefined
  secondsLeft: number | undefined
  /** Said after the blocks. */
  also?: string
}

/** Such as `eth  ━━━━━╸────  48.2%  1,204,113 of 2,500,000 blocks  5,210 blocks/s  4 min 9 s left`. */
export function progressText(facts: ProgressFacts, { bar }: { bar: boolean }): string {
  const { label, done, total, blocksPerSecond, secondsLeft, also = '' } = facts
  return [
    label,
    ...(bar ? [barText(done, total)] : []),
    percentText(done, total).padStart(6),
    `${countText(done)} of ${countText(total)} blocks`,
    ...(also === '' ? [] : [also]),
    ...(blocksPerSecond === undefined ? [] : [rateText(blocksPerSecond)]),
    ...(secondsLeft === undefined ? [] : [`${durationText(secondsLeft)} left`]),
  ].join('  ')
}

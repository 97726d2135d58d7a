// One line for each chain that says how far it is. Pure: from the status to text.
import { blockCount, missingIntervals } from '../coverage.ts'
import { messageOf } from '../errors.ts'
import { Progress } from '../evm/index/chain-stats.ts'
import type { Log } from '../log.ts'
import type { ChainStatus, Interval, SolanaStatus, StatusReport } from '../model.ts'
import type { Screen } from './terminal.ts'
import { contractsText, countText, durationText, percentText, printable, rateText } from './terminal.ts'

export type CoverageFacts = {
  head: number
  covered: readonly (Interval & { scope: string })[]
  from?: number | undefined
  index?: string | undefined
}

/** Blocks that are there and blocks that there should be; undefined where contracts are read one by one. */
export function coveredBlocks({
  head,
  from = 0,
  index,
  covered,
}: CoverageFacts): { done: number; total: number } | undefined {
  if (index === 'on-demand' || head < from) return undefined
  const full = covered.filter(({ scope }) => scope === 'full')
  const total = head - from + 1
  return { done: total - blockCount(missingIntervals(full, { from, to: head })), total }
}

/** How many contracts have something covered. */
export function coveredContracts({ covered }: Pick<CoverageFacts, 'covered'>): number {
  return new Set(covered.map(({ scope }) => scope).filter(scope => scope !== 'full' && scope !== 'watched')).size
}

export function progressLines({ chains, solana }: StatusReport, options: { bar: boolean }): string[] {
  const names = [...Object.keys(chains), ...Object.keys(solana).map(name => `solana ${name}`)]
  const width = Math.max(0, ...names.map(name => name.length))
  return [
    ...Object.entries(chains).flatMap(([name, status]) => {
      const line = chainLine(name.padEnd(width), status, options)
      // What to try stands on a line of its own, where a narrow terminal does not cut it off.
      return options.bar ? line.replace(/ Try: /, `\n${' '.repeat(width)}  Try: `).split('\n') : [line]
    }),
    ...Object.entries(solana).map(([name, status]) => solanaLine(`solana ${name}`.padEnd(width), status, options)),
  ]
}

/** With a bar, every line has its figures in the same places. */
export function chainLine(label: string, status: ChainStatus, options: { bar: boolean }): string {
  const { state, reason, head, lag_seconds, rates, eta_seconds } = status
  if (state === 'stalled') return `${label}  stalled: ${printable(reason ?? 'no reason is known')}`
  const blocks = coveredBlocks(status)
  const contracts = contractsText(coveredContracts(status))
  if (state === 'live') {
    const covered =
      blocks === undefined
        ? emptyBar('on demand')
        : `${barText(blocks.done, blocks.total)}  ${percentText(blocks.done, blocks.total).padStart(6)}  `
    const more = blocks === undefined && options.bar ? [contracts] : []
    return [
      `${label}  ${options.bar ? covered : ''}live  head ${countText(head)}`,
      `${behindText(lag_seconds)}`,
      ...more,
    ].join('  ')
  }
  if (blocks === undefined)
    return `${label}  ${options.bar ? emptyBar('on demand') : ''}${state}  ${head < 0 ? 'no head yet' : `head ${countText(head)}`}  ${contracts}`
  const blocksPerSecond = rates?.blocksPerSecond
  return progressText({ label, ...blocks, blocksPerSecond, secondsLeft: eta_seconds ?? undefined }, options)
}

function solanaLine(label: string, { state, slot, lag_seconds }: SolanaStatus, { bar }: { bar: boolean }): string {
  return `${label}  ${bar ? emptyBar('') : ''}${state}  slot ${countText(slot)}  ${behindText(lag_seconds)}`
}

function behindText(seconds: number): string {
  return seconds < 60 ? `${Math.round(seconds)} s behind` : `${durationText(seconds)} behind`
}

/** In the place of a bar and its figure. */
function emptyBar(text: string): string {
  return `${text.padEnd(noBar.length)}  ${' '.repeat(6)}  `
}

/** The states in their colours, for a terminal. */
export function tinted(line: string, paint: { live(text: string): string; stalled(text: string): string }): string {
  if (/ {2}stalled: /.test(line)) return paint.stalled(line)
  return line.replace(/(?<= {2})live(?= {2})/, paint.live)
}

// Shows how far a running service is: lines that are redrawn on a terminal, and lines in the log elsewhere while there is something to tell.

const lookMs = 2_000
const logLineMs = 30_000

export type ProgressParts = {
  status: () => Promise<StatusReport>
  /** Absent where nobody looks at a terminal. */
  screen: Screen | undefined
  log: Log
}

/** Returns what ends it. */
export function showProgress({ status, screen, log }: ProgressParts): () => void {
  const told = new Map<string, { state: string; atMs: number }>()
  let asking = false
  const say = (report: StatusReport): void => {
    if (screen !== undefined) {
      screen.draw(progressLines(report, { bar: true }))
      return
    }
    for (const [name, chain] of Object.entries(report.chains)) {
      const last = told.get(name)
      const now = performance.now()
      // A change is told at once; a chain that stays live has no other news.
      if (last?.state === chain.state && (chain.state === 'live' || now - last.atMs < logLineMs)) continue
      told.set(name, { state: chain.state, atMs: now })
      const line = chainLine(name, chain, { bar: false })
      if (chain.state === 'stalled') log.warn(line)
      else log.info(line)
    }
  }
  const look = async (): Promise<void> => {
    if (asking) return
    asking = true
    try {
      say(await status())
    } catch (error) {
      log.debug(`How far the chains are is not known: ${messageOf(error)}`)
    } finally {
      asking = false
    }
  }
  const timer = setInterval(() => void look(), screen === undefined ? lookMs : redrawMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    asking = true
    screen?.close()
  }
}

// Progress of a command: one line that is redrawn on a terminal, a plain line every few seconds elsewhere. Always on stderr.

const redrawMs = 500
const plainLineMs = 5_000
const barWidth = 24

export type ProgressFacts = {
  label: string
  done: number
  total: number
  blocksPerSecond: number | undefined
  secondsLeft: number | undefined
}

/** Such as `eth  [=====>    ]  48.2%  1,204,113 of 2,500,000 blocks  5,210 blocks/s  4m 9s left`. */
export function progressText(facts: ProgressFacts, { bar }: { bar: boolean }): string {
  const { label, done, total, blocksPerSecond, secondsLeft } = facts
  return [
    label,
    ...(bar ? [barText(done, total)] : []),
    percentText(done, total).padStart(6),
    `${countText(done)} of ${countText(total)} blocks`,
    ...(blocksPerSecond === undefined ? [] : [rateText(blocksPerSecond)]),
    ...(secondsLeft === undefined ? [] : [`${durationText(secondsLeft)} left`]),
  ].join('  ')
}

/** Such as `[=====>    ]`; full only where everything is done. */
export function barText(done: number, total: number, width = barWidth): string {
  const filled = total <= 0 ? width : Math.min(width, Math.floor((done / total) * width))
  const head = filled > 0 && filled < width ? '>' : ''
  return `[${`${'='.repeat(filled - head.length)}${head}`.padEnd(width)}]`
}

/** As wide as a bar, for what has none. */
export const noBar = ' '.repeat(barWidth + 2)

type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>

export class CommandProgress {
  readonly #label: string
  readonly #output: Output
  readonly #rates = new Progress()
  readonly #timer: NodeJS.Timeout
  #done = 0
  #total = 0
  #drawn = false

  constructor(label: string, output: Output = process.stderr) {
    this.#label = label
    this.#output = output
    this.#timer = setInterval(() => this.#say(), output.isTTY ? redrawMs : plainLineMs)
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

  /** Leaves the terminal clean for what is said next. */
  close(): void {
    clearInterval(this.#timer)
    if (this.#drawn) this.#output.write('\r\u001b[K')
  }

  #say(): void {
    if (this.#total === 0) return
    const facts = {
      label: this.#label,
      done: this.#done,
      total: this.#total,
      blocksPerSecond: this.#rates.rates()?.blocksPerSecond,
      secondsLeft: this.#rates.secondsFor(this.#total - this.#done),
    }
    if (!this.#output.isTTY) {
      this.#output.write(`${progressText(facts, { bar: false })}\n`)
      return
    }
    // A line that wraps cannot be redrawn.
    this.#output.write(`\r\u001b[K${progressText(facts, { bar: true }).slice(0, (this.#output.columns || 80) - 1)}`)
    this.#drawn = true
  }
}

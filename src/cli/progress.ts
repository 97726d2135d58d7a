// Progress of a command: one line that is redrawn on a terminal, a plain line every few seconds elsewhere. Always on stderr.
import { Progress } from '../evm/index/progress.ts'
import { countText, durationText, percentText, rateText } from './quantities.ts'

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

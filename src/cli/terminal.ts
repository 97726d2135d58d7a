// What commands write: data to stdout, everything else to stderr, colours only on a terminal.
import pc from 'picocolors'
import { plainText } from '../plain-text.ts'

export const paint = pc.createColors(process.stdout.isTTY === true && pc.isColorSupported)
export const stderrColours = process.stderr.isTTY === true && !process.env.NO_COLOR

export function printData(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

export function printJson(value: unknown): void {
  printData(JSON.stringify(value, null, 2))
}

export function printNote(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Rows under a heading, each column as wide as its widest text. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heading.map((title, column) => Math.max(title.length, ...rows.map(row => row[column]?.length ?? 0)))
  const lines = [heading, ...rows].map(row =>
    row
      .map((text, column) => text.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
  return [paint.bold(lines[0]!), ...lines.slice(1)].join('\n')
}

/** Replaces characters that a terminal would obey. */
export function printable(text: string): string {
  return plainText(text, '�')
}

/** One line of progress on stderr: redrawn in place on a terminal, a plain line now and then elsewhere. */
export class ProgressLine {
  readonly everyMs = process.stderr.isTTY ? 500 : 5_000
  #shownAtMs = performance.now()
  #isDrawn = false

  /** Shows a line unless it showed one a moment ago. */
  offer(text: () => string): void {
    if (performance.now() - this.#shownAtMs >= this.everyMs) this.show(text())
  }

  show(text: string): void {
    this.#shownAtMs = performance.now()
    this.#isDrawn = process.stderr.isTTY === true
    // A line that wraps cannot be redrawn.
    process.stderr.write(
      this.#isDrawn ? `${eraseLine}${text.slice(0, (process.stderr.columns || 80) - 1)}` : `${text}\n`,
    )
  }

  /** Leaves the terminal clean for what is printed next. */
  close(): void {
    if (this.#isDrawn) process.stderr.write(eraseLine)
    this.#isDrawn = false
  }
}

const eraseLine = '\r\u001b[K'

type Output = Pick<NodeJS.WriteStream, 'write' | 'columns'>

/** A few lines at the foot of a terminal that are redrawn in place while other lines scroll above them. */
export class Screen {
  readonly #output: Output
  readonly #tint: (line: string) => string
  #lines: readonly string[] = []
  #drawn = 0

  /** `tint` colours a line of the foot after it is cut to the width. */
  constructor(output: Output = process.stderr, tint = (line: string) => line) {
    this.#output = output
    this.#tint = tint
  }

  /** Writes whole lines that stay, such as those of the log. */
  write(text: string): void {
    this.#output.write(`${this.#erased()}${text}${this.#foot()}`)
  }

  /** Replaces the foot. */
  draw(lines: readonly string[]): void {
    const erased = this.#erased()
    this.#lines = lines
    this.#output.write(`${erased}${this.#foot()}`)
  }

  /** Erases the foot. */
  close(): void {
    this.draw([])
  }

  #erased(): string {
    return this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\r\u001b[J`
  }

  #foot(): string {
    // A line that wraps would take more rows than are erased again.
    const width = (this.#output.columns || 80) - 1
    this.#drawn = this.#lines.length
    return this.#lines.map(line => `${this.#tint(line.slice(0, width))}\n`).join('')
  }
}

/** Such as `1 block` or `1,200 blocks`. */
export function countOf(count: number, noun: string): string {
  return `${countText(count)} ${noun}${Math.round(count) === 1 ? '' : 's'}`
}

export function countText(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}

/** In decimal units. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}

const spans: readonly (readonly [unit: string, seconds: number])[] = [
  ['y', 31_557_600],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
]

/** The two largest units, as the console writes them: `3 d 4 h`, `12 min 5 s`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const at = spans.findIndex(([, size]) => whole >= size)
  if (at === -1) return '0 s'
  const [unit, size] = spans[at]!
  const [nextUnit, nextSize] = spans[at + 1] ?? ['', 0]
  const rest = nextSize === 0 ? 0 : Math.floor((whole % size) / nextSize)
  return `${countText(Math.floor(whole / size))} ${unit}${rest === 0 ? '' : ` ${rest} ${nextUnit}`}`
}

/** Rounded down: 100% means done. */
export function percentText(done: number, total: number): string {
  if (total <= 0 || done >= total) return '100%'
  return `${(Math.floor((done / total) * 1_000) / 10).toFixed(1)}%`
}

export function rateText(blocksPerSecond: number): string {
  return `${blocksPerSecond >= 10 ? countText(blocksPerSecond) : blocksPerSecond.toFixed(1)} blocks/s`
}

// What commands write: data to stdout, everything else to stderr, colours only on a terminal.

import pc from 'picocolors'
import type { Config } from '../config/settings.ts'
import { durationText } from '../duration-text.ts'
import { plainText } from '../plain-text.ts'

export const paint = pc.createColors(process.stdout.isTTY === true && pc.isColorSupported)
/** Whether the terminal shows more than ASCII. */
export const isUnicode =
  process.env.TERM !== 'linux' &&
  /utf-?8/i.test(process.env.LC_ALL || process.env.LC_CTYPE || process.env.LANG || (process.env.WT_SESSION ?? ''))
export const stderrColours = process.stderr.isTTY === true && !process.env.NO_COLOR

/** Whether the log is for people; others may read it line by line. */
export function isForPeople({ log: { format } }: Pick<Config, 'log'>): boolean {
  return format === 'text' || (format === 'auto' && process.stderr.isTTY === true)
}

export function printData(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

export function printJson(value: unknown): void {
  printData(JSON.stringify(value, null, 2))
}

export function printNote(text: string): void {
  process.stderr.write(`${fitted(text)}\n`)
}

/** The last word of a service to the person who stopped it. */
export function printEnd(): void {
  if (process.stderr.isTTY) printNote('Done.')
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

export type Column = {
  title: string
  /** Least width that a narrow terminal may cut the column to; absent where it stays whole. */
  min?: number
  /** Left out where cutting is not enough, the highest first; absent where it always stays. */
  drop?: number
}

/** A table that fits a terminal: long columns are cut, then the least important left out. A pipe gets all of it. */
export function fittedTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY,
): string {
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...rows.map(row => row[at]!.length)))
  const excess = widths.reduce((sum, each) => sum + each + 2, -2) - width
  const room = columns.map(({ min }, at) => Math.max(0, widths[at]! - (min ?? widths[at]!)))
  const most = Math.max(...columns.map(({ drop = 0 }) => drop))
  if (excess > room.reduce((sum, each) => sum + each, 0) && most > 0) {
    const kept = columns.map(({ drop }) => drop !== most)
    const ofKept = (row: readonly string[]) => row.filter((_, at) => kept[at])
    return fittedTable(
      columns.filter((_, at) => kept[at]),
      rows.map(ofKept),
      width,
    )
  }
  let left = excess
  const limits = widths.map((each, at) => {
    const less = Math.max(0, Math.min(left, room[at]!))
    left -= less
    return each - less
  })
  const cut = (text: string, at: number) => (text.length > limits[at]! ? `${text.slice(0, limits[at]! - 1)}…` : text)
  return table(
    columns.map(({ title }) => title),
    rows.map(row => row.map(cut)),
  )
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

/** Where a person looks at both streams: programs read of no waiting. */
const isWatched = (): boolean =>
  process.stderr.isTTY === true && process.stdout.isTTY === true && !process.argv.includes('--json')
const waitingMs = 2_000

/** Such as `Waiting for the store … 3 s`; undefined while that is too soon, and without a terminal. */
export function waitingText(what: string, startedMs: number): string | undefined {
  const waitedMs = performance.now() - startedMs
  return waitedMs < waitingMs || !isWatched() ? undefined : `${what} … ${durationText(waitedMs / 1_000)}`
}

/** Says what is being done as soon as it takes longer than people like to look at nothing. */
export async function whileWaiting<Result>(what: string, work: Promise<Result>): Promise<Result> {
  const line = new ProgressLine()
  const startedMs = performance.now()
  const timer = setInterval(() => {
    const text = waitingText(what, startedMs)
    if (text !== undefined) line.show(text)
  }, line.everyMs).unref()
  try {
    return await work
  } finally {
    clearInterval(timer)
    line.close()
  }
}

const eraseLine = '\r\u001b[K'

type Wrapping = { width: number; first?: string; indent?: string }

const unbroken = '\u00a0'
/** Up to where the sentence goes on. */
const commands = /\b(?:npx almanac|almanac|npm run almanac|npm start|npm install|curl) (?:[^,;]|,(?=\S))*/g

/** Keeps the commands in a text in one piece each, for people who copy them. */
export function withWholeCommands(text: string): string {
  return text.replaceAll(commands, command => command.replaceAll(' ', unbroken))
}

type Fitting = { output?: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>; indent?: string }

/** Breaks the lines of a text between words where a terminal would break them within one. A pipe gets them as is. */
export function fitted(text: string, { output = process.stderr, indent }: Fitting = {}): string {
  const width = output.isTTY ? output.columns || 80 : Number.POSITIVE_INFINITY
  const lines = text.split('\n').flatMap(line => {
    if (line.length <= width) return [line]
    // A word that heads a line stands apart from what is said of it.
    const [first] = /^\s*(?:(?:Error|Try|Or): +|\S+ {2,})?/.exec(line)!
    const rest = withWholeCommands(line.slice(first.length))
    return wrapped(rest, { width, first, indent: indent ?? ' '.repeat(first.length) })
  })
  return lines.join('\n')
}

/** Breaks a text between words into lines of a width; a word that is longer stays whole. */
export function wrapped(text: string, { width, first = '', indent = '' }: Wrapping): string[] {
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const word of text.split(/[^\S\u00a0]+/)) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = indent
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line].map(each => each.replaceAll(unbroken, ' '))
}

type BarOptions = { width?: number; unicode?: boolean }

/** Such as `[=====>    ]` or `━━━━━╸────`; full only when everything is done. */
export function barText(done: number, total: number, { width = 24, unicode = isUnicode }: BarOptions = {}): string {
  const filled = total <= 0 ? width : Math.min(width, Math.floor((done / total) * width))
  const hasHead = filled > 0 && filled < width
  if (unicode) return `${'━'.repeat(hasHead ? filled - 1 : filled)}${hasHead ? '╸' : ''}`.padEnd(width, '─')
  return `[${`${'='.repeat(hasHead ? filled - 1 : filled)}${hasHead ? '>' : ''}`.padEnd(width)}]`
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

/** Rounded down: 100% means done. */
export function percentText(done: number, total: number): string {
  if (total <= 0 || done >= total) return '100%'
  return `${(Math.floor((done / total) * 1_000) / 10).toFixed(1)}%`
}

export function rateText(blocksPerSecond: number): string {
  return `${blocksPerSecond >= 10 ? countText(blocksPerSecond) : blocksPerSecond.toFixed(1)} blocks/s`
}

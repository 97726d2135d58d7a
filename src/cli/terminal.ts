// What commands write: data to stdout, everything else to stderr, colours only where a person looks.
import pc from 'picocolors'

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

/** Rows under a heading, in columns as wide as their widest text. */
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

/** Text from outside, with nothing in it that a terminal would obey. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '�')
}

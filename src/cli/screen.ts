// A few lines at the foot of a terminal that are redrawn in place while other lines scroll above them.

type Output = Pick<NodeJS.WriteStream, 'write' | 'columns'>

export class Screen {
  readonly #output: Output
  readonly #tint: (line: string) => string
  #lines: readonly string[] = []
  #drawn = 0

  /** `tint` colours a line of the foot once it is cut to the width. */
  constructor(output: Output = process.stderr, tint = (line: string) => line) {
    this.#output = output
    this.#tint = tint
  }

  /** Whole lines that stay, such as those of the log. */
  write(text: string): void {
    this.#output.write(`${this.#erased()}${text}${this.#foot()}`)
  }

  /** Replaces the foot. */
  draw(lines: readonly string[]): void {
    const erased = this.#erased()
    this.#lines = lines
    this.#output.write(`${erased}${this.#foot()}`)
  }

  /** Leaves nothing of the foot behind. */
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

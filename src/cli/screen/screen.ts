// A few lines at the foot of a terminal that are redrawn in place while other lines scroll above them. It knows nothing
// of what they say.
type Output = Pick<NodeJS.WriteStream, 'write' | 'columns' | 'rows'>

/** Lines for a terminal of this width. */
export type Render = (width: number) => readonly string[]

const hideCursor = '\u001b[?25l'
const showCursor = '\u001b[?25h'

/**
 * The cursor waits at the beginning of the first line of the foot. Terminals keep it there when they wrap lines anew
 * for another width, so everything below it is the foot, however many rows that has become.
 */
export class Screen {
  readonly #output: Output
  readonly #tint: (line: string) => string
  #render: Render = () => []
  #isDrawn = false

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
  draw(render: Render): void {
    this.#render = render
    this.redraw()
  }

  /** For another width, or after another program wrote to the terminal. */
  redraw(): void {
    this.#output.write(`${this.#erased()}${this.#foot()}`)
  }

  /** Erases the foot. */
  close(): void {
    this.draw(() => [])
  }

  #erased(): string {
    return this.#isDrawn ? '\r\u001b[J' : ''
  }

  #foot(): string {
    // A line of the full width would leave the cursor in doubt, and rows that scroll away could not be erased.
    const width = Math.max(1, (this.#output.columns || 80) - 1)
    const lines = this.#render(width)
      .slice(0, Math.max(1, (this.#output.rows || 24) - 1))
      .map(line => this.#tint(line.slice(0, width)))
    const wasDrawn = this.#isDrawn
    this.#isDrawn = lines.length > 0
    if (!this.#isDrawn) return wasDrawn ? showCursor : ''
    const up = lines.length > 1 ? `\u001b[${lines.length - 1}A` : ''
    return `${wasDrawn ? '' : hideCursor}${lines.join('\n')}${up}\r`
  }
}

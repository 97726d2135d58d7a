// A terminal as far as the service uses one: it obeys what is written and can be asked what it shows, also after its
// width changed. A sequence that it does not know is an error.

// As text: a control character in a pattern looks like a mistake.
const sequences = new RegExp(`${'\u001b'}\\[([?\\d;]*[A-Za-z])|([\\s\\S])`, 'gu')

/**
 * With `reflows` it wraps lines anew for another width, as most terminals do, and keeps the cursor on its line; without,
 * it cuts them.
 */
export class TerminalModel {
  readonly #reflows: boolean
  columns: number
  rows = 24
  isCursorShown = true
  /** A line that is wrapped is one line here. */
  #lines = ['']
  #row = 0
  #column = 0

  constructor(columns: number, { reflows }: { reflows: boolean }) {
    this.columns = columns
    this.#reflows = reflows
  }

  write = (text: string): boolean => {
    for (const [, sequence, character = ''] of text.matchAll(sequences)) {
      if (sequence !== undefined) this.#obey(sequence)
      else if (character === '\n') {
        this.#row++
        this.#column = 0
        if (this.#row === this.#lines.length) this.#lines.push('')
      } else if (character === '\r') this.#column = 0
      else {
        const line = this.#lines[this.#row]!
        this.#lines[this.#row] = `${line.slice(0, this.#column)}${character}${line.slice(this.#column + 1)}`
        this.#column++
      }
    }
    return true
  }

  #obey(sequence: string): void {
    if (sequence === '?25l' || sequence === '?25h') this.isCursorShown = sequence === '?25h'
    else if (sequence === 'J') {
      this.#lines.length = this.#row + 1
      this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, this.#column)
    } else if (sequence === 'K') this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, this.#column)
    else if (sequence.endsWith('A')) this.#row -= Number(sequence.slice(0, -1))
    else if (!sequence.endsWith('m')) throw new Error(`A sequence that is not known: ${sequence}`)
  }

  resize(columns: number): void {
    this.columns = columns
    if (!this.#reflows) this.#lines = this.#lines.map(line => line.slice(0, columns))
  }

  get shown(): string[] {
    const wrapped = (line: string) => line.match(new RegExp(`.{1,${this.columns}}`, 'gu')) ?? ['']
    return this.#lines.flatMap(wrapped)
  }
}

// What a person sees while the sandbox starts: which chains are ready. One line with a spinner on a terminal, a line
// for each elsewhere.
import { isUnicode } from './chain-rows.ts'

type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>
type StepsOptions = { output?: Output; unicode?: boolean }

const redrawMs = 100

export class Steps {
  readonly #output: Output
  readonly #signs: { spinner: readonly string[]; ready: string }
  readonly #ready = new Map<string, boolean>()
  readonly #startedAt = performance.now()
  #timer: NodeJS.Timeout | undefined
  #turn = 0

  constructor({ output = process.stderr, unicode = isUnicode }: StepsOptions = {}) {
    this.#output = output
    this.#signs = unicode ? { spinner: [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'], ready: '✓' } : { spinner: [...'-\\|/'], ready: 'ok' }
  }

  take(name: string, state: 'starting' | 'ready'): void {
    this.#ready.set(name, state === 'ready')
    if (this.#output.isTTY) {
      this.#timer ??= setInterval(() => this.#draw(), redrawMs).unref()
      this.#draw()
    } else if (state === 'ready') this.#output.write(`${name} ready after ${this.#seconds()} s\n`)
  }

  /** Leaves the line as it is then. */
  close(): void {
    clearInterval(this.#timer)
    if (this.#timer !== undefined) this.#output.write(`${this.#line()}\n`)
    this.#timer = undefined
  }

  #draw(): void {
    this.#turn++
    this.#output.write(this.#line())
  }

  #line(): string {
    const { spinner, ready } = this.#signs
    const turning = spinner[this.#turn % spinner.length]!
    const parts = [...this.#ready].map(([name, isReady]) => `${name} ${isReady ? ready : turning}`)
    const isDone = [...this.#ready.values()].every(isReady => isReady)
    const text = `${isDone ? 'Started' : 'Starting'}  ${parts.join('  ')}  ${this.#seconds()} s`
    return `\r\u001b[K${text.slice(0, (this.#output.columns || 80) - 1)}`
  }

  #seconds(): number {
    return Math.round((performance.now() - this.#startedAt) / 1_000)
  }
}

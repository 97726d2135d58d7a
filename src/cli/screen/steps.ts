// What a person sees while the sandbox starts: each part, what it is doing, and a word where it takes long. On a
// terminal these are lines that are redrawn, and one at the end; elsewhere a line for each part that is ready, and one
// every few seconds meanwhile.
import { isUnicode } from '../terminal.ts'
import { Screen } from './screen.ts'

type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns' | 'rows'>
type StepsOptions = {
  output?: Output
  unicode?: boolean
  /** Colours of signs and of what is said of them. */
  paint?: Partial<Record<'ready' | 'late' | 'soft', (text: string) => string>>
}

const redrawMs = 100
/** Without a terminal: the longest silence. */
const silentMsMax = 3_000
const lateMs = 20_000
const busy = 'it may take a minute'
const lineMax = 110

const asItIs = (text: string): string => text

export class Steps {
  readonly #output: Output
  readonly #screen: Screen | undefined
  readonly #signs: { spinner: readonly string[]; ready: string }
  readonly #parts = new Map<string, { doing: string; readyMs?: number }>()
  readonly #startedMs = performance.now()
  readonly #timer: NodeJS.Timeout
  #saidMs = performance.now()
  #turn = 0

  constructor({ output = process.stderr, unicode = isUnicode, paint = {} }: StepsOptions = {}) {
    const { ready = asItIs, late = asItIs, soft = asItIs } = paint
    this.#output = output
    this.#signs = unicode ? { spinner: [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'], ready: '✓' } : { spinner: [...'-\\|/'], ready: 'ok' }
    const tint = (line: string): string =>
      line.includes(busy) ? late(line) : line.replace(/^ {2}(✓|ok) /, ready).replace(/(?<= {2,})\d+ s$/, soft)
    this.#screen = output.isTTY ? new Screen(output, tint) : undefined
    this.#timer = setInterval(() => this.#look(), redrawMs).unref()
  }

  /** What a part does now, or that it is ready. */
  take(part: string, doing: string): void {
    const isReady = doing === 'ready'
    this.#parts.set(part, { doing, ...(isReady && { readyMs: this.#elapsedMs }) })
    if (this.#screen !== undefined) this.#screen.draw(this.#lines)
    else if (isReady) this.#say(`${part} ready after ${this.#seconds} s`)
  }

  /** Leaves one line of what is ready, or of the end. */
  close({ isStopped = false } = {}): void {
    clearInterval(this.#timer)
    const ready = [...this.#parts].filter(([, { readyMs }]) => readyMs !== undefined).map(([part]) => part)
    this.#screen?.close()
    if (isStopped) this.#output.write('Stopped. Nothing is left running.\n')
    else if (this.#screen !== undefined && ready.length > 0)
      this.#output.write(`${this.#signs.ready} ${ready.join(', ')} ready after ${this.#seconds} s\n`)
  }

  #look(): void {
    this.#turn++
    this.#screen?.redraw()
    if (this.#screen !== undefined || performance.now() - this.#saidMs < silentMsMax) return
    const busyParts = [...this.#parts].filter(([, { readyMs }]) => readyMs === undefined)
    // Without its figures, what several parts do is said once.
    const groups = Map.groupBy(busyParts, ([, { doing }]) => doing.split(',')[0]!)
    const parts = [...groups].map(([doing, some]) => `${doing} (${some.map(([part]) => part).join(', ')})`).join(', ')
    const said = `Still starting after ${this.#seconds} s${this.#isLate ? `; ${busy}` : ''}: `
    // A log is read in lines: where each part does something else, their names alone.
    const fits = said.length + parts.length < lineMax
    this.#say(said + (fits ? parts : busyParts.map(([part]) => part).join(', ')))
  }

  readonly #lines = (): string[] => {
    const { spinner, ready } = this.#signs
    const turning = spinner[this.#turn % spinner.length]!.padEnd(ready.length)
    const width = Math.max(...[...this.#parts.keys()].map(part => part.length))
    const lines = [...this.#parts].map(([part, { doing, readyMs }]) => {
      const sign = readyMs === undefined ? turning : ready
      return `  ${sign} ${part.padEnd(width)}  ${readyMs === undefined ? doing : `${Math.round(readyMs / 1_000)} s`}`
    })
    return this.#isLate ? [...lines, `  Still starting after ${this.#seconds} s; ${busy}.`] : lines
  }

  #say(line: string): void {
    this.#saidMs = performance.now()
    this.#output.write(`${line}\n`)
  }

  get #isLate(): boolean {
    return this.#elapsedMs >= lateMs
  }

  get #seconds(): number {
    return Math.round(this.#elapsedMs / 1_000)
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedMs
  }
}

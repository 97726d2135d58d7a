// What a terminal shows over time, as frames, and these as one SVG that plays by itself: a strip of frames behind a
// window, moved by steps. Each line that occurs is drawn once. It stands still for readers who ask for less motion, and
// where pictures do not move.
import xterm from '@xterm/headless'

type Size = { columns: number; rows: number }
/** Lines as SVG text, and how long they are shown. */
export type Frame = { lines: string[]; ms: number }

const typedMs = 40
const longestMs = 1_500
const shortestMs = 120
const lastMs = 4_000
/** In all, of the frames before a third of the screen is written: they show little. */
const openingMs = 1_500
const cell = { width: 7.8, height: 17 }
const padding = 14

export class TerminalFilm {
  readonly #terminal: InstanceType<typeof xterm.Terminal>
  readonly #size: Size
  readonly #frames: Frame[] = []
  #shownAtMs = performance.now()
  #work: Promise<void> = Promise.resolve()

  constructor(size: Size) {
    this.#size = size
    this.#terminal = new xterm.Terminal({
      cols: size.columns,
      rows: size.rows,
      allowProposedApi: true,
      convertEol: true,
    })
  }

  /** As if by hand, before the command runs. */
  type(command: string): void {
    this.#enqueue(async () => {
      await this.#feed('\u001b[32m$\u001b[0m ')
      const step = Math.max(1, Math.floor(command.length / 24))
      for (let at = 0; at < command.length; at += step) {
        await this.#feed(command.slice(at, at + step))
        this.#frames.push({ lines: this.#lines(), ms: typedMs * 1.5 })
      }
      await this.#feed('\r\n')
      this.#frames.push({ lines: this.#lines(), ms: 400 })
      this.#shownAtMs = performance.now()
    })
  }

  write(chunk: Buffer): void {
    const atMs = performance.now()
    this.#enqueue(async () => {
      await this.#feed(chunk)
      const lines = this.#lines()
      const last = this.#frames.at(-1)
      if (last !== undefined) last.ms += Math.min(longestMs, Math.max(0, atMs - this.#shownAtMs))
      this.#shownAtMs = Math.max(this.#shownAtMs, atMs)
      this.#frames.push({ lines, ms: 0 })
    })
  }

  async frames(): Promise<Frame[]> {
    await this.#work
    const kept: Frame[] = []
    for (const frame of this.#frames) {
      const last = kept.at(-1)
      const isSame = last !== undefined && last.lines.join('\n') === frame.lines.join('\n')
      if (isSame) last.ms += frame.ms
      // One that was too short to be seen gives its place to the next.
      else if (last !== undefined && last.ms < shortestMs && kept.length > 1) {
        kept[kept.length - 1] = { lines: frame.lines, ms: last.ms + frame.ms }
      } else kept.push({ ...frame })
    }
    const end = kept.at(-1)
    if (end !== undefined) end.ms = Math.max(end.ms, lastMs)
    return this.#quickened(kept).map(({ lines, ms }) => ({ lines, ms: Math.max(ms, shortestMs) }))
  }

  #quickened(frames: readonly Frame[]): Frame[] {
    const shown = frames.findIndex(({ lines }) => lines.filter(line => line !== '').length >= this.#size.rows / 3)
    const opening = frames.slice(0, Math.max(shown, 0))
    const totalMs = opening.reduce((sum, { ms }) => sum + ms, 0)
    if (totalMs <= openingMs) return [...frames]
    const count = Math.floor(openingMs / shortestMs)
    const seen = Array.from({ length: count }, (_, at) => opening[Math.floor((at * opening.length) / count)]!)
    return [...seen.map(({ lines }) => ({ lines, ms: openingMs / count })), ...frames.slice(shown)]
  }

  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work)
  }

  #feed(text: string | Buffer): Promise<void> {
    return new Promise(resolve => this.#terminal.write(text, resolve))
  }

  #lines(): string[] {
    const buffer = this.#terminal.buffer.active
    return Array.from({ length: this.#size.rows }, (_, row) => {
      const line = buffer.getLine(buffer.viewportY + row)
      if (line === undefined) return ''
      const runs: { kind: string; text: string }[] = []
      for (let column = 0; column < this.#size.columns; column++) {
        const shown = line.getCell(column)
        if (shown === undefined || shown.getWidth() === 0) continue
        const kind = [
          shown.isFgPalette() ? `c${shown.getFgColor() % 8}` : '',
          shown.isBold() ? 'b' : '',
          shown.isDim() ? 'd' : '',
        ]
          .filter(Boolean)
          .join(' ')
        const text = shown.getChars() || ' '
        const last = runs.at(-1)
        if (last?.kind === kind) last.text += text
        else runs.push({ kind, text })
      }
      const end = runs.at(-1)
      if (end !== undefined) end.text = end.text.trimEnd()
      return runs
        .filter(({ text }) => text !== '')
        .map(({ kind, text }) => (kind === '' ? escaped(text) : `<tspan class="${kind}">${escaped(text)}</tspan>`))
        .join('')
    })
  }

  static svg(frames: readonly Frame[], { columns, rows }: Size): string {
    const [width, height] = [columns * cell.width + 2 * padding, rows * cell.height + 2 * padding]
    const lines = [...new Set(frames.flatMap(frame => frame.lines))].filter(line => line !== '')
    const idOf = new Map(lines.map((line, index) => [line, `l${index}`]))
    const total = frames.reduce((sum, { ms }) => sum + ms, 0)
    let passed = 0
    // The last frame stands first: it is what a picture that does not move shows.
    const placeOf = (index: number): number => ((index + 1) % frames.length) * height
    const steps = frames.map(({ ms }, index) => {
      const step = `${((passed / total) * 100).toFixed(2)}%{transform:translateY(${-placeOf(index)}px)}`
      passed += ms
      return step
    })
    const strip = frames.map(
      (frame, index) =>
        `<g transform="translate(0 ${placeOf(index)})">${frame.lines
          .map((line, row) =>
            line === '' ? '' : `<use href="#${idOf.get(line)}" y="${(row + 1) * cell.height + padding - 4}"/>`,
          )
          .join('')}</g>`,
    )
    const style = `text{font:13px ui-monospace,"SF Mono",Menlo,"DejaVu Sans Mono",monospace;fill:#23272f;white-space:pre}
.paper{fill:#fafbfc;stroke:#d9dee5}.b{font-weight:600}.d{fill:#7a828e}
.c1{fill:#b3261e}.c2{fill:#1a7f37}.c3{fill:#8a5300}.c4{fill:#2457a8}.c5{fill:#8a3a7a}.c6{fill:#0f6e66}.c0{fill:#7a828e}
@media(prefers-color-scheme:dark){text{fill:#dde2e9}.paper{fill:#0f1216;stroke:#2a3038}.d,.c0{fill:#8b949e}
.c1{fill:#ff8a80}.c2{fill:#6fd08c}.c3{fill:#e7b267}.c4{fill:#8dbcf0}.c5{fill:#e695bf}.c6{fill:#76c7bd}}
.film{animation:film ${(total / 1_000).toFixed(1)}s step-end infinite}
@media(prefers-reduced-motion:reduce){.film{animation:none}}
@keyframes film{${steps.join('')}}`
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal: npm start, chains that fill, and a first call with its answer">
<style>${style}</style>
<defs>${lines.map(line => `<text id="${idOf.get(line)}" x="${padding}" xml:space="preserve">${line}</text>`).join('')}</defs>
<rect class="paper" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
<svg width="${width}" height="${height}"><g class="film">
${strip.join('\n')}
</g></svg>
</svg>
`
  }
}

function escaped(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
  return text.replaceAll(/[&<>]/g, character => names[character]!)
}

// What a person at the terminal sees of the running service, and the keys that may be pressed. It asks and changes
// nothing but the terminal.
import pc from 'picocolors'
import type { Metrics } from '../../metrics.ts'
import type { StatusReport } from '../../status.ts'
import { type ServedCounts, serviceRows, tinted } from '../screen/chain-rows.ts'
import { listenToKeys } from '../screen/keyboard.ts'
import { openBrowser } from '../screen/open-browser.ts'
import { type Render, Screen } from '../screen/screen.ts'
import { stderrColours } from '../terminal.ts'

const countedMs = 1_000
/** Long enough for a steady figure, short enough to follow. */
const rateMs = 10_000

type CountParts = { metrics: Metrics; indexers: { metrics(): Promise<string> } }

export class ServiceScreen {
  readonly screen: Screen
  #counts: CountParts | undefined
  #known: (ServedCounts & { atMs: number }) | undefined
  readonly #past: { atMs: number; requests: number }[] = []
  #consoleUrl: string | undefined
  readonly #closeKeys: (() => void) | undefined

  constructor() {
    const { green: live, red: stalled, dim: soft } = pc.createColors(stderrColours)
    this.screen = new Screen(process.stderr, line => tinted(line, { live, stalled, soft }))
    this.#closeKeys = listenToKeys({
      o: () => this.#openConsole(),
      // As Ctrl-C: the second one stops at once.
      q: () => process.kill(process.pid, 'SIGINT'),
    })
  }

  /** Shows what is counted from now on. `consoleUrl` is the address with its key, where that may be seen. */
  show(counts: CountParts, consoleUrl: string | undefined): void {
    this.#counts = counts
    this.#consoleUrl = consoleUrl
  }

  readonly rowsOf = async (report: StatusReport): Promise<Render> => {
    const served = await this.#served()
    const keys =
      this.#closeKeys === undefined
        ? {}
        : { keys: `Press ${this.#consoleUrl === undefined ? '' : 'o to open the console, '}q to quit.` }
    // Apart from the log above it.
    return width => ['', ...serviceRows(report, { width, served, ...keys })]
  }

  close(): void {
    this.#closeKeys?.()
  }

  #openConsole(): void {
    const url = this.#consoleUrl
    if (url !== undefined) openBrowser(url, () => this.screen.write(`Console: ${url}\n`))
  }

  async #served(): Promise<ServedCounts | undefined> {
    const atMs = performance.now()
    if (this.#counts === undefined || (this.#known !== undefined && atMs - this.#known.atMs < countedMs))
      return this.#known
    const { metrics, indexers } = this.#counts
    const [requests, transfers] = await Promise.all([
      countedRequests(metrics),
      indexers.metrics().then(countedTransfers, () => this.#known?.transfers ?? 0),
    ])
    this.#past.push({ atMs, requests })
    while (this.#past.length > 2 && atMs - this.#past[1]!.atMs > rateMs) this.#past.shift()
    const first = this.#past[0]!
    const seconds = (atMs - first.atMs) / 1_000
    const requestsPerSecond = seconds === 0 ? 0 : (requests - first.requests) / seconds
    this.#known = { requests, requestsPerSecond, transfers, atMs }
    return this.#known
  }
}

async function countedRequests({ http }: Metrics): Promise<number> {
  const { values } = await http.duration.get()
  const counts = values.filter(({ metricName }) => metricName?.endsWith('_count'))
  return counts.reduce((sum, { value }) => sum + value, 0)
}

/** Of the text that the indexing thread gives of its counts. */
function countedTransfers(text: string): number {
  const lines = text.matchAll(/^almanac_evm_transfers_total(?:\{[^}]*\})? (\d+)/gm)
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
}

// Shows how far a running service is: lines that are redrawn on a terminal, and lines in the log elsewhere while there is something to tell.
import type { StatusReport } from '../api/status-report.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { chainLine, progressLines } from './chain-progress.ts'
import type { Screen } from './screen.ts'

const redrawMs = 500
const logLineMs = 30_000

export type ProgressParts = {
  status: () => Promise<StatusReport>
  /** Absent where nobody looks at a terminal. */
  screen: Screen | undefined
  log: Log
}

/** Returns what ends it. */
export function showProgress({ status, screen, log }: ProgressParts): () => void {
  const states = new Map<string, string>()
  let asking = false
  const say = (report: StatusReport): void => {
    if (screen !== undefined) {
      screen.draw(progressLines(report, { bar: true }))
      return
    }
    for (const [name, chain] of Object.entries(report.chains)) {
      // A chain that stays live has no news.
      if (chain.state === 'live' && states.get(name) === 'live') continue
      states.set(name, chain.state)
      log.info(chainLine(name, chain, { bar: false }))
    }
  }
  const look = async (): Promise<void> => {
    if (asking) return
    asking = true
    try {
      say(await status())
    } catch (error) {
      log.debug(`How far the chains are is not known: ${messageOf(error)}`)
    } finally {
      asking = false
    }
  }
  const timer = setInterval(() => void look(), screen === undefined ? logLineMs : redrawMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    asking = true
    screen?.close()
  }
}

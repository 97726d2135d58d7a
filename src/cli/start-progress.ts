// Shows how far a running service is: lines that are redrawn on a terminal, and lines in the log elsewhere while there is something to tell.

import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { StatusReport } from '../status-report.ts'
import { chainLine, progressLines } from './chain-progress.ts'
import type { Screen } from './screen.ts'

const redrawMs = 500
const lookMs = 2_000
const logLineMs = 30_000

export type ProgressParts = {
  status: () => Promise<StatusReport>
  /** Absent where nobody looks at a terminal. */
  screen: Screen | undefined
  log: Log
}

/** Returns what ends it. */
export function showProgress({ status, screen, log }: ProgressParts): () => void {
  const told = new Map<string, { state: string; atMs: number }>()
  let asking = false
  const say = (report: StatusReport): void => {
    if (screen !== undefined) {
      screen.draw(progressLines(report, { bar: true }))
      return
    }
    for (const [name, chain] of Object.entries(report.chains)) {
      const last = told.get(name)
      const now = performance.now()
      // A change is told at once; a chain that stays live has no other news.
      if (last?.state === chain.state && (chain.state === 'live' || now - last.atMs < logLineMs)) continue
      told.set(name, { state: chain.state, atMs: now })
      const line = chainLine(name, chain, { bar: false })
      if (chain.state === 'stalled') log.warn(line)
      else log.info(line)
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
  const timer = setInterval(() => void look(), screen === undefined ? lookMs : redrawMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    asking = true
    screen?.close()
  }
}

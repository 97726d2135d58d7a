// Asks one endpoint, and a second one as well when the first is slower than usual. The first good answer wins; the other
// request is cancelled.
import { type Clock, followSignals, type LinkedSignal } from '../abort.ts'
import type { RpcEndpoint } from './endpoint.ts'

export type HedgedAsk<T> = {
  first: RpcEndpoint
  second: RpcEndpoint | undefined
  ask: (endpoint: RpcEndpoint, own: { signal: AbortSignal; onSent: () => void }) => Promise<T>
  /** Asked when the hedge is due: hedges have a budget. */
  mayHedge: () => boolean
  onHedge: () => void
  /** Called for each endpoint that fails, whichever of them decides the outcome. */
  onFailure: (endpoint: RpcEndpoint, error: unknown) => void
  method: string
  clock: Clock
  signal: AbortSignal
}

const hedgeMs = { least: 50, unknown: 1_000, most: 2_000 }
const overtaken = new Error('another endpoint was faster')

export function askHedged<T>(hedged: HedgedAsk<T>): Promise<T> {
  const { first, second, ask, mayHedge, onHedge, onFailure, method, clock, signal } = hedged
  return new Promise((resolve, reject) => {
    const running = new Map<RpcEndpoint, LinkedSignal>()
    let cancelHedge = (): void => {}
    let firstError: unknown
    let sentAt = clock.now()

    const end = (endpoint: RpcEndpoint): void => {
      running.get(endpoint)?.[Symbol.dispose]()
      running.delete(endpoint)
    }
    const won = (endpoint: RpcEndpoint, answer: T): void => {
      cancelHedge()
      end(endpoint)
      if (running.has(first)) first.health.overtaken(method, clock.now() - sentAt)
      for (const loser of running.values()) loser.abort(overtaken)
      resolve(answer)
    }
    const lost = (endpoint: RpcEndpoint, error: unknown): void => {
      end(endpoint)
      onFailure(endpoint, error)
      firstError ??= error
      if (running.size > 0) return
      cancelHedge()
      reject(firstError)
    }
    const run = (endpoint: RpcEndpoint, onSent: () => void): void => {
      const linked = followSignals(signal)
      running.set(endpoint, linked)
      ask(endpoint, { signal: linked.signal, onSent }).then(
        answer => won(endpoint, answer),
        error => lost(endpoint, error),
      )
    }

    // The time counts from when the request left: waiting for the limits is not the endpoint's slowness.
    run(first, () => {
      sentAt = clock.now()
      cancelHedge()
      if (second === undefined || !running.has(first)) return
      cancelHedge = clock.after(delayMs(first.health.tailMs(method)), () => {
        if (!running.has(first) || running.has(second) || !mayHedge()) return
        onHedge()
        run(second, () => {})
      })
    })
  })
}

function delayMs(tailMs: number | undefined): number {
  return Math.min(hedgeMs.most, Math.max(hedgeMs.least, tailMs ?? hedgeMs.unknown))
}

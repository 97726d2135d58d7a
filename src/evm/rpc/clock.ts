// Time as the transport sees it, so that tests can move it by hand.

export type Clock = {
  now(): number
  /** Calls back once, later; the returned function calls it off. */
  after(ms: number, callback: () => void): () => void
}

export const realClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

/** Waits, unless the signal ends the wait first. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const onAbort = (): void => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

// An abort signal that follows others for as long as it is needed, and lets go of them. `AbortSignal.any` and `AbortSignal.timeout`
// stay registered with a long-lived source until it ends, which adds up over millions of requests.

export type LinkedSignal = Disposable & { readonly signal: AbortSignal; abort(reason: unknown): void }

export function followSignals(...sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController()
  const links = sources.map(source => {
    const follow = (): void => controller.abort(source.reason)
    if (source.aborted) follow()
    else source.addEventListener('abort', follow, { once: true })
    return () => source.removeEventListener('abort', follow)
  })
  return {
    signal: controller.signal,
    abort: reason => controller.abort(reason),
    [Symbol.dispose]: () => {
      for (const unlink of links) unlink()
    },
  }
}

// Waiting that a signal can end. It never throws: whoever waited looks at the signal itself.

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}

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

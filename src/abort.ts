// Cancelling and waiting: signals that follow others, pauses that a signal ends, a clock that tests can move by hand,
// and a watch over what comes too slowly.

export type LinkedSignal = Disposable & { readonly signal: AbortSignal; abort(reason: unknown): void }

/**
 * A signal that follows others until it is disposed. `AbortSignal.any` and `AbortSignal.timeout` stay registered with a
 * long-lived source until that source ends, which adds up over millions of requests.
 */
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

export type Clock = {
  now(): number
  /** Calls back once, later; the returned function cancels it. */
  after(ms: number, callback: () => void): () => void
}

/** A timer that is set to more fires at once. */
const timerMsMax = 2 ** 31 - 1

export const realClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(ms, timerMsMax))
    return () => clearTimeout(timer)
  },
}

/** Waits until the time has passed or the signal fires. It never throws: the caller checks the signal. */
export function pause(ms: number, signal: AbortSignal, clock: Clock = realClock): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal.addEventListener('abort', done, { once: true })
  })
}

/** Fails with `late` where the promise takes longer; what it does goes on. */
export async function within<T>(
  ms: number,
  promise: Promise<T>,
  late: () => Error = () => new Error(`no answer within ${ms} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms)
  })
  try {
    return await Promise.race([promise, passed])
  } finally {
    clearTimeout(timer)
  }
}

/** Fails as soon as the signal fires; what the promise does goes on. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** Once an answer begins, it comes at least this fast. A server may think before it begins. */
export type SlowestRate = { windowMs: number; bytesMin: number }

export const slowestRate: SlowestRate = { windowMs: 10_000, bytesMin: 1_024 }

/** Calls back when fewer bytes than that came within a window. */
export function watchRate(
  { windowMs, bytesMin }: SlowestRate,
  received: () => number,
  onSlow: (message: string) => void,
): Disposable {
  let before = received()
  const timer = setInterval(() => {
    const bytes = received() - before
    if (bytes < bytesMin) onSlow(`the answer is too slow: ${bytes} bytes in ${windowMs} ms`)
    before += bytes
  }, windowMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

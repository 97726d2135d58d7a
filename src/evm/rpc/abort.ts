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

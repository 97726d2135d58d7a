// An answer that is given at once while it is renewed behind the scenes. It knows nothing of who is asked.

export type Ages = {
  /** An answer of this age is still given, and asked for again meanwhile. */
  staleAfterMs: number
  /** One of this age is not given any more: the new one is waited for. */
  forgottenAfterMs: number
}

/**
 * For questions to a thread that may be within a long commit: whoever waited for its answer would wait for the commit too. Measured while a
 * chain was filled in: pages at the 99th percentile in 215 ms instead of 18 with every stale answer waited for.
 */
export function remembered<T>({ staleAfterMs, forgottenAfterMs }: Ages, ask: () => Promise<T>): () => Promise<T> {
  let known: { atMs: number; answer: Promise<T> } | undefined
  let asking: Promise<T> | undefined
  const renew = (): Promise<T> => {
    const answer = ask()
    asking = answer
    const done = (): void => {
      asking = undefined
    }
    answer
      .then(() => {
        known = { atMs: performance.now(), answer }
      }, done)
      .then(done)
    return answer
  }
  return () => {
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : performance.now() - known.atMs
    if (known !== undefined && ageMs <= staleAfterMs) return known.answer
    const renewed = asking ?? renew()
    return known !== undefined && ageMs <= forgottenAfterMs ? known.answer : renewed
  }
}

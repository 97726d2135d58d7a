// What is read again only after a time. It reads nothing itself.

/** One reading for all who ask within a time. */
export function keptFor<Value>(keptMs: number, read: () => Promise<Value>): () => Promise<Value> {
  let known: { askedMs: number; value: Promise<Value> } | undefined
  return () => {
    if (known === undefined || performance.now() - known.askedMs >= keptMs)
      known = { askedMs: performance.now(), value: read() }
    return known.value
  }
}

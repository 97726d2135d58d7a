// Joins sorted sequences into one. Pure.

/** Elements that compare as equal become one. */
export function* joinSorted<T>(
  sequences: readonly Iterable<T>[],
  compare: (a: T, b: T) => number,
  join: (a: T, b: T) => T,
): Generator<T> {
  const heads: { now: T; rest: Iterator<T> }[] = []
  for (const sequence of sequences) {
    const rest = sequence[Symbol.iterator]()
    const { value, done } = rest.next()
    if (done !== true) heads.push({ now: value, rest })
  }
  try {
    while (heads.length > 0) {
      let least = heads[0]!.now
      for (const { now } of heads) if (compare(now, least) < 0) least = now
      let joined: T | undefined
      for (let at = heads.length - 1; at >= 0; at--) {
        const head = heads[at]!
        if (compare(head.now, least) !== 0) continue
        joined = joined === undefined ? head.now : join(joined, head.now)
        const { value, done } = head.rest.next()
        if (done === true) heads.splice(at, 1)
        else head.now = value
      }
      yield joined!
    }
  } finally {
    // Who stops early leaves statements open otherwise.
    for (const { rest } of heads) rest.return?.()
  }
}

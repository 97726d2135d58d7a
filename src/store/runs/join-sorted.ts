// Joins sorted sequences into one. Pure.

/** Elements that compare as equal become one. */
export function* joinSorted<T>(
  sequences: readonly Iterable<T>[],
  compare: (a: T, b: T) => number,
  join: (a: T, b: T) => T,
): Generator<T> {
  /** A heap: each is at or before those at twice its place and one or two more. */
  const heads: Head<T>[] = []
  try {
    for (const sequence of sequences) {
      const rest = sequence[Symbol.iterator]()
      const { value, done } = rest.next()
      if (done !== true) heads.push({ now: value, rest })
    }
    for (let at = heads.length >>> 1; at-- > 0; ) sink(heads, at, compare)
    while (heads.length > 0) {
      let joined = takeFirst(heads, compare)
      while (heads.length > 0 && compare(heads[0]!.now, joined) === 0) joined = join(joined, takeFirst(heads, compare))
      yield joined
    }
  } finally {
    // Who stops early leaves statements open otherwise.
    for (const { rest } of heads) rest.return?.()
  }
}

type Head<T> = { now: T; rest: Iterator<T> }

function takeFirst<T>(heads: Head<T>[], compare: (a: T, b: T) => number): T {
  const head = heads[0]!
  const { now } = head
  const { value, done } = head.rest.next()
  if (done !== true) head.now = value
  else {
    const last = heads.pop()!
    if (heads.length > 0) heads[0] = last
  }
  sink(heads, 0, compare)
  return now
}

function sink<T>(heads: Head<T>[], start: number, compare: (a: T, b: T) => number): void {
  const head = heads[start]
  if (head === undefined) return
  let at = start
  for (let below = 2 * at + 1; below < heads.length; below = 2 * at + 1) {
    if (below + 1 < heads.length && compare(heads[below + 1]!.now, heads[below]!.now) < 0) below++
    if (compare(head.now, heads[below]!.now) <= 0) break
    heads[at] = heads[below]!
    at = below
  }
  heads[at] = head
}

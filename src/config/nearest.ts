// Finds the word that was probably meant. Pure.

/** The candidate nearest to a word, or undefined when none is near enough to be a slip of the finger. */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  let nearest: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const distance = editDistance(plain(word), plain(candidate))
    if (nearest === undefined || distance < nearest.distance) nearest = { candidate, distance }
  }
  if (nearest === undefined) return undefined
  const distanceMax = Math.max(2, Math.floor(Math.max(word.length, nearest.candidate.length) / 2))
  return nearest.distance <= distanceMax && nearest.distance < plain(nearest.candidate).length
    ? nearest.candidate
    : undefined
}

/** `requests_per_second`, `requests-per-second` and `requestsPerSecond` are one word. */
function plain(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '')
}

/** Levenshtein: insertions, deletions and replacements of single characters. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1))
    }
    previous = current
  }
  return previous[b.length]!
}

// The word that somebody meant who mistyped it. It knows no words itself.

/** The candidate nearest to a word; undefined if none is near enough to be a typing error. */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  let nearest: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const distance = editDistance(plain(word), plain(candidate))
    if (nearest === undefined || distance < nearest.distance) nearest = { candidate, distance }
  }
  if (nearest === undefined) return undefined
  const shorter = Math.min(plain(word).length, plain(nearest.candidate).length)
  const distanceMax = shorter <= 3 ? 1 : Math.max(2, Math.floor(shorter / 4))
  // Two letters that changed places are two edits.
  const isSwapped = nearest.distance === 2 && lettersOf(word) === lettersOf(nearest.candidate)
  return nearest.distance <= distanceMax || isSwapped ? nearest.candidate : undefined
}

function lettersOf(word: string): string {
  return [...plain(word)].sort().join('')
}

/** `requests_per_second`, `requests-per-second` and `requestsPerSecond` are the same word. */
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

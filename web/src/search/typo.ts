// Whether a text that was typed is like a name: each of its words is one of the name's, but for one typing error. And which
// name a wrong one is nearest to. Pure.

/** In a shorter word one other letter makes another word. */
const lengthMin = 4

export function isLike(text: string, name: string): boolean {
  const wordsOf = (of: string) => of.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  const words = wordsOf(name)
  const isIn = (typed: string) => words.some(word => word.includes(typed) || isTypo(typed, word))
  return wordsOf(text).filter(Boolean).every(isIn)
}

/** One letter more, less or another, or two neighbours that changed places; of a longer word its beginning is enough. */
export function isTypo(typed: string, word: string): boolean {
  if (typed.length < lengthMin) return false
  const begins = [typed.length - 1, typed.length, typed.length + 1].map(length => word.slice(0, length))
  return begins.some(begin => differsByOne(typed, begin))
}

function differsByOne(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  return Math.max(left.length, right.length) <= 1 || (left.length === 2 && left === `${right[1]}${right[0]}`)
}

const shareMin = 0.4

/** How much more a name is worth that begins as the text does. */
const beginningWorth = 0.5

/** The name that has most of its pairs of letters and its beginning in common with the text, unless that is few. */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  const pairsOf = (of: string) =>
    new Set(
      of
        .toLowerCase()
        .split('')
        .map((letter, at, all) => letter + (all[at + 1] ?? '')),
    )
  const typed = pairsOf(text)
  const shares = names.map(name => {
    const own = pairsOf(name)
    const share = (2 * own.intersection(typed).size) / (own.size + typed.size)
    return share < shareMin ? 0 : share + (beginningWorth * sharedStart(text, name)) / text.length
  })
  const most = Math.max(0, ...shares)
  return most === 0 ? undefined : names[shares.indexOf(most)]
}

/** How many letters both begin with. */
function sharedStart(one: string, other: string): number {
  const letters = other.toLowerCase()
  const differs = [...one.toLowerCase()].findIndex((letter, at) => letter !== letters[at])
  return differs < 0 ? one.length : differs
}

// What is shown of a section that was found: one sentence or one row of a table, the one with most of what was asked. Pure.

/** Between the cells of a row. */
export const cellSeparator = ' · '

const lengthMax = 150
/** Of what was found, with some words before it. */
const nearMax = lengthMax - 40
/** Says little alone. */
const shortMax = 20
const sentenceEnd = /(?<=[.!?]\)?) (?=[\p{Lu}`"(])/u

/** Each line of `text` is a paragraph, an item of a list, or a row. `opening`: shown instead of a fragment. */
export function excerptOf(text: string, terms: readonly string[], opening?: string): string {
  const parts = partsOf(text)
  const found = parts.map(part => new Set(wordsFound(part, terms)).size)
  const worth = found.map((count, at) => count - (isFragment(parts[at]!) ? 0.5 : 0))
  const best = parts[worth.indexOf(Math.max(...worth))] ?? ''
  return cut(isFragment(best) ? (opening ?? best) : best, terms)
}

/** The first sentence that stands alone. */
export function openingOf(text: string): string | undefined {
  return partsOf(text).find(part => !isFragment(part))
}

function partsOf(text: string): string[] {
  return text.split('\n').flatMap(line => (line.includes(cellSeparator) ? [line] : sentencesOf(line)))
}

/** Says little alone, or ends with a colon and leads to something that is not shown. */
function isFragment(part: string): boolean {
  return part.length < shortMax || part.endsWith(':')
}

/** One such as "Not yet." stays with the next. */
function sentencesOf(line: string): string[] {
  const sentences: string[] = []
  for (const sentence of line.split(sentenceEnd)) {
    const before = sentences.at(-1)
    if (before !== undefined && before.length < shortMax) sentences[sentences.length - 1] = `${before} ${sentence}`
    else sentences.push(sentence)
  }
  return sentences
}

function wordsFound(part: string, terms: readonly string[]): string[] {
  return terms.length === 0 ? [] : (part.match(wordsWith(terms)) ?? []).map(word => word.toLowerCase())
}

/** From its beginning, or where that has nothing of it, from a cell or a word somewhat before what was found. */
function cut(part: string, terms: readonly string[]): string {
  if (part.length <= lengthMax) return part
  const at = densest(part, terms)
  const cell = part.lastIndexOf(cellSeparator, at)
  const isNear = at < nearMax
  const near =
    cell > 0 && at - cell < 60 ? cell + cellSeparator.length : part.lastIndexOf(' ', Math.max(at - 40, 0)) + 1
  const from = isNear ? 0 : near
  const to = from + lengthMax
  if (to >= part.length) return `…${part.slice(from)}`
  return `${from === 0 ? '' : '…'}${part.slice(from, part.lastIndexOf(' ', to)).replace(/[\s·,;:]+$/, '')} …`
}

/** Where most of the words stand together. */
function densest(part: string, terms: readonly string[]): number {
  if (terms.length === 0) return 0
  const found = [...part.matchAll(wordsWith(terms))].map(({ index, 0: word }) => ({
    at: index,
    word: word.toLowerCase(),
  }))
  const counts = found.map(
    ({ at }) => new Set(found.filter(other => other.at >= at && other.at < at + nearMax).map(({ word }) => word)).size,
  )
  return found[counts.indexOf(Math.max(...counts))]?.at ?? 0
}

/** Each word that begins with one of `terms`, as a group. */
export function wordsWith(terms: readonly string[]): RegExp {
  const begins = terms.flatMap(term => /[\p{L}\p{N}]+/u.exec(term) ?? []).join('|')
  return new RegExp(`((?<![\\p{L}\\p{N}])(?:${begins})[\\p{L}\\p{N}]*)`, 'giu')
}

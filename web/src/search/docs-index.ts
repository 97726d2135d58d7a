// The index over the pages of the documentation, for their own search and for the console's. It loads and shows nothing.
import MiniSearch, { type Query, type SearchOptions, type SearchResult } from 'minisearch'
import { type Word, wordsOf } from './docs-words.ts'

/** One section of a page, or one operation of the API. What is shown of it is its text; its code is found too. */
export type DocsEntry = {
  id: number
  page: string
  title: string
  text: string
  code: string
  /** What else people call it, as the page says for the search alone. */
  also?: string
  href: string
  /** The name of the operation in the reference. */
  operation?: string
  /** For those who work on Almanac: found after what is for its users. */
  isInternal?: true
  /** Has a word of nearly everything, such as the changelog: found after all else. */
  isLast?: true
}
export type FoundSection = Pick<DocsEntry, 'page' | 'title' | 'also' | 'href' | 'operation'> & {
  excerpt: string
  /** What was found: words begin with one of them. */
  terms: string[]
  /** Nothing has what was asked for; this has words that are like it. */
  isClose: boolean
}
/** `inHeadings`: beside other things, where every word has to be in a heading as it is, and operations are found anyway. */
export type DocsIndex = (asked: string, options?: { inHeadings?: boolean }) => FoundSection[]

const sectionsMax = 8
/** Beside operations: both are seen without scrolling. */
const sectionsFewer = 5
const operationsMax = 4
/** Of what has most of the words: a few, because each is a guess. */
const closeMax = 5
/** Fewer than these that have all words are followed by what lacks one of several. */
const enough = 3
const excerptLength = 140

export function docsIndexOf(entries: readonly DocsEntry[]): DocsIndex {
  const index = new MiniSearch<DocsEntry>({
    fields: ['title', 'page', 'also', 'text', 'code'],
    storeFields: ['page', 'title', 'also', 'text', 'code', 'href', 'operation', 'isInternal', 'isLast'],
    processTerm: term => (isOwn(term) ? null : [term.toLowerCase(), stemOf(term)]),
    searchOptions: {
      ...{ prefix: true, processTerm: term => term },
      // In a short word one other letter makes another word.
      fuzzy: term => (term.length > 5 ? 0.15 : false),
      boost: { title: 20, also: 20, page: 5, code: 0.5 },
      // A page is found before its sections.
      boostDocument: (_, __, stored) => (stored?.title === stored?.page ? 2 : 1) * (stored?.isInternal ? 0.3 : 1),
    },
  })
  index.addAll(entries)
  // Two letters that changed places are two changes.
  const fuzzy = (term: string) => (term.length > 4 ? 2 : term.length > 3 && 1)
  return (given, { inHeadings = false } = {}) => {
    // A call of the SDK, pasted with what it is given, is known by its name.
    const asked = /\bMoralis(\.\w+){3}/.exec(given)?.[0] ?? given
    const words = wordsOf(asked, inHeadings ? isOwn : undefined)
    const stems = words.map(word => word.map(parts => parts.map(stemOf)))
    const search = (these: readonly Word[], combineWith: 'AND' | 'OR', options: SearchOptions = {}) =>
      index.search({ combineWith, queries: these.map(queryOf) }, options)
    const exact = search(stems, 'AND', inHeadings ? { fields: ['title', 'page', 'also'], filter: isSection } : {})
    const isClose = !inHeadings && exact.every(({ isLast }) => isLast)
    const wanted = { asked, words, stems }
    let found = ranked(exact, wanted)
    if (isClose) {
      const like = ranked(search(words, 'AND', { fuzzy }), wanted)
      const most = () => mostWords(search(stems, 'OR'), wanted)
      found =
        like.length > exact.length ? like : (nonEmpty(most()) ?? mostWords(search(words, 'OR', { fuzzy }), wanted))
    } else if (!inHeadings && exact.length < enough && words.length > 2) {
      const others = mostWords(search(stems, 'OR'), wanted)
      found = [...found, ...others.filter(({ id }) => exact.every(each => each.id !== id))]
    }
    const operations = found.filter(result => !isSection(result)).slice(0, operationsMax)
    const sections = found.filter(isSection).slice(0, operations.length > 0 ? sectionsFewer : sectionsMax)
    const isFirst = found[0] !== undefined && !isSection(found[0])
    return (isFirst ? [...operations, ...sections] : [...sections, ...operations]).map(
      ({ page, title, also, href, operation, text, terms }) => ({
        ...{ page, title, also, href, operation, terms, isClose },
        // A path is read whole.
        excerpt: operation === undefined ? excerptOf(text, terms) : text,
      }),
    )
  }
}

function queryOf(word: Word): Query {
  return { combineWith: 'OR', queries: word.map(parts => ({ combineWith: 'AND', queries: [...parts] })) }
}

type Wanted = { asked: string; words: readonly Word[]; stems: readonly Word[] }

function ranked(found: readonly SearchResult[], wanted: Wanted): SearchResult[] {
  const places = new Map(found.map(result => [result, placeOf(result, wanted)]))
  return found.toSorted((one, other) => places.get(one)! - places.get(other)!)
}

function nonEmpty<Each>(list: Each[]): Each[] | undefined {
  return list.length === 0 ? undefined : list
}

/** What misses the fewest words, and no more than half of them. */
function mostWords(found: readonly SearchResult[], wanted: Wanted): SearchResult[] {
  const counted = found.map(result => ({ result, missing: missingIn(result, wanted) }))
  const least = Math.min(...counted.map(({ missing }) => missing))
  if (least * 2 > wanted.words.length) return []
  const best = counted.filter(({ missing }) => missing === least).map(({ result }) => result)
  return ranked(best, wanted).slice(0, closeMax)
}

/**
 * Before all others what is named just so, a heading, an error or an operation, or by the same words; then what misses
 * the fewest words, and of these what has them whole. Among equals the score decides.
 */
function placeOf(result: SearchResult, { asked, words, stems }: Wanted): number {
  if (result.isLast) return lastPlace
  const name = asked.trim().toLowerCase()
  const names = [
    result.title,
    ...(result.also ?? '').split(', '),
    ...(isSection(result) ? [] : [result.text, ...result.code.split(' ')]),
  ]
  if (names.some(each => each.toLowerCase() === name)) return -2
  const same = sameWords(asked)
  if (same !== '' && names.some(each => sameWords(each) === same)) return -1
  const missing = missingIn(result, { words, stems })
  return missing * 2 + (lacking(stems, result.terms) > missing ? 1 : 0)
}

const lastPlace = 1_000

function missingIn({ queryTerms }: SearchResult, { words, stems }: Pick<Wanted, 'words' | 'stems'>): number {
  return Math.min(lacking(words, queryTerms), lacking(stems, queryTerms))
}

function lacking(wanted: readonly Word[], here: readonly string[]): number {
  return wanted.filter(word => !word.some(parts => parts.every(part => here.includes(part)))).length
}

/** The words that say something, in whatever order. */
function sameWords(text: string): string {
  return wordsOf(text)
    .map(([[word = ''] = []]) => stemOf(word))
    .sort()
    .join(' ')
}

function isSection(result: SearchResult): boolean {
  return result.operation === undefined
}

/** Those who look for owners would find all that has it. */
function isOwn(term: string): boolean {
  return term.toLowerCase() === 'own'
}

/** Owners, owner and owns are one word to somebody who looks for them. */
function stemOf(term: string): string {
  return term.toLowerCase().replace(/(?<=...)(ers?|ing|ed|s)$/, '')
}

/** From the beginning of a word, somewhat before the first that begins as one of `terms` does. */
function excerptOf(text: string, terms: readonly string[]): string {
  const at = Math.max(text.search(wordsWith(terms)), 0)
  const from = at < 30 ? 0 : text.lastIndexOf(' ', at - 15) + 1
  const end = text.indexOf(' ', from + excerptLength)
  return `${from === 0 ? '' : '…'}${text.slice(from, end < 0 ? undefined : end)}${end < 0 ? '' : ' …'}`
}

/** Said of results that are `isClose`. */
export function closeText(asked: string): string {
  return `Nothing has “${asked}”. This is close to it.`
}

/** Each word that begins with one of `terms`, as a group. */
export function wordsWith(terms: readonly string[]): RegExp {
  const begins = terms.flatMap(term => /[\p{L}\p{N}]+/u.exec(term) ?? []).join('|')
  return new RegExp(`((?<![\\p{L}\\p{N}])(?:${begins})[\\p{L}\\p{N}]*)`, 'giu')
}

// The index over the pages of the documentation, for their own search and for the console's. It loads and shows nothing.
import MiniSearch, { type Query, type SearchOptions, type SearchResult } from 'minisearch'
import type { NotServed } from '../state/document.ts'
import { stemOf, type Word, wordsOf } from './docs-words.ts'
import { excerptOf, openingOf } from './excerpt.ts'
import { notServedAt, notServedBeside, notServedMax } from './not-served.ts'
import { atPath, valuesAt } from './paths.ts'
import { isTypo } from './typo.ts'

/** One section of a page, or one operation of the API. What is shown of it is its text; its code is found too. */
export type DocsEntry = {
  id: number
  page: string
  title: string
  text: string
  code: string
  /** What else people call it, as the page says for the search alone. */
  also?: string
  /** What an operation says of itself, with the names of its parameters. */
  about?: string
  href: string
  /** The name of the operation in the reference. */
  operation?: string
  /** Why it is not served: its text has its places. */
  why?: string
  /** Lists names, such as settings and metrics: found after what explains them. */
  isList?: true
  /** For those who work on Almanac: found after what is for its users. */
  isInternal?: true
  /** Explains one word: found first by who asks what that means, and else after the other pages. */
  isTerm?: true
  /** Has a word of nearly everything, such as the changelog: found after all else. */
  isLast?: true
}
export type FoundSection = Pick<DocsEntry, 'page' | 'title' | 'also' | 'href' | 'operation' | 'why'> & {
  /** What a pasted command asks of the operation. */
  values?: Readonly<Record<string, string>>
  excerpt: string
  /** What was found: words begin with one of them. */
  terms: string[]
  /** Nothing has what was asked for; this has words that are like it. */
  isClose: boolean
}
/**
 * `inHeadings`: beside other things, where every word has to be in a heading as it is, and operations are found anyway.
 */
export type DocsIndex = (asked: string, options?: { inHeadings?: boolean }) => FoundSection[]

const sectionsMax = 8
/** Beside operations: both are seen without scrolling. */
const sectionsFewer = 5
const operationsMax = 4
/** A question of several words means one or two. */
const operationsFewer = 2
/** Beside what is named and not served. */
const besideMax = 3
/** Of the best operation: others that fit less would push the pages down. */
const operationShare = 0.8
/** So many that have every word as it is leave out words that begin so or are like it; so many others, what is last. */
const wholeMin = 3
/** Of what lacks a word: a few, because each is a guess. */
const closeMax = 5
/** What fits less than this share of the best is left out, unless it has all words. */
const shareMin = 0.6

/** What is pasted means its operation alone; what is not served stands beside what was found, and before it if named. */
export function docsIndexOf(entries: readonly DocsEntry[]): DocsIndex {
  const [others, missing] = [entries.filter(({ why }) => !why), entries.filter(({ why }) => why)]
  const search = servedIndexOf(others)
  const calls = others.filter(({ operation }) => operation !== undefined)
  const notServed: NotServed = Object.fromEntries(
    missing.map(({ title, text, why }) => [title, { why: why!, at: text.split(', ') }]),
  )
  const shown = ({ page, title, href, operation, why, text }: DocsEntry): FoundSection => ({
    ...{ page, title, href, operation: operation!, terms: [], isClose: false, excerpt: text },
    ...(why !== undefined && { why }),
  })
  return (asked, options = {}) => {
    if (options.inHeadings) return search(asked, options)
    const called = atPath(calls, asked, ({ text }) => [text])
    const valuesOf = ({ text, about = '' }: DocsEntry) =>
      valuesAt(text.slice(text.indexOf('/')), asked, about.split(' '))
    // Before the search, for which the many words of a command are long work.
    if (called.length > 0) return called.map(entry => ({ ...shown(entry), values: valuesOf(entry) }))
    const found = search(asked, options)
    const exact = found.filter(({ isClose }) => !isClose)
    const ids = notServedBeside(notServed, asked, exact.length).slice(0, notServedMax)
    if (ids.length === 0) return found
    const beside = ids.map(id => shown(missing.find(({ title }) => title === id)!))
    if (asked.includes('/')) return beside
    return notServedAt(notServed, asked).length > 0 ? [...beside, ...exact.slice(0, besideMax)] : [...exact, ...beside]
  }
}

function servedIndexOf(entries: readonly DocsEntry[]): DocsIndex {
  const index = new MiniSearch<DocsEntry>({
    fields: ['title', 'page', 'also', 'text', 'code', 'about'],
    storeFields: [
      'page',
      'title',
      'also',
      'text',
      'code',
      'href',
      'operation',
      'isInternal',
      'isLast',
      'isList',
      'isTerm',
    ],
    processTerm: term => (isOwn(term) ? null : [term.toLowerCase(), stemOf(term)]),
    searchOptions: {
      ...{ prefix: true, processTerm: term => term },
      // In a short word one other letter makes another word.
      fuzzy: term => (term.length > 5 ? 0.15 : false),
      boost: { title: 20, also: 20, page: 5, code: 0.5, about: 0.5 },
      // A page is found before its sections.
      boostDocument: (_, __, stored) => (stored?.title === stored?.page ? 2 : 1) * (stored?.isInternal ? 0.3 : 1),
    },
  })
  index.addAll(entries)
  const openings = new Map(
    entries.filter(({ page, title }) => page === title).map(({ page, text }) => [page, openingOf(text)]),
  )
  // Two letters that changed places are two changes.
  const fuzzy = (term: string) => (term.length > 4 ? 2 : term.length > 3 && 1)
  return (given, { inHeadings = false } = {}) => {
    // A call of the SDK, pasted with what it is given, is known by its name.
    const asked = /\bMoralis(\.\w+){3}/.exec(given)?.[0] ?? given
    const words = wordsOf(asked, inHeadings ? isOwn : undefined)
    const stems = words.map(word => word.map(parts => parts.map(stemOf)))
    const search = (these: readonly Word[], options: SearchOptions = {}) =>
      index.search({ combineWith: 'OR', queries: these.map(queryOf) }, options)
    let found = ranked(search(stems), asked, words)
    if (inHeadings) found = found.filter(({ result, inHeading }) => isSection(result) && inHeading)
    else if (found.every(isInPassing)) {
      // A typing error, unless all words but some that no page has are there.
      const like = ranked(search(words, { fuzzy }), asked, words).filter(
        ({ hasAll, result }) => hasAll && !result.isLast,
      )
      const listed = found.filter(({ hasAll, result }) => hasAll && !result.isLast)
      const meant = listed.length === 0 ? like : like.filter(({ inHeading }) => inHeading)
      if (meant.length > 0) found = [...meant.map(each => ({ ...each, hasAll: false })), ...listed]
    }
    const isClose = !inHeadings && !found.some(({ hasAll, result }) => hasAll && !result.isLast)
    const results = found.slice(0, isClose ? closeMax : undefined).map(({ result }) => result)
    // What can be called is always offered.
    const isPageNamed = found[0] !== undefined && found[0].place < 0 && isSection(found[0].result)
    // Beside a page of that name, what only mentions the words in passing is noise.
    const calls = found.filter(({ result, isMentioned }) => !isSection(result) && !(isPageNamed && isMentioned))
    const operations = calls
      .filter(({ value }) => value >= operationShare * calls[0]!.value)
      .map(({ result }) => result)
      .slice(0, words.length > 1 ? operationsFewer : operationsMax)
    const most = operations.length > 0 ? sectionsFewer - (isClose ? operations.length : 0) : sectionsMax
    const sections = results.filter(isSection).slice(0, most)
    const isFirst = results[0] !== undefined && !isSection(results[0])
    return (isFirst ? [...operations, ...sections] : [...sections, ...operations]).map(
      ({ page, title, also, href, operation, text, terms: all }) => {
        const terms = withoutStems(all)
        // A path is read whole.
        const excerpt = operation === undefined ? excerptOf(text, terms, openings.get(page)) : text
        return { page, title, also, href, operation, terms, isClose, excerpt }
      },
    )
  }
}

/** It lacks a word, or is a list of names that has them in its text. */
function isInPassing({ hasAll, result, inHeading }: Ranked): boolean {
  return !hasAll || result.isLast || (result.isList && !inHeading)
}

function queryOf(word: Word): Query {
  return { combineWith: 'OR', queries: word.map(parts => ({ combineWith: 'AND', queries: [...parts] })) }
}

type Ranked = {
  result: SearchResult
  place: number
  value: number
  hasAll: boolean
  isWhole: boolean
  /** A word is in what it says of itself alone. */
  isMentioned: boolean
  inHeading: boolean
}

/**
 * Before all others what is named just so, a heading, an error or an operation, or by the same words; then by how much
 * of the question it has, where a word counts more the fewer have it, and more in a heading than in the text. A word
 * that nothing has counts for nothing. Among equals the score decides.
 */
function ranked(found: readonly SearchResult[], asked: string, words: readonly Word[]): Ranked[] {
  const fits = found.map(result => words.map(word => fitOf(word, result)))
  const weights = words.map((_, at) => {
    const having = fits.filter(each => each[at]! > 0).length
    return having === 0 ? 0 : Math.log(1 + (found.length + 1) / having)
  })
  const name = asked.trim().toLowerCase()
  const same = sameWords(asked).join(' ')
  const known = new Set(words.flat(2).map(stemOf))
  const isForUsers = ({ isInternal, isLast }: SearchResult) => !(isInternal || isLast)
  const hasUsers = found.some((result, which) => isForUsers(result) && fits[which]!.every(each => each > 0))
  const asksMeaning = meaningQuestion.test(asked)
  const all = found.flatMap((result, which): Ranked[] => {
    const fit = fits[which]!
    // The index said that it is like a word, of which it has too few letters.
    if (fit.every(each => each === 0)) return []
    const names = namesOf(result)
    const isNamed = names.some(each => each.toLowerCase() === name)
    const isSame = same !== '' && names.some(each => sameWords(each).join(' ') === same)
    // A name that stands in the question as a whole says more than its words apart.
    const whole = names.map(sameWords).filter(each => each.length > 0 && each.every(word => known.has(word)))
    const longest = Math.max(0, ...whole.map(each => each.length)) / words.length
    const own = weights.reduce((sum, weight, at) => sum + weight * fit[at]!, 0) + longest * weights.reduce(added, 0)
    const value = own * (result.isInternal ? 0.5 : result.isList ? 0.8 : 1) * (result.title === result.page ? 1.1 : 1)
    const place = placeOf(result, { nameRank: isNamed ? 2 : isSame ? 1 : 0, hasUsers, asksMeaning })
    return [
      {
        result,
        place,
        value,
        hasAll: fit.every(each => each > 0),
        isWhole: words.every(word => isWholeIn(word, result)),
        isMentioned: fit.some(each => each <= fieldFits.about!),
        inHeading: fit.every(each => each >= headingFit),
      },
    ]
  })
  // Whole words of everything asked: the beginnings of others would be noise.
  const whole = all.filter(({ isWhole, result }) => isWhole && !result.isLast)
  const kept = whole.length >= wholeMin ? all.filter(({ isWhole, place }) => isWhole || place < 0) : all
  const sorted = kept.toSorted((one, other) => one.place - other.place || other.value - one.value)
  const best = Math.max(0, ...all.filter(({ place }) => place < 2).map(({ value }) => value))
  const fitting = sorted.filter(({ hasAll, place, value }) => hasAll || (place < 2 && value >= best * shareMin))
  const others = fitting.filter(({ place }) => place < 2)
  return others.length >= wholeMin ? others : fitting
}

type Standing = {
  /** 2: it has just this name; 1: the same words. */
  nameRank: 0 | 1 | 2
  /** Something for users has all words. */
  hasUsers: boolean
  asksMeaning: boolean
}

/** The lower the earlier, whatever else fits. */
function placeOf({ isTerm, isLast, isInternal }: SearchResult, { nameRank, hasUsers, asksMeaning }: Standing): number {
  if (isTerm && asksMeaning && nameRank > 0) return -3
  if (isLast) return 2
  if (isTerm && !asksMeaning) return 1
  if (nameRank > 0) return -nameRank
  return isInternal && hasUsers ? 1 : 0
}

function added(sum: number, each: number): number {
  return sum + each
}

const meaningQuestion = /\b(means?|meaning|definition|define)\b|^what (is|are) (an? )?[\w-]+\??$/i

/** More than any word of a text has. */
const headingFit = 0.41

const fieldFits: Readonly<Record<string, number>> = { title: 1, also: 1, page: 0.7, text: 0.4, code: 0.4, about: 0.3 }

/** Of the best of the ways in which a word can be meant; of several words that belong together, the worst. */
function fitOf(word: Word, { match }: SearchResult): number {
  const found = Object.entries(match)
  const partFit = (part: string) =>
    Math.max(0, ...found.map(([term, fields]) => likeness(part, term) * Math.max(...fields.map(at => fieldFits[at]!))))
  return Math.max(...word.map(parts => Math.min(...parts.map(partFit))))
}

function isWholeIn(word: Word, { match }: SearchResult): boolean {
  const terms = new Set(Object.keys(match).map(stemOf))
  return word.some(parts => parts.every(part => terms.has(stemOf(part))))
}

/** A whole word before the beginning of another. */
function likeness(part: string, term: string): number {
  const stem = stemOf(part)
  if (term === part || stemOf(term) === stem) return 1
  // What is left of a short word begins many others.
  const begin = stem.length > 3 ? stem : part
  if (term.startsWith(begin)) return (0.9 * begin.length) / term.length
  return isFuzzy(part, term) ? 0.5 : 0
}

/** The index said that it is like one of the words: this one, if both begin alike. Of its length, only a typing error. */
function isFuzzy(part: string, term: string): boolean {
  if (part.length <= 3 || part[0] !== term[0]) return false
  const difference = Math.abs(part.length - term.length)
  return difference === 0 ? isTypo(part, term) : difference <= 2 && part.slice(0, 3) === term.slice(0, 3)
}

function namesOf(result: SearchResult): string[] {
  const others = (result.also ?? '').split(', ').filter(Boolean)
  return [result.title, ...others, ...(isSection(result) ? [] : [result.text, ...result.code.split(' ')])]
}

/** The words that say something, in whatever order. */
function sameWords(text: string): string[] {
  return wordsOf(text)
    .map(([[word = ''] = []]) => stemOf(word))
    .sort()
}

function isSection(result: SearchResult): boolean {
  return result.operation === undefined
}

/** Those who look for owners would find all that has it. */
function isOwn(term: string): boolean {
  return term.toLowerCase() === 'own'
}

/** Words that begin as a short stem does are others. */
function withoutStems(terms: readonly string[]): string[] {
  return terms.filter(term => term.length > 3 || !terms.some(other => other !== term && stemOf(other) === term))
}

/** Said of results that are `isClose`. */
export function closeText(asked: string): string {
  return `Nothing has “${asked}”. This is close to it.`
}

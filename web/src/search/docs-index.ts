// The index over the pages of the documentation, for their own search and for the console's. It loads and shows nothing.
import MiniSearch, { type SearchResult } from 'minisearch'

/** One section of a page, or one operation of the API. What is shown of it is its text; its code is found too. */
export type DocsEntry = {
  id: number
  page: string
  title: string
  text: string
  code: string
  href: string
  /** The name of the operation in the reference. */
  operation?: string
  /** For those who work on Almanac: found after what is for its users. */
  isInternal?: true
}
export type FoundSection = Pick<DocsEntry, 'page' | 'title' | 'href' | 'operation'> & {
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
const excerptLength = 140

export function docsIndexOf(entries: readonly DocsEntry[]): DocsIndex {
  const index = new MiniSearch<DocsEntry>({
    fields: ['title', 'page', 'text', 'code'],
    storeFields: ['page', 'title', 'text', 'href', 'operation', 'isInternal'],
    processTerm: term => (isFiller(term) ? null : [term.toLowerCase(), stemOf(term)]),
    searchOptions: {
      ...{ prefix: true, combineWith: 'AND' },
      // In a short word one other letter makes another word.
      fuzzy: term => (term.length > 5 ? 0.15 : false),
      boost: { title: 20, page: 5, code: 0.5 },
      // A page is found before its sections.
      boostDocument: (_, __, stored) => (stored?.title === stored?.page ? 2 : 1) * (stored?.isInternal ? 0.3 : 1),
    },
  })
  index.addAll(entries)
  return (asked, { inHeadings = false } = {}) => {
    const where = inHeadings ? { fields: ['title', 'page'], filter: isSection } : {}
    const wordOf = (term: string, word: string) => (isFiller(term) && term !== asked.trim() ? null : word)
    const exact = index.search(asked, { ...where, processTerm: term => wordOf(term, stemOf(term)) })
    // Two letters that changed places are two changes.
    const fuzzy = (term: string) => (term.length > 4 ? 2 : term.length > 3 && 1)
    const isClose = exact.length === 0 && !inHeadings
    const found = isClose
      ? index.search(asked, { ...where, fuzzy, processTerm: term => wordOf(term, term.toLowerCase()) })
      : exact
    const operations = found.filter(result => !isSection(result)).slice(0, operationsMax)
    const sections = found.filter(isSection).slice(0, operations.length > 0 ? sectionsFewer : sectionsMax)
    const isFirst = found[0] !== undefined && !isSection(found[0])
    return (isFirst ? [...operations, ...sections] : [...sections, ...operations]).map(
      ({ page, title, href, operation, text, terms }) => ({
        ...{ page, title, href, operation, terms, isClose },
        // A path is read whole.
        excerpt: operation === undefined ? excerptOf(text, terms) : text,
      }),
    )
  }
}

function isSection(result: SearchResult): boolean {
  return result.operation === undefined
}

/** Says nothing of a page, and those who look for owners would find all that has it. */
function isFiller(term: string): boolean {
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

/** Each word that begins with one of `terms`, as a group. */
export function wordsWith(terms: readonly string[]): RegExp {
  const begins = terms.flatMap(term => /[\p{L}\p{N}]+/u.exec(term) ?? []).join('|')
  return new RegExp(`((?<![\\p{L}\\p{N}])(?:${begins})[\\p{L}\\p{N}]*)`, 'giu')
}

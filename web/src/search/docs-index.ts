// The index over the pages of the documentation, for their own search and for the console's. It loads and shows nothing.
import MiniSearch from 'minisearch'

/** One section of a page. What is shown of it is its text; its code is found too. */
export type DocsEntry = { id: number; page: string; title: string; text: string; code: string; href: string }
export type FoundSection = Pick<DocsEntry, 'page' | 'title' | 'href'> & { excerpt: string }
/** `inHeadings`: where every word has to be in a heading. */
export type DocsIndex = (asked: string, options?: { inHeadings?: boolean }) => FoundSection[]

const sectionsMax = 12
const excerptLength = 140

export function docsIndexOf(entries: readonly DocsEntry[]): DocsIndex {
  const index = new MiniSearch<DocsEntry>({
    fields: ['title', 'page', 'text', 'code'],
    storeFields: ['page', 'title', 'text', 'href'],
    processTerm: term => (isFiller(term) ? null : [term.toLowerCase(), stemOf(term)]),
    searchOptions: {
      ...{ prefix: true, combineWith: 'AND' },
      // In a short word one other letter makes another word.
      fuzzy: term => (term.length > 5 ? 0.15 : false),
      boost: { title: 20, page: 5, code: 0.5 },
      // A page is found before its sections.
      boostDocument: (_, __, stored) => (stored?.title === stored?.page ? 2 : 1),
    },
  })
  index.addAll(entries)
  return (asked, { inHeadings = false } = {}) => {
    const found = index.search(asked, {
      processTerm: term => (isFiller(term) && term !== asked.trim() ? null : stemOf(term)),
      ...(inHeadings ? { fields: ['title', 'page'] } : {}),
    })
    return found.slice(0, sectionsMax).map(({ page, title, href, text, terms }) => ({
      ...{ page, title, href },
      excerpt: excerptOf(text, terms[0] ?? ''),
    }))
  }
}

/** Says nothing of a page, and those who look for owners would find all that has it. */
function isFiller(term: string): boolean {
  return term.toLowerCase() === 'own'
}

/** Owners, owner and owns are one word to somebody who looks for them. */
function stemOf(term: string): string {
  return term.toLowerCase().replace(/(?<=...)(ers?|ing|ed|s)$/, '')
}

/** From the beginning of a word, somewhat before the first one that begins as `word` does. */
function excerptOf(text: string, word: string): string {
  const at = ` ${text.toLowerCase()}`.indexOf(` ${word}`)
  const from = at < 60 ? 0 : text.lastIndexOf(' ', at - 50) + 1
  const end = text.indexOf(' ', from + excerptLength)
  return `${from === 0 ? '' : '…'}${text.slice(from, end < 0 ? undefined : end)}${end < 0 ? '' : ' …'}`
}

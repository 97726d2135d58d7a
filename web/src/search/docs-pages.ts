// The pages of the documentation that the console's search finds, by the index that they have of themselves. None where
// the documentation is not built.
import { signal } from '@preact/signals'
import { type DocsEntry, type DocsIndex, docsIndexOf, type FoundSection } from './docs-index.ts'
import { type Group, type Offer, operationHref } from './found.ts'

const offersMax = 5
/** Fewer letters begin a word of nearly every page. */
const lengthMin = 3

const index = signal<DocsIndex | undefined>(undefined)
let isAsked = false

/** Once. */
export function loadDocsIndex(): void {
  if (isAsked) return
  isAsked = true
  fetch('/docs/search-index.js')
    .then(async response => {
      if (!response.ok) return
      // A script that names a list, for pages that are opened from a folder.
      const text = await response.text()
      index.value = askedOnce(docsIndexOf(JSON.parse(text.slice(text.indexOf('['))) as DocsEntry[]))
    })
    .catch(() => {
      isAsked = false
    })
}

/** What is shown is drawn again with every change of the state, for which the same text is not searched again. */
function askedOnce(search: DocsIndex): DocsIndex {
  const last = new Map<boolean, { asked: string; found: FoundSection[] }>()
  return (asked, options = {}) => {
    const { inHeadings = false } = options
    const known = last.get(inHeadings)
    if (known?.asked === asked) return known.found
    const found = search(asked, options)
    last.set(inHeadings, { asked, found })
    return found
  }
}

/** By their headings: beside contracts and wallets a word of the text would be noise. */
export function docsFound(text: string): Group[] {
  const found = text.trim().length < lengthMin ? [] : (index.value?.(text, { inHeadings: true }) ?? [])
  const offers = found.slice(0, offersMax).map(({ page, title, href }) => ({
    ...{ type: 'docs', title, href: `/docs/${href}` },
    note: page === title ? undefined : page,
  }))
  return offers.length === 0 ? [] : [{ title: 'Docs', offers }]
}

const groupTitles: Readonly<Record<string, string>> = {
  docs: 'Docs',
  operation: 'Operations',
  'not served': 'Not served',
}

/** Everything that the search of the documentation finds, as it finds it. Undefined while there is no index. */
export function docsAnswer(text: string): { groups: Group[]; isClose: boolean } | undefined {
  if (index.value === undefined) return undefined
  const found = text.trim() === '' ? [] : index.value(text)
  const offers = found.map(({ page, title, href, operation, why, excerpt, terms, values }): Offer => {
    const shared = { title, terms }
    if (why !== undefined) return { ...shared, type: 'not served', note: why, excerpt, href: operationHref(title) }
    if (operation !== undefined)
      return { ...shared, type: 'operation', note: excerpt, href: operationHref(operation, values) }
    return { ...shared, type: 'docs', excerpt, note: page === title ? undefined : page, href: `/docs/${href}` }
  })
  const groups = Map.groupBy(offers, ({ type }) => groupTitles[type]!)
  return {
    groups: [...groups].map(([title, own]) => ({ title, offers: own })),
    isClose: found[0]?.isClose === true,
  }
}

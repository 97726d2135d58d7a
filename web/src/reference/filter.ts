// Which operations a text in the menu finds: an id, a subject and what an operation can do mean just these; any other
// text by the engine of the search, over what the document says of each. Pure.
import { type DocsIndex, docsIndexOf } from '../search/docs-index.ts'
import type { DocumentedOperation } from '../state/document.ts'
import { type Entry, effectiveNames, nameOf } from './entries.ts'
import { otherNames } from './other-names.ts'

/** Other words for what a title or a path says. */
const synonyms: readonly [says: RegExp, others: string][] = [
  [/owner/i, 'holder, holders, snapshot'],
  [/transfer/i, 'history, activity'],
  [/\bnft/i, 'token'],
  [/collection|contract/i, 'collection, contract'],
  [/balance/i, 'coins, amount'],
  [/stats/i, 'statistics, totals, counts, number'],
]

let known: { ids: string; search: DocsIndex } | undefined

/** What an operation can do, by the words that people have for it, and how that is seen. */
const capabilities: readonly [words: RegExp, has: (operation: DocumentedOperation) => boolean][] = [
  [/^(csv|ndjson|streams?|streaming|exports?|downloads?|whole lists?)$/, ({ responses }) => isStreamed(responses)],
  [/^(pages?|paging|paginat\w+|cursors?|limits?)$/, operation => effectiveNames(operation).includes('cursor')],
  [/^(as of|at block|at date|historical|snapshots?|past|time travel)$/, takes('at_block', 'at_date')],
  [/^(ranges?|block range|date range)$/, takes('from_block', 'from', 'range')],
  [/^(sort\w*|order)$/, takes('order')],
  [/^(spam|spam filter)$/, takes('exclude_spam', 'excludeSpam')],
  [/^(batch|bulk)$/, ({ requestBody, path }) => requestBody !== undefined && path.startsWith('/api/')],
  [/^sdk$/, operation => operation['x-sdk-call'] !== undefined],
]

function takes(...names: string[]) {
  return (operation: DocumentedOperation) => effectiveNames(operation).some(name => names.includes(name))
}

function isStreamed(responses: DocumentedOperation['responses']): boolean {
  return 'text/csv' in (responses[200]?.content ?? {})
}

/** The one that is named before all others. */
export function filtered(entries: readonly Entry[], text: string): readonly Entry[] {
  const asked = text.trim().toLowerCase()
  const isNamed = ({ id, older }: Entry) =>
    [id, ...older.map(each => each.operationId)].some(each => each.toLowerCase() === asked)
  const found = foundFor(entries, text, asked)
  return [...found.filter(isNamed), ...found.filter(entry => !isNamed(entry))]
}

function foundFor(entries: readonly Entry[], text: string, asked: string): readonly Entry[] {
  if (asked === '') return entries
  const ofSubject = entries.filter(({ subject }) => subject.toLowerCase() === asked)
  if (ofSubject.length > 0) return ofSubject
  const [, has] = capabilities.find(([words]) => words.test(asked)) ?? []
  const able = has === undefined ? [] : entries.filter(({ operation }) => has(operation))
  if (able.length > 0) return able
  // The name of a parameter, written out, means that one alone.
  const taking = entries.filter(({ operation }) => effectiveNames(operation).includes(text.trim()))
  if (taking.length > 0 && text.includes('_')) return taking
  const ids = entries.map(({ id }) => id).join()
  if (known?.ids !== ids) known = { ids, search: docsIndexOf(entries.map(entryFor)) }
  const found = new Set(known.search(text, { operationsAlone: true }).map(({ operation }) => operation))
  return entries.filter(({ id }) => found.has(id))
}

function entryFor(entry: Entry, at: number) {
  const { id, title, subject, operation, older } = entry
  const { method, path, summary } = operation
  const own = [summary, id, nameOf(entry), path].join(' ')
  const others = synonyms.filter(([says]) => says.test(own)).map(([, words]) => words)
  return {
    ...{ id: at, page: subject, title, text: `${method} ${path}`, href: id, operation: id },
    code: [id, ...older.map(({ operationId }) => operationId)].join(' '),
    about: [summary, ...effectiveNames(operation)].join(' '),
    also: [...(otherNames[id] ?? []), ...others].join(', '),
  }
}

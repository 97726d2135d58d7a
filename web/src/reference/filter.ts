// Which operations a word in the menu finds: by the engine of the search, over what the document says of each. Pure.
import { type DocsIndex, docsIndexOf } from '../search/docs-index.ts'
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

export function filtered(entries: readonly Entry[], text: string): readonly Entry[] {
  if (text.trim() === '') return entries
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

// Which operations a text in the menu finds, the best first: an id, a subject and what an operation can do mean just
// these; any other text is found in titles, ids and paths before the other words that people have for them. Pure.
import { isFiller, stemOf, type Word, wordsOf } from '../search/docs-words.ts'
import { atPath, withoutMethod } from '../search/paths.ts'
import { isLike } from '../search/typo.ts'
import type { DocumentedOperation } from '../state/document.ts'
import { type Entry, effectiveNames } from './entries.ts'
import { otherNames } from './other-names.ts'

/** Other words for what a title or a path says. */
const synonyms: readonly [says: RegExp, others: string][] = [
  [/owner/i, 'holder holders snapshot'],
  [/transfer/i, 'history activity'],
  [/collection|contract/i, 'collection contract'],
  [/balance/i, 'coins amount'],
  [/stats/i, 'statistics totals counts number'],
]

/** What an operation can do, by the words that people have for it, and how that is seen. */
const capabilities: readonly [words: RegExp, has: (operation: DocumentedOperation) => boolean][] = [
  [/^(csv|ndjson|streaming|exports?|downloads?|whole lists?)$/, ({ responses }) => isStreamed(responses)],
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

/** `isExact`: not what is only like the text. */
export function filtered(entries: readonly Entry[], text: string, { isExact = false } = {}): readonly Entry[] {
  const asked = text.trim().toLowerCase()
  if (asked === '') return entries
  const atPath = entriesAt(entries, text)
  if (atPath.length > 0) return atPath
  const ofSubject = entries.filter(({ subject }) => subject.toLowerCase() === asked)
  if (ofSubject.length > 0) return ofSubject
  const [, has] = capabilities.find(([words]) => words.test(asked)) ?? []
  const able = has === undefined ? [] : entries.filter(({ operation }) => has(operation))
  if (able.length > 0) return able
  // The name of a parameter, written out, means that one alone.
  const isWritten = (name: string) => name.toLowerCase() === asked && /[A-Z_]/.test(name)
  const taking = entries.filter(({ operation }) => effectiveNames(operation).some(isWritten))
  if (taking.length > 0) return taking
  const worth = new Map(entries.map(entry => [entry, worthOf(entry, text)]))
  const found = entries.filter(entry => worth.get(entry)! > 0)
  if (found.length === 0 && asked.length > 3 && !isExact)
    return entries.filter(entry =>
      isLike(asked, [entry.title, ...idsOf(entry), ...(otherNames[entry.id] ?? [])].join(' ')),
    )
  return found.toSorted((one, other) => worth.get(other)! - worth.get(one)!)
}

/** Those that a path or a whole address means, the one with its method first. */
export function entriesAt(entries: readonly Entry[], text: string): readonly Entry[] {
  return atPath(entries, text, ({ operation: { method, path } }) => [`${method} ${path}`])
}

/** Who looks for these does not find an operation by its address in a path. */
const unsaid = new Set(['api', 'address', 'id', 'v2', 'v22'])

function idsOf({ id, older }: Entry): string[] {
  return [id, ...older.map(({ operationId }) => operationId)]
}

/** How well an entry fits: 0 where it lacks a word. What is written out whole comes before all else. */
function worthOf(entry: Entry, text: string): number {
  const asked = text.trim().toLowerCase()
  const { id, title, operation } = entry
  const path = withoutMethod(operation.path)
  const others = otherNames[id] ?? []
  const [, method = operation.method] = /^(\w+)\s+\//.exec(text.trim()) ?? []
  const isOtherMethod = method.toLowerCase() !== operation.method.toLowerCase()
  const isAsked = (each: string) => each.toLowerCase() === asked
  if ([title, ...idsOf(entry)].some(isAsked) || path.toLowerCase() === withoutMethod(asked))
    return isOtherMethod ? 2.5 : 3
  const own = [...idsOf(entry).map(each => each.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')), ...idsOf(entry), path].join(' ')
  const meant = synonyms.filter(([says]) => says.test(`${title} ${path}`)).map(([, words]) => words)
  const titled = partsOf(title)
  const fields: readonly (readonly [weight: number, parts: readonly string[]])[] = [
    [1, titled],
    [0.8, partsOf(own).filter(part => !unsaid.has(part))],
    [0.5, partsOf([...others, ...meant].join(' '))],
  ]
  const words = wordsOf(withoutMethod(text).replaceAll(/\{\w+\}/g, ''))
  const fits = words.map(word => Math.max(...fields.map(([weight, parts]) => weight * fitOf(word, parts))))
  if (fits.some(fit => fit === 0)) return 0
  const isMeant = (part: string) => words.some(word => fitOf(word, [part]) > 0)
  const fit = fits.reduce((sum, each) => sum + each, 0) / fits.length
  // A title that says little else, and begins with what is asked.
  return (
    fit +
    titled.filter(isMeant).length / titled.length / 2 +
    (isMeant(titled[0]!) ? 0.2 : 0) +
    (others.some(isAsked) ? 1 : 0)
  )
}

function partsOf(text: string): string[] {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).map(part => part.toLowerCase()).filter(part => !isFiller(part))
}

/** A whole word before the beginning of one; of several words that belong together, the worst. */
function fitOf(word: Word, parts: readonly string[]): number {
  const likeness = (asked: string, part: string) =>
    part === asked || stemOf(part) === stemOf(asked) ? 1 : part.startsWith(asked) ? 0.7 : 0
  const best = (asked: string) => Math.max(0, ...parts.map(part => likeness(asked, part)))
  return Math.max(...word.map(together => Math.min(...together.map(best))))
}

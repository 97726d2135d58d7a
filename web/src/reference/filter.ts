// Which operations a word in the menu finds: by title, path, parameter or another word for it, and with a typing error where nothing
// has the word itself. Pure.
import { isLike } from '../search/typo.ts'
import { type Entry, nameOf } from './entries.ts'

/** Other words for what a title or a path says. */
const synonyms: readonly [says: RegExp, others: string][] = [
  [/owner/i, 'holder holders snapshot'],
  [/transfer/i, 'history activity'],
  [/\bnft/i, 'token'],
  [/collection|contract/i, 'collection contract'],
  [/balance/i, 'coins amount'],
  [/stats/i, 'statistics totals'],
]

export function filtered(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = entries.filter(entry => words.every(word => wordsOf(entry).toLowerCase().includes(word)))
  return found.length > 0 ? found : entries.filter(entry => isLike(text, wordsOf(entry)))
}

function wordsOf(entry: Entry): string {
  const { id, operation } = entry
  const { method, path, summary, parameters = [] } = operation
  const own = [summary, id, nameOf(entry), method, path].join(' ')
  const others = synonyms.filter(([says]) => says.test(own)).map(([, words]) => words)
  return [own, ...parameters.map(({ name }) => name), ...others].join(' ')
}

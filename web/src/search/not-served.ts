// Operations of the hosted service that Almanac does not have, as a text finds them. Pure.
import type { NotServed } from '../state/document.ts'
import { isFiller, stemOf } from './docs-words.ts'
import { atPath } from './paths.ts'

const lengthMin = 3

/** By their names, paths or what they need. */
export function notServedFor(notServed: NotServed, text: string): string[] {
  const words = text.split(/\s+/).filter(word => word !== '' && !isFiller(word))
  const stems = words.map(word => plain(stemOf(word)))
  if (stems.length === 0 || stems.some(stem => stem.length < lengthMin)) return []
  const found = Object.entries(notServed).flatMap(([id, { why, at }]) => {
    const isIn = (said: string) => stems.every(stem => begins(said, stem))
    const all = [id, why, ...at.map(place => place.replaceAll(/^\w+ |\{\w+\}/g, ''))].join(' ')
    // What it needs says more than a path that only has the words, and so does its name.
    return isIn(all) ? [{ id, rank: Number(isIn(why)) + Number(isIn(id)) }] : []
  })
  return found.toSorted((one, other) => other.rank - one.rank).map(({ id }) => id)
}

/** Those that a whole name, a path or an address means, which is not a search. */
export function notServedAt(notServed: NotServed, text: string): string[] {
  const asked = text.trim().toLowerCase()
  const named = Object.keys(notServed).filter(id => id.toLowerCase() === asked)
  return named.length > 0 ? named : atPath(Object.keys(notServed), text, id => notServed[id]!.at)
}

/** Few, because a word such as token is in many of them. */
export const notServedMax = 5

/** What to say beside `found` others: those that are meant, or few that have the words. */
export function notServedBeside(notServed: NotServed, text: string, found: number): string[] {
  const meant = notServedAt(notServed, text)
  if (meant.length > 0) return meant
  const ids = notServedFor(notServed, text)
  return found === 0 || ids.length <= notServedMax ? ids : []
}

function plain(said: string): string {
  return said.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** From the start of a word on, whether the words are written apart or not: `erc20` begins ERC-20, `ens` no token. */
function begins(said: string, stem: string): boolean {
  const words = said.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).map(plain)
  return words.some((_, at) => words.slice(at).join('').startsWith(stem))
}

// Turns what the schema refuses into sentences: where it stands, the key, the value and what is accepted. A value that may
// hold a secret is never quoted.
import type { z } from 'zod'
import { redactStore, redactUrl } from '../redact.ts'
import { aboutOf, keysOf, schemaAt } from './setting.ts'
import { type Config, settingsSchema } from './settings.ts'

/** Where a value came from: `almanac.yaml:3:12`, `ALMANAC_LISTEN` or `--listen`. */
export type PlaceOf = (path: readonly PropertyKey[], part: 'key' | 'value') => string

export function describeIssue(issue: z.core.$ZodIssue, given: unknown, placeOf: PlaceOf): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(key => unknownKey(issue.path, key, placeOf))
  const schema = schemaAt(settingsSchema, issue.path)
  const about = aboutOf(schema)
  const value = valueAt(given, issue.path)
  const name = nameOf(issue.path, given)
  const place = placeOf(issue.path, 'value')
  if (about === undefined) {
    const accepted = keysOf(schema)
    const wanted = accepted.length > 0 ? `a map with ${listed(accepted)}` : 'a map'
    return [`${place}: ${name || 'the file'} is ${shown(value)}; accepted: ${wanted}.`]
  }
  if (value === undefined) return [`${place}: ${name} is missing; accepted: ${about.accepts}.`]
  return [`${place}: ${name} is ${shown(value, about.secret)}; accepted: ${about.accepts}.`]
}

function unknownKey(path: readonly PropertyKey[], key: string, placeOf: PlaceOf): string {
  const accepted = keysOf(schemaAt(settingsSchema, path))
  const nearest = nearestWord(key, accepted)
  const advice = nearest === undefined ? `Accepted here: ${listed(accepted)}.` : `Did you mean ${nearest}?`
  return `${placeOf([...path, key], 'key')}: unknown key ${[...path, key].join('.')}. ${advice}`
}

/** `chains.eth.rpc[1]`; the index only where the giver wrote a list. */
function nameOf(path: readonly PropertyKey[], given: unknown): string {
  return path.reduce<string>((name, part, depth) => {
    if (typeof part !== 'number') return name === '' ? String(part) : `${name}.${String(part)}`
    return Array.isArray(valueAt(given, path.slice(0, depth))) ? `${name}[${part}]` : name
  }, '')
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given
  for (const part of path) {
    // A single value stands for a list of one.
    if (typeof part === 'number' && !Array.isArray(value)) return value
    value = (value as Record<PropertyKey, unknown> | null | undefined)?.[part]
  }
  return value
}

function shown(value: unknown, secret?: 'endpoint' | 'store'): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value !== 'string') return `${String(value)} (a ${typeof value})`
  if (secret !== undefined) return secret === 'store' ? JSON.stringify(redactStore(value)) : redactUrl(value)
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

// Finds the word that was probably meant. Pure.

/** The candidate nearest to a word, or undefined when none is near enough to be a slip of the finger. */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  let nearest: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const distance = editDistance(plain(word), plain(candidate))
    if (nearest === undefined || distance < nearest.distance) nearest = { candidate, distance }
  }
  if (nearest === undefined) return undefined
  const distanceMax = Math.max(2, Math.floor(Math.max(word.length, nearest.candidate.length) / 2))
  return nearest.distance <= distanceMax && nearest.distance < plain(nearest.candidate).length
    ? nearest.candidate
    : undefined
}

/** `requests_per_second`, `requests-per-second` and `requestsPerSecond` are one word. */
function plain(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '')
}

/** Levenshtein: insertions, deletions and replacements of single characters. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1))
    }
    previous = current
  }
  return previous[b.length]!
}

// The configuration as it may be shown: secrets hidden, everything else as it is in force.

export function shownConfig(config: Config): Record<string, unknown> {
  return hideSecrets(config, []) as Record<string, unknown>
}

function hideSecrets(value: unknown, path: readonly PropertyKey[]): unknown {
  const secret = aboutOf(schemaAt(settingsSchema, path))?.secret
  if (Array.isArray(value)) return value.map((item, index) => hideSecrets(item, [...path, index]))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, hideSecrets(child, [...path, key])]))
  }
  if (typeof value !== 'string' || secret === undefined) return value
  return secret === 'store' ? redactStore(value) : redactUrl(value)
}

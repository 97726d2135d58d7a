// Turns what the schema refuses into sentences: where it stands, the key, the value and what is accepted. A value that may
// hold a secret is never quoted.
import type { z } from 'zod'
import { redactStore, redactUrl } from '../redact-url.ts'
import { nearestWord } from './nearest.ts'
import { aboutOf, keysOf, schemaAt } from './setting.ts'
import { settingsSchema } from './settings.ts'

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

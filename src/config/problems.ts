// Turns what the schema refuses into sentences: position, key, value and what is accepted. It never quotes a value that
// may hold a secret.
import type { z } from 'zod'
import { nearestWord } from '../nearest-word.ts'
import { redactMistyped, redactStore, redactUrl } from '../redact.ts'
import { type About, aboutOf, camelCase, keysOf, schemaAt } from './setting.ts'
import { type Config, noSource, settingsSchema } from './settings.ts'

/** Where a value comes from: `almanac.yaml:3:12`, `ALMANAC_LISTEN` or `--listen`. */
export type PlaceOf = (path: readonly PropertyKey[], part: 'key' | 'value') => string

/** `meant` is what a slip most likely means; `path` that of the setting. */
export type Problem = { text: string; meant?: string | undefined; path?: readonly PropertyKey[] }

/** What follows from a misspelt key, that the one it means is missing, is left out. */
export function describeIssues(issues: readonly z.core.$ZodIssue[], given: unknown, placeOf: PlaceOf): Problem[] {
  const meant = issues.flatMap(issue =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map(key => [...issue.path, keyMeant(issue.path, key)].join('.'))
      : [],
  )
  const follows = ({ path }: z.core.$ZodIssue): boolean =>
    meant.includes(path.join('.')) && valueAt(given, path) === undefined
  return issues.filter(issue => !follows(issue)).flatMap(issue => describeIssue(issue, given, placeOf))
}

/** The accepted key of a section that a misspelt one means. */
export function keyMeant(section: readonly PropertyKey[], key: string): string | undefined {
  return nearestWord(key, keysOf(schemaAt(settingsSchema, section)))
}

function describeIssue(issue: z.core.$ZodIssue, given: unknown, placeOf: PlaceOf): Problem[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(key => unknownKey(issue.path, key, placeOf))
  const schema = schemaAt(settingsSchema, issue.path)
  const about = aboutOf(schema)
  const value = valueAt(given, issue.path)
  const name = nameOf(issue.path, given)
  const place = placeOf(issue.path, 'value')
  if (about === undefined) {
    const accepted = keysOf(schema)
    const wanted = accepted.length > 0 ? `a map with ${listed(accepted)}` : 'a map'
    return [{ text: `${place}: ${name || 'the file'} is ${shown(value)}; accepted: ${wanted}.` }]
  }
  const { path } = issue
  if (issue.message === noSource) {
    const missing = `${name}, history and portal are missing: one is needed; accepted as rpc`
    return [{ text: `${place}: ${missing}: ${about.accepts}.`, path }]
  }
  const is = value === undefined ? 'missing' : shown(value, about.secret)
  return [{ text: `${place}: ${name} is ${is}; accepted: ${about.accepts}.`, meant: valueMeant(about, value), path }]
}

function valueMeant({ accepts, meant }: About, value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const words = [...accepts.matchAll(/`(\w[^`]+)`/g)].map(([, word]) => word!)
  const given = String(value)
  // A right word in the wrong form, such as one where a list belongs, is not a typo.
  return meant?.(given) ?? (words.includes(given) ? undefined : nearestWord(given, words))
}

function unknownKey(path: readonly PropertyKey[], key: string, placeOf: PlaceOf): Problem {
  const meant = keyMeant(path, key)
  const text = `${placeOf([...path, key], 'key')}: unknown key ${[...path, key].join('.')}.`
  const accepted = () => listed(keysOf(schemaAt(settingsSchema, path)))
  return { text: meant === undefined ? `${text} Accepted here: ${accepted()}.` : text, meant }
}

/** `chains.eth.rpc[1]`; the index only if a list was given. */
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

function shown(value: unknown, secret?: About['secret']): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value !== 'string') return `${String(value)} (a ${typeof value})`
  if (secret === 'store') return JSON.stringify(redactStore(value))
  if (secret === 'endpoint') return redactMistyped(value)
  // Somebody put an endpoint where it does not belong: its path may be a key.
  if (value.includes('://')) return redactUrl(value)
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** The settings in force as the file spells them, with secrets hidden. */
export function shownConfig(config: Config): Record<string, unknown> {
  return shownAt(settingsSchema, config) as Record<string, unknown>
}

const hiders = {
  store: redactStore,
  endpoint: redactUrl,
  place: (text: string) => (text.includes('://') ? redactUrl(text) : text),
}

function shownAt(schema: z.ZodType, value: unknown): unknown {
  const about = aboutOf(schema)
  if (about !== undefined) {
    if (about.secret === undefined) return value
    const hide = hiders[about.secret]
    return Array.isArray(value) ? value.map(hide) : hide(String(value))
  }
  const given = value as Record<string, unknown>
  const keys = keysOf(schema)
  const names =
    keys.length > 0
      ? keys.map(key => [key, camelCase(key)] as const)
      : Object.keys(given).map(key => [key, key] as const)
  const shown = names.filter(([, name]) => given[name] !== undefined)
  return Object.fromEntries(shown.map(([key, name]) => [key, shownAt(schemaAt(schema, [key])!, given[name])]))
}

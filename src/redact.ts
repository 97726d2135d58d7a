// Hides the secrets of addresses before they reach a log, an error or a page. Providers put keys into user names, paths
// and queries, so only the scheme and the host remain, and repeat them in what they say.
import { chainCommonlyCalled, namedChains } from './chains.ts'
import { plainText } from './plain-text.ts'

export function redactUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || url.host === '') return '(hidden)'
  const rest = url.pathname.length > 1 || url.search !== '' || url.hash !== '' ? '/…' : ''
  const credentials = url.username !== '' || url.password !== '' ? '…@' : ''
  return `${url.protocol}//${credentials}${url.host}${rest}`
}

/** Of what was meant as an address and is none, a short word or what looks like a host; a key looks like neither. */
export function redactMistyped(text: string): string {
  if (/^([a-z]{1,10}|\W{1,3})$/i.test(text)) return text
  if ((URL.parse(text)?.host ?? '') !== '') return redactUrl(text)
  const [, scheme = '', rest = ''] = /^\s*([a-z]{1,10}:?\/+)?(.*)$/is.exec(text) ?? []
  const [authority = '', ...path] = rest.split(/[/?#]/)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  if (!/^(localhost|[a-z\d-]{1,40}(\.[a-z\d-]{1,40}){1,6}|\[[\da-f:]+\])(:\d{1,5})?$/.test(host)) return '(hidden)'
  const shown = `${scheme}${host === authority ? '' : '…@'}${host}`
  return path.some(part => part !== '') ? `${shown}/…` : shown
}

/** A store that is a file keeps its path; a server keeps its host and database, whatever its scheme was mistyped as. */
export function redactStore(text: string): string {
  if (/^\s*file:/i.test(text) || !/[:@]/.test(text)) return text
  const url = URL.parse(text)
  // A password with a slash in it ends up in the path.
  if (url === null || !/^(\/[^@]*)?$/.test(url.pathname)) return '(hidden)'
  const credentials = url.username === '' ? '' : url.password === '' ? `${url.username}@` : `${url.username}:…@`
  return `${url.protocol}//${credentials}${url.host}${url.pathname}${url.search === '' ? '' : '?…'}`
}

/**
 * Hides every address, every Almanac key and every secret of a webhook in a text; also an address that JSON escaped or
 * a query carries.
 */
export function redactText(text: string): string {
  return text
    .replace(address, hideAddress)
    .replace(login, '$1…@')
    .replace(/alm_[A-Za-z0-9_-]{8,}/g, 'alm_…')
    .replace(/whsec_[A-Za-z0-9+/=_-]{8,}/g, 'whsec_…')
}

// Repetitions are bounded: a node may send a long text that is made to be searched for ever.
const slash = String.raw`(?:\\{0,8}/|%(?:25){0,8}2f)`
/** Of JSON's escapes those of a slash and of a sign such as `&`. A quote belongs to what goes on after it. */
const character = String.raw`(?:[^\s"'<>\\]|\\{1,8}(?:/|u00[\da-f]{2})|'(?=[\w@%/]))`
const address = new RegExp(`(?:https?|wss?|postgres(?:ql)?)(?::|%(?:25){0,8}3a)${slash}{2}${character}+`, 'gi')
/** Of an address with another scheme or with none. */
const login = /((?:\\{0,8}\/){2})[^\s"'<>\\/@]+@/g

/** What closes a bracket or ends a sentence is no part of the address; the bracket of an IPv6 host is. */
function hideAddress(found: string): string {
  let end = found.length
  if (!/\[[\da-f:.]+\]$/i.test(found)) while (')]},.;:!?'.includes(found[end - 1]!)) end--
  let url = found.slice(0, end).replace(/\\{1,8}\//g, '/')
  while (!/^\w+:\/\//.test(url)) {
    const once = decoded(url)
    if (once === url) break
    url = once
  }
  return redactUrl(url) + found.slice(end)
}

/** Takes a text of an endpoint's node to one that may be shown: one line, without the secrets of the endpoint. */
export type Redactor = (text: string) => string

/** `others` are secrets that are sent beside the URL, such as a token. */
export function redactorOf(url: string | URL, others: readonly string[] = []): Redactor {
  const hide = hiderOf([...secretsIn(typeof url === 'string' ? new URL(url) : url), ...others])
  return text => redactText(hide(plainText(text, ' ')))
}

/** Hides secrets and nothing else. */
export function hiderOf(secrets: readonly string[]): Redactor {
  const forms = new Set(secrets.flatMap(formsOf).filter(form => form !== ''))
  if (forms.size === 0) return text => text
  // Longest first: a secret that contains another must not leave a remainder.
  const ordered = [...forms].sort((a, b) => b.length - a.length).map(patternOf)
  const pattern = new RegExp(ordered.join('|'), 'giu')
  return text => text.replace(pattern, '***')
}

/** What a URL adds to a request besides the host; of the path only words that many providers use may be shown. */
function secretsIn({ username, password, pathname, searchParams, hash }: URL): string[] {
  const login = `${decoded(username)}:${decoded(password)}`
  const values = [...searchParams].map(([name, value]) => (value === '' ? name : value))
  return [
    ...(login === ':' ? [] : [username, password, Buffer.from(login).toString('base64')]),
    ...pathname.split('/').filter(segment => !isPathWord(segment)),
    ...values,
    hash.slice(1),
  ]
}

/** Versions and names such as `v3`, `mainnet` or `polygon-archive`: hiding them would garble every message. */
function isPathWord(segment: string): boolean {
  return decoded(segment)
    .toLowerCase()
    .split(/[-_.]/)
    .every(word => /^v?\d?$/.test(word) || pathWords.has(word) || chainCommonlyCalled(word) !== undefined)
}

const pathWords = new Set([
  ...namedChains.map(({ name }) => name),
  ...['api', 'apikey', 'archive', 'auth', 'bc', 'chain', 'devnet', 'evm', 'ext', 'full', 'gateway', 'http', 'json'],
  ...['jsonrpc', 'key', 'mainnet', 'network', 'node', 'project', 'public', 'rpc', 'solana', 'testnet', 'token', 'ws'],
])

/** As it is written in the URL, as it is meant, and as JSON, Base64 or a header may show it. */
function formsOf(secret: string): string[] {
  const meant = decoded(secret)
  const url = secret.replaceAll('+', '-').replaceAll('/', '_')
  const json = JSON.stringify(meant).slice(1, -1)
  const written = [secret, meant, encodeURIComponent(meant), json, json.replaceAll('/', '\\/'), url]
  return written.flatMap(form => [form, form.replace(/=+$/, '')])
}

/** Shorter ones are hidden where they stand alone: they are found by chance in many words. */
const lengthInWords = 4

function patternOf(form: string): string {
  const literal = form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return form.length < lengthInWords ? `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])` : literal
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

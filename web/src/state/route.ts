// Which page is shown: read from the part of the address behind `#`, which never reaches a server.
import { signal } from '@preact/signals'
import { key } from './session.ts'

export type Route = {
  parts: string[]
  query: URLSearchParams
  /** Another number each time, so that the same place can be gone to again. */
  turn: number
}

/** The reference has an address of its own, which needs no key: `/reference#/x` is the page `/#/explore/x`, and so is what mixes both. */
export const isReference = /^\/reference\/?$/.test(location.pathname)

let turns = 0
export const route = signal<Route>(readRoute())

// Places that were seen are marked in the history of the browser, so that going back is told from going on.
history.replaceState({}, '')

addEventListener('hashchange', () => {
  const isNew = history.state === null
  if (isNew) history.replaceState({}, '')
  const before = route.value.parts.join('/')
  route.value = readRoute()
  if (isNew && route.value.parts.join('/') !== before) beginPage()
})

/** Another page begins at its top, for the eye and for the keyboard; going back leaves both to the browser. */
function beginPage(): void {
  scrollTo(0, 0)
  document.getElementById('main')?.focus({ preventScroll: true })
}

function readRoute(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const parts = path.split('/').filter(Boolean).map(decodePart)
  return {
    parts: isReference && parts[0] !== 'explore' ? ['explore', ...parts] : parts,
    query: new URLSearchParams(query),
    turn: turns++,
  }
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

type Query = Readonly<Record<string, string | undefined>>

/** Of a page of the console, from wherever it is shown. */
export function placeOf(parts: readonly string[], query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, value)
  return `/#/${parts.map(encodeURIComponent).join('/')}${search.size === 0 ? '' : `?${search}`}`
}

/** What the reference asks of it, for those who may not see its page: an operation, and the names of the parts. */
const asked: Readonly<Record<string, readonly [operation: string, ...names: string[]]>> = {
  contract: ['getNFTContractTransfers', 'chain', 'address'],
  token: ['getNFTMetadata', 'chain', 'address', 'token_id'],
  wallet: ['getWalletNFTs', 'address'],
  account: ['getPortfolio', 'network', 'address'],
  block: ['getNFTTransfersByBlock', 'chain', 'block_number_or_hash'],
  transaction: ['getTransaction', 'chain', 'hash'],
}

/** Of a page from here: within the console, and within the reference, only the part behind `#` changes. */
export function hrefOf([page = '', ...rest]: readonly string[], query?: Query): string {
  if (!isReference) return placeOf([page, ...rest], query).slice(1)
  const [operation, ...names] = (key.value === undefined && asked[page]) || []
  if (operation !== undefined) {
    const parts = Object.fromEntries(names.map((name, at) => [name, rest[at]]))
    return placeOf([operation], { ...parts, chain: parts.chain ?? query?.chain }).slice(1)
  }
  return page === 'explore' ? placeOf(rest, query).slice(1) : placeOf([page, ...rest], query)
}

/** A place that replaces the one before is not gone back to. */
export function goTo(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, '', href)
  if (location.hash === href) route.value = readRoute()
  else location.hash = href
}

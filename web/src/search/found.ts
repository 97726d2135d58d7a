// What a search offers: pages, chains and keys that this browser knows, and what the service finds in its store. Pure but for
// the two requests.
import { countText, shortText } from '../quantities.ts'
import { type Entry, entriesOf, valuesPasted } from '../reference/entries.ts'
import { entriesAt, filtered } from '../reference/filter.ts'
import { apiDocument, type NotServed } from '../state/document.ts'
import { status } from '../state/live.ts'
import { isReference, placeOf } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { key } from '../state/session.ts'
import { notServedAt, notServedBeside, notServedMax } from './not-served.ts'

export type Offer = {
  /** What it is, in one word: contract, wallet, chain … */
  type: string
  title: string
  note?: string | undefined
  /** A word that stands out: verified, spam. */
  mark?: { word: string; tone: 'good' | 'warn' } | undefined
  href: string
  isMono?: boolean
  /** Where words of the question stand, and these words. */
  excerpt?: string | undefined
  terms?: readonly string[]
}

export type Group = { title: string; offers: readonly Offer[] }

type Result = Schemas['SearchAnswer']['results'][number]

const pages: readonly (Offer & { words: string })[] = [
  { type: 'page', title: 'Overview', href: '/#/', words: 'overview home status health chains' },
  { type: 'page', title: 'Keys', href: '/#/keys', words: 'keys new key create rotate revoke scopes' },
  {
    type: 'page',
    title: 'API reference',
    href: '/#/explore',
    words: 'api reference explorer openapi operations request try',
  },
  { type: 'page', title: 'Docs', href: '/docs', words: 'docs documentation help guides manual' },
]

/** Where nothing is found. */
export const offersElsewhere: readonly Offer[] = [
  { type: 'page', title: 'What is served, and what is not', href: '/docs/operations.html' },
  { type: 'page', title: 'Docs', note: 'all pages, by subject', href: '/docs' },
]

/** For those who are not signed in: the reference and the docs need no key. */
const openPages: typeof pages = [
  { ...pages[2]!, href: '/reference' },
  pages[3]!,
  { type: 'page', title: 'Sign in', href: '/#/', words: 'sign in log in console' },
]

function pagesNow(): typeof pages {
  return key.value === undefined ? openPages : pages
}

type Known = {
  chains: readonly string[]
  networks: readonly string[]
  keys: readonly Schemas['Key'][]
  operations: readonly Entry[]
  notServed: NotServed
}

const operationsMax = 6

/** `isLike`: finds names that are like the text instead of those that have it. */
export function offersHere(
  text: string,
  { chains, networks, keys, operations, notServed }: Known,
  isLike?: (text: string, name: string) => boolean,
): Group[] {
  const wanted = text.trim().toLowerCase()
  const has = (name: string) =>
    wanted !== '' && (isLike === undefined ? name.toLowerCase().includes(wanted) : isLike(wanted, name))
  const pagesFound = pagesNow().filter(
    ({ words, title }) =>
      has(title) || (isLike === undefined ? words.split(' ').some(word => word.startsWith(wanted)) : has(words)),
  )
  const chainsFound = chains.filter(has).map(chainOffer)
  const networksFound = networks.filter(name => has(`solana ${name}`)).map(networkOffer)
  const keysFound = keys
    .filter(({ name, id }) => has(name) || id === wanted)
    .map(
      ({ name, id, state }): Offer => ({
        type: 'key',
        title: name,
        note: `${id} · ${state}`,
        href: placeOf(['keys', id]),
      }),
    )
  // As the reference finds them.
  const operationsFound = wanted === '' ? [] : filtered(operations, text, { isExact: isLike === undefined })
  const missing = isLike === undefined ? notServedBeside(notServed, text, operationsFound.length) : []
  return groupsOf([
    ['Chains', [...chainsFound, ...networksFound]],
    ['Pages', wanted === '' ? [] : pagesFound],
    ['Operations', operationsFound.slice(0, operationsMax).map(entry => operationOffer(entry, text))],
    ['Not served', missing.slice(0, notServedMax).map(id => missingOffer(id, notServed[id]!))],
    ['Keys', keysFound.slice(0, 5)],
  ])
}

/** None until the document is there. */
export function operationsKnown(): Entry[] {
  return apiDocument.value === undefined ? [] : entriesOf(apiDocument.value)
}

/** Those that have no route here; none until the document is there. */
export function notServedKnown(): NotServed {
  return apiDocument.value?.['x-not-served'] ?? {}
}

/** Whether it is a path or an address that somebody pasted, or the name of what is not served. */
export function isOperationMeant(text: string): boolean {
  return entriesAt(operationsKnown(), text).length + notServedAt(notServedKnown(), text).length > 0
}

function missingOffer(id: string, { why, at }: NotServed[string]): Offer {
  return { type: 'not served', title: id, note: why, excerpt: at.join(', '), href: operationHref(id) }
}

function chainOffer(name: string): Offer {
  return { type: 'chain', title: name, href: placeOf(['chain', name]) }
}

function networkOffer(name: string): Offer {
  return { type: 'network', title: `solana ${name}`, href: placeOf(['chain', `solana ${name}`]) }
}

/** With the values of a pasted command. */
function operationOffer(entry: Entry, text: string): Offer {
  const { name, title, operation } = entry
  const href = operationHref(name, valuesPasted(entry, text))
  return { type: 'operation', title, note: `${operation.method} ${operation.path}`, href }
}

export function operationHref(name: string, values: Readonly<Record<string, string>> = {}): string {
  return isReference ? placeOf([name], values).replace('/#', '/reference#') : placeOf(['explore', name], values)
}

const beginningMax = 6

/** With nothing typed: what was chosen before, and a few places of each kind. */
export function offersToBegin(): Group[] {
  const { chains = {}, solana = {} } = status.value ?? {}
  const places = [...Object.keys(chains).map(chainOffer), ...Object.keys(solana).map(networkOffer)]
  // One of each subject.
  const operations = operationsKnown().filter(({ subject }, at, all) => all[at - 1]?.subject !== subject)
  return groupsOf([
    ['Recent', recentOffers()],
    ['Go to', pagesNow()],
    ['Chains', places.slice(0, beginningMax)],
    ['Operations', operations.slice(0, beginningMax).map(entry => operationOffer(entry, ''))],
  ])
}

function groupsOf(groups: readonly (readonly [string, readonly Offer[]])[]): Group[] {
  return groups.filter(([, offers]) => offers.length > 0).map(([title, offers]) => ({ title, offers }))
}

export function groupsOfResults(results: readonly Result[]): Group[] {
  const of = (...types: Result['type'][]) => results.filter(({ type }) => types.includes(type)).map(offerOf)
  const blocks = ['Blocks', of('block')] as const
  const others = [
    ['Contracts', of('contract', 'erc20')],
    ['Wallets and accounts', of('wallet', 'account')],
  ] as const
  // A number is that of a block before it is within a name: the service says so by its order.
  const inOrder = results[0]?.type === 'block' ? [blocks, ...others] : [...others, blocks]
  return groupsOf([...inOrder, ['Transactions', of('transaction')], ['Explain', explanationsOf(results)]])
}

const explainedMax = 4

/** Of an address that nothing is known of: these pages have it indexed, or say why there is nothing. */
function explanationsOf(results: readonly Result[]): Offer[] {
  const [only, ...others] = results
  if (only?.type !== 'wallet' || others.length > 0 || only.chains.length > 0 || only.label !== null) return []
  const chains = Object.keys(status.value?.chains ?? {})
  return chains.slice(0, explainedMax).flatMap(chain => [
    {
      type: 'contract',
      title: `Explain it as a contract on ${chain}`,
      href: placeOf(['contract', chain, only.address]),
    },
    {
      type: 'token',
      title: `Open it as an ERC-20 token on ${chain}`,
      href: placeOf(['erc20', chain, only.address]),
    },
  ])
}

export function offerOf(result: Result): Offer {
  switch (result.type) {
    case 'contract':
    case 'erc20': {
      const { type, chain, address, name, symbol, label, transfers } = result
      // None may also mean that nothing of it is indexed.
      const count = transfers > 0 && `${countText(transfers)} ${transfers === 1 ? 'transfer' : 'transfers'}`
      return {
        type: type === 'erc20' ? 'token' : type,
        title: name ?? label ?? symbol ?? shortText(address),
        note: [
          type === 'erc20' && 'ERC-20',
          symbol !== null && name !== null && symbol,
          chain,
          shortText(address),
          count,
        ]
          .filter(Boolean)
          .join(' · '),
        mark: result.possible_spam
          ? { word: 'possible spam', tone: 'warn' }
          : result.verified
            ? { word: 'verified', tone: 'good' }
            : undefined,
        href: placeOf([type, chain, address]),
      }
    }
    case 'wallet': {
      const { address, label, chains } = result
      const where = chains.length === 0 ? '' : `on ${chains.join(', ')}`
      return {
        type: 'wallet',
        title: label ?? address,
        isMono: label === null,
        note: [label === null ? undefined : shortText(address), where].filter(Boolean).join(' · '),
        href: placeOf(['wallet', address], { chain: chains[0] }),
      }
    }
    case 'account':
      return {
        type: 'account',
        title: result.address,
        isMono: true,
        note: `solana ${result.network}`,
        href: placeOf(['account', result.network, result.address]),
      }
    case 'block':
      return {
        type: 'block',
        title: `Block ${countText(result.number)}`,
        note: result.hash === null ? result.chain : `${result.chain} · ${shortText(result.hash)}`,
        href: placeOf(['block', result.chain, String(result.number)]),
      }
    case 'transaction':
      return {
        type: 'transaction',
        title: shortText(result.hash, 10),
        isMono: true,
        note:
          result.block === null
            ? `look it up on ${result.chain}`
            : `${result.chain} · block ${countText(result.block)}`,
        href: placeOf(['transaction', result.chain, result.hash]),
      }
  }
}

/** As the service takes it. */
export const askedLengthMax = 100

export function askSearch(text: string, signal: AbortSignal) {
  return service.GET('/search', { params: { query: { q: text } }, signal })
}

// What was chosen before, kept in this browser alone.

const place = 'almanac.searched'
const keptMax = 8

export function recentOffers(): Offer[] {
  try {
    const kept = JSON.parse(localStorage.getItem(place) ?? '[]') as Offer[]
    return Array.isArray(kept) ? kept.filter(({ href, title }) => isOwn(href) && typeof title === 'string') : []
  } catch {
    return []
  }
}

/** Only places of the console and its documentation: what is kept could have been written by something else. */
function isOwn(href: unknown): boolean {
  return typeof href === 'string' && /^\/(#\/|reference(#\/|$)|docs(\/|$))/.test(href)
}

export function keepOffer(offer: Offer): void {
  const { type, title, note, href, isMono = false } = offer
  const others = recentOffers().filter(each => each.href !== href)
  localStorage.setItem(place, JSON.stringify([{ type, title, note, href, isMono }, ...others].slice(0, keptMax)))
}

export function forgetOffers(): void {
  localStorage.removeItem(place)
}

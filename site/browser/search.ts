// The search of every page, without a server: what it finds, with the words that were found, and the keys that move in
// it. The index itself is made elsewhere.
import {
  closeText,
  type DocsEntry,
  type DocsIndex,
  docsIndexOf,
  type FoundSection,
} from '../../web/src/search/docs-index.ts'
import { isFiller } from '../../web/src/search/docs-words.ts'
import { wordsWith } from '../../web/src/search/excerpt.ts'
import { lookUpText, pastedKind } from '../../web/src/search/pasted.ts'
import { isServed, referenceOf, root } from './place.ts'

declare global {
  interface Window {
    almanacEntries?: DocsEntry[]
    /** Where the browser has it, and the service that serves the page asks for it. */
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } }
  }
}

const dialog = document.querySelector<HTMLDialogElement>('.search-dialog')!
const input = document.querySelector<HTMLInputElement>('#search-text')!
const list = document.querySelector<HTMLElement>('#found')!
const state = document.querySelector<HTMLElement>('.search-state')!

const policy = window.trustedTypes?.createPolicy('almanac-docs', { createScriptURL: (url: string) => url })

let index: DocsIndex | undefined
let chosen = 0

/** A script and no request: pages that are opened from a folder may load scripts alone. */
function load(): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    const address = `${root}search-index.js`
    script.src = policy?.createScriptURL(address) ?? address
    script.onload = () => {
      index = docsIndexOf(window.almanacEntries ?? [])
      resolve()
    }
    script.onerror = () => reject(new Error('The index of the search is missing.'))
    document.head.append(script)
  })
}
let loading: Promise<void> | undefined

async function foundFor(text: string): Promise<FoundSection[]> {
  loading ??= load()
  await loading
  return index!(text)
}

async function find(): Promise<void> {
  const text = input.value.trim()
  const found = text === '' ? [] : await foundFor(text)
  // Another letter may have been typed meanwhile.
  if (text !== input.value.trim()) return
  const pasted = pastedKind(text)
  const isNothing = text !== '' && found.length === 0 && pasted === undefined
  const shown = isNothing ? elsewhere : found
  const groups = Map.groupBy(shown.entries(), ([, { operation, why }]) =>
    operation === undefined ? 'Docs' : why === undefined ? 'Operations' : 'Not served',
  )
  const places = pasted !== undefined && isServed ? [consoleLink(text)] : []
  list.replaceChildren(...places, ...[...groups].map(([title, own]) => groupOf(title, own)))
  input.ariaExpanded = `${shown.length + places.length > 0}`
  choose(0)
  if (text === '') state.textContent = ''
  else if (pasted !== undefined) state.textContent = lookUpText(pasted)
  else if (isNothing) state.textContent = `Nothing is found for “${text}”.`
  else state.textContent = found[0]!.isClose ? closeText(text) : `${found.length} found`
}

/** Where nothing is found. */
const elsewhere = [
  { title: 'All pages', href: 'index.html', excerpt: 'Guides, references and operation of the service, by subject.' },
  { title: 'Questions and answers', href: 'faq.html', excerpt: 'What is served, what it costs, and what is missing.' },
].map((place): FoundSection => ({ ...place, page: place.title, terms: [], isClose: false }))

function groupOf(title: string, found: readonly (readonly [number, FoundSection])[]): HTMLElement {
  const group = document.createElement('div')
  group.role = 'group'
  group.ariaLabel = title
  const heading = document.createElement('div')
  heading.className = 'offers-title'
  heading.ariaHidden = 'true'
  heading.textContent = title
  const rows = found.map(([place, section]) => {
    const link = linkOf(section)
    link.role = 'option'
    link.id = `found-${place}`
    link.tabIndex = -1
    return link
  })
  group.append(heading, ...rows)
  return group
}

/** The search of the console asks the store and the nodes. */
function consoleLink(text: string): HTMLAnchorElement {
  const excerpt = 'In the search of the console: contracts, wallets, blocks, transactions'
  const link = linkOf({ page: '', title: `Look up ${text}`, href: '', excerpt, terms: [], isClose: false })
  link.href = `/#/search?q=${encodeURIComponent(text)}`
  link.id = 'found-in-console'
  link.role = 'option'
  link.tabIndex = -1
  link.querySelector('.offer-type')!.textContent = 'console'
  return link
}

/** As a row of the console's search. */
function linkOf({ page, title, href, operation, values, why, excerpt, terms }: FoundSection): HTMLAnchorElement {
  const link = document.createElement('a')
  link.className = 'offer'
  link.href = operation !== undefined && isServed ? referenceOf(operation, values) : root + href
  const part = (name: string, ...texts: (Node | string)[]) => {
    const element = document.createElement('span')
    element.className = name
    element.append(...texts)
    return element
  }
  link.append(
    part('offer-type', operation === undefined ? 'docs' : why === undefined ? 'operation' : 'not served'),
    part('offer-title', ...marked(title, terms)),
    ...(page === title || (operation !== undefined && why === undefined) ? [] : [part('offer-note soft', why ?? page)]),
    part(`offer-excerpt soft${operation === undefined ? '' : ' mono'}`, ...marked(excerpt, terms)),
  )
  return link
}

/** The words that begin with what was found stand out. */
function marked(text: string, terms: readonly string[]): Node[] {
  if (terms.length === 0) return [document.createTextNode(text)]
  return text.split(wordsWith(terms)).map((part, place) => {
    if (place % 2 === 0) return document.createTextNode(part)
    const mark = document.createElement('mark')
    mark.textContent = part
    return mark
  })
}

function openSearch(): void {
  if (!dialog.open) dialog.showModal()
  input.focus()
  input.select()
}

/** `place`: counted on from the end to the beginning. */
function choose(place: number): void {
  const items = [...list.querySelectorAll('a')]
  for (const item of items) item.ariaSelected = 'false'
  input.removeAttribute('aria-activedescendant')
  if (items.length === 0) return
  chosen = (place + items.length) % items.length
  const item = items[chosen]!
  item.ariaSelected = 'true'
  item.scrollIntoView({ block: 'nearest' })
  input.setAttribute('aria-activedescendant', item.id)
}

/** The page for what is missing offers what its address may have meant. */
async function offerMeant(meant: HTMLUListElement): Promise<void> {
  const path = decodeURIComponent(location.pathname).replace(/\.\w+$/, '')
  const words = path
    .split('/')
    .at(-1)!
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '' && !isFiller(word))
  const found = words.length === 0 ? [] : await foundFor(words.join(' '))
  // An address has the words of a heading; in a text they would stand by chance, as would short ones that are like them.
  const isLong = words.every(word => word.length > 4)
  const named = found.filter(
    ({ page, title, also, terms, isClose }) =>
      (isLong || !isClose) && wordsWith(terms).test(`${title} ${page} ${also ?? ''}`),
  )
  const items = named.slice(0, 3).map(section => {
    const item = document.createElement('li')
    item.append(linkOf(section))
    return item
  })
  if (items.length > 0) meant.replaceChildren(...items, meant.lastElementChild!)
}

export function startSearch(): void {
  input.addEventListener('input', () => void find())
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
  input.addEventListener('keydown', event => {
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    choose(chosen + step)
  })
  dialog.querySelector('form')!.addEventListener('submit', event => {
    event.preventDefault()
    list.querySelectorAll('a')[chosen]?.click()
  })
  addEventListener('keydown', event => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea')
    if ((event.key === '/' && !isTyping) || (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey))) {
      event.preventDefault()
      openSearch()
    }
  })
  const button = document.querySelector<HTMLButtonElement>('.search-button')!
  button.addEventListener('click', openSearch)
  // Beside the box is the backdrop, which is the dialog too. What is chosen may be a section of this page.
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || (target as Element).closest('#found a')) dialog.close()
  })
  if (/Mac|iP(hone|ad|od)/.test(navigator.platform)) button.querySelector('kbd')!.textContent = '⌘K'
  const meant = document.querySelector<HTMLUListElement>('#meant')
  meant?.querySelector('[href="#search-text"]')?.addEventListener('click', event => {
    event.preventDefault()
    openSearch()
  })
  if (meant !== null) void offerMeant(meant)
}

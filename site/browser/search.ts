// The search of every page, without a server: what it finds, with the words that were found, and the keys that move in
// it. The index itself is made elsewhere.
import {
  type DocsEntry,
  type DocsIndex,
  docsIndexOf,
  type FoundSection,
  wordsWith,
} from '../../web/src/search/docs-index.ts'
import { isFiller } from '../../web/src/search/docs-words.ts'
import { isServed, referenceOf, root } from './place.ts'

declare global {
  interface Window {
    almanacEntries?: DocsEntry[]
    /** Where the browser has it, and the service that serves the page asks for it. */
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } }
  }
}

const input = document.querySelector<HTMLInputElement>('#search')!
const list = document.querySelector<HTMLUListElement>('#found')!

const policy = window.trustedTypes?.createPolicy('almanac-docs', { createScriptURL: (url: string) => url })

let index: DocsIndex | undefined
let chosen = -1

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
  chosen = -1
  const items: HTMLLIElement[] = []
  if (found.length === 0) items.push(noteItem(`Nothing is found for “${text}”.`))
  else if (found[0]!.isClose) items.push(noteItem(`Nothing has “${text}”. This is close to it:`))
  for (const [place, section] of found.entries()) {
    const isOperation = section.operation !== undefined
    if (place === 0 || isOperation !== (found[place - 1]!.operation !== undefined))
      items.push(noteItem(isOperation ? 'API operations' : 'Pages', 'kind'))
    const item = document.createElement('li')
    item.role = 'presentation'
    const link = linkOf(section)
    link.role = 'option'
    link.id = `found-${place}`
    link.tabIndex = -1
    item.append(link)
    items.push(item)
  }
  list.replaceChildren(...items)
  open(text !== '')
}

function noteItem(text: string, name = 'nothing'): HTMLLIElement {
  const item = document.createElement('li')
  item.role = 'presentation'
  item.className = name
  item.textContent = text
  return item
}

function linkOf({ page, title, href, operation, excerpt, terms }: FoundSection): HTMLAnchorElement {
  const link = document.createElement('a')
  link.href = operation !== undefined && isServed ? referenceOf(operation) : root + href
  const heading = document.createElement('b')
  heading.append(...marked(title, terms))
  const where = document.createElement('small')
  where.textContent = page === title ? '' : page
  const words = document.createElement(operation === undefined ? 'span' : 'code')
  words.append(...marked(excerpt, terms))
  link.append(heading, where, words)
  return link
}

/** The words that begin with what was found stand out. */
function marked(text: string, terms: readonly string[]): Node[] {
  return text.split(wordsWith(terms)).map((part, place) => {
    if (place % 2 === 0) return document.createTextNode(part)
    const mark = document.createElement('mark')
    mark.textContent = part
    return mark
  })
}

function open(isOpen: boolean): void {
  list.hidden = !isOpen
  input.ariaExpanded = `${isOpen}`
  if (!isOpen) input.removeAttribute('aria-activedescendant')
}

function choose(step: number): void {
  const items = [...list.querySelectorAll('a')]
  if (items.length === 0) return
  items[chosen]?.removeAttribute('aria-selected')
  chosen = (chosen + step + items.length) % items.length
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
  if (items.length > 0) meant.replaceChildren(...items)
}

export function startSearch(): void {
  input.addEventListener('input', () => void find())
  input.addEventListener('focus', () => {
    if (input.value.trim() !== '') void find()
  })
  input.addEventListener('keydown', event => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
      choose(event.key === 'ArrowDown' ? 1 : chosen < 0 ? 0 : -1)
    else if (event.key === 'Enter') list.querySelectorAll('a')[Math.max(chosen, 0)]?.click()
    else if (event.key === 'Escape') open(false)
    else return
    event.preventDefault()
  })
  addEventListener('keydown', event => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea')
    if ((event.key === '/' && !isTyping) || (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey))) {
      event.preventDefault()
      input.focus()
      input.select()
    }
  })
  addEventListener('click', event => {
    if (!(event.target as Element).closest('.search')) open(false)
    else if ((event.target as Element).closest('#found a')) open(false)
  })
  if (/Mac|iP(hone|ad|od)/.test(navigator.platform)) document.querySelector('.search kbd')!.textContent = '⌘K'
  const meant = document.querySelector<HTMLUListElement>('#meant')
  meant?.querySelector('[href="#search"]')?.addEventListener('click', event => {
    event.preventDefault()
    input.focus()
  })
  if (meant !== null) void offerMeant(meant)
}

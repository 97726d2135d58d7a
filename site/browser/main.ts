// What a page does in the browser: search without a server, copy buttons, light or dark, a menu that folds on a phone.
import { type DocsEntry, type DocsIndex, docsIndexOf } from '../../web/src/search/docs-index.ts'
import './site.css'

declare global {
  interface Window {
    almanacEntries?: DocsEntry[]
    /** Where the browser has it, and the service that serves the page asks for it. */
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } }
  }
}

const root = document.currentScript?.dataset.root ?? ''
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

async function find(): Promise<void> {
  loading ??= load()
  await loading
  const text = input.value.trim()
  const found = text === '' ? [] : index!(text)
  chosen = -1
  list.replaceChildren(
    ...found.map((entry, place) => {
      const item = document.createElement('li')
      item.role = 'option'
      item.id = `found-${place}`
      const link = document.createElement('a')
      link.href = root + entry.href
      link.tabIndex = -1
      const title = document.createElement('b')
      title.textContent = entry.title
      const where = document.createElement('small')
      where.textContent = entry.page === entry.title ? '' : entry.page
      const words = document.createElement('span')
      words.textContent = entry.excerpt
      link.append(title, where, words)
      item.append(link)
      return item
    }),
  )
  if (text !== '' && found.length === 0) {
    const item = document.createElement('li')
    item.className = 'nothing'
    item.textContent = `Nothing is found for “${text}”.`
    list.append(item)
  }
  open(text !== '')
}

function open(isOpen: boolean): void {
  list.hidden = !isOpen
  input.ariaExpanded = `${isOpen}`
  if (!isOpen) input.removeAttribute('aria-activedescendant')
}

function choose(step: number): void {
  const items = [...list.querySelectorAll<HTMLLIElement>('[role=option]')]
  if (items.length === 0) return
  items[chosen]?.removeAttribute('aria-selected')
  chosen = (chosen + step + items.length) % items.length
  const item = items[chosen]!
  item.ariaSelected = 'true'
  item.scrollIntoView({ block: 'nearest' })
  input.setAttribute('aria-activedescendant', item.id)
}

input.addEventListener('input', () => void find())
input.addEventListener('focus', () => {
  if (input.value.trim() !== '') void find()
})
input.addEventListener('keydown', event => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') choose(event.key === 'ArrowDown' ? 1 : chosen < 0 ? 0 : -1)
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

const kept = 'almanac-docs-theme'
const html = document.documentElement
const theme = localStorage.getItem(kept)
if (theme !== null) html.dataset.theme = theme
document.querySelector('#theme')?.addEventListener('click', () => {
  const isDark =
    (html.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'
  html.dataset.theme = isDark ? 'light' : 'dark'
  localStorage.setItem(kept, html.dataset.theme)
})

for (const block of document.querySelectorAll<HTMLElement>('.code')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code')!.innerText)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1_500)
  })
  block.append(button)
}

if (/Mac|iP(hone|ad|od)/.test(navigator.platform)) document.querySelector('.search kbd')!.textContent = '⌘K'

// Only the service has a console and a reference beside these pages.
if (location.protocol !== 'file:' && location.pathname.startsWith('/docs/')) {
  const service = document.createElement('nav')
  service.className = 'service'
  service.ariaLabel = 'Service'
  const addresses = { Console: '/', API: '/reference' }
  for (const [name, address] of Object.entries(addresses)) {
    const link = document.createElement('a')
    link.href = address
    link.textContent = name
    service.append(link)
  }
  document.querySelector('.brand')?.after(service)
  askHere()
}

/** Examples ask the service that serves the page. Code that is the usual address and no more names just that. */
function askHere(): void {
  const usual = 'http://127.0.0.1:8080'
  for (const code of document.querySelectorAll('main code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    if (code.textContent === usual) continue
    for (let text = texts.nextNode() as Text | null; text !== null; text = texts.nextNode() as Text | null)
      text.data = text.data.replaceAll(usual, location.origin)
  }
}

// On a wide screen the menu stands open beside the text.
const menu = document.querySelector<HTMLDetailsElement>('.menu details')
const wide = matchMedia('(min-width: 60rem)')
const fold = () => {
  if (menu !== null) menu.open = wide.matches
}
wide.addEventListener('change', fold)
fold()

// What a page does in the browser: light or dark, as in the console, menus that fold on a phone, and what the service
// has beside it.

import { forgetKey, keptKey } from '../../web/src/state/kept-key.ts'
import { keptTheme, type Theme, themePlace, themes } from '../../web/src/state/theme-names.ts'
import { startExamples } from './examples.ts'
import { startHere } from './here.ts'
import { isServed, referenceOf } from './place.ts'
import { startSearch } from './search.ts'
import './site.css'

const themeButton = document.querySelector<HTMLButtonElement>('#theme')!
const nextTheme = () => themes[(themes.indexOf(keptTheme()) + 1) % themes.length]!
const showTheme = (theme: Theme) => {
  document.documentElement.dataset.theme = theme
  themeButton.title = `Colours: ${theme}`
  themeButton.ariaLabel = `Colours: ${theme}. Change to ${nextTheme()}`
}
themeButton.addEventListener('click', () => {
  localStorage.setItem(themePlace, nextTheme())
  showTheme(keptTheme())
})
// Chosen in another tab, of the docs or of the console.
addEventListener('storage', () => showTheme(keptTheme()))
showTheme(keptTheme())

if (isServed) {
  // Without the search of the console: this bar has one search, that of the docs.
  const addresses = { Overview: '/', Keys: '/#/keys', Reference: '/reference' }
  const links = Object.entries(addresses).map(([name, address]) => {
    const link = document.createElement('a')
    link.href = address
    link.textContent = name
    return link
  })
  document.querySelector('.bar nav')!.prepend(...links)
  for (const link of document.querySelectorAll<HTMLAnchorElement>(
    '.cards a[href="operations.html"], [data-reference]',
  )) {
    link.href = '/reference'
    link.closest('li')!.hidden = false
  }
  for (const link of document.querySelectorAll<HTMLAnchorElement>('[data-operation]'))
    link.href = referenceOf(link.dataset.operation!)
  linkToService()
  askHere()
  showSession()
}

/** As the bar of the console: whether this is a sandbox, and whether somebody is signed in. */
function showSession(): void {
  const link = document.createElement('a')
  link.href = '/#/'
  link.textContent = keptKey() === undefined ? 'Sign in' : 'Sign out'
  link.addEventListener('click', forgetKey)
  document.querySelector('.bar-end')!.append(link)
  // The smallest document that says so, which the browser keeps for some minutes.
  fetch('/openapi/solana.json')
    .then(async response => {
      const { info } = (await response.json()) as { info?: { 'x-sandbox-key'?: string } }
      if (info?.['x-sandbox-key'] === undefined) return
      const badge = document.createElement('span')
      badge.className = 'badge badge-busy'
      badge.textContent = 'Sandbox'
      document.querySelector('.brand')!.after(badge)
    })
    .catch(() => undefined)
}

/** Pages that only a service has, named in code. */
function linkToService(): void {
  for (const code of document.querySelectorAll<HTMLElement>('main :not(a, pre) > code')) {
    const address = code.textContent
    if (!['/reference', '/openapi.json', '/llms.txt'].includes(address)) continue
    const link = document.createElement('a')
    link.href = address
    code.replaceWith(link)
    link.append(code)
  }
}

/** Examples and links ask the service that serves the page. Code that is the usual address and no more names just that. */
function askHere(): void {
  // The service writes its address into the page; what ends TLS before it may not have told it so.
  for (const usual of ['http://127.0.0.1:8080', `http://${location.host}`]) writeHere(usual)
}

function writeHere(usual: string): void {
  if (usual === location.origin) return
  for (const link of document.querySelectorAll<HTMLAnchorElement>(`main a[href^="${usual}"]`))
    link.href = link.href.replace(usual, location.origin)
  for (const code of document.querySelectorAll('main :is(code, a)')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    if (code.textContent === usual) continue
    for (let text = texts.nextNode() as Text | null; text !== null; text = texts.nextNode() as Text | null)
      text.data = text.data.replaceAll(usual, location.origin)
  }
}

// On a wide screen the menu and what is on this page stand open beside the text.
const folds = document.querySelectorAll<HTMLDetailsElement>(':is(.menu, .here) details')
const wide = matchMedia('(min-width: 60rem)')
const fold = () => {
  for (const each of folds) each.open = wide.matches
}
wide.addEventListener('change', fold)
fold()

startSearch()
startExamples()
startHere()

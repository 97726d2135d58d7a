// One language at a time of an example that has several, the same on every page, and a button that copies. Without it
// all languages are shown.
import { keepLanguage, keptLanguage } from '../../web/src/state/kept-language.ts'

export function startExamples(): void {
  const choose = (tab: HTMLElement) => {
    const before = tab.getBoundingClientRect().top
    for (const show of examples) show(tab.textContent.toLowerCase())
    keepLanguage(tab.textContent)
    // What is above may be higher or lower now; what was pressed stays where it is.
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' })
  }
  const examples = [...document.querySelectorAll<HTMLElement>('.example')].map((each, at) => tabsOf(each, at, choose))
  for (const show of examples) show(keptLanguage())
  for (const block of document.querySelectorAll<HTMLElement>('.code:not(.output)')) block.append(copyButton(block))
}

/** Shows the language, or the first where the example does not have it. */
function tabsOf(example: HTMLElement, place: number, choose: (tab: HTMLElement) => void): (language: string) => void {
  const blocks = [...example.querySelectorAll<HTMLElement>('.code')]
  const bar = document.createElement('div')
  bar.role = 'tablist'
  bar.ariaLabel = 'Language'
  const tabs = blocks.map((block, at) => {
    const name = block.querySelector<HTMLElement>('.language')!
    name.hidden = true
    block.role = 'tabpanel'
    block.id = `example-${place}-${at}`
    block.ariaLabel = name.textContent
    const tab = document.createElement('button')
    tab.type = 'button'
    tab.role = 'tab'
    tab.textContent = name.textContent
    tab.setAttribute('aria-controls', block.id)
    tab.addEventListener('click', () => choose(tab))
    tab.addEventListener('keydown', ({ key }) => {
      const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
      if (step === 0) return
      const next = tabs[(at + step + tabs.length) % tabs.length]!
      choose(next)
      next.focus()
    })
    return tab
  })
  bar.append(...tabs)
  example.prepend(bar)
  return language => {
    const known = tabs.findIndex(tab => tab.textContent.toLowerCase() === language)
    for (const [at, tab] of tabs.entries()) {
      const isShown = at === Math.max(known, 0)
      tab.ariaSelected = `${isShown}`
      tab.tabIndex = isShown ? 0 : -1
      blocks[at]!.hidden = !isShown
    }
  }
}

function copyButton(block: HTMLElement): HTMLButtonElement {
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
  return button
}

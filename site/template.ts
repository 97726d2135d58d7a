// One page of the site: the menu, the text, what is on this page, and the pages before and after it. Every address is
// relative, so that the site also works from a folder; only the page for what is missing stands anywhere.
import { brokenName, escaped, type Heading } from './markdown.ts'

/** `about`: what its page is for. */
type MenuLink = { title: string; target: string; about: string }
export type MenuGroup = { title: string; links: MenuLink[] }

export type Shown = {
  title: string
  /** Of this page, in the site. */
  target: string
  html: string
  headings: readonly Heading[]
  menu: readonly MenuGroup[]
  version: string
  /** Where the site begins, from this page. */
  up?: string
}

const home = 'index.html'
const missing = '404.html'

/** As in the bar of the console. */
const mark =
  '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="14" class="mark-disc" />' +
  '<path d="M16 5a11 11 0 0 1 0 22 14 14 0 0 0 0-22Z" class="mark-moon" />' +
  '<circle cx="9.5" cy="16" r="1.6" class="mark-moon" /></svg>'
const iconOf = (drawing: string) => `<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">${drawing}</svg>`
const searchIcon = iconOf('<circle cx="7" cy="7" r="4.25" /><path d="m10.2 10.2 3.3 3.3" />')
const themeIcon = iconOf('<circle cx="8" cy="8" r="5.5" /><path d="M8 2.5a5.5 5.5 0 0 1 0 11Z" fill="currentColor" />')

/** What settings of a chain begin with, such as `chains.<name>.`: the heading above says it. */
const placeOfName = /^\w+\.<\w+>\./

export function pageHtml({ title, target, html, headings, menu, version, up = upFrom(target) }: Shown): string {
  const groups = menu.map(
    group =>
      `<section><h2>${escaped(group.title)}</h2><ul>${group.title === 'Reference' ? referenceLink(up) : ''}${group.links
        .map(link => {
          const here = link.target === target ? ' aria-current="page"' : ''
          return `<li><a href="${up}${link.target}"${here}>${escaped(link.title)}</a></li>`
        })
        .join('')}</ul></section>`,
  )
  const below = headings.filter(({ depth }) => depth === 2 || depth === 3)
  const here = below.map(
    ({ id, text, depth }) =>
      `<li class="depth-${depth}"><a href="#${id}">${brokenName(text.replace(placeOfName, ''))}</a></li>`,
  )
  const group = menu.find(({ links }) => links.some(link => link.target === target))
  const markdown = markdownTarget(target)
  const name = target === home ? 'Almanac docs' : `${escaped(title)} · Almanac docs`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>${name}</title>
<link rel="icon" href="${up}almanac.svg" />
<link rel="stylesheet" href="${up}site.css" />
${target === missing ? '' : `<link rel="alternate" type="text/markdown" href="${up}${markdown}" />\n`}<script src="${up}site.js" defer data-root="${up}"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the content</a>
<header class="bar">
<div class="bar-row">
<a class="brand" href="${up}${home}" aria-label="Almanac docs">${mark}<span>Almanac</span></a>
<nav aria-label="Service"><a href="${up}${home}" aria-current="true">Docs</a></nav>
<div class="bar-end">
<button type="button" class="search-button">${searchIcon}<span>Search…</span><kbd>Ctrl K</kbd></button>
<button type="button" id="theme" class="icon-button" aria-label="Change colours">${themeIcon}</button>
</div>
</div>
</header>
<dialog class="search-dialog" aria-label="Search">
<form class="search" role="search">
<div class="search-field">${searchIcon}<input type="text" id="search-text" placeholder="Operation, page of the docs …" aria-label="Search the docs" autocomplete="off" autocapitalize="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list" /><kbd>Esc</kbd></div>
<div class="offers" id="found" role="listbox" aria-label="Found"></div>
<p class="search-state soft" role="status"></p>
<div class="search-foot soft"><span><kbd>↑</kbd> <kbd>↓</kbd> move</span><span><kbd>↵</kbd> open</span></div>
</form>
</dialog>
<div class="${target === home ? 'columns home' : 'columns'}">
<nav class="menu" aria-label="Pages"><details><summary>All pages</summary>${groups.join('')}</details></nav>
<aside class="here" aria-label="On this page">${here.length > 1 ? `<details><summary>On this page</summary><h2>On this page</h2><ul>${here.join('')}</ul></details>` : ''}</aside>
<main id="text" tabindex="-1">
${group === undefined ? '' : `<p class="group">${escaped(group.title)}</p>\n`}${html}
${neighbours(target, menu, up)}
</main>
</div>
<footer><span>Almanac ${escaped(version)} · Apache-2.0</span>${target === missing ? '' : `<a href="${up}${markdown}">This page as Markdown</a>`}</footer>
</body>
</html>
`
}

/** Only a service has the page: its script shows the link. */
function referenceLink(up: string): string {
  return `<li hidden><a href="${up}operations.html" data-reference>API reference</a></li>`
}

/** In the order of the menu. The first page leads on by itself. */
function neighbours(target: string, menu: readonly MenuGroup[], up: string): string {
  const all = menu.flatMap(({ links }) => links)
  const at = all.findIndex(link => link.target === target)
  if (at < 0) return ''
  const linkTo = (link: MenuLink | undefined, rel: string, word: string) =>
    link && `<a rel="${rel}" href="${up}${link.target}"><small>${word}</small> ${escaped(link.title)}</a>`
  const before = linkTo(all[at - 1] ?? { title: 'Documentation', target: home, about: '' }, 'prev', 'Previous')
  return `<nav class="neighbours" aria-label="Previous and next page">${before}${linkTo(all[at + 1], 'next', 'Next') ?? ''}</nav>`
}

export function markdownTarget(target: string): string {
  return target.replace(/\.html$/, '.md')
}

/** The pages for agents (llmstxt.org); the service adds these sections to its own `/llms.txt`. */
export function docsList(menu: readonly MenuGroup[]): string {
  const sections = menu.map(({ title, links }) => {
    const lines = links.map(link => `- [${link.title}](/docs/${markdownTarget(link.target)}): ${link.about}`)
    return `## Docs: ${title}\n\n${lines.join('\n')}\n`
  })
  return ['# Almanac docs\n', ...sections].join('\n')
}

function upFrom(target: string): string {
  return '../'.repeat(target.split('/').length - 1)
}

/** For whatever path has no page: only the service serves it, so that it knows where the site is. */
export function missingHtml(menu: readonly MenuGroup[], version: string): string {
  const html = `<h1>Page not found</h1>
<p>The documentation has no page at this address. You may be looking for one of these:</p>
<ul id="meant">
<li><a href="/docs/${home}"><b>Documentation</b><span>Where everything begins.</span></a></li>
<li><a href="/docs/guides/first-calls.html"><b>First calls</b><span>Start the sandbox, and ask it.</span></a></li>
<li><a href="#search-text"><b>Search</b><span>All pages and operations.</span></a></li>
</ul>`
  return pageHtml({ title: 'Page not found', target: missing, html, headings: [], menu, version, up: '/docs/' })
}

export function movedHtml(target: string): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8" /><title>Almanac docs</title><meta http-equiv="refresh" content="0; url=${target}" />
<p>This page has moved: <a href="${target}">Documentation</a></p></html>
`
}

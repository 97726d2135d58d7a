// One page of the site: the menu, the text, and what is on this page. Every address is relative, so that the site also works from a folder.
import { escaped, type Heading } from './markdown.ts'

export type MenuGroup = { title: string; links: { title: string; target: string }[] }

export type Shown = {
  title: string
  /** Of this page, in the site. */
  target: string
  html: string
  headings: readonly Heading[]
  menu: readonly MenuGroup[]
  version: string
}

export function pageHtml({ title, target, html, headings, menu, version }: Shown): string {
  const up = '../'.repeat(target.split('/').length - 1)
  const groups = menu.map(
    group =>
      `<section><h2>${escaped(group.title)}</h2><ul>${group.links
        .map(link => {
          const here = link.target === target ? ' aria-current="page"' : ''
          return `<li><a href="${up}${link.target}"${here}>${escaped(link.title)}</a></li>`
        })
        .join('')}</ul></section>`,
  )
  const below = headings.filter(({ depth }) => depth === 2 || depth === 3)
  const here = below.map(
    ({ id, text, depth }) => `<li class="depth-${depth}"><a href="#${id}">${escaped(text)}</a></li>`,
  )
  const name = target === 'index.html' ? 'Almanac' : `${escaped(title)} · Almanac`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>${name}</title>
<link rel="icon" href="${up}almanac.svg" />
<link rel="stylesheet" href="${up}site.css" />
<script src="${up}site.js" defer data-root="${up}"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the content</a>
<header>
<a class="brand" href="${up}index.html"><img src="${up}almanac.svg" alt="" width="26" height="26" /> Almanac</a>
<div class="search" role="search">
<input type="search" id="search" placeholder="Search the docs" aria-label="Search the docs" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="found" />
<kbd aria-hidden="true">Ctrl K</kbd>
<ul id="found" role="listbox" aria-label="Found" hidden></ul>
</div>
<button type="button" id="theme" aria-label="Change colours">◐</button>
</header>
<div class="columns">
<nav class="menu" aria-label="Pages"><details><summary>Pages</summary>${groups.join('')}</details></nav>
<main id="text" tabindex="-1">
${html}
</main>
<aside class="here" aria-label="On this page">${here.length > 1 ? `<h2>On this page</h2><ul>${here.join('')}</ul>` : ''}</aside>
</div>
<footer>Almanac ${escaped(version)} · Apache-2.0</footer>
</body>
</html>
`
}

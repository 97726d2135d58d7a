// Makes the documentation's site in a folder from the Markdown files of the repository. It needs no server: it can be
// put on any web space, or opened from the folder.
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { marked, type Tokens } from 'marked'
import { root } from '../web/build-folder.ts'
import type { DocsEntry } from '../web/src/search/docs-index.ts'
import { linkedMarkdown, operationsPage, type Page, renderPage } from './markdown.ts'
import { type Operation, readNotServed, readOperations } from './operations.ts'
import { contents, last, lists, movedTo, pagesOf } from './pages.ts'
import { docsList, type MenuGroup, markdownTarget, missingHtml, movedHtml, pageHtml } from './template.ts'

export async function makeSite(folder: string): Promise<void> {
  const places = pagesOf(root)
  const targetBySource = new Map(places.map(({ source, target }) => [source, target]))
  const copied = new Set<string>()
  const operations = readOperations()
  const pages = places.map(place => ({ ...place, ...rendered(place, targetBySource, copied, operations) }))
  const menu = menuOf(targetBySource)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  for (const { target, title, html, headings, markdown } of pages) {
    const file = join(folder, target)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, pageHtml({ title, target, html, headings, menu, version }))
    writeFileSync(markdownTarget(file), markdown)
  }
  writeFileSync(join(folder, '404.html'), missingHtml(menu, version))
  writeFileSync(join(folder, 'llms.txt'), docsList(menu))
  for (const [from, to] of movedTo([...targetBySource.values()])) writeFileSync(join(folder, from), movedHtml(to))
  for (const path of copied) cpSync(join(root, path), join(folder, 'files', path), { recursive: true })
  const internal = menu.find(({ title }) => title === 'Internals')!.links.map(({ target }) => target)
  const sections = pages.flatMap(({ source, target, title: named, sections: own }) => {
    // The title of the first page is the name of the product.
    const page = source === 'README.md' ? labelOf(target, menu) : named
    return own.map(({ id, title, text, code, also, isTerm }, place) => ({
      ...{
        page,
        title: place === 0 ? page : title,
        text: trimmed(text),
        code: oneLine(code),
        ...(place === 0 && page !== named ? { also: [named, also].filter(Boolean).join(', ') } : also && { also }),
        ...(isTerm && { isTerm }),
      },
      href: place === 0 ? target : `${target}#${id}`,
      ...(internal.includes(target) ? { isInternal: true as const } : {}),
      ...(lists.includes(target) ? { isList: true as const } : {}),
      ...(last.includes(target) ? { isLast: true as const } : {}),
    }))
  })
  const asked = operations.map(({ name, ids, title, subject, method, path, about, also }) => ({
    ...{ page: subject, title, text: `${method} ${path}`, code: ids.join(' '), about: oneLine(about), operation: name },
    ...(also.length > 0 && { also: also.join(', ') }),
    href: `${targetBySource.get(operationsPage)}#${name}`,
  }))
  const missing = Object.entries(readNotServed()).map(([id, { why, at }]) => ({
    ...{ page: 'Not served', title: id, text: at.join(', '), code: '', operation: id, why },
    href: `${targetBySource.get(operationsPage)}#${id}`,
  }))
  const entries = [...sections, ...asked, ...missing].map((entry, id): DocsEntry => ({ id, ...entry }))
  writeFileSync(join(folder, 'search-index.js'), `window.almanacEntries = ${JSON.stringify(entries)}\n`)
  cpSync(join(root, 'web/src/almanac.svg'), join(folder, 'almanac.svg'))
  await bundle(folder)
}

function labelOf(target: string, menu: readonly MenuGroup[]): string {
  return menu.flatMap(({ links }) => links).find(link => link.target === target)!.title
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function trimmed(text: string): string {
  return text.split('\n').map(oneLine).filter(Boolean).join('\n')
}

type Place = { source: string; target: string }

function rendered(
  { source, target }: Place,
  targetBySource: ReadonlyMap<string, string>,
  copied: Set<string>,
  operations: readonly Operation[],
): Page & { markdown: string } {
  const from = posix.dirname(target)
  // Pictures of the console in two themes would be a third of the site, which stands beside the console itself.
  // Comments are for whoever edits the file. The lists of all pages are the menu beside the first one.
  const whole = readFileSync(join(root, source), 'utf8').replaceAll(
    /<picture>.*?<\/picture>|<!--(?! also: ).*?-->/gs,
    '',
  )
  const text = source === contents ? whole.split(/^## /m)[0]! : whole
  const linkTo = (path: string) => {
    const page = targetBySource.get(path)
    if (page !== undefined) return posix.relative(from, page)
    const file = join(root, path)
    if (path.startsWith('..') || !existsSync(file)) throw new Error(`${source} links to ${path}, which does not exist.`)
    // A folder cannot be shown by a site of files.
    if (!statSync(file).isFile()) return undefined
    copied.add(path)
    return posix.relative(from, posix.join('files', path))
  }
  return { ...renderPage(source, text, linkTo, operations), markdown: linkedMarkdown(source, whole, linkTo) }
}

/** The headings of the contents, each with the pages that it lists. */
function menuOf(targetBySource: ReadonlyMap<string, string>): MenuGroup[] {
  const groups: MenuGroup[] = []
  const lookFor = (tokens: readonly unknown[], about = ''): void => {
    for (const token of tokens as Tokens.Generic[]) {
      if (token.type === 'heading' && token.depth === 2) groups.push({ title: token.text, links: [] })
      if (token.type === 'link') {
        const path = posix.join(posix.dirname(contents), (token as Tokens.Link).href.split('#')[0]!)
        const target = targetBySource.get(path)
        const links = groups.at(-1)?.links
        if (target !== undefined && links?.some(link => link.target === target) === false)
          links.push({ title: token.text, target, about })
      }
      if (token.tokens !== undefined) lookFor(token.tokens, about)
      if (token.type === 'list') lookFor(token.items)
      // A page stands in the first cell of a row, and what it is for in the second.
      if (token.type === 'table') for (const [page, told] of token.rows) lookFor(page.tokens, told?.text)
    }
  }
  lookFor(marked.lexer(readFileSync(join(root, contents), 'utf8')))
  return groups.filter(({ links }) => links.length > 0)
}

async function bundle(outDir: string): Promise<void> {
  const { build } = await import('vite')
  await build({
    root: join(root, 'site', 'browser'),
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir,
      emptyOutDir: false,
      target: 'baseline-widely-available',
      cssCodeSplit: false,
      // Not a module: pages from a folder may not load one.
      lib: { entry: 'main.ts', formats: ['iife'], name: 'almanacDocs', fileName: () => 'site.js', cssFileName: 'site' },
      // How long each part took is no warning to whoever starts the service on a busy machine.
      rolldownOptions: { output: { assetFileNames: '[name][extname]' }, checks: { bundlerTimings: false } },
    },
  })
}

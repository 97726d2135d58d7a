// Which Markdown files are pages of the documentation's site, and where each of them stands in it.
import { readdirSync } from 'node:fs'
import { posix } from 'node:path'

export type Place = {
  /** In the repository. */
  source: string
  /** In the site. */
  target: string
}

/** The pages that are not below `docs`. */
export const besideDocs = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  'examples/README.md',
]

/** The first page, whose lists of links are the menu of every page. */
export const contents = 'docs/README.md'

/** In the site: pages with a word of everything, found after all others. */
export const last = ['changelog.html', 'bench.html', 'contributing.html']

/** In the site: pages that list names, found after those that explain. */
export const lists = ['commands.html', 'metrics.html', 'settings.html', 'operations.html']

/** Addresses that people try, and one that a page had before, by the page that is there. Guides stand at their name too. */
const otherAddresses = {
  ...{ 'contents.html': 'index.html', 'guides.html': 'index.html', 'reference.html': 'operations.html' },
  ...{ 'quickstart.html': 'guides/first-calls.html', 'getting-started.html': 'guides/first-calls.html' },
  ...{ 'api.html': 'operations.html', 'configuration.html': 'settings.html', 'install.html': 'overview.html' },
}

export function movedTo(targets: readonly string[]): ReadonlyMap<string, string> {
  const guides = targets.filter(target => target.startsWith('guides/'))
  const addresses = new Map([
    ...guides.map(guide => [posix.basename(guide), guide] as const),
    ...Object.entries(otherAddresses),
  ])
  for (const target of targets) addresses.delete(target)
  return addresses
}

export function pagesOf(root: string): Place[] {
  const docs = readdirSync(`${root}/docs`, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name.replaceAll('\\', '/')}`)
  return [...besideDocs, ...docs.sort()].map(source => ({ source, target: targetOf(source) }))
}

function targetOf(source: string): string {
  if (source === 'README.md') return 'overview.html'
  if (source === contents) return 'index.html'
  const path = source.replace(/^docs\//, '').toLowerCase()
  return posix.basename(path) === 'readme.md' ? `${posix.dirname(path)}.html` : path.replace(/\.md$/, '.html')
}

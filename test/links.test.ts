// Every link inside the repository leads somewhere: relative ones to a file, those with an anchor to a heading of it or to a name in it.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(path => path !== '')

const withoutCode = (text: string) => text.replace(/^( *)(`{3,}).*?^ *\2$/gms, '').replace(/`[^`\n]*`/g, '')

/** As GitHub makes them: what is neither letter, digit, space, hyphen nor underscore goes; a repeated one gets a number. */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>()
  const headings = text.replace(/^( *)(`{3,}).*?^ *\2$/gms, '').matchAll(/^#{1,6} +(.+?) *$/gm)
  const anchors = [...headings].map(([, heading]) => {
    const shown = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = shown.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  })
  const named = [...text.matchAll(/<a id="([\w-]+)"><\/a>/g)].map(([, name]) => name!)
  return new Set([...anchors, ...named])
}

/** The links of a page that lead nowhere. */
function deadLinks(page: string, text: string, read: (path: string) => string | undefined): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].flatMap(
    ([, plain, html]) => {
      const target = (plain ?? html)!
      if (/^[a-z]+:/.test(target)) return []
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : relative(root, join(root, dirname(page), path))
      const found = path === '' ? text : read(file)
      if (found === undefined) return [`${page}: ${target}`]
      return anchor === undefined || anchorsOf(found).has(anchor) ? [] : [`${page}: ${target}`]
    },
  )
}

/** Undefined where there is nothing; a folder has no headings. */
function fileText(path: string): string | undefined {
  if (!existsSync(join(root, path))) return undefined
  return path.endsWith('.md') ? readFileSync(join(root, path), 'utf8') : ''
}

test.each(pages)('the links of %s lead somewhere', page => {
  expect(deadLinks(page, fileText(page)!, fileText)).toEqual([])
})

test('a missing file and a missing heading are noticed', () => {
  const text =
    '# A page\n\n## One, `two` & three\n\n## Again\n## Again\n```\n[code](nothing.md)\n```\n`[code](no.md)`\n'
  const links = ['#a-page', '#one-two--three', '#again-1', 'other.md#there', 'https://example.com/#x', 'etc/']
  const dead = ['#again-2', 'gone.md', 'other.md#gone']
  const page = `${text}${[...links, ...dead].map(link => `[link](${link})`).join(' ')}\n<img src="gone.svg">\n`
  const read = (path: string) => ({ 'other.md': '# There\n', 'etc/': '', etc: '' })[path]
  expect(deadLinks('page.md', page, read)).toEqual([...dead, 'gone.svg'].map(link => `page.md: ${link}`))
})

test('the map of the architecture names every folder', () => {
  const map = fileText('ARCHITECTURE.md')!
  const files = execFileSync('git', ['ls-files', 'src/*', 'web/src/*', 'site/*'], { cwd: root, encoding: 'utf8' })
  const folders = new Set(files.trim().split('\n').map(dirname))
  expect(folders.size).toBeGreaterThan(40)
  const missing = [...folders].filter(folder => !new RegExp(`[\`/]${basename(folder)}/`).test(map))
  expect(missing).toEqual([])
})

test('the guides that the reference names are pages of the docs', () => {
  const table = readFileSync(join(root, 'web/src/reference/guides.ts'), 'utf8')
  const named = [...table.matchAll(/guide\('([a-z-]+)'/g)].map(([, name]) => `docs/guides/${name}.md`)
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(page => !pages.includes(page))).toEqual([])
})

test('every page of docs is in its index', () => {
  const index = fileText('docs/README.md')!
  const listed = pages.filter(page => page.startsWith('docs/') && page !== 'docs/README.md')
  expect(listed.length).toBeGreaterThan(25)
  expect(listed.filter(page => !index.includes(`](${page.replace('docs/', '')})`))).toEqual([])
})

// Turns one Markdown file into HTML, with anchors as GitHub makes them, links that stay within the site, coloured code,
// and the same call in several languages as one example; and into the sections that the search reads.
import { STATUS_CODES } from 'node:http'
import { posix } from 'node:path'
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import diff from 'highlight.js/lib/languages/diff'
import http from 'highlight.js/lib/languages/http'
import ini from 'highlight.js/lib/languages/ini'
import json from 'highlight.js/lib/languages/json'
import nginx from 'highlight.js/lib/languages/nginx'
import python from 'highlight.js/lib/languages/python'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import yaml from 'highlight.js/lib/languages/yaml'
import { Marked, type Token, type Tokens } from 'marked'
import { cellSeparator } from '../web/src/search/excerpt.ts'
import { type Operation, operationIn } from './operations.ts'

const languages = {
  sh: bash,
  bash,
  diff,
  http,
  ini,
  conf: ini,
  json,
  nginx,
  caddyfile: nginx,
  python,
  py: python,
  sql,
  ts: typescript,
  typescript,
  yaml,
}
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)

export type Heading = { depth: number; id: string; text: string }
/** Code apart from text: an excerpt is text, and each line of it stands alone. */
export type Section = { id: string; title: string; text: string; code: string; also?: string; isTerm?: true }
export type Page = { title: string; html: string; headings: Heading[]; sections: Section[] }

/** What fits beside other columns on a phone. */
const wordLengthMax = 18

/** Such as the code of an error or a setting; the longest of them still fits a phone. */
const snakeName = /^(?=.{1,26}$)[a-z]+([_.][a-z]+)+$/

/** Where a name such as `limits.page_size_max`, `getNFTOwners` or a path may break: between its parts. */
const namePart = /(?<=[\w>}][_./-])(?=[A-Za-z<{])|(?<=[a-z])(?=[A-Z])/

/** Options such as `--yes`, which the highlighter takes for the command of that name. */
const builtInOption = /-<span class="hljs-built_in">([\w-]+)<\/span>/g

/** What is set or sent, such as `limit=1`, too. */
const builtInName = /<span class="hljs-built_in">([\w-]+)<\/span>(?==)/g

function colouredHtml(code: string, language: string): string {
  return hljs.highlight(code, { language }).value.replaceAll(builtInOption, '-$1').replaceAll(builtInName, '$1')
}

/** In a narrow column a number stays beside its unit. */
const quantity = /(\d) (h|s|ms|µs|kB|MB|GB|TB|%)(?![\w])/g

/** An address in a narrow column breaks after its parts. */
const longWord = /(?<=^|[\s>])[^\s<>]{25,}(?![^<]*>)/g
const wordPart = /[/:@.](?=[\w{])/g

/** Prose and paths in three columns do not fit a phone side by side; figures stay side by side to be compared. */
const proseLengthMin = 48
const pathCell = /`(?=[^`]*\/)[^`]{20,}`/

/** Blocks of these that follow each other are one example; the first is what runs in a shell. */
const exampleLanguages: Readonly<Record<string, string>> = {
  ...{ sh: 'curl', ts: 'TypeScript', python: 'Python', 'ts sdk': 'SDK' },
}

/** Below a heading, in a comment: what else people call it. The search knows it. */
const alsoCalled = /^<!-- also: (.*) -->/

/** Says where a link leads: an address within the site, or undefined where the site does not have it. */
export type Linker = (path: string) => string | undefined

/** Each of its rows explains one word. */
const glossaryPage = 'docs/glossary.md'

/** The page that lists all of them, each in a row with its id. */
export const operationsPage = 'docs/operations.md'

export function renderPage(source: string, text: string, linkTo: Linker, operations: readonly Operation[]): Page {
  const ids = new Map<string, number>()
  const headings: Heading[] = []
  const sections: Section[] = []
  const named: Section[] = []
  const anchored = new Map<Token, string>()
  const marked = new Marked({ gfm: true })
  const tokens = marked.lexer(text)
  const examples = examplesOf(tokens)
  let isInLink = false
  for (const token of tokens) {
    if (token.type === 'heading') {
      const title = plainOf(token)
      const id = idOf(title, ids)
      anchored.set(token, id)
      headings.push({ depth: token.depth, id, text: title })
      sections.push({ id, title, text: '', code: '' })
    } else {
      const section = sections.at(-1)
      const [, also] = alsoCalled.exec(token.raw) ?? []
      if (section !== undefined && also !== undefined) section.also = also
      else if (section !== undefined) section[token.type === 'code' ? 'code' : 'text'] += `\n${plainOf(token)}`
      if (token.type !== 'table') continue
      // Rows with names of their own are listed below their heading.
      const rows = namedRowsOf(token as Tokens.Table)
      named.push(...rows, ...(source === glossaryPage ? termsOf(token as Tokens.Table) : []))
      headings.push(...rows.map(({ id, title }) => ({ depth: 3, id, text: title })))
    }
  }
  sections.push(...named)
  marked.use({
    renderer: {
      heading(token) {
        const id = anchored.get(token)
        const inner = this.parser.parseInline(token.tokens)
        if (id === undefined || token.depth === 1) return `<h${token.depth}>${inner}</h${token.depth}>\n`
        return `<h${token.depth} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${token.depth}>\n`
      },
      code(token) {
        const { text: code, lang } = token
        const language = lang?.split(/\s/)[0] ?? ''
        const isKnown = hljs.getLanguage(language) !== undefined
        const html = isKnown ? colouredHtml(code, language) : escaped(code)
        const example = examples.get(token)
        const named = example === undefined ? '' : `<p class="language">${exampleLanguages[lang!]}</p>`
        // What a terminal shows is not for pasting.
        const kind = language === 'text' ? 'code output' : 'code'
        const block = `<div class="${kind}">${named}<pre tabindex="0"><code>${html}</code></pre></div>\n`
        return `${example?.isFirst ? '<div class="example">\n' : ''}${block}${example?.isLast ? '</div>\n' : ''}`
      },
      codespan({ text: code }) {
        // Names such as `receipts-root` would break at their hyphens. The code of an error is one word.
        const isWord = (code.length <= wordLengthMax && !/\s/.test(code)) || snakeName.test(code)
        // A hash has no parts: it breaks anywhere.
        const isName = code.split(namePart).every(part => part.split(' ').every(word => word.length <= wordLengthMax))
        const kind = isWord ? ' class="word"' : isName ? ' class="name"' : ''
        const shown = `<code${kind}>${isWord ? escaped(code) : brokenName(code)}</code>`
        const operation = isInLink ? undefined : operationIn(operations, code)
        if (operation === undefined) return shown
        const list = linkTo(operationsPage)
        return `<a href="${list}#${operation.name}" data-operation="${operation.name}">${shown}</a>`
      },
      link({ href, title, tokens: inner }) {
        isInLink = true
        const shown = this.parser.parseInline(inner)
        isInLink = false
        const address = addressOf(source, href, linkTo)
        if (address === undefined) return shown
        const named = title == null ? '' : ` title="${escaped(title)}"`
        return `<a href="${escaped(address)}"${named}>${shown}</a>`
      },
      image({ href, text: alternative }) {
        const image = `<img src="${escaped(addressOf(source, href, linkTo) ?? href)}" alt="${escaped(alternative)}" />`
        // On a phone a drawing keeps a size at which it can be read, and is moved sideways.
        return href.endsWith('.svg') ? `<span class="drawing" tabindex="0">${image}</span>` : image
      },
      table(token) {
        const isLong = ({ text: cell }: Tokens.TableCell, at: number) =>
          pathCell.test(cell) || (at > 0 && cell.length >= proseLengthMin)
        const isStacked = token.rows.some(cells => cells.length > 2 && cells.some(isLong))
        const row = (cells: Tokens.TableCell[], tag: string) =>
          `<tr${idOfRow(cells)}>${cells
            .map(({ text: title, tokens: inner }, at) => {
              const name = title === '' ? 'td' : tag
              const titled =
                isStacked && tag === 'td' && at > 0 ? ` data-title="${escaped(token.header[at]!.text)}"` : ''
              const shown = this.parser
                .parseInline(inner)
                .replaceAll(quantity, '$1\u00a0$2')
                .replaceAll(longWord, word => word.replaceAll(wordPart, '$&<wbr>'))
              return `<${name}${titled}>${shown}</${name}>`
            })
            .join('')}</tr>`
        const isHeaded = token.header.some(cell => cell.text !== '')
        const head = isHeaded ? `<thead>${row(token.header, 'th')}</thead>` : ''
        return `<div class="${isStacked ? 'table stacked' : 'table'}" tabindex="0"><table>${head}<tbody>${token.rows.map(cells => row(cells, 'td')).join('\n')}</tbody></table></div>\n`
      },
      html({ text: raw }) {
        if (alsoCalled.test(raw)) return ''
        return raw.replaceAll(/\b(src|srcset|href)="([^"]+)"/g, (whole, name: string, href: string) => {
          const address = addressOf(source, href, linkTo)
          return address === undefined ? whole : `${name}="${escaped(address)}"`
        })
      },
    },
  })
  const rowIds = new Set<string>()
  const idOfRow = (cells: readonly Tokens.TableCell[]): string => {
    if (source === glossaryPage) return ` id="${termId(cells[0]!)}"`
    if (source !== operationsPage) return ''
    const codes = cells.flatMap(({ tokens: inner }) => inner.filter(({ type }) => type === 'codespan'))
    const [operation] = codes.flatMap(code => operationIn(operations, (code as Tokens.Codespan).text) ?? [])
    // What is not served has the name in its first cell; Solana has some of the names too.
    const id = operation?.name ?? /^`(\w+)`$/.exec(cells[0]?.text ?? '')?.[1]
    if (id === undefined || rowIds.has(id)) return ''
    rowIds.add(id)
    return ` id="${id}"`
  }
  const html = marked.parser(tokens, marked.defaults)
  return { title: headings[0]?.text ?? source, html, headings, sections }
}

/** Rows that have an anchor of their own, such as those of errors: each is found by its name. */
function namedRowsOf({ rows }: Tokens.Table): Section[] {
  return rows.flatMap(([name, ...rest]) => {
    const [, id] = /^<a id="([^"]+)">/.exec(name?.text ?? '') ?? []
    if (name === undefined || id === undefined) return []
    const text = rowText(rest)
    const [status] = /^[1-5]\d\d\b/.exec(text) ?? []
    return [
      {
        id,
        title: name.tokens.map(plainOf).join('').trim(),
        text,
        code: '',
        ...(status && { also: `${status}, ${STATUS_CODES[status]}` }),
      },
    ]
  })
}

function termsOf({ rows }: Tokens.Table): Section[] {
  return rows.flatMap(([name, ...rest]) =>
    name === undefined
      ? []
      : [{ id: termId(name), title: name.text, text: rowText(rest), code: '', isTerm: true as const }],
  )
}

function termId({ text }: Tokens.TableCell): string {
  return idOf(text, new Map())
}

type Example = { isFirst: boolean; isLast: boolean }

function examplesOf(tokens: readonly Token[]): Map<Token, Example> {
  const examples = new Map<Token, Example>()
  let group: Tokens.Code[] = []
  const close = () => {
    if (group.length > 1)
      for (const [place, code] of group.entries())
        examples.set(code, { isFirst: place === 0, isLast: place === group.length - 1 })
    group = []
  }
  for (const token of tokens) {
    if (token.type === 'space') continue
    const isExample = token.type === 'code' && exampleLanguages[token.lang ?? ''] !== undefined
    if (!isExample || group.some(({ lang }) => lang === token.lang)) close()
    if (isExample) group.push(token as Tokens.Code)
  }
  close()
  return examples
}

function addressOf(source: string, href: string, linkTo: Linker): string | undefined {
  if (/^([a-z]+:|#)/i.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const target = linkTo(posix.normalize(posix.join(posix.dirname(source), path)))
  return target === undefined ? undefined : `${target}${anchor === undefined ? '' : `#${anchor}`}`
}

/** The page as Markdown for those who read that: its links lead to the Markdown of other pages. */
export function linkedMarkdown(source: string, text: string, linkTo: Linker): string {
  const toMarkdown = (href: string) => addressOf(source, href, linkTo)?.replace(/\.html(?=#|$)/, '.md')
  return text
    .replaceAll(/<!--.*?-->\n*/gs, '')
    .split(/(^```.*?^```)/ms)
    .map((part, place) =>
      place % 2 === 1
        ? part
        : part.replaceAll(/\[([^\]]*)\]\(([^)\s]+)\)/g, (_, shown: string, href: string) => {
            const address = toMarkdown(href)
            return address === undefined ? shown : `[${shown}](${address})`
          }),
    )
    .join('')
}

/** As GitHub names anchors. */
export function idOf(title: string, taken: Map<string, number>): string {
  const plain = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
  const times = taken.get(plain) ?? 0
  taken.set(plain, times + 1)
  return times === 0 ? plain : `${plain}-${times}`
}

/** A line for each paragraph, item and row, so that an excerpt is never of two of them. */
function plainOf(token: Token): string {
  if (token.type === 'table') return (token as Tokens.Table).rows.map(rowText).join('\n')
  if (token.type === 'list') return (token as Tokens.List).items.map(itemText).join('\n')
  if ('tokens' in token && token.tokens !== undefined) return token.tokens.map(plainOf).join('').replaceAll('\n', ' ')
  if (token.type === 'html' || token.type === 'space') return ' '
  return 'text' in token ? String(token.text) : ''
}

function itemText({ tokens }: Tokens.ListItem): string {
  return tokens.map(plainOf).join('\n')
}

function rowText(cells: readonly Tokens.TableCell[]): string {
  const texts = cells.map(cell => cell.tokens.map(plainOf).join('').replaceAll(/\s+/g, ' ').trim())
  return texts.filter(Boolean).join(cellSeparator)
}

function isWhole(word: string): boolean {
  return word.startsWith('-') || (word.includes('-') && word.length <= wordLengthMax)
}

/** A name that may break between its parts; an option such as `--scopes` is one word. */
export function brokenName(name: string): string {
  const broken = (word: string) => word.split(namePart).map(escaped).join('<wbr>')
  return name
    .split(' ')
    .map(word => (isWhole(word) ? `<span class="word">${escaped(word)}</span>` : broken(word)))
    .join(' ')
}

export function escaped(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replaceAll(/[&<>"]/g, character => names[character]!)
}

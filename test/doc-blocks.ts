// Every code block of the pages that users read, and their shell blocks line by line. It runs nothing.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { marked, type Tokens } from 'marked'

export const root = fileURLToPath(new URL('..', import.meta.url))

export type DocBlock = { page: string; language: string; text: string; first: string; isFenced: boolean }

export const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(path => path !== '')

export const pageText = (page: string): string => readFileSync(join(root, page), 'utf8')

export function blocksOf(page: string): DocBlock[] {
  const blocks: DocBlock[] = []
  marked.walkTokens(marked.lexer(pageText(page)), token => {
    if (token.type !== 'code') return
    const { text, lang, codeBlockStyle } = token as Tokens.Code
    const isFenced = codeBlockStyle !== 'indented'
    blocks.push({ page, language: lang?.split(' ')[0] ?? '', text, first: text.split('\n')[0]!.trim(), isFenced })
  })
  return blocks
}

/** One entry for each command: lines that end in a backslash, a pipe or `&&`, and here-documents, belong together. */
export function commandsOf(text: string): string[] {
  const commands: string[] = []
  let open = ''
  let until: string | undefined
  for (const line of text.split('\n')) {
    open += open === '' ? line : `\n${line}`
    until ??= /<<'(\w+)'/.exec(line)?.[1]
    if (until === undefined ? /(\\|\||&&)$/.test(line) : line !== until) continue
    if (!/^\s*(#|$)/.test(open)) commands.push(open.trim())
    open = ''
    until = undefined
  }
  if (open.trim() !== '') commands.push(open.trim())
  return commands
}

/** The words of a plain command without its comment; undefined where a shell is needed to read it. */
export function wordsOf(command: string): string[] | undefined {
  const words: string[] = []
  for (const [, double, single, plain] of command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)) {
    if (plain?.startsWith('#')) break
    if (plain !== undefined && /[|&;<>$`\\*]/.test(plain)) return undefined
    words.push((double ?? single ?? plain)!)
  }
  return words
}

// What the terminal shows once the service listens: where the console is, the key, and a line to paste. Pure.
import pc from 'picocolors'
import { withWholeCommands, wrapped } from '../terminal.ts'

type Banner = {
  paragraphs: readonly string[]
  consoleUrl: string | undefined
  pages?: readonly (readonly [title: string, url: string])[]
  /** Absent where the key is not to be shown. */
  trial?: { key: string; url: string } | undefined
  /** By the name of their chain. */
  nodes?: readonly (readonly [name: string, url: string])[]
  next?: string | undefined
  /** A line to paste for it. */
  nextLine?: string | undefined
  width: number
  colours?: boolean
}

const indent = '  '
const titleWidth = 13

/** Beside the console of a service at this address. */
export function pagesAt(url: string): [title: string, url: string][] {
  return [
    ['Docs', `${url}/docs`],
    ['Reference', `${url}/reference`],
  ]
}

export function bannerText({
  paragraphs,
  consoleUrl,
  pages = [],
  trial,
  nodes = [],
  next,
  nextLine,
  width,
  colours,
}: Banner): string {
  const { bold, cyan } = pc.createColors(colours ?? false)
  const titleOf = (title: string): string =>
    `${indent}${bold(title)}`.padEnd(titleWidth + bold(title).length - title.length)
  const broken = (text: string) => wrapped(text, { width: width - 1, first: indent, indent })
  const titled = (title: string, text: string): string[] => {
    const [first, ...rest] = wrapped(withWholeCommands(text), { width: width - 1 - titleWidth })
    return [`${titleOf(title)}${first}`, ...rest.map(line => `${' '.repeat(titleWidth)}${line}`)]
  }
  const nameWidth = Math.max(0, ...nodes.map(([name]) => name.length))
  // A line that is meant to be copied stays whole, and the longest has nothing before it.
  const blocks = [
    paragraphs.flatMap(broken),
    [
      ...(consoleUrl === undefined ? [] : [`${titleOf('Console:')}${cyan(consoleUrl)}`]),
      ...pages.map(([title, url]) => `${titleOf(`${title}:`)}${url}`),
      ...(trial === undefined ? [] : [`${titleOf('Key:')}${trial.key}`]),
    ],
    ...(trial === undefined ? [] : [titled('Try:', 'paste this into another terminal')]),
    ...(trial === undefined ? [] : [[`curl -s -w '\\n' -H 'X-API-Key: ${trial.key}' '${trial.url}'`]]),
    nodes.map(([name, url], at) => {
      const title = at === 0 ? titleOf('Nodes:') : ' '.repeat(titleWidth)
      return `${title}${name.padEnd(nameWidth)}  ${url}`
    }),
    ...(next === undefined ? [] : [titled('Next:', next)]),
    ...(nextLine === undefined ? [] : [[nextLine]]),
  ].filter(lines => lines.length > 0)
  return blocks.length === 0 ? '' : `\n${blocks.map(lines => `${lines.join('\n')}\n`).join('\n')}\n`
}

// The commands of the README and of the guides to calls, block by block, with the same in other languages and the answer
// that is printed below where there are any.
import { readFileSync } from 'node:fs'
import { commandsOf } from './doc-blocks.ts'

export const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
export const firstCalls = readFileSync(new URL('../docs/guides/first-calls.md', import.meta.url), 'utf8')

const guideNames = [
  'authentication',
  'follow-transfers',
  'react-to-transfers',
  'pages',
  'complete-answers',
  'errors-and-retries',
  'who-owns-what',
  'whole-lists',
  'balances',
  'erc-20',
  'solana',
]
const otherGuides = guideNames.map(name => readFileSync(new URL(`../docs/guides/${name}.md`, import.meta.url), 'utf8'))

export type ShellBlock = {
  lines: string[]
  /** What the block below it asks the same with. */
  typescript: string | undefined
  python: string | undefined
  /** With the public SDK. */
  sdk: string | undefined
  answer: unknown
}

const block = (language: string) => `\`\`\`${language}\\n((?:(?!\`\`\`).)*)^ *\`\`\`\\n`
const shellBlock = new RegExp(
  `^ *${block('sh')}(?:\\n${block('ts')})?(?:\\n${block('python')})?(?:\\n${block('ts sdk')})?` +
    `(?:\\n(?:<details(?: open)?><summary>[^\\n]*</summary>\\n\\n)?${block('json')})?`,
  'gms',
)

const shellBlocksOf = (page: string): ShellBlock[] =>
  [...page.matchAll(shellBlock)].map(([, commands, typescript, python, sdk, answer]) => ({
    lines: commandsOf(commands!).map(line => line.replace(/ +# .*$/, '').trim()),
    ...{ typescript, python, sdk, answer: answer === undefined ? undefined : JSON.parse(answer) },
  }))

export const shellBlocks: readonly ShellBlock[] = [readme, firstCalls].flatMap(shellBlocksOf)

const isCall = ({ lines, typescript }: ShellBlock) => lines[0]!.startsWith('curl ') || typescript !== undefined
export const callBlocks = shellBlocks.filter(isCall)
export const guideCalls = otherGuides.flatMap(shellBlocksOf).filter(isCall)

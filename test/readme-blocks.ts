// The commands of the README and of the guide to first calls, block by block, with the answer that is printed below a
// block where there is one.
import { readFileSync } from 'node:fs'

export const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
export const firstCalls = readFileSync(new URL('../docs/guides/first-calls.md', import.meta.url), 'utf8')

export type ShellBlock = { lines: string[]; answer: unknown }

const shellBlocksOf = (page: string): ShellBlock[] =>
  [...page.matchAll(/^( *)```sh\n(.*?)^\1```\n(?:\n(?:<details>.*?<\/summary>\n\n)?```json\n(.*?)^```$)?/gms)].map(
    ([, , commands, answer]) => ({
      lines: commands!
        .trim()
        .split('\n')
        .map(line => line.replace(/ +# .*$/, '').trim()),
      answer: answer === undefined ? undefined : JSON.parse(answer),
    }),
  )

export const shellBlocks: readonly ShellBlock[] = [readme, firstCalls].flatMap(shellBlocksOf)

export const callBlocks = shellBlocks.filter(({ lines }) => lines[0]!.startsWith('curl '))

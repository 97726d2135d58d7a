// The commands of the README, block by block, with the answer that is printed below a block where there is one.
import { readFileSync } from 'node:fs'

export const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

export type ShellBlock = { lines: string[]; answer: unknown }

export const shellBlocks: readonly ShellBlock[] = [
  ...readme.matchAll(/^( *)```sh\n(.*?)^\1```\n(?:\n(?:<details>.*?<\/summary>\n\n)?```json\n(.*?)^```$)?/gms),
].map(([, , commands, answer]) => ({
  lines: commands!
    .trim()
    .split('\n')
    .map(line => line.trim()),
  answer: answer === undefined ? undefined : JSON.parse(answer),
}))

export const callBlocks = shellBlocks.filter(({ lines }) => lines[0]!.startsWith('curl '))

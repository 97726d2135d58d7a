// The README tells the truth: its marked lines are run against a real server, and must answer what is printed below them.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type World } from './clients/world.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

/** Every block marked `sh test`, with the JSON block that follows it. */
const calls = [...readme.matchAll(/^```sh test\n(.*?)^```\n\n```json\n(.*?)^```$/gms)].map(([, line, answer]) => ({
  line: line!.trim(),
  answer: answer!,
}))

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.stop())

async function runLine(line: string): Promise<string> {
  const local = line.replaceAll('http://127.0.0.1:8080', world.url)
  const env = { PATH: process.env.PATH, KEY: world.keys.full }
  const { stdout } = await promisify(execFile)('sh', ['-euc', local], { env })
  return stdout
}

describe('the calls of the README', () => {
  test('are three, one for each operation, and each has its answer', () => {
    expect(calls).toHaveLength(3)
    expect(readme.match(/```sh test/g)).toHaveLength(3)
  })

  test.each(calls)('$line', async ({ line, answer }) => {
    const expected: unknown = JSON.parse(answer)
    const answered: unknown = JSON.parse(await runLine(line))
    // A cursor is signed with a secret of the store: only that there is one can be told beforehand.
    if (hasCursor(expected) && hasCursor(answered)) {
      expect(answered.cursor).toMatch(/^[\w.-]{20,}$/)
      expected.cursor = answered.cursor
    }
    expect(answered).toEqual(expected)
  })
})

function hasCursor(value: unknown): value is { cursor: string } {
  return typeof value === 'object' && value !== null && 'cursor' in value && value.cursor !== ''
}

describe('what the README points to', () => {
  test('exists', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path!)
    expect(links.length).toBeGreaterThan(3)
    for (const path of links) expect(() => readFileSync(`${root}/${path}`), path).not.toThrow()
  })

  test('its test command is the one that continuous integration runs', () => {
    const command = 'npm ci && npm test'
    expect(readme).toContain(`\n${command}\n`)
    expect(readFileSync(`${root}/.ci/run`, 'utf8').trimEnd().split('\n').at(-1)).toBe(command)
  })
})

// How many files of `src` a request and a block pass: what a reader goes through to follow one of them.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const filesMax = { 'a page of transfers': 68, 'a page of owners': 81, 'a new block': 84, 'a portfolio': 67 }

test('a page, a block and a portfolio pass few files', { timeout: 180_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/count-files.ts'])
  const counts = new Map(
    Array.from(stdout.matchAll(/^ *(\d+) files: (.+)$/gm), ([, count, what]) => [what!, Number(count)]),
  )
  expect([...counts.keys()]).toEqual(Object.keys(filesMax))
  for (const [what, max] of Object.entries(filesMax)) expect(counts.get(what), what).toBeLessThanOrEqual(max)
})

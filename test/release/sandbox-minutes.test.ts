// A whole sandbox over minutes: one that froze after 70 seconds passed every shorter test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const soak = fileURLToPath(new URL('../../scripts/soak-sandbox.ts', import.meta.url))

test('a sandbox lives for two minutes under its own traffic and requests', async () => {
  const child = spawn(process.execPath, [soak, '--minutes', '2'], { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      printed += text
    })
  const [code] = (await once(child, 'exit')) as [number | null]
  expect(printed).toMatch(/\d+ requests in 1[2-9]\d s/)
  expect(code, printed).toBe(0)
}, 330_000)

// What `npm run build` makes runs like the sources do, down to the thread that indexes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CommandRun } from './command-run.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const entry = join(root, 'dist', 'cli', 'main.js')
const key = 'the-operator-key'

let directory: string
const runs: CommandRun[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-build-'))
})

afterEach(async () => {
  for (const run of runs.splice(0)) await run.kill()
  rmSync(directory, { recursive: true })
})

function begin(command: readonly string[], where = directory): CommandRun {
  const run = new CommandRun(command, where, {
    ALMANAC_KEY: key,
    // Not where the build runs: that is the checkout.
    NODE_COMPILE_CACHE: join(directory, 'compiled'),
  })
  runs.push(run)
  return run
}

test('the build succeeds, says its version and indexes', { timeout: 120_000 }, async () => {
  const build = await begin(['npm', 'run', '-s', 'build'], root).ended()
  expect([build.code, build.stdout]).toEqual([0, ''])
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(await begin([process.execPath, entry, '--version']).ended()).toMatchObject({ code: 0, stdout: `${version}\n` })
  // No node is there, but the thread that looks for it must be.
  writeFileSync(join(directory, 'almanac.yaml'), 'chains: { eth: { rpc: "http://127.0.0.1:1" } }')
  const service = begin([process.execPath, entry, 'start', '--listen', '127.0.0.1:0'])
  const url = await service.listening()
  const answer = await fetch(`${url}/status`, { headers: { 'x-api-key': key } })
  expect(await answer.json()).toMatchObject({ version, chains: { eth: { rpc: [{ endpoint: '127.0.0.1:1' }] } } })
  // The built sandbox brings its contracts along.
  expect(Object.keys(JSON.parse(readFileSync(join(root, 'sandbox/dist/collections.json'), 'utf8')))).toContain(
    'Collection721A',
  )
  const page = await fetch(`${url}/`, { headers: { 'accept-encoding': 'br' } })
  const script = /<script type="module" [^>]*src="(\/assets\/[^"]+)"/.exec(await page.text())?.[1]
  const asset = await fetch(`${url}${script}`, { headers: { 'accept-encoding': 'br' } })
  expect([asset.status, asset.headers.get('content-encoding')]).toEqual([200, 'br'])
  service.child.kill('SIGTERM')
  expect(await service.ended()).toMatchObject({ code: 0, stdout: '' })
})

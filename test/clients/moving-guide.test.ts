// The examples of the guide to moving, run as they stand there: curl, TypeScript, Python and the public SDK.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pythonPath } from '../python.ts'
import { seed, seeded } from '../seed.ts'
import { type ServedApi, serveApi } from '../served-api.ts'
import { withInstalledSdk } from './sdk-place.ts'

const guide = withInstalledSdk(
  readFileSync(new URL('../../docs/guides/moving.md', import.meta.url), 'utf8')
    .replaceAll('0x8464135c8f25da09e49bc8782676a84730c318bc', seeded.collection)
    .replaceAll('0x70997970c51812dc3a010c7d01b50e0d17dc79c8', seeded.alice),
)
// What only sets variables of the shell is set by this test, and a difference is shown to be read.
const examples = [...guide.matchAll(/^```(?!diff)(\w+)\n(?!export )(.*?)^```$/gms)].map(([, language, text]) => ({
  language: language!,
  text: text!,
}))

const folder = mkdtempSync(join(tmpdir(), 'almanac-moving-'))
let api: ServedApi
let transfers: number

beforeAll(async () => {
  api = await serveApi({ fill: seed })
  const counted = await api.get(`/api/v2/nft/${seeded.collection}/transfers?chain=eth&disable_total=false&limit=1`)
  transfers = Number(((await counted.json()) as { total: unknown }).total)
  expect(transfers).toBeGreaterThan(100)
})

afterAll(async () => {
  await api.close()
  rmSync(folder, { recursive: true })
})

async function run(program: string, parameters: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, ALMANAC_URL: api.url, ALMANAC_KEY: api.key }
  return (await promisify(execFile)(program, [...parameters], { cwd: folder, env })).stdout
}

function written(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}

test('there is one example for each client', () => {
  expect(examples.map(({ language }) => language)).toEqual(['sh', 'ts', 'python', 'ts'])
})

test('curl gets a page', async () => {
  const page = JSON.parse(await run('sh', ['-euc', examples[0]!.text]))
  expect(page.result).toHaveLength(5)
})

test('TypeScript gets every page', async () => {
  const printed = await run(process.execPath, [written('pages.mts', examples[1]!.text)])
  expect(printed.trim().split('\n')).toHaveLength(transfers)
})

test.skipIf(pythonPath === undefined)('Python gets every page', async () => {
  const printed = await run(pythonPath!, [written('pages.py', examples[2]!.text)])
  expect(printed.trim().split('\n')).toHaveLength(transfers)
})

test('the SDK gets every page of the NFTs of a wallet', async () => {
  const printed = await run(process.execPath, [written('sdk.mts', examples[3]!.text)])
  const rows = printed.trim().split('\n')
  expect(rows.length).toBeGreaterThan(50)
  expect(new Set(rows).size).toBe(rows.length)
})

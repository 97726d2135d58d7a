// Every program of `examples/`, run as its users run it against a service with known rows.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { noActivity } from '../src/store/packed-activity.ts'
import { CommandRun } from './command-run.ts'
import { fillListed, row } from './listed-transfers.ts'
import { apes, blockOf, carol, chain } from './plain-rows.ts'
import { pythonPath } from './python.ts'
import { seed, seeded } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const examples = fileURLToPath(new URL('../examples', import.meta.url))
let api: ServedApi
let folder: string
const runs: CommandRun[] = []

beforeAll(async () => {
  api = await serveApi({ fill: seed })
  folder = await mkdtemp(join(tmpdir(), 'almanac-examples-'))
})
afterEach(async () => {
  for (const run of runs.splice(0)) {
    run.child.kill('SIGKILL')
    await run.ended()
  }
})
afterAll(async () => {
  await api?.close()
  await rm(folder, { recursive: true, force: true })
})

function begin(command: string, name: string, args: readonly string[] = [], asked = api): CommandRun {
  const environment = { ALMANAC_URL: asked.url, ALMANAC_KEY: asked.key, PORT: '0' }
  const run = new CommandRun([command, join(examples, name), ...args], folder, environment)
  runs.push(run)
  return run
}

test('the list names every example', () => {
  const list = readFileSync(join(examples, 'README.md'), 'utf8')
  for (const name of readdirSync(examples).filter(name => name !== 'README.md')) expect(list).toContain(`(${name}`)
})

test('the snapshot is whole or is not there', async () => {
  const taken = await begin(process.execPath, 'holder-snapshot.ts', [seeded.collection]).ended()
  expect(taken).toEqual({ code: 0, stdout: 'holders.csv: 90 rows at block 20000 of eth\n', stderr: '' })
  const lines = readFileSync(join(folder, 'holders.csv'), 'utf8').trimEnd().split('\n')
  expect([lines.length, lines.at(-1)]).toEqual([92, '# complete rows=90 block=20000'])

  const past = await begin(process.execPath, 'holder-snapshot.ts', [
    seeded.collection,
    'eth',
    '1005',
    'past.csv',
  ]).ended()
  expect(past.stdout).toMatch(/^past\.csv: \d+ rows at block 1005 of eth\n$/)

  // Polygon's history begins after the contract's.
  const refused = await begin(process.execPath, 'holder-snapshot.ts', [seeded.deeds, 'polygon', '20', 'no.csv']).ended()
  expect(refused).toMatchObject({ code: 75, stderr: expect.stringContaining('not indexed completely') })
  expect(readdirSync(folder).sort()).toEqual(['holders.csv', 'past.csv'])
})

test('the bot reports a transfer once, and takes back what a reorg removed', async () => {
  const own = await serveApi({ fill: fillListed })
  try {
    const bot = begin(process.execPath, 'transfer-bot.ts', [apes], own)
    await bot.until(() => bot.stdout.includes('Waiting'), 'the bot waits')
    const other = { ...blockOf(21), hash: blockOf(1_021).hash }
    const blocks = [{ ...other, activity: noActivity, transfers: [row(apes, [21, 0, 0], { tokenId: 8n, to: carol })] }]
    const covered = { scope: 'transfers', from: 21, evidence: 'receipts-root' } as const
    await own.store.commitHot({ chain, ancestor: 20, blocks, covered, head: other })
    await bot.until(() => bot.stdout.includes('transfer  '), 'the bot reports')
    const [, ...told] = bot.stdout.trimEnd().split('\n')
    expect(told).toEqual([
      expect.stringMatching(/^taken back {2}#1 .* block 21$/),
      expect.stringMatching(/^transfer {4}#8 .* block 21$/),
    ])
  } finally {
    await own.close()
  }
})

test('the wallet page shows NFTs, and keeps the key to itself', async () => {
  const server = begin(process.execPath, 'wallet-page/server.ts')
  await server.until(() => server.stdout.includes('Open http'), 'the page is served')
  const url = /http:\S+/.exec(server.stdout)![0]
  expect(await (await fetch(url)).text()).toContain('<title>NFTs of a wallet</title>')
  const answer = await fetch(`${url}/nfts?address=${seeded.alice}`)
  const text = await answer.text()
  expect(JSON.parse(text).result).toHaveLength(24)
  expect(text + JSON.stringify([...answer.headers])).not.toContain(api.key)
  expect((await fetch(`${url}/nfts?address=../keys`)).status).toBe(400)
  expect((await fetch(`${url}/other`)).status).toBe(404)
})

test.skipIf(pythonPath === undefined)('the Python program prints chains and every page of NFTs', async () => {
  const { code, stdout, stderr } = await begin(pythonPath!, 'wallet.py', [seeded.alice]).ended()
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^eth: active from 20/m)
  const nfts = stdout.match(/^ {2}.+ #\d+$/gm)!
  expect(nfts.length).toBeGreaterThan(100)
  expect(new Set(nfts).size).toBe(nfts.length)
  expect(stdout).toMatch(new RegExp(`^${nfts.length} NFTs on eth`, 'm'))
})

test.skipIf(pythonPath === undefined)('the Python program ends quietly when its reader has enough', async () => {
  const program = join(examples, 'wallet.py')
  const environment = { ALMANAC_URL: api.url, ALMANAC_KEY: api.key, PYTHONUNBUFFERED: '1' }
  const run = new CommandRun(
    ['sh', '-c', `'${pythonPath}' '${program}' ${seeded.alice} | head -n 1`],
    folder,
    environment,
  )
  runs.push(run)
  expect(await run.ended()).toEqual({ code: 0, stdout: expect.stringMatching(/^eth: active.*\n$/), stderr: '' })
})

// Backup and restore of both engines, taken while the store is being written to: the copy is one moment of it, whole.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { issueKey } from '../src/keys/keys.ts'
import type { Address, ChainId, Hash } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { packActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { CommandPlace, makeStore } from './command-run.ts'
import { startPostgres } from './postgres-server.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const chain = 1 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const wallet = `0x${'1'.repeat(40)}` as Address
const blocksPerCommit = 50
const hashOf = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash

/** Commits without a pause until it is told to stop. */
function keepWriting(store: Store): { commits: () => number; stop: () => Promise<void> } {
  let commits = 0
  let stopped = false
  const writing = (async () => {
    while (!stopped) {
      const numbers = Array.from({ length: blocksPerCommit }, (_, at) => commits * blocksPerCommit + at)
      const last = numbers.at(-1)!
      const at = { block: last, transactionIndex: 0, hash: hashOf(last), timestamp: last }
      const place = { transactionIndex: 0, logIndex: 0, batchIndex: 0, contract, payload: new Uint8Array(40) }
      await store.commitCold({
        chain,
        covered: [{ from: numbers[0]!, to: last, evidence: 'bloom', scope: 'full' }],
        blocks: numbers.map(number => ({ number, hash: hashOf(number), timestamp: number })),
        transfers: numbers.map(block => ({ ...place, block })),
        activity: packActivity([{ address: wallet, first: at, last: at }]),
      })
      commits += 1
      await new Promise(resolve => setImmediate(resolve))
    }
  })()
  return {
    commits: () => commits,
    stop: async () => {
      stopped = true
      await writing
    },
  }
}

/** Rows, count, coverage and activity of one moment between the two. */
async function expectOneMoment(url: string, { least, most }: { least: number; most: number }): Promise<void> {
  const store = await openStore(url, { role: 'owner' })
  try {
    const [covered] = await store.coverage(chain, 'full')
    const blocks = covered!.to + 1
    expect(blocks % blocksPerCommit).toBe(0)
    expect(blocks).toBeGreaterThanOrEqual(least * blocksPerCommit)
    expect(blocks).toBeLessThanOrEqual(most * blocksPerCommit)
    const page = await store.transferPage({ chain, contract, order: 'asc', limit: 1_000_000 })
    expect(page.blocks.map(Number)).toEqual(Array.from({ length: blocks }, (_, at) => at))
    expect(await store.transferCount({ chain, contract })).toBe(blocks)
    expect((await store.activityOf(wallet)).get(chain)?.last.block).toBe(covered!.to)
    // It can be written to again.
    await store.putCheckpoint('restored', 'yes')
  } finally {
    await store.close()
  }
}

test('a file is copied while the service runs, and the copy takes its place', async () => {
  const place = new CommandPlace()
  cleanups.push(() => place.dispose())
  const store = await openStore(place.storeUrl, { role: 'owner' })
  cleanups.push(() => store.close())
  const secret = store.secret
  const writer = keepWriting(store)
  cleanups.push(() => writer.stop())
  await expect.poll(writer.commits).toBeGreaterThan(20)
  const least = writer.commits()
  const copy = join(place.directory, 'copy.db')
  const { code, stdout, stderr } = await place.run(['store', 'backup', copy, '--json'])
  expect(stderr).toBe('')
  expect([code, JSON.parse(stdout).file]).toEqual([0, copy])
  const most = writer.commits()
  expect(most).toBeGreaterThan(least)
  expect(await place.runHere(['store', 'backup', copy])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/already/),
  })
  const partials = () => readdirSync(place.directory).filter(name => name.includes('.partial'))
  expect(partials()).toEqual([])
  await expectOneMoment(`file:${copy}`, { least, most })
  const restored = await openStore(`file:${copy}`, { role: 'owner' })
  expect(restored.secret).toEqual(secret)
  await restored.close()
  writeFileSync(`${copy}.not`, 'no database')
  const nowhere = await place.runHere(['store', 'backup', join(place.directory, 'nowhere', 'x.db')])
  expect([nowhere.code, nowhere.stderr]).toEqual([
    1,
    expect.stringMatching(/^Error: The folder .*nowhere does not exist\./),
  ])
  const refused = await place.runHere(['store', 'backup', join(place.directory, 'x.db'), '--store', `file:${copy}.not`])
  expect(refused.code).toBe(1)
  expect(existsSync(join(place.directory, 'x.db'))).toBe(false)
  expect(partials()).toEqual([])
})

test('an empty store is not backed up, and what a killed backup left is removed', async () => {
  const place = new CommandPlace()
  cleanups.push(() => place.dispose())
  await makeStore(place.storeUrl)
  const empty = await place.runHere(['store', 'backup', 'copy.db'])
  expect(empty).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('almanac.db is empty') })
  expect(readdirSync(place.directory).filter(name => name.startsWith('copy'))).toEqual([])

  const store = await openStore(place.storeUrl, { role: 'tool' })
  await issueKey(store, { name: 'first', scopes: ['ops'] })
  await store.close()
  const target = join(place.directory, 'copy.db')
  const [killed, fresh, locked, other] = [
    `${target}.00000001.partial`,
    `${target}.00000002.partial`,
    `${target}.00000003.partial`,
    `${target}.00000004.partially`,
  ] as const
  for (const path of [killed, `${killed}-journal`, fresh, other]) writeFileSync(path, 'half a copy')
  const running = new DatabaseSync(locked)
  running.exec('CREATE TABLE t (x); BEGIN EXCLUSIVE')
  const hourAgo = Date.now() / 1_000 - 3_600
  for (const path of [killed, locked, other]) utimesSync(path, hourAgo, hourAgo)
  expect(await place.run(['store', 'backup', target])).toMatchObject({ code: 0 })
  running.close()
  const left = readdirSync(place.directory).filter(name => name.startsWith('copy.db.'))
  expect(left.sort()).toEqual([fresh, locked, other].map(path => basename(path)))
})

test('of two backups to one target, one is made and the other is told', async () => {
  const place = new CommandPlace()
  cleanups.push(() => place.dispose())
  const store = await openStore(place.storeUrl, { role: 'owner' })
  const writer = keepWriting(store)
  await expect.poll(writer.commits).toBeGreaterThan(20)
  await writer.stop()
  await store.close()
  const commits = writer.commits()
  const copy = join(place.directory, 'copy.db')
  const runs = await Promise.all([1, 2].map(() => place.run(['store', 'backup', copy])))
  expect(runs.map(({ code }) => code).sort()).toEqual([0, 1])
  expect(runs.find(({ code }) => code === 1)!.stderr).toMatch(/^Error: .*copy\.db already exists and was left as it is/)
  expect(readdirSync(place.directory).filter(name => name.includes('.partial'))).toEqual([])
  await expectOneMoment(`file:${copy}`, { least: commits, most: commits })
})

/** A server whose store is being written to; `least` commits are there already. */
async function writtenServer() {
  const server = await startPostgres()
  cleanups.push(() => server.stop())
  const url = await server.createDatabase()
  const store = await openStore(url, { role: 'owner' })
  cleanups.push(() => store.close())
  const writer = keepWriting(store)
  cleanups.push(() => writer.stop())
  await expect.poll(writer.commits).toBeGreaterThan(5)
  const least = writer.commits()
  return { server, url, writer, least }
}

test('a base backup of a server that is written to is restored to one moment', { timeout: 60_000 }, async () => {
  const { server, url, writer, least } = await writtenServer()
  const restored = await server.startCopy('restored')
  cleanups.push(() => restored.stop())
  await expectOneMoment(restored.url(new URL(url).pathname.slice(1)), { least, most: writer.commits() })
})

// The tools must be of the server's version: they come with ALMANAC_TEST_POSTGRES, and not with the binaries of npm.
const tools = process.env.ALMANAC_TEST_POSTGRES
test.skipIf(tools === undefined)('pg_dump and pg_restore', { timeout: 60_000 }, async () => {
  const { server, url, writer, least } = await writtenServer()
  const folder = mkdtempSync(join(tmpdir(), 'almanac-dump-'))
  cleanups.push(async () => rmSync(folder, { recursive: true }))
  const run = (tool: string, ...parameters: string[]) => {
    const { status, stderr } = spawnSync(join(tools as string, 'bin', tool), parameters, { encoding: 'utf8' })
    expect([tool, status, stderr]).toEqual([tool, 0, ''])
  }
  run('pg_dump', '--format=custom', `--file=${join(folder, 'dump')}`, url)
  const most = writer.commits()
  const target = await server.createDatabase()
  run('pg_restore', '--no-owner', `--dbname=${target}`, join(folder, 'dump'))
  await expectOneMoment(target, { least, most: most + 1 })
})

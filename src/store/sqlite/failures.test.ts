// What the store says of files, disks and directories that it cannot use, and that it leaves them as they were.

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { writerBlock, writerChain, writerContract } from '../../../test/store-writer.ts'
import type { CoreOptions } from '../core/core.ts'
import { openStore } from '../open.ts'
import { joinActivity } from '../packed-activity.ts'
import { storeFormat } from '../schema.ts'
import type { ColdCommit, Store } from '../store.ts'
import { Connection } from './connection.ts'
import { findDamage } from './damage.ts'
import { prepareFile, readOptions, writeOptions } from './open-file.ts'
import { sqliteStore } from './sqlite-store.ts'

let directory: string
let path: string
const open = (role: 'owner' | 'reader' | 'tool' = 'owner'): Promise<Store> => openStore(`file:${path}`, { role })

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-store-'))
  path = join(directory, 'almanac.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

function commitOf(from: number, count: number): ColdCommit {
  const blocks = Array.from({ length: count }, (_, index) => writerBlock(from + index))
  const transfers = blocks.flatMap(block => block.transfers)
  return {
    chain: writerChain,
    covered: [],
    blocks,
    transfers,
    activity: joinActivity(blocks.map(block => block.activity)),
  }
}

const countOf = (store: Store) => store.transferCount({ chain: writerChain, contract: writerContract })

describe('a file that this version cannot use', () => {
  const makeFormat = async (format: number) => {
    await (await open()).close()
    const raw = new DatabaseSync(path)
    raw.exec(`PRAGMA user_version = ${format}`)
    raw.close()
  }
  const refusals: [string, () => void | Promise<void>, { code: string; message: RegExp; hint?: RegExp }][] = [
    [
      'of a newer version',
      () => makeFormat(storeFormat + 1),
      { code: 'store_newer', message: /has format \d+; this version of Almanac reads and writes/ },
    ],
    [
      'of an older version',
      () => makeFormat(storeFormat - 1),
      { code: 'store_older', message: /has format \d+; this version/, hint: /index again, .* left as it is\.$/ },
    ],
    [
      'that is not a database',
      () => writeFileSync(path, 'store: file:./almanac.db\n'.repeat(1_000)),
      { code: 'store_corrupt', message: /not a readable database/, hint: /^name the file of the store .* backup\./ },
    ],
    [
      'of another program',
      () => {
        const raw = new DatabaseSync(path)
        raw.exec('CREATE TABLE notes (text); INSERT INTO notes VALUES (1)')
        raw.close()
      },
      { code: 'store_corrupt', message: /database of another program/ },
    ],
    [
      'whose first page is damaged',
      async () => {
        await (await open()).close()
        const bytes = readFileSync(path)
        bytes.fill(0xff, 100, 4096)
        writeFileSync(path, bytes)
      },
      { code: 'store_corrupt', message: /not a readable database/ },
    ],
    [
      'that was cut short',
      async () => {
        const store = await open()
        await store.commitCold(commitOf(1, 200))
        await store.close()
        truncateSync(path, 40_960)
      },
      { code: 'store_corrupt', message: /not a readable database/ },
    ],
  ]

  test('what is not a database is found damaged, and not thrown', () => {
    writeFileSync(path, 'store: file:./almanac.db\n'.repeat(1_000))
    expect(findDamage(path)).toMatch(/not a database/)
  })

  for (const [name, make, expected] of refusals)
    for (const role of ['owner', 'reader', 'tool'] as const)
      test(`${name} is refused to a ${role} and left as it was`, async () => {
        await make()
        const before = readFileSync(path)
        const error = await open(role).catch(caught => caught)
        expect(error).toMatchObject({ code: expected.code, hint: expect.any(String) })
        expect(error.message).toMatch(expected.message)
        expect(error.hint).toMatch(expected.hint ?? /./)
        expect(readFileSync(path).equals(before)).toBe(true)
        // Whatever was opened on the way was closed again.
        rmSync(path)
        await (await open('owner')).close()
      })

  test('with damage further in is reported by the read that meets it', async () => {
    const store = await open()
    await store.commitCold(commitOf(1, 400))
    await store.close()
    const bytes = readFileSync(path)
    bytes.fill(0xff, bytes.length - 40 * 4096)
    writeFileSync(path, bytes)
    const damaged = await open('reader')
    const page = damaged.transferPage({ chain: writerChain, contract: writerContract, order: 'desc', limit: 10_000 })
    await expect(page).rejects.toMatchObject({ code: 'store_corrupt' })
    await damaged.close()
  })
})

describe('a place that cannot hold a store', () => {
  test('a missing directory is named', async () => {
    path = join(directory, 'none', 'almanac.db')
    await expect(open()).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining(join(directory, 'none')),
    })
  })

  test('a directory in place of the file is named', async () => {
    path = directory
    await expect(open()).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('is a directory'),
    })
  })

  test('a directory without the right to write is named', async () => {
    const closed = join(directory, 'closed')
    mkdirSync(closed)
    chmodSync(directory, 0o755)
    chmodSync(closed, 0o555)
    const openFile = fileURLToPath(new URL('../open.ts', import.meta.url))
    const script = `const { openStore } = await import(${JSON.stringify(openFile)})
      await openStore('file:${join(closed, 'almanac.db')}', { role: 'owner' }).catch(error => console.log(error.code, error.message, error.hint))`
    // The right to write is nothing to root: it opens the file as another user.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    if (user.uid !== undefined) chownSync(closed, user.uid, user.gid)
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], { ...user, encoding: 'utf8' })
    chmodSync(closed, 0o755)
    expect(child.stdout, child.stderr).toMatch(/^store_failed .*cannot be opened for writing.*right to write/)
  })

  for (const url of ['file:', 'file:./', 'mysql://x/y', 'almanac.db'])
    test(`${url} is not an address of a store`, async () => {
      await expect(openStore(url, { role: 'owner' })).rejects.toMatchObject({
        code: expect.stringMatching(/^(not_configured|config_invalid)$/),
        hint: expect.stringContaining('file:./almanac.db'),
      })
    })
})

describe('a full disk', () => {
  /** A store whose disk has as many pages as the test says. */
  async function openLimited(
    options: Partial<CoreOptions> = {},
  ): Promise<{ store: Store; limitPages: (pages: number) => number }> {
    await prepareFile(path)
    let write: Connection | undefined
    const store = sqliteStore({
      path,
      read: new Connection(path, readOptions),
      openWrite: () => (write = new Connection(path, writeOptions)),
      waitMsMax: 100,
      ownership: undefined,
      options,
    })
    // SQLite raises a limit below what the file has.
    const limitPages = (pages: number) => write?.get(`PRAGMA max_page_count = ${pages}`)?.[0] as number
    return { store, limitPages }
  }

  test('rolls the commit back, keeps what was there, and takes the same commit once there is room', async () => {
    const { store, limitPages } = await openLimited()
    await store.commitCold(commitOf(1, 10))
    const before = await countOf(store)
    const revision = store.revision()
    limitPages(80)
    const large = commitOf(11, 500)
    await expect(store.commitCold(large)).rejects.toMatchObject({ code: 'store_full', retryable: true })
    expect(await countOf(store)).toBe(before)
    expect(store.revision()).toBe(revision)
    limitPages(1_000_000)
    expect(await store.commitCold(large)).toEqual({ transfersAdded: large.transfers.length })
    expect(await countOf(store)).toBe(before + large.transfers.length)
    await store.close()
  })

  test('refuses or keeps a commit of runs as a whole, and goes on merging once there is room', async () => {
    const { store, limitPages } = await openLimited({ runsPerMerge: 3, recordsWorthMerging: 1 })
    const wholeOf = (from: number, count: number): ColdCommit => {
      const commit = commitOf(from, count)
      const { hash, number } = commit.blocks.at(-1)!
      const covered = [{ scope: 'full', from, to: number, evidence: 'bloom' } as const]
      return { ...commit, covered, ranges: [{ from, to: number, hash }] }
    }
    let [next, refused, commits] = [1, 0, 0]
    for (let round = 0; round < 40; round++) {
      // Now and then there is no room, for a commit or for what is merged after it.
      const pages = limitPages(1)
      limitPages(pages + 4 * (round % 10))
      // Large ones do not fit into what merges have freed.
      const blocks = round % 20 === 9 ? 3_000 : 40
      const commit = wholeOf(next, blocks)
      const outcome = await store.commitCold(commit).catch(error => error)
      if (outcome instanceof Error) {
        expect(outcome).toMatchObject({ code: 'store_full', retryable: true })
        refused++
      } else {
        next += blocks
        commits++
      }
      expect(await countOf(store)).toBe((next - 1) * 20)
      limitPages(1_000_000)
    }
    expect(refused).toBeGreaterThan(0)
    await store.commitCold(wholeOf(next, 200))
    const newest = { chain: writerChain, contract: writerContract, order: 'desc', limit: 100_000 } as const
    expect((await store.transferPage(newest)).length).toBe((next + 199) * 20)
    await store.close()
    expect(findDamage(path)).toBe('ok')
    const raw = new DatabaseSync(path)
    // One for each commit without merges.
    expect(raw.prepare('SELECT count(*) AS runs FROM runs WHERE view = 2').get()?.runs).toBeLessThan(commits)
    raw.close()
  })
})

describe('a new file', () => {
  test('several processes may open a new file at the same moment', async () => {
    const stores = await Promise.all([open('owner'), open('reader'), open('tool'), open('reader')])
    const secrets = stores.map(store => store.secret)
    for (const secret of secrets) expect(secret).toEqual(secrets[0])
    for (const store of stores) await store.close()
  })
})

// Every file that the service makes is its owner's alone, also where the umask allows everything.
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { issueKey } from '../src/keys/keys.ts'
import { backUpStore, openStore } from '../src/store/open.ts'

let directory: string
let umask: number
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-private-'))
  umask = process.umask(0)
})
afterEach(() => {
  process.umask(umask)
  rmSync(directory, { recursive: true })
})

function rights(): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory).map(name => [name, (statSync(join(directory, name)).mode & 0o777).toString(8)]),
  )
}

/** Opens the store and writes to each of its files. */
async function use(look: () => void): Promise<void> {
  const store = await openStore(`file:${join(directory, 'almanac.db')}`, { role: 'owner' })
  const { key } = await issueKey(store, { name: 'a', scopes: ['ops'] })
  const limits = { ratePerSecond: 1, quotaPerDay: undefined, wanted: 1, unused: undefined }
  await store.takeAllowance({ keyId: key.id, ...limits })
  look()
  await store.close()
}

const all = ['', '-lock', '-lock-journal', '-shared', '-shared-shm', '-shared-wal', '-shm', '-wal'].map(
  end => `almanac.db${end}`,
)

test('a new store and its backup', async () => {
  await use(() => expect(rights()).toEqual(Object.fromEntries(all.map(name => [name, '600']))))
  await backUpStore(`file:${join(directory, 'almanac.db')}`, join(directory, 'copy.db'))
  expect(rights()).toMatchObject({ 'copy.db': '600' })
})

test('a store that others could read until now', async () => {
  await use(() => {})
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o664)
  await use(() => expect(rights()).toEqual(Object.fromEntries(all.map(name => [name, '600']))))
})

test('a file that is not a store keeps its rights', async () => {
  writeFileSync(join(directory, 'almanac.db'), 'not a database, and of another program')
  await expect(openStore(`file:${join(directory, 'almanac.db')}`, { role: 'owner' })).rejects.toMatchObject({})
  expect(rights()).toMatchObject({ 'almanac.db': '666' })
})

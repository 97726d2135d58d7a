// `almanac store restore`: what it refuses, what becomes of keys, and that a restore that is killed at any step leaves
// the old store or the new one whole.
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { issueKey } from '../src/keys/keys.ts'
import { openStore } from '../src/store/open.ts'
import { findDamage } from '../src/store/sqlite/damage.ts'
import { restoreFile } from '../src/store/sqlite/restore/restore.ts'
import type { Store } from '../src/store/store.ts'
import { alterRows } from './altered-rows.ts'
import { CommandPlace } from './command-run.ts'
import { seed, seeded } from './seed.ts'

let place: CommandPlace
let backup: string
let keys: Record<'stays' | 'revoked' | 'limited', string>

/** A store of which a backup was made: it has rows and three keys. */
beforeEach(async () => {
  place = new CommandPlace()
  backup = join(place.directory, 'backup.db')
  keys = await changeStore(async store => {
    await seed(store)
    const idOf = async (name: string) => (await issueKey(store, { name, scopes: ['ops', 'portfolio'] })).key.id
    return { stays: await idOf('stays'), revoked: await idOf('revoked'), limited: await idOf('limited') }
  })
  expect(await place.runHere(['store', 'backup', backup])).toMatchObject({ code: 0 })
})
afterEach(() => place.dispose())

async function changeStore<T>(change: (store: Store) => Promise<T>, url = place.storeUrl): Promise<T> {
  const store = await openStore(url, { role: 'owner' })
  try {
    return await change(store)
  } finally {
    await store.close()
  }
}

const restore = (...parameters: string[]) => place.runHere(['store', 'restore', backup, ...parameters])
const filesOf = (directory = place.directory) => readdirSync(directory).sort()
const rowsOf = (url?: string) =>
  changeStore(store => store.transferCount({ chain: seeded.chains.eth, contract: seeded.collection }), url)

/** Expects a refusal that changes no file. */
async function expectRefusal(message: RegExp, ...parameters: string[]): Promise<void> {
  const contents = () =>
    filesOf()
      .filter(name => !/-lock$|-shm$/.test(name))
      .map(name => [name, readFileSync(join(place.directory, name))] as const)
      .filter(([, bytes]) => bytes.length > 0)
  const before = contents()
  const { code, stdout, stderr } = await restore(...parameters)
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(message)])
  expect(contents()).toEqual(before)
}

test('what was told of blocks above those of the backup is not vouched for by the restored store', async () => {
  const { eth } = seeded.chains
  const before = await changeStore(store => store.chainState(eth))
  const tip = (await changeStore(store => store.hotBlocks(eth))).at(-1)?.number ?? before!.finalized
  expect(await restore('--discard')).toMatchObject({ code: 0 })
  const once = await changeStore(store => store.takenBack(eth))
  expect(once).toEqual([{ era: expect.any(Number), contract: undefined, from: tip + 1, to: 2 ** 32 }])
  // Another time, of another era.
  expect(await restore('--discard')).toMatchObject({ code: 0 })
  const again = await changeStore(store => store.takenBack(eth))
  expect(again).toHaveLength(1)
  expect(again[0]!.era).toBeGreaterThan(once[0]!.era)
})

test('receivers of webhooks are told to forget what is not final in the backup', async () => {
  const webhook = {
    ...{ id: 'w', keyId: 'k', name: 'shop', url: 'https://shop.example/', filter: '{}', createdAt: 3 },
    ...{ paused: false, secret: 1, oldSecretUntil: undefined },
  }
  const other = join(place.directory, 'with-webhook.db')
  await changeStore(async store => {
    await store.addWebhook(webhook, 'here', { ofKeys: ['k'], count: 1 })
  })
  await place.runHere(['store', 'backup', other])
  expect(await place.runHere(['store', 'restore', other, '--discard'])).toMatchObject({ code: 0 })
  const [stored] = await changeStore(store => store.webhooks())
  expect(stored!.progress).toMatchObject({ turn: 1, restart: true, position: 'here' })
})

describe('keys', () => {
  test('revoked and limited ones stay so, and those created after the backup are said to be gone', async () => {
    const created = await changeStore(async store => {
      await store.endKey(keys.revoked, { revokedAt: Date.now() })
      const limited = (await store.keys()).find(({ id }) => id === keys.limited)!
      await store.putKey({ ...limited, ratePerSecond: 3, scopes: ['ops'] })
      await store.putCheckpoint('after', 'the backup')
      return (await issueKey(store, { name: 'created', scopes: ['ops'] })).key.id
    })
    const { code, stdout } = await restore('--json')
    const { store, kept, ...said } = JSON.parse(stdout)
    expect([code, store]).toEqual([0, place.storeFile])
    expect(said.keys).toEqual({
      revoked: [{ id: keys.revoked, name: 'revoked' }],
      changed: [{ id: keys.limited, name: 'limited' }],
      returned: [],
      gone: [{ id: created, name: 'created' }],
    })
    const restored = await changeStore(async store => ({
      keys: (await store.keys()).map(({ name, revokedAt, ratePerSecond, scopes }) => [
        ...[name, revokedAt !== undefined, ratePerSecond],
        scopes.join(),
      ]),
      after: await store.checkpoint('after'),
    }))
    expect(restored.after).toBeUndefined()
    expect(restored.keys.sort()).toEqual([
      ['limited', false, 3, 'ops'],
      ['revoked', true, undefined, 'ops,portfolio'],
      ['stays', false, undefined, 'ops,portfolio'],
    ])
    expect(await rowsOf()).toBe(await rowsOf(`file:${kept}`))
    expect(await changeStore(store => store.checkpoint('after'), `file:${kept}`)).toBe('the backup')
  })

  test('a revocation that is in the backup alone stays', async () => {
    await changeStore(store => store.endKey(keys.revoked, { revokedAt: Date.now() }), `file:${backup}`)
    expect(await restore('--discard')).toMatchObject({ code: 0 })
    expect(filesOf().filter(name => name.startsWith('almanac'))).toEqual(['almanac.db', 'almanac.db-lock'])
    const revoked = await changeStore(store => store.keys())
    expect(revoked.filter(key => key.revokedAt !== undefined).map(({ id }) => id)).toEqual([keys.revoked])
  })

  test('stay revoked where a newer version wrote the present store: its backup from before is the way back', async () => {
    await changeStore(store => store.endKey(keys.revoked, { revokedAt: Date.now() }))
    const newer = new DatabaseSync(place.storeFile)
    newer.exec('ALTER TABLE keys ADD COLUMN later TEXT; PRAGMA user_version = 4711')
    newer.close()
    const { code, stdout } = await restore()
    expect([code, stdout]).toEqual([0, expect.stringContaining(`still so: ${keys.revoked} (revoked).`)])
    const restored = await changeStore(store => store.keys())
    expect(restored.find(({ id }) => id === keys.revoked)?.revokedAt).toBeDefined()
  })

  test.each([
    ['missing', 'there is no store at', (path: string) => rmSync(path)],
    ['damaged', 'cannot be read', (path: string) => writeFileSync(path, 'what a broken disk gives')],
    ['new', 'does not know them', (path: string) => rmSync(path)],
  ])('are asked for if the present store is %s', async (state, reason, harm) => {
    harm(place.storeFile)
    if (state === 'new') await changeStore(async () => {})
    await expectRefusal(
      new RegExp(`^Error: The backup would make keys valid .* ${reason}.*3 keys: .*${keys.stays} \\(stays\\)`),
    )
    const { code, stdout } = await restore('--keys-of-backup')
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^Keys valid again, .* ${keys.stays} \\(stays\\)`, 'm'))
    expect(stdout.includes('is kept as')).toBe(state !== 'missing')
    expect(await rowsOf()).toBeGreaterThan(0)
  })
})

test('the log of a store that is damaged stays with that one', async () => {
  const log = await changeStore(async store => {
    await store.putCheckpoint('after', 'the backup')
    return readFileSync(`${place.storeFile}-wal`)
  })
  writeFileSync(place.storeFile, Buffer.alloc(8 * 4_096, 0xa5))
  writeFileSync(`${place.storeFile}-wal`, log)
  expect(await restore('--keys-of-backup')).toMatchObject({ code: 0 })
  const kept = filesOf().filter(name => name.includes('.replaced-'))
  expect(kept).toEqual([expect.stringMatching(/Z$/), expect.stringMatching(/Z-wal$/)])
  expect(await changeStore(store => store.checkpoint('after'))).toBeUndefined()
  expect(findDamage(place.storeFile)).toBe('ok')
})

describe('a backup is refused', () => {
  test('that is damaged, cut short or a file of something else', async () => {
    const page = 4_096
    const whole = readFileSync(backup)
    const edit = (sql: string) => {
      const file = new DatabaseSync(backup)
      file.exec(sql)
      file.close()
    }
    // Rows that are gone without a trace in the structure: the counts tell.
    await alterRows(backup, 'DELETE FROM transfers WHERE payload = (SELECT payload FROM transfers LIMIT 1)')
    await expectRefusal(/^Error: The backup \S+ is damaged: 0x\w+ has \d+ transfers; \d+ were counted/m)
    const harmed = Buffer.from(whole)
    harmed.fill(0xa5, 20 * page, 30 * page)
    writeFileSync(backup, harmed)
    await expectRefusal(/^Error: The backup \S+ is damaged: [\s\S]*Try: {3}restore another backup/m)
    writeFileSync(backup, whole)
    truncateSync(backup, whole.length - page)
    await expectRefusal(/is damaged: it ends after \d+ of \d+ bytes/)
    writeFileSync(backup, 'PGDMP')
    await expectRefusal(/is not a backup of a store file\.\nTry: .* pg_restore/)
    writeFileSync(backup, whole)
    edit('PRAGMA user_version = 4711')
    await expectRefusal(
      /backup\.db has format 4711; this version of Almanac reads and writes \d+\.\nTry: .* newer version/,
    )
    edit('PRAGMA user_version = 16')
    await expectRefusal(/backup\.db has format 16; this version/)
    edit('PRAGMA application_id = 7')
    await expectRefusal(/is a database of another program/)
  })

  test('that is missing, is the store itself, finds no room, or has a part of its data in a log', async () => {
    const named = (file: string) => place.runHere(['store', 'restore', file])
    expect(await named('none.db')).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no backup at') })
    expect(await named('.')).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a backup') })
    expect(await named('almanac.db')).toMatchObject({ code: 1, stderr: expect.stringContaining('is the store itself') })
    const { size } = statSync(backup)
    truncateSync(backup, 15e12)
    const noRoom = expect.stringMatching(
      /^Error: Restoring needs 15000000 MB beside .*; \d+ MB is free\.\nTry: {3}free space/,
    )
    expect(await restore()).toEqual({ code: 1, stdout: '', stderr: noRoom })
    truncateSync(backup, size)
    writeFileSync(`${backup}-wal`, 'frames')
    await expectRefusal(/a part of its data in \S+backup\.db-wal\.\nTry: {3}run `almanac store backup FILE/)
  })

  test('for a store that is in use, of another program, or of a server', async () => {
    for (const role of ['owner', 'reader'] as const) {
      const store = await openStore(place.storeUrl, { role })
      await store.keys()
      const { code, stderr } = await restore()
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^Error: Another process [\s\S]*those with --only api too/),
      ])
      await store.close()
    }
    const other = join(place.directory, 'other.db')
    const file = new DatabaseSync(other)
    file.exec('CREATE TABLE t (x)')
    file.close()
    await expectRefusal(/other\.db is a database of another program and was left/, '--store', `file:${other}`)
    const nowhere = `file:${join(place.directory, 'none', 'almanac.db')}`
    await expectRefusal(/there is no directory/, '--store', nowhere)
    await expectRefusal(/restore a database server with its own tools[\s\S]*pg_restore/, '--store', 'postgres://h/d')
  })
})

test('killed at any step, it leaves the old store or the new one whole', { timeout: 60_000 }, async () => {
  // The files of a service that was killed: its last commits are in the log alone.
  const dead = join(place.directory, 'dead')
  mkdirSync(dead)
  await changeStore(async store => {
    await store.endKey(keys.revoked, { revokedAt: Date.now() })
    await store.putCheckpoint('after', 'the backup')
    for (const end of ['', '-wal', '-shm']) copyFileSync(place.storeFile + end, join(dead, `almanac.db${end}`))
  })
  writeFileSync(join(dead, 'almanac.db-shared'), 'what processes told each other')
  const steps = await restoreKilledAt(-1, dead)
  expect(steps).toBeGreaterThan(7)
  const ends: unknown[] = []
  const kill = async (from: number) => {
    for (let step = from; step < Number(steps); step += 2) ends.push(await restoreKilledAt(step, dead))
  }
  // Two at a time.
  await Promise.all([kill(0), kill(1)])
  expect(ends.sort()).toEqual(['new', ...Array.from(ends.slice(1), () => 'old')])
})

const killedFile = fileURLToPath(new URL('killed-restore.ts', import.meta.url))

/** Gives which store is left, or the number of steps if it was not killed. */
async function restoreKilledAt(step: number, dead: string): Promise<'old' | 'new' | number> {
  const directory = join(dirname(dead), `killed-${step}`)
  const path = join(directory, 'almanac.db')
  mkdirSync(directory)
  for (const name of filesOf(dead)) copyFileSync(join(dead, name), join(directory, name))
  const child = promisify(execFile)(process.execPath, [killedFile, backup, path, String(step)])
  const steps = await child.then(
    ({ stdout }) => Number(stdout),
    error => void expect(error).toMatchObject({ signal: 'SIGKILL' }),
  )
  const { after, revoked } = await changeStore(async store => {
    const revoked = (await store.keys()).filter(key => key.revokedAt !== undefined).map(({ id }) => id)
    return { after: await store.checkpoint('after'), revoked }
  }, `file:${path}`)
  expect(revoked).toEqual([keys.revoked])
  expect(findDamage(path)).toBe('ok')
  // What is left is of no harm to the next one.
  await restoreFile(backup, path, { keysOfBackup: false, discard: true, onProgress: () => {} })
  expect(await changeStore(store => store.checkpoint('after'), `file:${path}`)).toBeUndefined()
  expect(filesOf(directory).filter(name => name.includes('restoring'))).toEqual([])
  return steps ?? (after === undefined ? 'new' : 'old')
}

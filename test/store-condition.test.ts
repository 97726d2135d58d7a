// The service while something happens to its store: a full disk, a file that is deleted, replaced or damaged.
import { spawnSync } from 'node:child_process'
import { closeSync, copyFileSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test, vi } from 'vitest'
import { StoreWatch } from '../src/cli/service/store-watch.ts'
import { createLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'
import { lastCheck } from '../src/store/check.ts'
import { blockEnd, changeRuns } from '../src/store/core/runs.ts'
import { checkFile, openStore } from '../src/store/open.ts'
import { StoreRoom } from '../src/store/room.ts'
import { bucketOfKey, countView } from '../src/store/runs/count-view.ts'
import { alterRows, changeRunsOf } from './altered-rows.ts'
import { almanacMain } from './bundled-service.ts'
import { CommandPlace, CommandRun } from './command-run.ts'
import { seed } from './seed.ts'
import { serveApi } from './served-api.ts'
import { startSimNode } from './sim/node.ts'

const patience = { timeout: 30_000, interval: 100 }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function newPlace(): CommandPlace {
  const place = new CommandPlace()
  cleanups.push(() => place.dispose())
  return place
}

type Ready = { status: string; reason?: string; problems?: { problem: string }[] }
async function readiness(url: string): Promise<{ code: number; kinds: string[]; body: Ready }> {
  const answer = await fetch(`${url}/ready`)
  const body = (await answer.json()) as Ready
  return { code: answer.status, kinds: (body.problems ?? []).map(({ problem }) => problem), body }
}

const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt']).status === 0

test.skipIf(!canMount)(
  'a full disk goes on serving every key, says so, and indexing goes on when there is room',
  async () => {
    const place = newPlace()
    const node = await startSimNode({ chain: { chainId: 31_337, height: 100, hashes: 'real' } })
    cleanups.push(() => node.close())
    const disk = join(place.directory, 'disk')
    mkdirSync(disk)
    place.configure({ sim: { id: 31_337, rpc: node.url, index: 'full' } }, `file:${disk}/almanac.db`)
    const start = `exec '${process.execPath}' '${almanacMain}' start --listen 127.0.0.1:0 --log-format json`
    const mounted = `mount -t tmpfs -o size=16m tmpfs '${disk}' && ${start}`
    const service = new CommandRun(['unshare', '-rm', 'sh', '-c', mounted], place.directory, {
      ALMANAC_KEY: 'operator',
    })
    cleanups.push(() => service.kill())
    const url = await service.listening()
    const operator = { 'x-api-key': 'operator', 'content-type': 'application/json' }
    const wanted = {
      name: 'limited',
      scopes: ['nft-transfers'],
      rate_per_second: 5,
      quota_per_day: 1_000,
      index_per_day: 5,
    }
    const made = await fetch(`${url}/keys`, { method: 'POST', headers: operator, body: JSON.stringify(wanted) })
    const { secret } = (await made.json()) as { secret: string }
    const contract = `0x${'1'.repeat(40)}`
    const ask = () => fetch(`${url}/api/v2/nft/${contract}/transfers?chain=sim`, { headers: { 'x-api-key': secret } })
    const simStatus = async () => {
      const answer = await fetch(`${url}/status`, { headers: operator })
      return ((await answer.json()) as { chains: { sim: { state: string; head: number; complete: boolean } } }).chains
        .sim
    }
    await vi.waitFor(async () => expect(await simStatus()).toMatchObject({ state: 'live', complete: true }), patience)
    expect((await ask()).status).toBe(200)

    // The mount is seen by the service alone, and through it.
    const filler = `/proc/${service.child.pid}/root${disk}/filler`
    fillUp(filler)
    node.chain.mine(20)
    await vi.waitFor(async () => {
      expect((await simStatus()).state).toBe('store_full')
      expect(await readiness(url)).toMatchObject({ code: 200, kinds: expect.arrayContaining(['store_full']) })
    }, patience)
    const codes: number[] = []
    for (let at = 0; at < 12; at++) codes.push((await ask()).status)
    // Limits hold: five of the twelve in a second, or a few more where they took longer than one.
    expect(new Set(codes)).toEqual(new Set([200, 429]))
    const metrics = await (await fetch(`${url}/metrics`, { headers: operator })).text()
    expect(metrics).toContain('almanac_problem{problem="store_full",chain=""} 1')

    rmSync(filler)
    await vi.waitFor(async () => {
      expect(await simStatus()).toMatchObject({ state: 'live', head: 120, complete: true })
      expect((await readiness(url)).kinds).not.toContain('store_full')
    }, patience)
  },
)

test('a store at its bound is told by the service, its metrics and commands, and not written to', async () => {
  const place = newPlace()
  const node = await startSimNode({ chain: { chainId: 31_337, height: 100, hashes: 'real' } })
  cleanups.push(() => node.close())
  const store = await openStore(place.storeUrl, { role: 'tool' })
  await store.annotate({ labels: labels(20_000) })
  await store.close()
  const chain = { id: 31_337, rpc: node.url, index: 'full', finality: 0 }
  place.configure({ sim: chain }, undefined, { store_bytes_max: 1_048_576 })
  const synced = await place.runHere(['sync', '--chain', 'sim', '--from', '0', '--to', '50'])
  expect(synced).toMatchObject({ code: 75, stderr: expect.stringContaining('has reached limits.store_bytes_max') })

  const start = ['start', '--listen', '127.0.0.1:0', '--log-format', 'json', '--ops-open']
  const service = place.begin(start)
  const url = await service.listening()
  const ready = await readiness(url)
  expect(ready).toMatchObject({ code: 200, kinds: expect.arrayContaining(['store_full']) })
  const status = (await (await fetch(`${url}/status`)).json()) as object
  expect(status).toMatchObject({
    chains: { sim: { state: 'store_full', covered: [] } },
    store: { bytes_max: 1_048_576, full_in_seconds: 0 },
  })
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toMatch(/^almanac_store_bytes [1-9]\d{6,}$/m)
  expect(metrics).toContain('\nalmanac_store_bytes_max 1048576\n')
  expect(metrics).toContain('\nalmanac_store_full_in_seconds 0\n')
  expect(metrics).toContain('almanac_problem{problem="store_full",chain=""} 1')
  const shown = await place.runHere(['status', '--url', url])
  expect(shown.stdout).toMatch(/^Almanac \S+, store \S+, full\n/)
  const said = service.stderr.split('\n').filter(line => /full/.test(line))
  expect(said).toHaveLength(1)
  expect(said[0]).toContain('Store full; serving goes on, indexing waits for room')
})

function labels(count: number) {
  return Array.from({ length: count }, (_, at) => ({
    address: `0x${at.toString(16).padStart(40, '0')}` as never,
    ...{ chain: undefined, label: `Label ${at}`, source: 'test', rank: 'imported' as const, updatedAt: 1 },
  }))
}

function fillUp(path: string): void {
  const file = openSync(path, 'w')
  const piece = Buffer.alloc(4_096)
  try {
    while (true) writeSync(file, piece)
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' })
  } finally {
    closeSync(file)
  }
}

test.each([
  ['deleted', 'store_missing', (path: string) => rmSync(path)],
  ['replaced', 'store_replaced', (path: string) => replace(path)],
])('a file that was %s is noticed', async (_, problem, change) => {
  const place = newPlace()
  const store = await openStore(place.storeUrl, { role: 'reader' })
  cleanups.push(() => store.close())
  const lines: string[] = []
  const log = createLog({ level: 'info', format: 'json', write: line => lines.push(line) })
  const watched = {
    store,
    room: new StoreRoom({ store }),
    url: place.storeUrl,
    log,
    metrics: createMetrics(),
    checks: false,
  }
  const watch = new StoreWatch({ ...watched, pace: { lookMs: 20 } })
  cleanups.push(() => watch.close())
  const api = await serveApi({ parts: { store } })
  cleanups.push(() => api.close())
  expect(await store.problems()).toEqual([])
  change(place.storeFile)
  await vi.waitFor(() => expect(lines.map(line => JSON.parse(line))).toMatchObject([{ level: 'error', problem }]), {
    timeout: 60_000,
  })
  expect(await readiness(api.url)).toMatchObject({ code: 503, kinds: [problem] })
})

function replace(path: string): void {
  copyFileSync(path, `${path}.new`)
  renameSync(`${path}.new`, path)
}

test('damage is found by the check in the background, and known to every process on the file', async () => {
  const place = newPlace()
  const store = await openStore(place.storeUrl, { role: 'owner' })
  cleanups.push(() => store.close())
  await store.annotate({ labels: labels(2_000) })
  const metrics = createMetrics()
  const pace = { lookMs: 20, firstCheckMs: 0, checkMs: 200, againMs: 200 }
  const log = createLog({ level: 'info', format: 'json', write: () => {} })
  const watch = new StoreWatch({
    store,
    room: new StoreRoom({ store }),
    url: place.storeUrl,
    log,
    metrics,
    checks: true,
    pace,
  })
  cleanups.push(() => watch.close())
  await vi.waitFor(async () => expect(await lastCheck(store)).toMatchObject({ verdict: 'ok' }), patience)
  expect(await store.problems()).toEqual([])
  // The verdict is stored first and told by metrics at the next look.
  await vi.waitFor(
    async () => expect(await metrics.registry.metrics()).toMatch(/^almanac_store_checked_timestamp_seconds \d{10}/m),
    patience,
  )

  const other = await openStore(place.storeUrl, { role: 'tool' })
  cleanups.push(() => other.close())
  damageLabels(place.storeFile)
  await vi.waitFor(async () => {
    expect(await store.problems()).toMatchObject([{ problem: 'store_damaged' }])
    expect(await other.problems()).toMatchObject([{ problem: 'store_damaged' }])
  }, patience)
})

test.each([
  ['that lost rows', (path: string) => alterRows(path, 'DELETE FROM transfers WHERE block % 3 = 0')],
  ['whose counts lost rows', loseCounts],
])('a sound file %s is damaged', async (_, lose) => {
  const place = newPlace()
  const store = await openStore(place.storeUrl, { role: 'owner' })
  await seed(store)
  await store.close()
  expect(await checkFile(place.storeUrl)).toBe('ok')
  await lose(place.storeFile)
  const database = new DatabaseSync(place.storeFile)
  expect(database.prepare('PRAGMA quick_check').get()).toEqual({ quick_check: 'ok' })
  database.close()
  expect(await checkFile(place.storeUrl)).toMatch(
    /^0x[0-9a-f]{40} has \d+ transfers; \d+ were counted, and \d+ by blocks$/,
  )
})

/** Every second bucket of the first chain; the counts of whole contracts stay. */
async function loseCounts(path: string): Promise<void> {
  await changeRunsOf(path, function* (core) {
    const of = { chain: 1, from: 0, to: blockEnd }
    const isLost = (bucket: number): boolean => bucket >= 0 && bucket % 2 === 0
    yield* changeRuns(yield* core.place(), countView, { of }, key => (isLost(bucketOfKey(key)) ? null : undefined))
  })
}

/** Overwrites the first page of the table in the file itself, not in the log beside it. */
function damageLabels(path: string): void {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const { page_size: pageSize } = database.prepare('PRAGMA page_size').get() as { page_size: number }
  const root = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'labels'").get() as {
    rootpage: number
  }
  database.close()
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(pageSize, 0xff), 0, pageSize, (root.rootpage - 1) * pageSize)
  closeSync(file)
}

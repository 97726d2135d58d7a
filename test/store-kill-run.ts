// Applies the writes of a seed to a store in a process that is killed again and again, and compares it with the
// undisturbed store of the same seed. Every second seed begins with a store that is filled half.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { compareStores } from '../src/cli/store/copy.ts'
import type { Address, ChainId } from '../src/model.ts'
import { views } from '../src/store/core/merge-runs.ts'
import type { IndexQuery } from '../src/store/index-reader.ts'
import { indexViews } from '../src/store/indexes/all-indexes.ts'
import { openStoreParts } from '../src/store/open.ts'
import { PackReader } from '../src/store/runs/pack.ts'
import type { IndexView } from '../src/store/runs/view.ts'
import { findDamage } from '../src/store/sqlite/damage.ts'
import { prepareFile } from '../src/store/sqlite/open-file.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { Store, TransferPageQuery } from '../src/store/store.ts'
import { idCountOf } from '../src/store/transfer-payload.ts'
import {
  type Draw,
  drawOf,
  halfOf,
  killBlockMax,
  killChains,
  killContracts,
  killOptions,
  killWallets,
  planOf,
} from './store-kill-plan.ts'
import { rowsOf } from './store-rows.ts'

const childFile = fileURLToPath(new URL('./store-kill-child.ts', import.meta.url))
/** Spares the many processes most of their start. */
const compileCache = join(tmpdir(), 'node-compile-cache')

export type KillResult = { kills: number; killsInOpening: number; killsInMerges: number; levels: number }

export async function runKilled(seed: number, writes: number, killsMax: number): Promise<KillResult> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-kill-'))
  try {
    const [empty, calm, killed] = ['empty', 'calm', 'killed'].map(name => join(folder, `${name}.db`)) as string[]
    // Both begin as one file, whose secret they keep.
    await prepareFile(empty!)
    copyFileSync(empty!, calm!)
    await applyWrites(calm!, { seed, writes })
    copyFileSync(empty!, killed!)
    const first = seed % 2 === 0 ? halfOf(writes) : 0
    await applyWrites(killed!, { seed, writes, end: first })
    const result = await applyKilled(killed!, { seed, writes, first, killsMax, draw: drawOf(seed + 2 ** 20) })
    await requireEqual(calm!, killed!)
    const levels = [calm!, killed!].map(requireSoundRuns)
    return { ...result, levels: Math.max(...levels) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Part = { seed: number; writes: number; end?: number }

async function applyWrites(path: string, { seed, writes, end = writes }: Part): Promise<void> {
  const store = await openSqliteStore(path, { role: 'owner', ...killOptions })
  try {
    for (const write of planOf(seed, writes).slice(0, end)) await write.apply(store)
  } finally {
    await store.close()
  }
}

type Killing = { seed: number; writes: number; first: number; killsMax: number; draw: Draw }

async function applyKilled(
  path: string,
  { seed, writes, first, killsMax, draw }: Killing,
): Promise<Omit<KillResult, 'levels'>> {
  const result = { kills: 0, killsInOpening: 0, killsInMerges: 0 }
  for (let next = first; next < writes; ) {
    const child = spawn(process.execPath, [childFile, path, `${seed}`, `${writes}`, `${next}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    })
    const closed = once(child, 'close')
    const mayKill = result.kills < killsMax
    // While it opens the store, or a moment after some write.
    const inOpening = draw(4) === 0 || result.kills === 0
    const writesBefore = draw(Math.ceil((1.5 * (writes - first)) / killsMax))
    // Most of a large commit and its merges is later than a few milliseconds.
    const pauseMs = draw(inOpening ? 6 : draw(3) === 0 ? 120 : 12)
    let heard = ''
    let waits = mayKill
    child.stdout.on('data', (chunk: Buffer) => {
      heard += chunk.toString()
      const done = heard.split('\n').length - 3
      if (!waits || (inOpening ? heard === '' : done < writesBefore)) return
      waits = false
      void delay(pauseMs).then(() => child.kill('SIGKILL'))
    })
    const [code] = await closed
    const lines = heard.split('\n').slice(0, -1)
    if (lines[1] !== undefined && lines[1] !== 'open 0') result.killsInMerges++
    if (code === null) {
      result.kills++
      if (lines.length < 2) result.killsInOpening++
    } else assert.equal(code, 0, `The writer of seed ${seed} failed.`)
    next = lines.length > 2 ? Number(lines.at(-1)) + 1 : next
  }
  return result
}

export async function requireEqual(calm: string, killed: string): Promise<void> {
  for (const path of [calm, killed]) {
    using raw = new DatabaseSync(path)
    alignTimes(raw)
  }
  const parts = await Promise.all([calm, killed].map(path => openStoreParts(`file:${path}`)))
  await compareStores(parts[0]!, parts[1]!)
  for (const each of parts) await each.close()
  const stores = await Promise.all([calm, killed].map(path => openSqliteStore(path, { role: 'reader' })))
  const [expected, found] = await Promise.all(stores.map(answersOf))
  for (const store of stores) await store.close()
  assert.deepEqual(found, expected)
  for (const path of [calm, killed]) {
    const raw = new DatabaseSync(path)
    assert.deepEqual({ ...raw.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
    raw.close()
    assert.equal(findDamage(path), 'ok')
  }
}

/**
 * When blocks went and when final rows were taken back differs, and their order alone is the same. A writer that is
 * killed after its commit, and before it says so, takes the same rows back again.
 */
function alignTimes(store: DatabaseSync): void {
  store.exec('UPDATE gone_blocks SET gone_at = 0')
  const taken = store.prepare('SELECT * FROM taken_back ORDER BY chain, era').all()
  const whatOf = (row: (typeof taken)[number]): string => JSON.stringify({ ...row, era: 0 })
  const first = taken.filter((row, at) => at === 0 || whatOf(row) !== whatOf(taken[at - 1]!))
  store.exec('DELETE FROM taken_back')
  const insert = store.prepare(
    'INSERT INTO taken_back (chain, era, contract, from_block, to_block) VALUES (?, ?, ?, ?, ?)',
  )
  for (const [era, row] of first.entries()) insert.run(row.chain!, era, row.contract!, row.from_block!, row.to_block!)
}

/** By question. Every contract is walked in both orders, with limits that end within packs and runs. */
async function answersOf(store: Store): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  const edges = [0, killBlockMax - 5_000, killBlockMax - 1_000, killBlockMax]
  for (const chain of killChains) {
    const { head, finalized } = (await store.chainState(chain)) ?? {}
    answers[`state ${chain}`] = [head, finalized, await store.hotBlocks(chain)]
    for (const index of indexViews)
      for (const contract of index.keysBeginWith === 'contract' ? killContracts : [undefined])
        answers[`${index.name} ${chain} ${contract}`] = await keysOf(store, { chain, index, contract })
    for (const contract of killContracts) {
      for (const fromBlock of edges)
        for (const toBlock of [...edges, killBlockMax + 5_000]) {
          const range = { chain, contract, fromBlock, toBlock }
          answers[`count ${Object.values(range)}`] = await store.transferCount(range)
        }
      const newest = await walk(store, { chain, contract, order: 'desc', limit: 333 })
      assert.equal(newest.idCount, await store.transferCount({ chain, contract }), `The count of ${contract} is wrong.`)
      const oldest = await walk(store, { chain, contract, order: 'asc', limit: 100 })
      assert.deepEqual(oldest.rows.reverse(), newest.rows)
      const range = { chain, contract, fromBlock: killBlockMax - 700, toBlock: killBlockMax - 300 }
      answers[`pages ${chain} ${contract}`] = [newest, await walk(store, { ...range, order: 'desc', limit: 7 })]
    }
  }
  for (const wallet of killWallets) answers[`wallet ${wallet}`] = await store.activityOf(wallet)
  return answers
}

/** Without the numbers of contracts, which depend on the order of writes. */
async function keysOf(
  store: Store,
  { chain, index, contract }: { chain: ChainId; index: IndexView; contract: Address | undefined },
): Promise<string> {
  const keyBytes = index.keyBytes - (contract === undefined ? 0 : 4)
  const span = { from: new Uint8Array(keyBytes), to: new Uint8Array(keyBytes).fill(255) }
  // Memory is taken for as many records as are asked for, and a transfer has two at most.
  const limit = contract === undefined ? 1_000_000 : 1 + 2 * (await store.transferCount({ chain, contract }))
  const query: IndexQuery = { chain, index: index.name, ...span, order: 'keys', limit }
  const { keys, length } = await store.indexes.indexRecords(contract === undefined ? query : { ...query, contract })
  assert(length < limit, `The index ${index.name} has more records than fit.`)
  return `${length} ${hash('sha256', keys)}`
}

async function walk(store: Store, query: TransferPageQuery): Promise<{ rows: string[]; idCount: number }> {
  const all: string[] = []
  let idCount = 0
  let after: TransferPageQuery['after']
  while (true) {
    const rows = rowsOf(await store.transferPage(after === undefined ? query : { ...query, after }))
    for (const row of rows) {
      all.push(Object.values(row).join(' '))
      idCount += idCountOf(Buffer.from(row.payload, 'hex'))
    }
    if (rows.length < query.limit) return { rows: all, idCount }
    after = rows.at(-1)
  }
}

/** Every pack belongs to one run, in order, and every run has as many records as it says. Returns the highest level. */
export function requireSoundRuns(path: string): number {
  const raw = new DatabaseSync(path)
  const all = (sql: string, ...values: number[]) => raw.prepare(sql).all(...values)
  const one = (sql: string) => Object.values(raw.prepare(sql).get() ?? {})[0]
  assert.equal(one('SELECT count(*) FROM packs WHERE (slot, run) NOT IN (SELECT slot, id FROM runs)'), 0)
  assert.equal(
    one('SELECT count(*) FROM runs WHERE target IS NOT NULL AND target NOT IN (SELECT id FROM runs WHERE growing = 1)'),
    0,
  )
  for (const { id, view, records } of all('SELECT id, view, records FROM runs')) {
    const { keyBytes } = views.find(each => each.id === view)!
    const reader = new PackReader(keyBytes)
    let [found, before] = [0, Buffer.alloc(0)]
    const packs = all('SELECT key, bytes FROM packs WHERE slot = 0 AND run = ? ORDER BY key', Number(id))
    for (const { key, bytes } of packs) {
      reader.open(bytes as Uint8Array)
      for (let at = 0; reader.next(); at++, found++) {
        if (at === 0) assert.deepEqual(Buffer.from(reader.key), Buffer.from(key as Uint8Array))
        assert(Buffer.compare(before, reader.key) < 0, `Run ${id} is not in order.`)
        before = Buffer.from(reader.key)
      }
    }
    assert.equal(found, records, `Run ${id} does not have as many records as it says.`)
  }
  const highest = one('SELECT max(level) FROM runs') as number | null
  raw.close()
  return highest ?? 0
}

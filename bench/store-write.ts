// How fast transfers and wallets go into the store, newest first, whether that stays so, and how much disk and memory
// they take.
// Run: npm run bench:write [-- --shape ethereum --transfers 20000000 --wallets 40000000 --touches 2 --memory 1024]
// `--touches`: wallets for each transfer, all equally likely, instead of those of the shape. `--engine postgres`: into a
// server of its own within the same bound of memory, with 256 MB of shared buffers and every write made durable.
// `--indexes by_wallet,by_token`: the indexes that the chain keeps, or `none`; without it all.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { ChainId } from '../src/model.ts'
import { views } from '../src/store/core/merge-runs.ts'
import { openStore } from '../src/store/open.ts'
import type { IndexName } from '../src/store/runs/view.ts'
import { startPostgres } from '../test/postgres-server.ts'
import { generateTransfers } from './generate.ts'
import { boundMemory, bytesWritten } from './memory-bound.ts'
import { shapeOf } from './shape.ts'

const { values } = parseArgs({
  options: {
    shape: { type: 'string', default: 'small' },
    transfers: { type: 'string', default: '5000000' },
    wallets: { type: 'string' },
    touches: { type: 'string' },
    activity: { type: 'boolean', default: false },
    memory: { type: 'string' },
    engine: { type: 'string', default: 'sqlite' },
    indexes: { type: 'string' },
  },
})
const transfers = Number(values.transfers)
const shape = shapeOf(values)
const hasActivity = values.activity || values.shape !== 'small'
const directory = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
const chain = 1 as ChainId
const tenthCount = 10

type Tenth = { transfers: number; touches: number; commitMs: number }

function perSecond(count: number, ms: number): number {
  return Math.round((count / ms) * 1000)
}

/** Of each table and index, without the pages that are free. */
function bytesByTable(path: string): Record<string, number> {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = database.prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name').all()
    return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes as number]))
  } finally {
    database.close()
  }
}

/** What a record of each view takes in runs: a pack has a page of its own. */
function bytesPerRecord(path: string): Record<string, number> {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = database
      .prepare(
        `SELECT view, sum((SELECT count(*) FROM packs WHERE packs.slot = runs.slot AND run = runs.id)) * 4096.0
           / sum(records) AS bytes FROM runs GROUP BY view`,
      )
      .all()
    const names = new Map(views.map(({ id, name }) => [id, name]))
    return Object.fromEntries(
      rows.map(({ view, bytes }) => [names.get(Number(view)) ?? view, Number(Number(bytes).toFixed(1))]),
    )
  } finally {
    database.close()
  }
}

type Place = {
  url: string
  /** Bytes handed to the disk so far. */
  written: () => Promise<number>
  measure: () => Promise<{ bytes: number } & Record<string, unknown>>
  close: () => Promise<void>
}

function openFile(): Place {
  const path = join(directory, 'almanac.db')
  return {
    url: `file:${path}`,
    written: async () => bytesWritten(),
    measure: async () => ({
      bytes: readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0),
      bytesPerRecord: bytesPerRecord(path),
      bytesByTable: bytesByTable(path),
    }),
    close: async () => {},
  }
}

async function openServer(): Promise<Place> {
  const server = await startPostgres({
    ...{ fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB', max_wal_size: '1GB' },
  })
  const url = await server.createDatabase()
  const client = new pg.Client(url)
  await client.connect()
  const value = async (sql: string): Promise<number> => Number(Object.values((await client.query(sql)).rows[0])[0])
  return {
    url,
    written: async () => {
      await client.query('CHECKPOINT')
      return await value('SELECT sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) FROM pg_stat_io')
    },
    async measure() {
      const { rows } = await client.query(
        `SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes FROM pg_class
         WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_total_relation_size(oid) > 1000000`,
      )
      return {
        bytes: await value('SELECT pg_database_size(current_database())'),
        bytesByTable: Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes])),
      }
    },
    async close() {
      await client.end()
      await server.stop()
    },
  }
}

try {
  console.log(values.memory === undefined ? 'memory is not bounded' : boundMemory(Number(values.memory)))
  const place = values.engine === 'postgres' ? await openServer() : openFile()
  const store = await openStore(place.url, { role: 'owner' })
  const names = values.indexes?.split(',') as IndexName[] | undefined
  if (names !== undefined) await store.keepIndexes(chain, names, 1)
  let peakRss = 0
  const cpuBefore = process.cpuUsage()
  const writtenBefore = await place.written()
  const tenths: Tenth[] = Array.from({ length: tenthCount }, () => ({ transfers: 0, touches: 0, commitMs: 0 }))
  let done = 0
  const startedAt = performance.now()
  const { commitMs, contracts } = await generateTransfers(store, {
    chain,
    transfers,
    shape,
    activity: hasActivity,
    onCommit: commit => {
      const tenth = tenths[Math.min(tenthCount - 1, Math.floor((done / transfers) * tenthCount))]!
      tenth.transfers += commit.transfers
      tenth.touches += commit.touches
      tenth.commitMs += commit.commitMs
      done += commit.transfers
      peakRss = Math.max(peakRss, process.memoryUsage.rss())
    },
  })
  const wallMs = performance.now() - startedAt
  const cpu = process.cpuUsage(cpuBefore)
  await store.close()
  const written = (await place.written()) - writtenBefore
  const { bytes, ...details } = await place.measure()
  const touches = tenths.reduce((sum, tenth) => sum + tenth.touches, 0)
  const rates = tenths.map(tenth => perSecond(tenth.transfers, tenth.commitMs))
  const result = {
    benchmark: 'store-write',
    engine: values.engine,
    shape: values.shape,
    indexes: values.indexes ?? 'all',
    transfers,
    touches,
    contracts: contracts.length,
    transfersPerSecond: perSecond(transfers, commitMs),
    touchesPerSecond: perSecond(touches, commitMs),
    tenths: rates,
    lastOfSecondTenth: Number((rates.at(-1)! / rates[1]!).toFixed(2)),
    withGenerationPerSecond: perSecond(transfers, wallMs),
    withGenerationPerCpuSecond: Math.round((transfers / (cpu.user + cpu.system)) * 1_000_000),
    cpuSeconds: Math.round((cpu.user + cpu.system) / 1_000_000),
    writtenPerStoredByte: Number((written / bytes).toFixed(1)),
    bytesPerTransfer: Number((bytes / transfers).toFixed(1)),
    peakResidentMegabytes: Math.round(peakRss / 2 ** 20),
    ...details,
  }
  await place.close()
  const isSmall = values.shape === 'small' && !hasActivity
  console.table([
    { measure: 'transfers/s inside the store', value: result.transfersPerSecond, target: isSmall ? '>= 80000' : '' },
    { measure: 'wallets/s inside the store', value: result.touchesPerSecond, target: '' },
    { measure: 'transfers/s, last tenth', value: rates.at(-1), target: isSmall ? '>= 80000' : '' },
    { measure: 'last tenth of the second', value: result.lastOfSecondTenth, target: '>= 0.8' },
    { measure: 'transfers/s with generating them', value: result.withGenerationPerSecond, target: '' },
    { measure: 'the same, per second of CPU time', value: result.withGenerationPerCpuSecond, target: '' },
    { measure: 'bytes written for each byte stored', value: result.writtenPerStoredByte, target: '<= 10' },
    { measure: 'bytes on disk a transfer, all told', value: result.bytesPerTransfer, target: isSmall ? '<= 140' : '' },
    { measure: 'peak resident MB', value: result.peakResidentMegabytes, target: '<= 300' },
  ])
  console.log(JSON.stringify(result))
} finally {
  rmSync(directory, { recursive: true })
}

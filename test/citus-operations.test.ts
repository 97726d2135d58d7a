// Citus as an operator meets it: moving a store there and back, stores that are not distributed, workers that die or
// hang, sizes. Stopping workers needs the folder of `scripts/citus-cluster.sh` as CITUS_FOLDER.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStoreParts } from '../src/store/open.ts'
import { copyStore } from '../src/store/parts.ts'
import { citusUrl, createSchema } from './citus-schema.ts'
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
})

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

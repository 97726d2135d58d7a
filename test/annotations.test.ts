// Labels and pins as their operator changes them, by command beside two running services: the next answer shows them, in
// every process, on both engines, and the entity tags change with them.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openStore } from '../src/store/open.ts'
import { CommandPlace, makeStore } from './command-run.ts'
import { type SharedPostgres, sharedPostgres } from './postgres-server.ts'
import { type RunningAlmanac, startAlmanac } from './running-almanac.ts'
import { seed, seeded } from './seed.ts'
import { engineAbove } from './store-engines.ts'

const key = 'annotations-test-key'
const shownTimeoutMs = 20_000

let server: SharedPostgres
let place: CommandPlace
beforeAll(async () => {
  server = await sharedPostgres()
})
afterAll(() => server.stop())
beforeEach(() => {
  place = new CommandPlace()
})
afterEach(() => place.dispose())

async function command(...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await place.runHere(parameters)
  expect([code, stderr], parameters.join(' ')).toEqual([0, expect.anything()])
  return stdout
}

type Row = { to_address_label: string | null; possible_spam: unknown; verified_collection: unknown; to_address: string }

async function ask(url: string, version: 'v2' | 'v2.2', tag = ''): Promise<{ status: number; tag: string; row: Row }> {
  const response = await fetch(`${url}/api/${version}/nft/${seeded.collection}/transfers?limit=5`, {
    headers: { 'x-api-key': key, 'if-none-match': tag },
  })
  const text = await response.text()
  const rows = text === '' ? [] : (JSON.parse(text) as { result: Row[] }).result
  const row = rows.find(({ to_address }) => to_address === seeded.alice) as Row
  return { status: response.status, tag: response.headers.get('etag') as string, row }
}

describe.each(engineAbove('postgres'))('on %s', engine => {
  test('a change of a label or pin is in the next answer of every process, under another tag', async () => {
    const store = engine === 'sqlite' ? place.storeUrl : await server.createStore()
    const opened = await openStore(store, { role: 'owner' })
    await seed(opened)
    await opened.close()
    const services: RunningAlmanac[] = []
    try {
      for (let count = 0; count < 2; count++) services.push(await startAlmanac({ store, key }))
      const eth = ['eth', seeded.collection, '--store', store]
      const changes: [parameters: string[], shown: Partial<Row>][] = [
        [['labels', 'unset', seeded.alice], { to_address_label: null }],
        [['labels', 'set', seeded.alice, 'Everywhere'], { to_address_label: 'Everywhere' }],
        [['labels', 'set', seeded.alice, 'Here ✓', '--chain', 'eth'], { to_address_label: 'Here ✓' }],
        [['collections', 'spam', ...eth], { possible_spam: true }],
        [['collections', 'not-spam', ...eth], { possible_spam: false }],
        [['collections', 'unverify', ...eth], { verified_collection: false }],
        [['collections', 'unpin', ...eth], { verified_collection: true }],
      ]
      await seedOperatorLabel(store)
      for (const [parameters, shown] of changes) {
        const before = await Promise.all(services.map(({ url }) => ask(url, 'v2.2')))
        const at = parameters.includes('--store') ? [] : ['--store', store]
        // A file may be changed by any process; on a server a connection is like another.
        if (engine === 'sqlite') expect(await place.run([...parameters, ...at])).toMatchObject({ code: 0 })
        else await command(...parameters, ...at)
        const deadline = performance.now() + shownTimeoutMs
        for (const [index, { url }] of services.entries()) {
          let after = await ask(url, 'v2.2', before[index]?.tag)
          // A file is looked at with every request; a server every 200 ms.
          while (engine === 'postgres' && after.status === 304 && performance.now() < deadline) {
            await delay(20)
            after = await ask(url, 'v2.2', before[index]?.tag)
          }
          expect(after.status, parameters.join(' ')).toBe(200)
          expect(after.tag).not.toBe(before[index]?.tag)
          expect(after.row).toMatchObject(shown)
        }
      }
      const reference = await ask(services[0]!.url, 'v2')
      expect(reference.row).toMatchObject({ possible_spam: 'false', verified_collection: 'true' })
    } finally {
      for (const service of services) await service.stop()
    }
  })

  test('lists are imported, exported, replaced and forgotten', async () => {
    const store = engine === 'sqlite' ? place.storeUrl : await server.createStore()
    await makeStore(store)
    const at = ['--store', store]
    const file = (name: string, text: string) => {
      const path = join(place.directory, name)
      writeFileSync(path, text)
      return path
    }
    const [one, two, three] = [1, 2, 3].map(n => `0x${String(n).repeat(40)}`) as [string, string, string]
    const list = file('list.csv', `address,name,chain\n${one},"One, ""1""",eth\nbad,Two,eth\n${two},Two,\n`)

    const strict = await place.run(['labels', 'import', list, '--strict', ...at])
    expect(strict.code).toBe(1)
    expect(strict.stderr).toContain('Line 3 was refused: "bad" is not an address.')
    expect(strict.stderr).toContain('Error: Nothing of ')
    expect(await command('labels', 'export', ...at, '--rank', 'imported')).toBe(
      'chain,address,label,source,rank,date\n',
    )

    const imported = JSON.parse(await command('labels', 'import', list, '--source', 'a list', '--json', ...at))
    expect(imported).toMatchObject({ source: 'a list', written: 2, refused: 1, problems: [{ line: 3 }] })
    const exported = await command('labels', 'export', '--source', 'a list', ...at)
    expect(exported.split('\n').map(line => line.replace(/,[^,]*$/, ''))).toEqual([
      'chain,address,label,source,rank',
      `eth,${one},"One, ""1""",a list,imported`,
      `,${two},Two,a list,imported`,
      '',
    ])
    // What export prints, import reads.
    await command('labels', 'import', file('again.csv', exported), ...at)
    expect(await command('labels', 'export', '--source', 'a list', ...at)).toMatch(/One/)

    await command('labels', 'set', two, 'Mine', '--chain', 'polygon', ...at)
    const shown = JSON.parse(await command('labels', 'show', two, '--json', ...at))
    expect(shown).toMatchObject([
      { chain: 'polygon', label: 'Mine', rank: 'operator', source: 'operator' },
      { chain: null, label: 'Two', rank: 'imported', source: 'a list' },
    ])

    const newer = file('newer.json', JSON.stringify({ [two]: 'Second', [three]: 'Third' }))
    const replaced = JSON.parse(
      await command('labels', 'import', newer, '--source', 'a list', '--replace', '--json', ...at),
    )
    expect(replaced).toMatchObject({ written: 2, removed: 1 })
    expect(await command('labels', 'export', '--source', 'a list', ...at)).not.toContain(one)
    await command('labels', 'forget', 'a list', ...at)
    const left = await command('labels', 'export', '--rank', 'imported', ...at)
    expect(left).toBe('chain,address,label,source,rank,date\n')

    const collections = file('verified.csv', `contract\n${one}\n${two}\n`)
    await command('collections', 'import', collections, '--chain', 'eth', '--source', 'list', ...at)
    await command('collections', 'spam', 'eth', three, ...at)
    const marks = JSON.parse(await command('collections', 'list', '--source', 'list', '--json', ...at))
    expect(marks).toMatchObject([
      { chain: 'eth', contract: one, verified: true, spam: null, rank: 'imported' },
      { chain: 'eth', contract: two, verified: true, spam: null, rank: 'imported' },
    ])
    expect(JSON.parse(await command('collections', 'list', '--json', ...at))).toMatchObject([
      { contract: three, verified: null, spam: true, rank: 'operator', source: 'operator' },
    ])
  })
})

/** The label that the first command takes away. */
async function seedOperatorLabel(store: string): Promise<void> {
  await command('labels', 'set', seeded.alice, 'First', '--store', store)
  const opened = await openStore(store, { role: 'tool' })
  await opened.annotate({ removedLabels: [{ chain: undefined, address: seeded.alice, source: 'seed' }] })
  await opened.close()
}

test('a list may come through a pipe', async () => {
  await makeStore(place.storeUrl)
  const pipe = join(place.directory, 'list')
  execFileSync('mkfifo', [pipe])
  const run = place.begin(['labels', 'import', pipe, '--json', '--store', place.storeUrl])
  await writeFile(pipe, `address,label\n0x${'7'.repeat(40)},Seven\n`)
  const { code, stdout, stderr } = await run.ended()
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toMatchObject({ written: 1, refused: 0 })
})

test('slips are told with what is accepted', async () => {
  await makeStore(place.storeUrl)
  const at = ['--store', place.storeUrl]
  const cases: [string[], RegExp][] = [
    [
      ['labels', 'set', '0x12', 'x', ...at],
      /^Error: "0x12" is not an address\.\nTry: {3}pass 0x and 40 hex digits\.\n$/,
    ],
    [['labels', 'set', `0x${'1'.repeat(40)}`, 'x\u202ey', ...at], /cannot be a label.*invisible characters/],
    [['labels', 'unset', `0x${'1'.repeat(40)}`, ...at], /has no label of your own for every chain/],
    [['labels', 'import', 'none.csv', ...at], /The file none\.csv does not exist/],
    [
      ['collections', 'spam', 'etth', `0x${'1'.repeat(40)}`, ...at],
      /"etth" is not a known chain\.\nTry: {3}did you mean eth\?/,
    ],
    [['labels', 'forget', 'built-in', ...at], /cannot be removed/],
  ]
  for (const [parameters, expected] of cases) {
    const { code, stderr } = await place.runHere(parameters)
    expect([code, stderr]).toEqual([1, expect.stringMatching(expected)])
  }
})

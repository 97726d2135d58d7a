// Labels in memory are those of the store, whatever changes meanwhile, and are looked up only until they are read.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pageOfParties, textsOf } from '../../test/labelled-page.ts'
import { seed, seeded } from '../../test/seed.ts'
import { createLog } from '../log.ts'
import type { Address, ChainId } from '../model.ts'
import type { TransferPage } from '../store/index-reader.ts'
import type { AddressRange } from '../store/label-changes.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { KnownLabels } from './known-labels.ts'

const { eth, polygon } = seeded.chains
let directory: string
let store: Store
let page: TransferPage
let lookUps: Address[] = []

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-labels-'))
  store = await openStore(`file:${join(directory, 'almanac.db')}`, { role: 'owner' })
  await seed(store)
  page = await store.transferPage({ chain: eth, contract: seeded.collection, order: 'desc', limit: 100 })
  const labelsOf = store.labelsOf.bind(store)
  store.labelsOf = (chain, addresses) => {
    lookUps.push(...addresses)
    return labelsOf(chain, addresses)
  }
})
afterAll(async () => {
  await store.close()
  rmSync(directory, { recursive: true, force: true })
})

async function shown(labels: KnownLabels, chain: ChainId = eth): Promise<string[]> {
  const texts = textsOf(page, await labels.ofPage(chain, page)).filter(text => text !== undefined)
  return [...new Set(texts)].sort()
}

const label = (text: string) => ({
  ...{ chain: eth, address: seeded.alice, label: text },
  ...{ source: 'test', rank: 'operator' as const, updatedAt: 1 },
})

test('nothing is looked up once labels are read, whatever else is committed, until they change', async () => {
  const labels = new KnownLabels(store, () => store.revision())
  await store.annotate({ labels: [label('One')] })
  expect(await shown(labels)).toContain('One')
  await labels.settled()
  lookUps = []
  expect(await shown(labels)).toContain('One')
  await store.putCheckpoint('test', 'another commit')
  expect(await shown(labels)).toContain('One')
  expect(lookUps).toEqual([])

  await store.annotate({ labels: [label('Two')] })
  expect(await shown(labels)).toContain('Two')
  expect(lookUps).toContain(seeded.alice)
  await labels.settled()
  lookUps = []
  expect(await shown(labels)).toContain('Two')
  expect(await shown(labels)).not.toContain('One')
  expect(lookUps).toEqual([])
})

test('a change makes the labels of its neighbours unknown and no others', async () => {
  const addresses = Array.from({ length: 64 }, (_, n) => `0x${n.toString(16).padStart(2, '0').repeat(20)}` as Address)
  await store.annotate({ labels: addresses.map(address => ({ ...label('Many'), address })) })
  const labels = new KnownLabels(store, () => store.revision(), { addressesPerRead: 8 })
  await shown(labels)
  await labels.settled()
  await store.annotate({ labels: [{ ...label('Changed'), address: addresses[20]! }] })
  lookUps = []
  const many = pageOfParties(addresses)
  const texts = textsOf(many, await labels.ofPage(eth, many))
  expect(texts[40]).toBe('Changed')
  expect(texts.filter(text => text === 'Many').length).toBe(63 * 2)
  expect(lookUps).toContain(addresses[20])
  expect(lookUps.length).toBeLessThan(10)
})

test('a changed label is read again once looking it up has cost as much as that', async () => {
  const addresses = Array.from({ length: 300 }, (_, n) => `0x${n.toString(16).padStart(4, '0').repeat(10)}` as Address)
  const only = pageOfParties(addresses.slice(20, 21))
  await store.annotate({ labels: addresses.map(address => ({ ...label('Many'), address })) })
  const labels = new KnownLabels(store, () => store.revision(), { addressesPerRead: 8 })
  await shown(labels)
  await labels.settled()
  const { labelsWithin } = store
  const read: AddressRange[] = []
  store.labelsWithin = (range, addressesMax) => {
    read.push(range)
    return labelsWithin(range, addressesMax)
  }
  await store.annotate({ labels: [{ ...label('Changed'), address: addresses[20]! }] })
  lookUps = []
  for (let round = 0; round < 20; round++) {
    expect(textsOf(only, await labels.ofPage(eth, only))[0]).toBe('Changed')
    await labels.settled()
  }
  store.labelsWithin = labelsWithin
  await store.annotate({ removedLabels: addresses.map(address => ({ ...label(''), address })) })
  expect(lookUps.length).toBeGreaterThanOrEqual(5)
  expect(lookUps.length).toBeLessThan(10)
  expect(read).toEqual([{ first: `0x${'0014'.padEnd(40, '0')}`, last: `0x${'0014'.padEnd(40, 'f')}` }])
})

test('labels that change again and again take a bounded amount of memory', async () => {
  const addresses = Array.from({ length: 100 }, (_, n) => `0x${n.toString(16).padStart(2, '0').repeat(20)}` as Address)
  const many = pageOfParties(addresses)
  const labels = new KnownLabels(store, () => store.revision())
  const bytes: number[] = []
  await store.annotate({ labels: addresses.map(address => ({ ...label('Round 00'), address })) })
  for (let round = 0; round < 20; round++) {
    const changed = addresses.slice((round % 4) * 25, (round % 4) * 25 + 25)
    await store.annotate({ labels: changed.map(address => ({ ...label(`Round ${10 + round}`), address })) })
    expect(textsOf(many, await labels.ofPage(eth, many))[(round % 4) * 50]).toBe(`Round ${10 + round}`)
    await labels.settled()
    bytes.push(labels.bytes)
  }
  await store.annotate({ removedLabels: addresses.map(address => ({ ...label(''), address })) })
  expect(Math.max(...bytes)).toBeLessThan(bytes[0]! * 2)
})

test('beyond the bound of memory labels are looked up, and only where there are some', async () => {
  const labels = new KnownLabels(store, () => store.revision(), { bytesMax: 0 })
  await store.annotate({ labels: [label('Beyond')] })
  await shown(labels)
  await labels.settled()
  lookUps = []
  expect(await shown(labels)).toContain('Beyond')
  expect(lookUps).toContain(seeded.alice)
  expect(lookUps).not.toContain(seeded.bob)
  expect(labels.bytes).toBeLessThan(4_096)
})

test('a reading that failed is logged once, and tried again with the first page after a second', async () => {
  const logged: string[] = []
  const log = createLog({ level: 'warn', format: 'json', write: line => logged.push(line) })
  let now = 0
  const labels = new KnownLabels(store, () => store.revision(), { log, nowMs: () => now })
  const { labelsWithin } = store
  let tries = 0
  store.labelsWithin = () => {
    tries++
    return Promise.reject(new Error('gone'))
  }
  await store.annotate({ labels: [label('Still there')] })
  for (const [atMs, expected] of [[0, 1] as const, [999, 1] as const, [1_000, 2] as const]) {
    now = atMs
    for (let page = 0; page < 3; page++) {
      expect(await shown(labels)).toContain('Still there')
      await labels.settled()
    }
    expect(tries).toBe(expected)
  }
  expect(logged).toHaveLength(1)
  expect(JSON.parse(logged[0]!)).toMatchObject({ msg: 'Labels could not be read', err: { message: 'gone' } })
  store.labelsWithin = labelsWithin
  now = 2_000
  expect(await shown(labels)).toContain('Still there')
  await labels.settled()
  lookUps = []
  expect(await shown(labels)).toContain('Still there')
  expect(lookUps).toEqual([])
})

test('a store without labels is not asked once it was read', async () => {
  const other = await openStore(`file:${join(directory, 'other.db')}`, { role: 'owner' })
  const asked: string[] = []
  for (const method of ['labelsOf', 'labelsWithin'] as const) {
    const ask = other[method] as (...parameters: unknown[]) => Promise<never>
    other[method] = (...parameters: unknown[]) => {
      asked.push(method)
      return ask(...parameters)
    }
  }
  const labels = new KnownLabels(other, () => other.revision())
  expect(await shown(labels)).toEqual([])
  await labels.settled()
  expect(asked).toContain('labelsWithin')
  asked.length = 0
  expect(await shown(labels)).toEqual([])
  expect(asked).toEqual([])
  // The first label of all is shown at once.
  await other.annotate({ labels: [label('First')] })
  expect(await shown(labels)).toEqual(['First'])
  await other.close()
})

test('a label of one chain is none on another', async () => {
  const labels = new KnownLabels(store, () => store.revision())
  await store.annotate({ labels: [label('On eth')] })
  expect(await shown(labels)).toContain('On eth')
  expect(await shown(labels, polygon)).not.toContain('On eth')
})

test('a reading that a change overtook is not shown', async () => {
  const labels = new KnownLabels(store, () => store.revision())
  await store.annotate({ labels: [label('Before')] })
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  const { promise: hasRead, resolve: read } = Promise.withResolvers<void>()
  const { labelsWithin } = store
  store.labelsWithin = async (range, addressesMax) => {
    const found = await labelsWithin(range, addressesMax)
    if (seeded.alice < range.first || range.last < seeded.alice) return found
    read()
    await mayGoOn
    return found
  }
  expect(await shown(labels)).toContain('Before')
  await hasRead
  store.labelsWithin = labelsWithin
  await store.annotate({ labels: [label('After')] })
  expect(await shown(labels)).toContain('After')
  goOn()
  await labels.settled()
  lookUps = []
  expect(await shown(labels)).toContain('After')
  expect(lookUps).toEqual([])
})

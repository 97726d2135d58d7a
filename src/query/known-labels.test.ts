import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seed, seeded } from '../../test/seed.ts'
import type { Address, ChainId } from '../model.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import type { TransferPage } from '../store/transfer-store.ts'
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
  const found = await labels.ofPage(chain, page)
  const texts = (found?.numbers ?? []).filter(Boolean).map(number => {
    const out = Buffer.alloc(found!.table.lengthOf(number))
    found!.table.put(out, 0, number)
    return JSON.parse(out.toString()) as string
  })
  return [...new Set(texts)].sort()
}

async function hintReady(): Promise<void> {
  await expect.poll(() => store.labelHint(), { timeout: 20_000 }).toBeDefined()
}

const label = (text: string) => ({
  ...{ chain: eth, address: seeded.alice, label: text },
  ...{ source: 'test', rank: 'operator' as const, updatedAt: 1 },
})

test('a label is looked up once until labels change, whatever else is committed', async () => {
  const labels = new KnownLabels(store, () => store.revision())
  await store.putLabels([label('One')])
  expect(await shown(labels)).toContain('One')
  await hintReady()
  expect(await shown(labels)).toContain('One')
  lookUps = []
  await store.putCheckpoint('test', 'another commit')
  expect(await shown(labels)).toContain('One')
  expect(lookUps).toEqual([])

  await store.putLabels([label('Two')])
  expect(await shown(labels)).toContain('Two')
  await hintReady()
  expect(await shown(labels)).toContain('Two')
  expect(await shown(labels)).not.toContain('One')
  expect(lookUps).toContain(seeded.alice)
})

test('a label of one chain is none on another', async () => {
  const labels = new KnownLabels(store, () => store.revision())
  await store.putLabels([label('On eth')])
  expect(await shown(labels)).toContain('On eth')
  expect(await shown(labels, polygon)).not.toContain('On eth')
})

test('what was looked up for an older state of the labels is not shown later', async () => {
  const labels = new KnownLabels(store, () => store.revision())
  await store.putLabels([label('Before')])
  await hintReady()
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  const labelsOf = store.labelsOf
  store.labelsOf = async (chain, addresses) => {
    const found = await labelsOf(chain, addresses)
    await mayGoOn
    return found
  }
  const slow = shown(labels)
  store.labelsOf = labelsOf
  await store.putLabels([label('After')])
  expect(await shown(labels)).toContain('After')
  goOn()
  expect(await slow).toContain('Before')
  expect(await shown(labels)).toContain('After')
})

// The built-in pack holds well-formed facts with their sources, and a store takes it over. No other source is
// asked whether they are true.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checksum } from 'ox/Address'
import { expect, test } from 'vitest'
import { builtInChains } from '../chains.ts'
import { openStore } from '../store/open.ts'
import { cleanLabel } from './label-text.ts'
import { loadPack, packContent, packEntries, packSources } from './pack.ts'

test.each(packEntries)('%s on %s: %s %s', (kind, chains, address, label, source) => {
  expect(checksum(address.toLowerCase())).toBe(address)
  expect(cleanLabel(label)).toEqual({ label, notes: [] })
  expect(packSources[source]).toBeTruthy()
  const names = builtInChains.map(chain => chain.name)
  if (chains === '*') expect(kind).toBe('label')
  else for (const chain of chains.split(',')) expect(names).toContain(chain)
})

test('no address is named twice on a chain', () => {
  const keys = packEntries.flatMap(([, chains, address]) => chains.split(',').map(chain => `${chain} ${address}`))
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([])
  const everywhere = new Set(packEntries.filter(([, chains]) => chains === '*').map(([, , address]) => address))
  expect(packEntries.filter(([, chains, address]) => chains !== '*' && everywhere.has(address))).toEqual([])
})

test('every source is used', () => {
  expect(new Set(packEntries.map(entry => entry[4]))).toEqual(new Set(Object.keys(packSources)))
})

test('a store takes the pack over once for each version, and what left it is gone', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-pack-'))
  const store = await openStore(`file:${join(directory, 'a.db')}`, { role: 'owner' })
  try {
    const content = packContent()
    expect(await loadPack(store)).toBe(true)
    expect(await store.labels({}, undefined, 10_000)).toHaveLength(content.labels.length)
    expect(await store.marks({}, undefined, 10_000)).toHaveLength(content.marks.length)
    expect(await loadPack(store)).toBe(false)
    const next = { ...content, labels: content.labels.slice(1), checkpoint: { ...content.checkpoint, value: 'next' } }
    expect(await loadPack(store, next)).toBe(true)
    expect(await store.labels({ source: 'built-in' }, undefined, 10_000)).toHaveLength(content.labels.length - 1)
  } finally {
    await store.close()
    rmSync(directory, { recursive: true })
  }
})

import { expect, test } from 'vitest'
import type { BulkSource } from './bulk-source.ts'
import { BulkSources } from './bulk-sources.ts'

test('sources that are given during a look are looked at next, and not after a while', async () => {
  const signal = new AbortController().signal
  const { promise, resolve } = Promise.withResolvers<void>()
  const source = (look: () => Promise<void>): BulkSource => ({ look, close: async () => {} }) as unknown as BulkSource
  const sources = new BulkSources([source(() => promise)])
  const looking = sources.look(signal)
  let looks = 0
  const next = [source(async () => void looks++)]
  sources.configure(next)
  expect(sources.replaced.aborted).toBe(true)
  resolve()
  await looking
  await sources.look(signal)
  expect(looks).toBe(1)
  expect(sources.all).toBe(next)
  expect(sources.replaced.aborted).toBe(false)
})

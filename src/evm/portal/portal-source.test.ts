// History from a portal: what it holds, what is made of a wrong range, of a portal that is away and of an anchor; and
// faults drawn from seeds, of which nothing wrong may come out.
import { afterEach, describe, expect, test } from 'vitest'
import { openSource, portalTrial, simulated, trialChain, truthOf } from '../../../test/portal-trial.ts'
import { SimChain } from '../../../test/sim/chain.ts'
import { type SimPortal, type SimPortalOptions, startSimPortal } from '../../../test/sim/portal.ts'
import { createLog } from '../../log.ts'
import type { Hash } from '../../model.ts'
import type { BulkSource } from '../source/bulk-source.ts'
import { DecodePool, type Decoder, inlineDecoder } from '../source/decode-pool.ts'
import { portalSource } from './portal-source.ts'

const { signal } = new AbortController()
const open: { close(): Promise<void> }[] = []
const top = trialChain.finalized
const hashOf = (number: number): Hash => trialChain.hashOf(number) as Hash

afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function start(
  options: Partial<SimPortalOptions> = {},
  more: Parameters<typeof openSource>[1] = {},
): Promise<{ portal: SimPortal; source: BulkSource }> {
  const portal = await startSimPortal({ chain: trialChain, ...options })
  const source = openSource(portal, more)
  open.push(source, portal)
  await source.look(signal)
  return { portal, source }
}

test('it holds what the dataset has, and gives what nodes give', async () => {
  const { portal, source } = await start({ start: 10, blocksPerAnswer: 5 })
  expect(source.holds).toEqual([{ from: 10, to: top }])
  expect(source.blocksAt(12)).toBe(3)
  const interval = { from: 20, to: 31 }
  const range = await source.range(interval, { scope: 'full', lastHash: hashOf(31) }, signal)
  const { bytes: _, ...truth } = truthOf(interval, 'full')
  expect(range).toMatchObject(truth)
  expect(source.blocksAt(top)).toBeGreaterThan(8)
  expect(source.status()).toEqual({
    ...{ kind: 'portal', name: new URL(portal.url).host, blocks: top - 9, from: 10, to: top },
    ...{ state: 'ready', refused: [] },
  })
})

test('what was not looked at holds nothing', async () => {
  const portal = await startSimPortal({ chain: trialChain })
  const source = openSource(portal)
  open.push(source, portal)
  expect([source.holds, source.status().state]).toEqual([[], 'waiting'])
  await expect(source.range({ from: 1, to: 2 }, { scope: 'full' }, signal)).rejects.toThrow(
    /does not have blocks 1 to 2/,
  )
})

test('a wrong block leaves what it holds for a while, and those around it stay', async () => {
  const { portal, source } = await start({}, { refusedMs: 300 })
  portal.options = { ...portal.options, fault: () => ({ kind: 'change-value', seed: 5 }) }
  await expect(source.range({ from: 20, to: 25 }, { scope: 'transfers' }, signal)).rejects.toThrow(/gave wrong blocks/)
  expect(source.holds).toEqual([
    { from: 0, to: 21 },
    { from: 23, to: top },
  ])
  const { refused, state } = source.status()
  expect(state).toBe('ready')
  expect(refused).toEqual([{ name: '22 to 22', block: 22, reason: expect.stringMatching(/hash/) }])
  await expect.poll(() => source.holds.length).toBe(1)
  expect(source.status().refused).toEqual([])
})

test('what takes a thread too long is asked for again in parts, and only one block alone is wrong', async () => {
  const limit = { blocks: 4 }
  const decoder: Decoder = {
    ...inlineDecoder,
    async portal(task) {
      if (task.interval.to - task.interval.from < limit.blocks) return inlineDecoder.portal(task)
      const failure = { check: 'unreadable', block: task.interval.from, message: 'no answer within 10 s' } as const
      return { ok: false, failure, isTooMuch: true }
    },
  }
  const { source } = await start({}, { decoder })
  const { interval } = await source.range({ from: 20, to: 31 }, { scope: 'full' }, signal)
  expect(interval).toEqual({ from: 20, to: 22 })
  expect(source.blocksAt(top)).toBe(3)
  expect(source.status().refused).toEqual([])
  limit.blocks = 0
  await expect(source.range({ from: 20, to: 31 }, { scope: 'full' }, signal)).rejects.toThrow(
    /wrong blocks from 20 to 20/,
  )
})

test('a portal that is often wrong gives nothing for a while', async () => {
  const { portal, source } = await start({}, { refusedMs: 60_000 })
  portal.options = { ...portal.options, fault: () => ({ kind: 'drop-log', seed: 5 }) }
  for (let from = 0; from < 40; from += 5)
    await expect(source.range({ from, to: from + 4 }, { scope: 'transfers' }, signal)).rejects.toThrow(/wrong blocks/)
  expect(source.holds).toEqual([])
  expect(source.status()).toMatchObject({
    state: 'failed',
    reason: expect.stringMatching(/8 wrong answers in a row/),
  })
})

test('a portal that is away gives nothing until it is looked at again', async () => {
  const { portal, source } = await start({}, { restMs: { first: 1, max: 1 } })
  portal.options = { ...portal.options, fault: () => ({ kind: 'status', status: 503 }) }
  await expect(source.range({ from: 20, to: 25 }, { scope: 'transfers' }, signal)).rejects.toThrow(/cannot be used now/)
  expect([source.holds, source.status().state]).toEqual([[], 'failed'])
  expect(source.status().reason).toMatch(/status 503/)
  portal.options = { ...portal.options, fault: () => undefined }
  await expect.poll(() => source.look(signal).then(() => source.holds)).toEqual([{ from: 0, to: top }])
})

test('blocks of another chain are refused by their parents, or by the hash that the last one must have', async () => {
  const { portal, source } = await start({}, { refusedMs: 1 })
  const { seed, ...shape } = trialChain.options
  portal.options = { ...portal.options, chain: new SimChain({ ...shape, seed: seed + 50 }) }
  const asked = { scope: 'transfers', lastHash: hashOf(25) } as const
  await expect(source.range({ from: 20, to: 25 }, asked, signal)).rejects.toThrow(/block 25 came as/)
})

test('a dataset that begins later than it said is believed when asked', async () => {
  const { portal, source } = await start()
  portal.options = { ...portal.options, start: 15 }
  await expect(source.range({ from: 10, to: 25 }, { scope: 'transfers' }, signal)).rejects.toThrow(/no blocks below 15/)
  expect(source.holds).toEqual([{ from: 15, to: top }])
})

test('a range ends with the anchor that it holds, and the anchor is known from then on', async () => {
  const { portal, source } = await start({}, { anchor: hashOf(23) })
  const range = await source.range({ from: 20, to: 27 }, { scope: 'transfers', lastHash: hashOf(27) }, signal)
  expect([range.interval, range.anchor]).toEqual([{ from: 20, to: 23 }, 'receipts-root'])
  const anchor = { number: 23, hash: hashOf(23), evidence: 'receipts-root' }
  const before = portal.queries.length
  expect(await source.anchorIn({ from: 0, to: top }, signal)).toEqual(anchor)
  expect(await source.anchorIn({ from: 24, to: top }, signal)).toBeUndefined()
  expect(portal.queries.length).toBe(before)
})

test('an anchor that was not read is looked up among what is stored, then among the headers near the top', async () => {
  const anchor = { number: 23, hash: hashOf(23), evidence: 'receipts-root' }
  const asked: unknown[] = []
  const storedNumber = async (...[hash, interval]: [Hash, unknown, unknown]) => {
    asked.push([hash, interval])
    return hash === anchor.hash ? 23 : undefined
  }
  const { portal, source } = await start({}, { anchor: anchor.hash, storedNumber })
  const before = portal.queries.length
  expect(await source.anchorIn({ from: 0, to: 40 }, signal)).toEqual(anchor)
  expect([asked, portal.queries.length]).toEqual([[[anchor.hash, { from: 0, to: 40 }]], before])
  const { source: unstored } = await start({}, { anchor: anchor.hash, storedNumber: async () => undefined })
  expect(await unstored.anchorIn({ from: 0, to: 22 }, signal)).toBeUndefined()
  expect(await unstored.anchorIn({ from: 0, to: 40 }, signal)).toEqual(anchor)
})

test('a block that shows the hash of the anchor, and cannot be hashed, is none', async () => {
  const { source } = await start({ lacking: { 'block.mixHash': top } }, { anchor: hashOf(23) })
  const range = await source.range({ from: 20, to: 27 }, { scope: 'transfers' }, signal)
  expect(range).toMatchObject({ interval: { from: 20, to: 27 }, evidence: 'one-endpoint', headersProven: false })
  expect(range.anchor).toBeUndefined()
  expect(await source.anchorIn({ from: 0, to: top }, signal)).toBeUndefined()
})

test('headers are hashed, and asked for many at once', async () => {
  const { portal, source } = await start()
  const before = portal.queries.length
  for (let number = 30; number > 20; number--) {
    const header = await source.header(number, signal)
    expect([header?.hash, header?.parentHash]).toEqual([hashOf(number), hashOf(number - 1)])
  }
  expect(portal.queries.length).toBe(before + 1)
  await source.look(signal)
  portal.options = { ...portal.options, fault: () => ({ kind: 'wrong-time', seed: 3 }) }
  const headers = await Promise.all([20, 19, 18].map(number => source.header(number, signal)))
  for (const header of headers) expect([undefined, hashOf(header?.number ?? 0)]).toContain(header?.hash)
  expect(await source.header(top + 1, signal)).toBeUndefined()
})

test('headers that a dataset lacks fields of are its word, those that could be hashed and are not are none', async () => {
  const { portal, source } = await start({ lacking: { 'block.mixHash': top } })
  expect(await source.header(30, signal)).toMatchObject({ hash: hashOf(30), parentHash: hashOf(29), unproven: true })
  const other = new SimChain({ ...trialChain.options, hashes: 'cheap' })
  portal.options = { chain: other }
  const honest = openSource(portal)
  open.push(honest)
  await honest.look(signal)
  expect(await honest.header(30, signal)).toBeUndefined()
})

test('what a dataset lacks of headers comes from nodes, and is asked for only while it is needed', async () => {
  const { portal, source } = await start({ lacking: { 'block.mixHash': 40 } }, { withNode: true })
  const ask = (from: number) => source.range({ from, to: from + 4 }, { scope: 'transfers' }, signal)
  expect((await ask(20)).evidence).toBe('receipts-root')
  const before = portal.queries.length
  expect((await ask(15)).evidence).toBe('receipts-root')
  expect(portal.queries.length).toBe(before + 1)
  const alone = await start({ lacking: { 'block.mixHash': 40 } })
  const range = await alone.source.range({ from: 20, to: 24 }, { scope: 'transfers' }, signal)
  expect(range).toMatchObject({ evidence: 'one-endpoint', headersProven: false })
  expect(range.doubt?.reason).toMatch(/without a readable mixHash/)
})

test('of an operator’s own chain the form of headers is learnt', async () => {
  const { source } = await start({}, { chain: { ...simulated, quirks: {} } })
  const range = await source.range({ from: 20, to: 24 }, { scope: 'transfers' }, signal)
  expect(range.evidence).toBe('receipts-root')
})

test('a thread gives what this one gives', async () => {
  const decoder = new DecodePool({ threads: 1, bytesMin: 0, bytesHereMax: 0 })
  open.push(decoder)
  const { source } = await start({}, { decoder })
  const { bytes: _, ...truth } = truthOf({ from: 20, to: 31 }, 'full')
  expect(await source.range({ from: 20, to: 31 }, { scope: 'full' }, signal)).toMatchObject(truth)
})

test('a portal that is no portal is shown as such', async () => {
  const source = portalSource({
    ...{ chain: simulated, decoder: new DecodePool(), log: createLog({ level: 'silent', format: 'text' }) },
    ...{ url: 'http://127.0.0.1:1/datasets/none', patienceMs: 1 },
  })
  open.push(source)
  await source.look(signal)
  expect(source.status()).toMatchObject({ state: 'failed', reason: expect.stringMatching(/ECONNREFUSED/), blocks: 0 })
})

describe('faults drawn from a seed', () => {
  test.each(Array.from({ length: 8 }, (_, at) => 1 + at))('seed %i', async seed => {
    const outcome = await portalTrial(seed)
    expect(outcome.problem, outcome.faults.join()).toBeUndefined()
  })
})

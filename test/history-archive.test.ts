// A chain without a node, where its sources give less than a whole proof, name what they do not have, or go: the index
// starts with what there is, and says no more than that.
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { blockCount, wholeCoverage } from '../src/coverage.ts'
import type { ChainId, Hash } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { madeChain } from './history-blocks.ts'
import { flipped } from './history-flips.ts'
import {
  chainOf,
  claimsOf,
  dumpOf,
  evidenceOf,
  HistoryIndex,
  indexAll,
  type SourceNames,
  signedChain,
  temporaryFolder,
} from './history-world.ts'
import { writeEre } from './history-writer.ts'
import { exportChain } from './sim/export-files.ts'
import { type SimPortalOptions, startSimPortal } from './sim/portal.ts'
import { type Engine, startEngine } from './store-engines.ts'

const chain = signedChain({ height: 60 })
const id = chain.options.chainId as ChainId
const { head } = chain
const indexed = chainOf(id)
const whole = { from: 0, to: head }
const hashOf = (number: number): Hash => chain.hashOf(number) as Hash
const cleanups: (() => unknown)[] = []
let sqlite: Engine

beforeAll(async () => {
  sqlite = await startEngine('sqlite')
  cleanups.push(() => sqlite.close())
})
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

const folder = (): string => temporaryFolder(cleanups)

async function portalOf(options: Partial<SimPortalOptions> = {}): Promise<string> {
  const portal = await startSimPortal({ chain, ...options })
  onTestFinished(() => portal.close())
  return portal.url
}

async function opened(url: string, sources: SourceNames): Promise<HistoryIndex> {
  const index = await HistoryIndex.open(indexed, url, sources)
  onTestFinished(() => index.close())
  return index
}

/** What all sources should give: indexed once. */
let dump: ReturnType<typeof indexFiles> | undefined
const fileDump = () => {
  dump ??= indexFiles()
  return dump
}

async function indexFiles() {
  const url = await sqlite.newStore()
  const history = [folder()]
  exportChain(chain, whole, { folder: history[0]!, format: 'ere' })
  await indexAll(indexed, head, url, { history })
  return await dumpOf(url, id)
}

describe('a portal alone', () => {
  test('whose headers cannot be hashed gives its word, also below what was stored before', async () => {
    const portal = await portalOf({ lacking: { 'block.mixHash': head } })
    const url = await sqlite.newStore()
    const above = await opened(url, { portal, from: 40 })
    await above.complete(head)
    await above.close()
    const { status } = await indexAll(indexed, head, url, { portal })
    expect(evidenceOf(status.covered)).toEqual([{ ...whole, evidence: 'one-endpoint' }])
    // It cannot rise: nothing proves how its blocks hang together.
    expect(evidenceOf(await claimsOf(url, id))).toEqual([{ ...whole, evidence: 'one-endpoint' }])
    expect(await dumpOf(url, id)).toEqual(await fileDump())
  })

  test.each([
    ['with transfers', 30],
    ['without', 36],
  ])('finds an anchor that is set later, a block %s', async (_, number) => {
    const portal = await portalOf()
    const url = await sqlite.newStore()
    await indexAll(indexed, head, url, { portal })
    const anchored = await opened(url, { portal, anchor: hashOf(number) })
    await anchored.until(({ covered }) => covered.some(({ evidence }) => evidence === 'receipts-root'))
    expect(evidenceOf(await claimsOf(url, id))).toEqual([
      { from: 0, to: number, evidence: 'receipts-root' },
      { from: number + 1, to: head, evidence: 'unanchored' },
    ])
  })
})

describe('the head', () => {
  test('is not that of a file that cannot be read, however high it says it is', async () => {
    const history = folder()
    exportChain(chain, whole, { folder: history, format: 'ere' })
    const [bad] = exportChain(signedChain({ height: 120 }), { from: 110, to: 119 }, { folder: history, format: 'ere' })
    const bytes = readFileSync(bad!.path)
    // In the bodies: headers come first, and are whole.
    writeFileSync(bad!.path, flipped(bytes, 8 * Math.round(bytes.length * 0.6)))
    // Above all that a store can hold.
    writeFileSync(join(history, 'local-99999-00000000.ere'), writeEre(2 ** 40, madeChain(2 ** 40, 2, 0)))
    const url = await sqlite.newStore()
    const { sources } = await indexAll(indexed, head, url, { history: [history] })
    expect(sources[0]?.refused).toHaveLength(2)
    expect(sources[0]?.refused).toContainEqual({
      ...{ name: 'local-99999-00000000.ere', block: 2 ** 40 },
      reason: 'has a number above 2147483646, which no chain has',
    })
  })

  test('goes back with the file that named it, as far as nothing is claimed', async () => {
    const [history, aside] = [folder(), folder()]
    const files = exportChain(chain, whole, { folder: history, format: 'ere', blocksPerFile: 32 })
    const url = await sqlite.newStore()
    const paused = { paused: true }
    const top = files.at(-1)!
    const sources = { history: [history], backfill: paused }
    const index = await opened(url, sources)
    await index.until(status => status.head === head && status.finalized === head)
    renameSync(top.path, join(aside, top.name))
    await index.configure(sources)
    await index.until(status => status.head === 31 && status.finalized === 31)
    // What is claimed stays, and so does the head, when all files go.
    await index.configure({ history: [history] })
    await index.complete(31)
    for (const { path } of files) rmSync(path, { force: true })
    await index.configure({ history: [history] })
    await expect.poll(async () => (await index.sources())[0]?.blocks).toBe(0)
    expect(await index.status()).toMatchObject({ head: 31, complete: true })
    copyFileSync(join(aside, top.name), top.path)
    await index.configure({ history: [history] })
    await index.complete(head)
  })

  test('of a store that was left with one that no source has goes back at a start', async () => {
    const history = folder()
    exportChain(chain, whole, { folder: history, format: 'ere' })
    const url = await sqlite.newStore()
    const store = await openStore(url, { role: 'owner' })
    await store.putChainState(id, { finalized: 1_000_000 })
    await store.putChainState(id, { head: { number: 1_000_000, hash: hashOf(1), timestamp: 1 } })
    await store.close()
    const { status } = await indexAll(indexed, head, url, { history: [history] })
    expect(status).toMatchObject({ head, finalized: head })
  })
})

test('archives that do not join are stored apart, and why they do not is told', async () => {
  const other = signedChain({ height: 60, seed: 99 })
  const [before, history] = [folder(), folder()]
  exportChain(other, { from: 20, to: 29 }, { folder: before, format: 'ere' })
  const url = await sqlite.newStore()
  await indexAll(indexed, 29, url, { history: [before], from: 20 })
  exportChain(chain, whole, { folder: history, format: 'ere' })
  const index = await opened(url, { history: [history] })
  const stalled = await index.until(({ state, blocks_left }) => state === 'stalled' && blocks_left === 2)
  expect(stalled).toMatchObject({
    reason: expect.stringMatching(
      /^sim has blocks of two chains: block 30 grows from 0x\w{64}, but block 29 is stored as 0x\w{64}\. Try: set chains\.sim\.anchor/,
    ),
  })
  const stored = [whole.from, 18, 20, 29, 31, head]
  for (const scope of ['transfers', 'full'])
    expect(stalled.covered.flatMap(each => (each.scope === scope ? [each.from, each.to] : []))).toEqual(stored)
  // The operator's word decides, and what is of the other chain is read again.
  await index.configure({ history: [history], anchor: hashOf(head) })
  const { covered } = await index.complete(head)
  expect(evidenceOf(covered)).toEqual([{ ...whole, evidence: 'receipts-root' }])
  await index.close()
  const { transfers, blocks, counts } = await fileDump()
  expect(await dumpOf(url, id)).toMatchObject({ transfers, blocks, counts, pending: 0 })
})

describe('the state', () => {
  test('says how many blocks no source has, and from which one on none is missing', async () => {
    const history = folder()
    exportChain(chain, { from: head - 9, to: head }, { folder: history, format: 'ere' })
    const url = await sqlite.newStore()
    const index = await opened(url, { history: [history] })
    const stalled = await index.until(({ state }) => state === 'stalled')
    expect(stalled).toMatchObject({ head, complete: false, blocks_left: head - 9, eta_seconds: null })
    expect('reason' in stalled && stalled.reason).toMatch(
      /^sim has no node, and its sources lack 51 blocks: blocks 0 to 50\. Try: put files .*, or set `from` to 51\.$/,
    )
    expect(blockCount(wholeCoverage(stalled.covered, 'full'))).toBe(10)
    await index.close()
    const later = await opened(url, { history: [history], from: head - 9 })
    expect(await later.complete(head)).toMatchObject({ blocks_left: 0 })
    await later.close()
    // Where blocks below are stored, to begin later would lose them.
    exportChain(chain, { from: 0, to: 19 }, { folder: history, format: 'ere', blocksPerFile: 20 })
    const between = await opened(url, { history: [history] })
    const told = await between.until(({ state, covered }) => state === 'stalled' && covered.some(({ to }) => to === 19))
    expect(told).toMatchObject({
      blocks_left: 31,
      reason: expect.stringMatching(/: blocks 20 to 50\. Try: (?!.*`from`)/),
    })
  })

  test('says that no source can be read, while what is stored is served', async () => {
    const [history, aside] = [folder(), folder()]
    exportChain(chain, whole, { folder: history, format: 'ere' })
    const url = await sqlite.newStore()
    const index = await opened(url, { history: [history] })
    await index.complete(head)
    renameSync(history, join(aside, 'away'))
    await index.configure({ history: [history] })
    const stalled = await index.until(({ state }) => state === 'stalled')
    expect(stalled).toMatchObject({
      ...{ head, complete: true },
      reason: expect.stringMatching(/^sim has no node, and no source of it can be read: .*ENOENT.* Try: put files/),
    })
    renameSync(join(aside, 'away'), history)
    await index.configure({ history: [history] })
    await index.complete(head)
  })

  test('says that no block is the one that the operator names', async () => {
    const history = folder()
    const [file] = exportChain(chain, whole, { folder: history, format: 'ere' })
    const wrong = `0x${'ab'.repeat(32)}` as Hash
    const stalledBy = (sources: SourceNames) =>
      opened(url, sources).then(async index => {
        const stalled = await index.until(({ state }) => state === 'stalled')
        expect(stalled).toMatchObject({
          ...{ complete: true, blocks_left: 0 },
          reason: expect.stringMatching(
            /^sim has no block 0xabab\w+, which chains\.sim\.anchor names\. Try: check the hash/,
          ),
        })
        return index
      })
    const url = await sqlite.newStore()
    const index = await stalledBy({ history: [history], anchor: wrong })
    await index.configure({ history: [history], anchor: hashOf(40) })
    await index.until(
      ({ state, covered }) => state === 'live' && covered.some(each => each.evidence === 'receipts-root'),
    )
    await index.close()
    // It is stored: the file is not needed to know it.
    rmSync(file!.path)
    const later = await opened(url, { history: [history], anchor: hashOf(40) })
    await later.complete(head)
    await later.close()
    const byPortal = await stalledBy({ portal: await portalOf(), anchor: wrong })
    await byPortal.close()
  })
})

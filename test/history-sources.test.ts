// One chain from nodes, from files, from a portal and from all of them with faults: the store ends with the same rows,
// whoever gave them, and evidence says no more than what was connected. ALMANAC_HISTORY_RUNS=20 draws more faults.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { topics as events } from '../src/evm/decode/token-events.ts'
import { ledgerId } from '../src/ledgers.ts'
import type { ChainId, Hash } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { usualViews } from '../src/views.ts'
import { expectFullTruth } from './evm-fault-checks.ts'
import { Dice } from './evm-fault-plan.ts'
import { flipped } from './history-flips.ts'
import { BeaconChain } from './history-proofs.ts'
import {
  chainOf,
  claimsOf,
  type Dump,
  dumpOf,
  evidenceOf,
  HistoryIndex,
  indexAll,
  type SourceNames,
  signedChain,
  temporaryFolder,
} from './history-world.ts'
import { isRelease } from './release-runs.ts'
import { SimChain } from './sim/chain.ts'
import { exportChain } from './sim/export-files.ts'
import type { Fault } from './sim/faults.ts'
import { startSimNode } from './sim/node.ts'
import { startSimPortal } from './sim/portal.ts'
import { disorders, hitches, lies, type PortalFault } from './sim/portal-faults.ts'
import { type Engine, engineAbove, startEngine } from './store-engines.ts'

const height = 130
const chain = signedChain({ height })
const id = chain.options.chainId as ChainId
const { head } = chain
const indexed = chainOf(id)
const whole = { from: 0, to: head }
const cleanups: (() => unknown)[] = []
let fromNodes: Dump
let sqlite: Engine

beforeAll(async () => {
  sqlite = await startEngine('sqlite')
  cleanups.push(() => sqlite.close())
  const node = await startSimNode({ chain })
  const url = await sqlite.newStore()
  await indexAll(indexed, head, url, { rpc: [node.url] })
  await node.close()
  fromNodes = await dumpOf(url, id)
  const store = await openStore(url, { role: 'tool' })
  await expectFullTruth(store, chain, 0)
  await store.close()
})
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

const folder = (): string => temporaryFolder(cleanups)

test('the chain has all that history can have', () => {
  const transactions = Array.from({ length: head + 1 }, (_, number) => chain.block(number)).flatMap(
    block => block.transactions,
  )
  expect(new Set(transactions.map(({ type }) => type)).size).toBe(5)
  expect(fromNodes.transfers.length).toBeGreaterThan(600)
  expect(fromNodes.coverage).toEqual({ full: [whole], transfers: [whole] })
})

test.each([
  ['era1', { format: 'era1', blocksPerFile: 64 }],
  ['ere', { format: 'ere', blocksPerFile: 50 }],
] as const)('files alone, in %s: an archive without a node', async (_, options) => {
  const history = [folder()]
  exportChain(chain, whole, { folder: history[0]!, ...options })
  const url = await sqlite.newStore()
  const { status, sources } = await indexAll(indexed, head, url, { history })
  expect(await dumpOf(url, id)).toEqual(fromNodes)
  expect(status).toMatchObject({ lag_seconds: 0, rpc: [] })
  expect(sources).toMatchObject([{ kind: 'files', blocks: head + 1, refused: [] }])
})

test('a portal alone, whose answers end early', async () => {
  const portal = await startSimPortal({ chain, blocksPerAnswer: 25 })
  onTestFinished(() => portal.close())
  const url = await sqlite.newStore()
  const { sources } = await indexAll(indexed, head, url, { portal: portal.url })
  expect(await dumpOf(url, id)).toEqual(fromNodes)
  expect(sources).toMatchObject([{ kind: 'portal', refused: [] }])
})

test('every token of a chain that keeps erc20 is the same from nodes, files and a portal, a token of its NFTs none', async () => {
  const history = [folder()]
  for (const [format, blocks] of [
    ['era1', { from: 0, to: 63 }],
    ['ere', { from: 64, to: head }],
  ] as const)
    exportChain(chain, blocks, { folder: history[0]!, format, blocksPerFile: 64 })
  const portal = await startSimPortal({ chain })
  const node = await startSimNode({ chain })
  onTestFinished(async () => {
    await Promise.all([portal.close(), node.close()])
  })
  const tokens = ledgerId(id, 'erc20')
  const dumps: Dump[] = []
  for (const given of [{ rpc: [node.url] }, { history }, { portal: portal.url }]) {
    const url = await sqlite.newStore()
    const index = await HistoryIndex.open(indexed, url, { ...given, views: [...usualViews, 'erc20'] })
    const { erc20 } = await index.until(({ complete, erc20 }) => complete && erc20?.complete === true)
    expect(erc20).toMatchObject({ state: 'live', head, blocks_left: 0 })
    await index.close()
    dumps.push(await dumpOf(url, tokens))
  }
  const [first, ...others] = dumps
  // Blocks of both ledgers are in one table, and what is recent when it is read differs.
  for (const { transfers, counts, coverage } of others)
    expect({ transfers, counts, coverage }).toEqual({
      transfers: first!.transfers,
      counts: first!.counts,
      coverage: first!.coverage,
    })
  expect(first!.coverage).toEqual({ full: [], transfers: [whole] })
  const told = new Map<string, number>()
  for (let number = 0; number <= head; number++)
    for (const { logs } of chain.block(number).transactions)
      for (const {
        address,
        topics: [event, ...rest],
      } of logs)
        if (event === events.transfer && rest.length === 2) told.set(address, (told.get(address) ?? 0) + 1)
  expect(told.size).toBeGreaterThan(1)
  // The contracts of both ledgers are counted in that of tokens, where those of NFTs have none.
  const counts = first!.counts.filter(line => !line.endsWith(' 0'))
  expect(counts).toEqual([...told].map(([address, count]) => `${address.slice(2)} ${count}`).sort())
})

describe.runIf(isRelease).each(engineAbove('postgres'))('all of them with faults in each, on %s', name => {
  let engine: Engine
  beforeAll(async () => {
    engine = name === 'sqlite' ? sqlite : await startEngine(name)
  })
  afterAll(async () => {
    if (name !== 'sqlite') await engine.close()
  })

  const first = name === 'sqlite' ? 1 : 1_001
  const runs = Number(process.env.ALMANAC_HISTORY_RUNS ?? 1)
  test.each(Array.from({ length: runs }, (_, at) => first + at))('with seed %i', async seed => {
    const dice = new Dice(seed)
    const history = folder()
    const spoiled = spoilFiles(dice, history)
    const portal = await startSimPortal({
      ...{ chain, other, start: dice.below(60), blocksPerAnswer: dice.between(10, 40) },
      fault: request => portalFault(dice, request),
    })
    const node = await startSimNode({ chain, endpoints: [{ faults: nodeFaults(dice) }, { faults: nodeFaults(dice) }] })
    onTestFinished(async () => {
      await Promise.all([portal.close(), node.close()])
    })
    const url = await engine.newStore()
    const rpc = node.endpoints.map(endpoint => endpoint.url)
    const { sources, metrics } = await indexAll(indexed, head, url, { rpc, history: [history], portal: portal.url })
    expect(await dumpOf(url, id), `seed ${seed}`).toEqual(fromNodes)
    expect(sources[0]?.refused.map(refused => refused.name).sort()).toEqual(spoiled.sort())
    const refusals = `almanac_source_refusals_total{chain="sim",source="files"} ${spoiled.length}\n`
    if (spoiled.length > 0) expect(metrics).toContain(refusals)
    expect(evidenceOf(await claimsOf(url, id)).some(({ evidence }) => evidence === 'unanchored')).toBe(false)
  })
})

const other = signedChain({ height, seed: 99 })

/** Writes files of which some are missing, altered, cut or of another chain. Returns the names of what must be refused. */
function spoilFiles(dice: Dice, into: string): string[] {
  // The head comes from nodes: nobody would read its file.
  const below = { from: 0, to: head - 1 }
  const foreign = exportChain(other, below, { folder: folder(), format: 'ere', blocksPerFile: 20 })
  const spoiled: string[] = []
  const files = exportChain(chain, below, { folder: into, format: 'ere', blocksPerFile: 20 })
  for (const [at, { name, path }] of files.entries()) {
    const bytes = readFileSync(path)
    switch (dice.below(8)) {
      case 0:
        rmSync(path)
        break
      case 1:
        // In the headers and bodies, which come first: everything there is under a hash.
        writeFileSync(path, flipped(bytes, 8 * 20 + dice.below(4 * bytes.length)))
        spoiled.push(name)
        break
      case 2:
        writeFileSync(path, bytes.subarray(0, dice.between(8, bytes.length - 1)))
        spoiled.push(name)
        break
      case 3:
        copyFileSync(foreign[at]!.path, path)
        spoiled.push(name)
        break
      default:
    }
  }
  return spoiled
}

function portalFault(dice: Dice, request: number): PortalFault | undefined {
  if (dice.chance(60)) return undefined
  if (dice.chance(20)) return { kind: 'status', status: dice.one([429, 503, 529]), retryAfter: '0' }
  const kinds = dice.one([lies, disorders, hitches, hitches])
  return { kind: dice.one<(typeof kinds)[number]>(kinds), seed: request + dice.below(1_000) }
}

function nodeFaults(dice: Dice): Fault[] {
  const rate = dice.between(2, 10) / 100
  return [
    // Drawn for each call: a batch of many blocks loses one of them now and then.
    { kind: 'drop-logs', rate: rate / 10 },
    dice.one<Fault>([
      { kind: 'server-error', rate, status: 503 },
      { kind: 'truncated', rate },
      { kind: 'reset', rate },
      { kind: 'rate-limit', rate },
    ]),
  ]
}

describe('evidence', () => {
  test('files with proofs are canonical, against summaries that the operator gives', async () => {
    const hoodi = signedChain({ height, chainId: 560_048 })
    const beacon = new BeaconChain(Array.from({ length: head + 1 }, (_, number) => hoodi.hashOf(number)))
    const history = folder()
    // Block 0 is not that of the network.
    const interval = { from: 1, to: head }
    exportChain(hoodi, interval, { folder: history, format: 'ere', network: 'hoodi', blocksPerFile: 64, beacon })
    const summaries = join(folder(), 'summaries.ssz')
    writeFileSync(summaries, beacon.summaries)
    const url = await sqlite.newStore()
    const sources = { history: [history], from: 1 }
    await indexAll(chainOf(560_048), head, url, sources)
    const claims = () => claimsOf(url, hoodi.options.chainId as ChainId)
    expect(evidenceOf(await claims())).toEqual([{ ...interval, evidence: 'unanchored' }])
    const named = await HistoryIndex.open(chainOf(560_048), url, { ...sources, anchor: hoodi.hashOf(90) as Hash })
    await named.until(({ covered }) => covered.some(({ evidence }) => evidence === 'receipts-root'))
    await named.close()
    // What is stored rises with the roots, and is not read again, also what rests on the word of the operator.
    const index = await HistoryIndex.open(chainOf(560_048), url, { ...sources, historySummaries: [summaries] })
    onTestFinished(() => index.close())
    await index.until(({ covered }) => covered.every(({ evidence }) => evidence === 'canonical'))
    expect(evidenceOf(await claims())).toEqual([{ ...interval, evidence: 'canonical' }])
  })

  test('links to the operator’s block prove what is below it, gaps aside, and a file for the gap connects the rest', async () => {
    const [history, aside] = [folder(), folder()]
    const files = exportChain(chain, whole, { folder: history, format: 'ere', blocksPerFile: 40 })
    const gap = files[1]!
    copyFileSync(gap.path, join(aside, gap.name))
    rmSync(gap.path)
    const url = await sqlite.newStore()
    const sources: SourceNames = { history: [history], anchor: chain.hashOf(100) as Hash }
    const index = await HistoryIndex.open(indexed, url, sources)
    onTestFinished(() => index.close())
    const status = await index.until(({ state, blocks_left }) => state === 'stalled' && blocks_left === 40)
    expect(evidenceOf(status.covered)).toEqual([
      { from: 0, to: 39, evidence: 'one-endpoint' },
      { from: 80, to: 100, evidence: 'receipts-root' },
      { from: 101, to: head, evidence: 'one-endpoint' },
    ])
    expect(status).toMatchObject({ complete: false })
    copyFileSync(join(aside, gap.name), gap.path)
    await index.configure(sources)
    const filled = await index.until(
      ({ complete, covered }) => complete && evidenceOf(covered).filter(each => each.to <= 100).length === 1,
    )
    expect(evidenceOf(filled.covered)).toEqual([
      { from: 0, to: 100, evidence: 'receipts-root' },
      { from: 101, to: head, evidence: 'one-endpoint' },
    ])
    expect(evidenceOf(await claimsOf(url, id)).at(-1)?.evidence).toBe('unanchored')
  })

  test('a node that is added vouches for what files gave', async () => {
    const history = [folder()]
    exportChain(chain, { from: 0, to: 120 }, { folder: history[0]!, format: 'ere', blocksPerFile: 64 })
    const url = await sqlite.newStore()
    const archive = await HistoryIndex.open(indexed, url, { history })
    await archive.complete(120)
    await archive.close()
    expect(evidenceOf(await claimsOf(url, id))).toEqual([{ from: 0, to: 120, evidence: 'unanchored' }])
    const node = await startSimNode({ chain })
    onTestFinished(() => node.close())
    const index = await HistoryIndex.open(indexed, url, { history, rpc: [node.url] })
    await index.complete(head)
    await index.until(({ covered }) => covered.every(({ evidence }) => evidence === 'receipts-root'))
    await index.close()
    expect(await dumpOf(url, id)).toEqual(fromNodes)
  })

  test('files of another chain below a node’s are refused, and stored as nothing', async () => {
    const history = [folder()]
    exportChain(other, { from: 0, to: 99 }, { folder: history[0]!, format: 'ere', blocksPerFile: 50 })
    const node = await startSimNode({ chain: new SimChain(chain.options) })
    onTestFinished(() => node.close())
    const url = await sqlite.newStore()
    const { sources } = await indexAll(indexed, head, url, { history, rpc: [node.url] })
    expect(sources[0]?.refused.length).toBeGreaterThan(0)
    expect(await dumpOf(url, id)).toEqual(fromNodes)
  })

  test('files of another chain below others leave nothing behind, where no source has their blocks', async () => {
    const history = folder()
    // The small file is read before the large one above it says that it is of another chain.
    exportChain(chain, { from: 20, to: head }, { folder: history, format: 'ere' })
    exportChain(other, { from: 0, to: 19 }, { folder: history, format: 'ere', blocksPerFile: 20 })
    const url = await sqlite.newStore()
    const index = await HistoryIndex.open(indexed, url, { history: [history] })
    await index.until(({ state, blocks_left }) => state === 'stalled' && blocks_left === 20)
    expect((await index.sources())[0]?.refused.map(({ block }) => block)).toEqual([19])
    // Rows that a slow machine has stored by then go in the next round.
    const store = await openStore(url, { role: 'tool' })
    await vi.waitFor(async () => expect(await store.pendingRanges(id)).toEqual([]), { timeout: 30_000 })
    await store.close()
    await index.close()
    const { transfers } = await dumpOf(url, id)
    const isTrue = new Set(fromNodes.transfers)
    expect(transfers.filter(row => !isTrue.has(row))).toEqual([])
  })

  test('senders of another chain are not taken for blocks whose transfers are stored, near a known block or not', async () => {
    const sparse = signedChain({ height, emptyEvery: 2, transactionsPerBlock: 2, contracts: 1, erc20Contracts: 6 })
    const [history, forged] = [folder(), folder()]
    exportChain(sparse, whole, { folder: history, format: 'ere' })
    const anchor = sparse.hashOf(head) as Hash
    const url = await sqlite.newStore()
    await indexAll(indexed, head, url, { history: [history], anchor, views: ['transfers'] })
    const claimed = await claimsOf(url, id)
    // Neither this block nor the one above it has transfers: nothing near says what its hash must be.
    const known = new Set((await dumpOf(url, id)).blocks.map(line => Number(line.split(' ')[0])))
    let top = 100
    while (known.has(top) || known.has(top + 1)) top--
    exportChain(other, { from: 0, to: top }, { folder: forged, format: 'ere' })
    const index = await HistoryIndex.open(indexed, url, { history: [forged], anchor })
    const stalled = await index.until(status => status.state === 'stalled')
    await index.close()
    expect(stalled).toMatchObject({ reason: expect.stringMatching(/^No source of sim has the header of block \d+/) })
    expect(await claimsOf(url, id)).toEqual(claimed)
    expect((await dumpOf(url, id)).activity).toEqual([])
    // The file itself, when it comes back, is taken.
    const { status } = await indexAll(indexed, head, url, { history: [history], anchor })
    expect(evidenceOf(status.covered)).toEqual([{ ...whole, evidence: 'receipts-root' }])
  })
})

// A chain that crosses forks, of which one is known and others are not: every block is proven before and after, from
// nodes, files and portals, and made-up fields prove nothing.
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Chain, ethereumHeaders } from '../src/chains.ts'
import { transactionDeriver } from '../src/evm/audit/derive-transaction.ts'
import { ChainRpc } from '../src/evm/rpc/chain-rpc.ts'
import { WatchedSource } from '../src/evm/source/watched-source.ts'
import { ledgerId } from '../src/ledgers.ts'
import type { Address, ChainId, CoveredInterval, Hash } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { transfersOfPage, unpackTransfer } from '../src/store/transfer-payload.ts'
import { usualViews } from '../src/views.ts'
import { expectFullTruth } from './evm-fault-checks.ts'
import {
  caughtUp,
  patienceMs,
  simulatedChain,
  startIndexer,
  storedTransfers,
  temporaryStore,
  truthByContract,
} from './evm-harness.ts'
import {
  chainOf,
  claimsOf,
  dumpOf,
  evidenceOf,
  HistoryIndex,
  indexAll,
  signedChain,
  temporaryFolder,
} from './history-world.ts'
import { etherLogs } from './sim/block.ts'
import { exportChain } from './sim/export-files.ts'
import type { Fault } from './sim/faults.ts'
import { combined, forgedResults } from './sim/hostile.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { glamsterdam, laterFork, prague, type SimFork } from './sim/options.ts'
import { startSimPortal } from './sim/portal.ts'
import { type Engine, startEngine } from './store-engines.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const id = 1 as ChainId
const fork = 50
const small = { transactionsPerBlock: 2, logsPerCall: 2, contracts: 6, erc20Contracts: 1, deploymentSpan: 20 }
const shape = { hashes: 'real', finalityDepth: 12, ...small } as const

async function world({ forks, height = 75, faults = [[]] }: { forks: SimFork[]; height?: number; faults?: Fault[][] }) {
  const node = await startSimNode({
    chain: { ...shape, height, forks },
    endpoints: faults.map(own => ({ faults: own })),
  })
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const start = (setup: Parameters<typeof startIndexer>[2] = {}) => {
    const started = startIndexer(node, store, { chain: forkedChain(node), pace: { historyCheckMs: 20 }, ...setup })
    cleanups.push(started.stop)
    return started
  }
  return { node, store, start }
}

const forkedChain = (node: SimNode): Chain => ({ ...simulatedChain(node), quirks: { headers: ethereumHeaders } })

async function evidence(store: Store): Promise<CoveredInterval[]> {
  return (await store.coverage(id, 'full')).map(({ scope: _, ...claimed }) => claimed)
}

async function expectProven(node: SimNode, store: Store): Promise<void> {
  await vi.waitFor(
    async () => expect(await evidence(store)).toEqual([{ from: 0, to: node.chain.head, evidence: 'receipts-root' }]),
    { timeout: patienceMs, interval: 20 },
  )
  await expectFullTruth(store, node.chain, 0)
}

describe('Glamsterdam', () => {
  const forks = [prague(25), glamsterdam(fork)]

  test('ether has logs from the fork on', () => {
    const chain = signedChain({ forks: [glamsterdam(20)], height: 40 })
    const emitters = (number: number) =>
      chain.block(number).transactions.flatMap(({ logs }) => logs.map(l => l.address))
    const has = (from: number) =>
      Array.from({ length: 20 }, (_, at) => emitters(from + at))
        .flat()
        .includes(etherLogs)
    expect([has(0), has(20)]).toEqual([false, true])
  })

  test.each([
    ['known', (node: SimNode) => forkedChain(node)],
    ['probed', simulatedChain],
  ] as const)('is crossed in full mode with every block proven (headers %s)', async (_, chainFor) => {
    const { node, store, start } = await world({ forks, height: fork - 2 })
    const { indexer } = start({ chain: chainFor(node) })
    await caughtUp(indexer, node)
    node.mine(25)
    await caughtUp(indexer, node)
    await expectProven(node, store)
    expect(await indexer.status()).not.toHaveProperty('evidence_reason')
    expect(await indexer.status()).not.toHaveProperty('new_header_fields')
  })

  test('is filled from behind with every block proven', async () => {
    const { node, store, start } = await world({ forks })
    const { indexer } = start()
    await caughtUp(indexer, node)
    await expectProven(node, store)
  })

  test('is crossed by a reorganisation with every block proven', async () => {
    const { node, store, start } = await world({ forks, height: fork + 3 })
    const { indexer } = start()
    await caughtUp(indexer, node)
    node.reorg({ depth: 8, length: 9 })
    await caughtUp(indexer, node)
    node.reorg({ depth: 5, length: 12 })
    await caughtUp(indexer, node)
    node.mine(15)
    await caughtUp(indexer, node)
    await expectProven(node, store)
  })

  test('is crossed on demand: rows are the chain’s, and headers prove their times', async () => {
    const { node, store, start } = await world({ forks, faults: [[], []] })
    const { indexer } = start({ index: 'on-demand' })
    const [contract, expected] = [...truthByContract(node.chain, { from: 0, to: node.chain.head })].find(
      ([, rows]) => rows[0]!.block < fork - 20 && rows.at(-1)!.block > fork + 10,
    )!
    await indexer.ensureContract(contract, patienceMs)
    await vi.waitFor(async () => expect(await storedTransfers(store, node.chain, contract)).toEqual(expected), {
      timeout: patienceMs,
      interval: 20,
    })
    const rpc = new ChainRpc({ chain: simulatedChain(node), endpoints: node.endpoints.map(({ url }) => ({ url })) })
    cleanups.push(() => rpc.close())
    const read: boolean[] = []
    const source = new WatchedSource(forkedChain(node), rpc, {
      ...(await import('../src/evm/source/decode-pool.ts')).inlineDecoder,
      logs: async task => {
        const found = (await import('../src/evm/source/read-logs.ts')).readLogs(task)
        if (typeof found !== 'string') read.push(found.headersProven)
        return found
      },
    })
    const { signal } = new AbortController()
    await source.hotContractRange(contract, { from: fork - 10, to: fork + 10 }, signal)
    expect(new Set(read)).toEqual(new Set([true]))
  })

  test('a log of ether is no transfer, and is explained as what it is', async () => {
    const { node } = await world({ forks })
    const rpc = new ChainRpc({ chain: simulatedChain(node), endpoints: [{ url: node.url }] })
    cleanups.push(() => rpc.close())
    const after = [1, 2, 3, 4, 5, 6, 7, 8].flatMap(blocks => node.chain.block(fork + blocks).transactions)
    const found = after.find(({ logs }) => logs[0]?.address === etherLogs)!
    const derive = transactionDeriver(forkedChain(node), rpc)
    const derived = await derive(etherLogs as Address, found.hash as Hash, new AbortController().signal)
    expect(derived?.logs).toEqual([{ logIndex: found.firstLogIndex, transfers: 0, reason: 'ether' }])
  })
})

describe('Glamsterdam in history', () => {
  const chain = signedChain({ ...small, height: 60, forks: [prague(20), glamsterdam(40)] })
  const simId = chain.options.chainId as ChainId
  const indexed = chainOf(simId)
  const whole = { from: 0, to: chain.head }
  const anchor = chain.hashOf(chain.head) as Hash
  const folders: (() => unknown)[] = []
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine('sqlite')
  })
  afterAll(async () => {
    await engine.close()
    for (const remove of folders) remove()
  })

  async function fromNode(): Promise<Awaited<ReturnType<typeof dumpOf>>> {
    const node = await startSimNode({ chain })
    const url = await engine.newStore()
    await indexAll(indexed, chain.head, url, { rpc: [node.url] })
    await node.close()
    expect(evidenceOf(await claimsOf(url, simId))).toEqual([{ ...whole, evidence: 'receipts-root' }])
    const store = await openStore(url, { role: 'tool' })
    await expectFullTruth(store, chain, 0)
    await store.close()
    return await dumpOf(url, simId)
  }

  test('where tokens are kept, the transfers of ether are those of a token, from the fork on', async () => {
    const node = await startSimNode({ chain: { ...shape, height: 75, forks: [prague(25), glamsterdam(fork)] } })
    cleanups.push(() => node.close())
    const engine = await startEngine('sqlite')
    cleanups.push(() => engine.close())
    const url = await engine.newStore()
    const index = await HistoryIndex.open(chainOf(id), url, { rpc: [node.url], views: [...usualViews, 'erc20'] })
    await index.until(({ erc20 }) => erc20?.complete === true && erc20.head === node.chain.head)
    await index.close()
    const told: string[] = []
    for (let number = 0; number <= node.chain.head; number++)
      for (const { logs } of node.chain.block(number).transactions)
        for (const { address, topics, data } of logs)
          if (address === etherLogs) told.push([number, ...topics.slice(1), BigInt(data)].join(' '))
    expect(told.length).toBeGreaterThan(10)
    const store = await openStore(url, { role: 'tool' })
    cleanups.push(() => store.close())
    const asked = { chain: ledgerId(id, 'erc20'), contract: etherLogs as Address, order: 'asc', limit: 10_000 } as const
    const rows = transfersOfPage(await store.transferPage(asked))!.map(({ block, payload }) => {
      const { from, to, amount } = unpackTransfer(payload)
      return [block, ...[from, to].map(party => `0x${party.slice(2).padStart(64, '0')}`), amount].join(' ')
    })
    expect(rows).toEqual(told)
  })

  test('files and portals give what nodes give, proven before and after', async () => {
    const truth = await fromNode()
    const history = [temporaryFolder(folders)]
    exportChain(chain, whole, { folder: history[0]!, format: 'ere', blocksPerFile: 17 })
    const ofFiles = await engine.newStore()
    await indexAll(indexed, chain.head, ofFiles, { history, anchor })
    expect(await dumpOf(ofFiles, simId)).toEqual(truth)
    expect(evidenceOf(await claimsOf(ofFiles, simId))).toEqual([{ ...whole, evidence: 'receipts-root' }])
    const portal = await startSimPortal({ chain, blocksPerAnswer: 14 })
    onTestFinished(() => portal.close())
    const ofPortal = await engine.newStore()
    await indexAll(indexed, chain.head, ofPortal, { portal: portal.url, anchor })
    expect(await dumpOf(ofPortal, simId)).toEqual(truth)
    expect(evidenceOf(await claimsOf(ofPortal, simId))).toEqual([{ ...whole, evidence: 'receipts-root' }])
  })

  test.each([
    ['refuses queries for', { unknown: ['block.blockAccessListHash', 'block.slotNumber'] }],
    ['has no column for', { lacking: { 'block.blockAccessListHash': 1_000, 'block.slotNumber': 1_000 } }],
  ])('a portal that %s the new fields is asked without them; a node adds what it lacks', async (_, lack) => {
    const portal = await startSimPortal({ chain, blocksPerAnswer: 14, ...lack })
    const node = await startSimNode({ chain })
    onTestFinished(async () => {
      await Promise.all([portal.close(), node.close()])
    })
    const url = await engine.newStore()
    const { sources } = await indexAll(indexed, chain.head, url, { rpc: [node.url], portal: portal.url })
    expect(evidenceOf(await claimsOf(url, simId))).toEqual([{ ...whole, evidence: 'receipts-root' }])
    expect(sources).toMatchObject([{ kind: 'portal', refused: [] }])
    expect(portal.queries.length).toBeGreaterThan(5)
    expect(portal.queries.some(({ fields }) => fields?.block?.slotNumber === undefined)).toBe(true)
    // Without a node its blocks after the fork are its word, with the same rows.
    const alone = await engine.newStore()
    await indexAll(indexed, chain.head, alone, { portal: portal.url })
    expect(await dumpOf(alone, simId)).toEqual(await dumpOf(url, simId))
  })
})

describe('a fork that no table knows', () => {
  const field = 'stateTreeHash'
  const forks = [prague(25), laterFork(fork, [[field, 'hash']])]
  const headers = ['eth_getBlockByNumber', 'eth_getBlockByHash']

  test.each([
    ['known', (node: SimNode) => forkedChain(node)],
    ['probed', simulatedChain],
  ] as const)('is crossed with every block proven, and its field is named (headers %s)', async (_, chainFor) => {
    const { node, store, start } = await world({ forks, height: fork - 2 })
    const { indexer } = start({ chain: chainFor(node) })
    await caughtUp(indexer, node)
    expect(await indexer.status()).not.toHaveProperty('new_header_fields')
    node.mine(25)
    await caughtUp(indexer, node)
    await expectProven(node, store)
    expect(await indexer.status()).toMatchObject({ new_header_fields: [field] })
  })

  test('is crossed by a reorganisation, beside made-up fields, in another order and with the same value twice', async () => {
    const twoFields = [
      prague(25),
      laterFork(fork, [
        [field, 'hash'],
        ['lanes', 'quantity'],
      ]),
    ]
    const { node, store, start } = await world({ forks: twoFields, height: fork + 3 })
    node.endpoints[0]!.forgery = forgedResults(headers, header => {
      const { [field]: hash, lanes, ...rest } = header
      if (hash === undefined) return { ...header, shown: '0x1' }
      return {
        ...rest,
        madeUp: `0x${'ab'.repeat(32)}`,
        lanes,
        twice: hash,
        huge: `0x${'f'.repeat(500_000)}`,
        [field]: hash,
      }
    })
    const { indexer } = start()
    await caughtUp(indexer, node)
    node.reorg({ depth: 8, length: 12 })
    await caughtUp(indexer, node)
    node.mine(15)
    await caughtUp(indexer, node)
    await expectProven(node, store)
    // Which of two equal values it is cannot be told, and does not matter.
    expect((await indexer.status()).new_header_fields).toEqual(['twice', 'lanes'])
  })

  test('a lie about its field is not stored as proven', async () => {
    const { node, store, start } = await world({ forks })
    node.endpoints[0]!.forgery = forgedResults(headers, header =>
      header[field] === undefined ? header : { ...header, [field]: `0x${'ab'.repeat(32)}` },
    )
    const { indexer } = start()
    await caughtUp(indexer, node)
    const found = await evidence(store)
    expect(found.filter(({ to }) => to >= fork).every(each => each.evidence === 'one-endpoint')).toBe(true)
    expect(await indexer.status()).not.toHaveProperty('new_header_fields')
    expect((await indexer.status()).evidence_reason).toContain(field)
  })

  test('whose fields nodes do not show is proven by the bytes of headers, where a node has them', async () => {
    const { node, store, start } = await world({ forks, height: fork + 20, faults: [[], [{ kind: 'raw-headers' }]] })
    const hides = forgedResults(headers, ({ [field]: _, ...header }) => ({ ...header, shown: '0x1' }))
    for (const endpoint of node.endpoints) endpoint.forgery = hides
    const { indexer } = start()
    await caughtUp(indexer, node)
    node.mine(20)
    await caughtUp(indexer, node)
    await expectProven(node, store)
    expect(node.endpoints[1]!.calls.get('debug_getRawHeader')).toBeGreaterThan(0)
    // It was asked once and not again.
    expect(node.endpoints[0]!.calls.get('debug_getRawHeader') ?? 0).toBeLessThanOrEqual(200)
  })

  test('bytes of another block, other fields beside right bytes and no bytes prove nothing', async () => {
    const { node, store, start } = await world({ forks, faults: [[{ kind: 'raw-headers' }]] })
    const hides = forgedResults(headers, ({ [field]: _, ...header }) => ({ ...header, shown: '0x1' }))
    const other = forgedResults(['debug_getRawHeader'], (_, { params }) =>
      JSON.stringify(Number(params[0]) % 2 === 0 ? '0xc0' : '0x'),
    )
    node.endpoints[0]!.forgery = combined(hides, other)
    const { indexer } = start()
    await caughtUp(indexer, node)
    const found = await evidence(store)
    expect(found.filter(({ to }) => to >= fork).every(each => each.evidence === 'one-endpoint')).toBe(true)
  })
})

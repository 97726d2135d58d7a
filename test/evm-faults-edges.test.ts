// Corners of a chain's life that random runs meet seldom, each told once: nodes that are behind, branches that are shorter or too deep, endpoints
// that are down or of another chain, long absences.
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { ChainIndexer, ChainPace, ChainSetup } from '../src/evm/index/chain-indexer.ts'
import { type Address, type ChainId, type Hash, zeroAddress } from '../src/model.ts'
import type { Store } from '../src/store/store.ts'
import { expectContractTruth, expectFullTruth, expectNothingWrong, expectSentTruth } from './evm-fault-checks.ts'
import { caughtUp, patienceMs, startIndexer, storedTransfers, temporaryStore, truthByContract } from './evm-harness.ts'
import { isRelease } from './release-runs.ts'
import { hastyClock } from './sim/hasty-clock.ts'
import { type SimNode, type SimNodeOptions, startSimNode } from './sim/node.ts'
import type { SimChainOptions } from './sim/options.ts'
import { expectedSent } from './sim/truth.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const usual = { height: 150, hashes: 'real', finalityDepth: 40, transactionsPerBlock: 3, logsPerCall: 2 } as const
const fast = {
  retryDelayMs: { first: 20, max: 100 },
  historyCheckMs: 50,
  sweepMs: 20,
  codelessMs: 300,
  shorterBranchPatienceMs: 200,
  stalledAfterMs: 1_000,
} satisfies Partial<ChainPace>

async function sim(options: SimNodeOptions): Promise<SimNode> {
  const node = await startSimNode(options)
  cleanups.push(() => node.close())
  return node
}

async function emptyStore(): Promise<Store> {
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  return store
}

function start(node: SimNode, store: Store, setup: Partial<ChainSetup> = {}) {
  const started = startIndexer(node, store, { pace: fast, clock: hastyClock(5), ...setup })
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= started.stop())
  cleanups.push(stop)
  return { indexer: started.indexer, stop }
}

type RunOptions = Pick<SimNodeOptions, 'endpoints'> & { chain?: Partial<SimChainOptions> }

async function run(options: RunOptions, setup: Partial<ChainSetup> = {}) {
  const node = await sim({ ...options, chain: { ...usual, ...options.chain } })
  const store = await emptyStore()
  return { node, store, ...start(node, store, setup) }
}

type Status = Awaited<ReturnType<ChainIndexer['status']>>

async function until(
  indexer: ChainIndexer,
  isSo: (status: Status) => boolean | Promise<boolean>,
  timeoutMs = patienceMs,
): Promise<Status> {
  for (const deadline = Date.now() + timeoutMs; ; ) {
    const status = await indexer.status()
    if (await isSo(status)) return status
    if (Date.now() > deadline) throw new Error(`it never came to be: ${JSON.stringify(status)}`)
    await delay(20)
  }
}

const id = 1 as ChainId
const dropSeeds = isRelease ? 12 : 4

function busiest(node: SimNode): Address {
  const truth = truthByContract(node.chain, { from: 0, to: node.chain.head })
  return [...truth].sort((a, b) => b[1].length - a[1].length)[0]![0]
}

describe('what is and what is not a reorganisation', () => {
  test('a node that is behind is none: nothing is deleted', async () => {
    const { node, store, indexer } = await run({})
    await caughtUp(indexer, node)
    const before = await store.hotBlocks(id)
    const revision = store.revision()
    node.endpoints[0]!.faults = [{ kind: 'lagging', blocks: 60 }]
    await until(indexer, ({ head }) => head === 90)
    await delay(600)
    expect(await store.hotBlocks(id)).toEqual(before)
    expect(store.revision()).toBe(revision)
    node.endpoints[0]!.faults = []
    node.mine(3)
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 0)
  })

  test('one that comes while the one before is handled is followed as well', async () => {
    const { node, store, indexer } = await run({})
    await caughtUp(indexer, node)
    node.endpoints[0]!.faults = [{ kind: 'latency', delayMs: 25 }]
    for (const depth of [12, 20, 30, 35, 5]) {
      node.reorg({ depth, length: depth + 1 })
      await delay(40)
    }
    node.endpoints[0]!.faults = []
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 0)
  })

  test('a shorter branch is believed after a while', async () => {
    const { node, store, indexer } = await run({})
    await caughtUp(indexer, node)
    node.reorg({ depth: 20, length: 6 })
    await until(indexer, async () => (await store.chainState(id))?.head.hash === node.chain.hashOf(136))
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 0)
  })

  test('a head that was told of and is gone again is not kept, where our own tip is the head', async () => {
    const { node, store, indexer, stop } = await run({})
    await caughtUp(indexer, node)
    await stop()
    // As by a process that ended before it had the newest blocks of a branch that is gone.
    const id = node.chain.options.chainId as ChainId
    const { head } = (await store.chainState(id))!
    await store.putChainState(id, { head: { ...head, number: head.number + 1, hash: `0x${'5'.repeat(64)}` as Hash } })
    const { indexer: again } = start(node, store)
    await caughtUp(again, node)
    expect((await store.chainState(id))?.head).toEqual(head)
  })

  test('the final block itself may be the ancestor', async () => {
    const { node, store, indexer } = await run({})
    await caughtUp(indexer, node)
    node.reorg({ depth: 40, length: 41 })
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 0)
  })

  test('one below the final block stalls with the reason, serves on, and ends when our branch is back', async () => {
    const { node, store, indexer } = await run({})
    await caughtUp(indexer, node)
    const held = await store.hotBlocks(id)
    const trunk = node.chain.branch
    node.chain.finalize(20)
    node.reorg({ depth: 100, length: 130 })
    const { reason } = await until(indexer, ({ state }) => state === 'stalled')
    expect(reason).toMatch(/block 111 grows from 0x[0-9a-f]{64}, but block 110 was final as 0x/)
    expect(await store.hotBlocks(id)).toEqual(held)
    const contract = busiest(node)
    expect((await storedTransfers(store, node.chain, contract)).length).toBeGreaterThan(0)
    node.chain.finalize(undefined)
    node.chain.switchTo(trunk, 190)
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 0)
  })

  test('a development node that was restarted is recognised by block 0', async () => {
    const node = await sim({ chain: usual })
    const store = await emptyStore()
    const { indexer } = start(node, store)
    await caughtUp(indexer, node)
    const port = Number(new URL(node.url).port)
    const held = await store.hotBlocks(id)
    await node.close()
    const anew = await sim({
      chain: { ...usual, seed: 99, height: 12 },
      endpoints: [{ port }],
    })
    // The first failures are of the moment without a node.
    const { reason } = await until(indexer, status => status.reason?.includes('block 0 is') === true)
    expect(reason).toMatch(/another chain, or a development node that was restarted/)
    expect(await store.hotBlocks(id)).toEqual(held)
    expect(anew.chain.head).toBe(12)
  })

  test('blocks are made final by the word of the node where it is known, whatever fails in between', async () => {
    const { node, store, indexer } = await run({})
    await caughtUp(indexer, node)
    // The chain goes on without finality, as in an incident.
    node.chain.finalize(110)
    node.endpoints[0]!.faults = [{ kind: 'server-error', rate: 0.4 }]
    for (let mined = 0; mined < 20; mined++) {
      node.mine(5)
      await delay(20)
    }
    node.endpoints[0]!.faults = []
    await caughtUp(indexer, node)
    expect((await store.chainState(id))?.finalized).toBe(110)
  })

  test('a chain whose head is final at once is complete although no block follows', async () => {
    const { node, store, indexer } = await run({ chain: { finalityDepth: 0 } })
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 0)
    node.mine(30)
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 0)
  })
})

describe('endpoints', () => {
  test('all down at the start: it starts, says why it stalls, and recovers', async () => {
    const faults = [{ kind: 'reset', rate: 1 }] as const
    const { node, store, indexer } = await run({ endpoints: [{ faults }, { faults }] })
    const { reason, rpc } = await until(indexer, ({ state }) => state === 'stalled')
    expect(reason).toMatch(/endpoint 127\.0\.0\.1:\d+/)
    expect(rpc.map(({ endpoint }) => endpoint)).toHaveLength(2)
    for (const endpoint of node.endpoints) endpoint.faults = []
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 0)
  })

  test('the only one is silent: a reason stands there after the first time-out', async () => {
    const { node, store, indexer } = await run({ endpoints: [{ faults: [{ kind: 'hang', rate: 1 }] }] })
    const { reason } = await until(indexer, ({ state }) => state === 'stalled', 10_000)
    expect(reason).toMatch(/endpoint 127\.0\.0\.1:\d+ did not answer eth_chainId in time/)
    node.endpoints[0]!.faults = []
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 0)
  })

  test('one of another chain is named and never used', async () => {
    const faults = [{ kind: 'wrong-chain-id', chainId: 137 }] as const
    const { node, store, indexer } = await run({ endpoints: [{ faults }, {}] })
    await caughtUp(indexer, node)
    node.mine(5)
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 0)
    const { rpc } = await indexer.status()
    expect(rpc[0]).toMatchObject({ healthy: false, reason: expect.stringContaining('serves chain 137 (polygon)') })
    expect([...node.endpoints[0]!.calls.keys()]).toEqual(['eth_chainId'])
  })

  test('only one, of another chain: stalled with that reason', async () => {
    const faults = [{ kind: 'wrong-chain-id', chainId: 137 }] as const
    const { indexer } = await run({ endpoints: [{ faults }] })
    const { reason } = await until(indexer, ({ state }) => state === 'stalled')
    expect(reason).toMatch(
      /^sim endpoint 127\.0\.0\.1:\d+ serves chain 137 \(polygon\), not 1: check the URL, or name the chain polygon\.$/,
    )
  })

  test('one fails its check beside one of another chain: the failed check is the reason', async () => {
    const other = [{ kind: 'wrong-chain-id', chainId: 137 }] as const
    const { indexer } = await run({ endpoints: [{ faults: [{ kind: 'drop-logs', rate: 1 }] }, { faults: other }] })
    const { reason } = await until(indexer, ({ state }) => state === 'stalled')
    expect(reason).toMatch(/check/)
    expect(reason).not.toContain('serves chain 137')
  })

  test('one that drops a log of every block cannot pass for a chain with other receipts', async () => {
    const faults = [{ kind: 'drop-logs', rate: 1 }] as const
    for (let seed = 1; seed <= dropSeeds; seed++) {
      const { node, store, indexer, stop } = await run({
        chain: { seed, height: 30, finalityDepth: 10, transactionsPerBlock: 1, contracts: 2, erc20Contracts: 1 },
        endpoints: [{ faults, seed }],
      })
      await delay(250)
      await expectNothingWrong(store, node.chain)
      node.endpoints[0]!.faults = []
      await caughtUp(indexer, node)
      const evidences = (await store.coverage(id, 'full')).map(({ evidence }) => evidence)
      expect(evidences, `seed ${seed}`).toEqual(['receipts-root'])
      await stop()
    }
  })
})

describe('long absences', () => {
  test.each([
    ['with the hot blocks on the chain still', 0],
    ['after the hot blocks were reorganised away', 25],
  ])('full: the gap is filled, %s', async (_, depth) => {
    const { node, store, indexer, stop } = await run({})
    await caughtUp(indexer, node)
    await stop()
    if (depth > 0) node.reorg({ depth, length: depth + 1 })
    node.mine(200)
    const again = start(node, store)
    await caughtUp(again.indexer, node)
    await expectFullTruth(store, node.chain, 0)
  })

  test.each([
    ['with the hot blocks on the chain still', 0],
    ['after the hot blocks were reorganised away', 25],
  ])('on demand: the gap is filled, %s', async (_, depth) => {
    const { node, store, indexer, stop } = await run({ chain: { hashes: 'cheap' } }, { index: 'on-demand' })
    const contract = busiest(node)
    await indexer.ensureContract(contract, patienceMs)
    await stop()
    if (depth > 0) node.reorg({ depth, length: depth + 1 })
    node.mine(600)
    const again = start(node, store, { index: 'on-demand' })
    await caughtUp(again.indexer, node)
    await again.indexer.ensureContract(contract, patienceMs)
    const truth = truthByContract(node.chain, { from: 0, to: node.chain.head }).get(contract)!
    await expectContractTruth(store, node.chain, contract, truth)
  })

  test('`from` above the head waits for the head to come', async () => {
    const { node, store, indexer } = await run({}, { from: 170 })
    await until(indexer, ({ head }) => head === 150)
    await delay(200)
    expect((await indexer.status()).complete).toBe(false)
    expect(await store.hotBlocks(id)).toEqual([])
    node.mine(60)
    await caughtUp(indexer, node)
    await expectFullTruth(store, node.chain, 170)
  })
})

describe('on demand', () => {
  const onDemand = { index: 'on-demand' } as const

  async function expectContract(node: SimNode, store: Store, contract: Address): Promise<void> {
    const truth = truthByContract(node.chain, { from: 0, to: node.chain.head }).get(contract) ?? []
    await expectContractTruth(store, node.chain, contract, truth)
  }

  test('a contract that is asked for during a reorganisation', async () => {
    const { node, store, indexer } = await run({}, onDemand)
    await caughtUp(indexer, node)
    node.endpoints[0]!.faults = [{ kind: 'latency', delayMs: 20 }]
    const contract = busiest(node)
    const asked = indexer.ensureContract(contract, patienceMs)
    for (const depth of [10, 20, 30]) {
      node.reorg({ depth, length: depth + 1 })
      await delay(45)
    }
    await asked
    node.endpoints[0]!.faults = []
    await caughtUp(indexer, node)
    await indexer.ensureContract(contract, patienceMs)
    await expectContract(node, store, contract)
    expect((await store.contractCoverage(id, contract)).at(-1)?.to).toBe(node.chain.head)
  })

  test('twice at once is one job, and another contract beside it', async () => {
    const { node, store, indexer } = await run({}, onDemand)
    const [first, second] = [...truthByContract(node.chain, { from: 0, to: 150 }).keys()] as [Address, Address]
    await Promise.all([first, first, second, first].map(contract => indexer.ensureContract(contract, patienceMs)))
    await expectContract(node, store, first)
    await expectContract(node, store, second)
    // Its size does not depend on how many contracts are followed.
    const { covered, contracts } = await indexer.status()
    expect(contracts).toBe(2)
    expect(new Set(covered.map(({ scope }) => scope))).toEqual(new Set(['watched']))
    // Hot blocks and history of two contracts, one answer each.
    expect(node.endpoints[0]!.calls.get('eth_getLogs')).toBeLessThanOrEqual(6)
  })

  test('a contract that nobody asks for is no longer followed, and completed when it is asked for again', async () => {
    const retention = { contractDays: 1, walletDays: 1 }
    const node = await sim({ chain: usual })
    const store = await emptyStore()
    const contract = busiest(node)
    const listed = node.chain.contracts.all.map(({ address }) => address as Address).find(each => each !== contract)!
    const { indexer } = start(node, store, { ...onDemand, retention, contracts: [listed] })
    await indexer.ensureContract(contract, patienceMs)
    await until(indexer, ({ contracts }) => contracts === 2)
    await delay(150)
    expect((await indexer.status()).contracts).toBe(2)
    for (const each of [contract, listed]) await store.watchContract(id, each, { askedOn: 7 })
    await until(indexer, ({ contracts }) => contracts !== 2)
    await delay(150)
    expect(await store.watchedContracts(id)).toMatchObject([{ contract: listed }])
    // Fewer at once than the chain needs to be final, or the hot blocks would be dropped and read again.
    for (const blocks of [30, 30]) {
      node.mine(blocks)
      await caughtUp(indexer, node)
    }
    expect(await store.contractCoverage(id, contract)).toMatchObject([{ from: 0, to: 150 }])
    await indexer.ensureContract(contract, patienceMs)
    await expectContract(node, store, contract)
    expect((await store.contractCoverage(id, contract)).at(-1)?.to).toBe(node.chain.head)
  })

  test('an address without code costs a handful of calls, is not watched and claims nothing', async () => {
    const { node, store, indexer } = await run({}, onDemand)
    await caughtUp(indexer, node)
    const wallet = node.chain.block(50).transactions[0]!.from as Address
    const callsBefore = node.endpoints[0]!.calls.get('eth_getCode') ?? 0
    const logsBefore = node.endpoints[0]!.calls.get('eth_getLogs') ?? 0
    for (let asked = 0; asked < 3; asked++) await indexer.ensureContract(wallet, patienceMs)
    expect(node.endpoints[0]!.calls.get('eth_getCode')! - callsBefore).toBe(1)
    expect((node.endpoints[0]!.calls.get('eth_getLogs') ?? 0) - logsBefore).toBe(0)
    expect(await store.transferCount({ chain: id, contract: wallet })).toBe(0)
    expect(await store.contractCoverage(id, wallet)).toEqual([])
    expect(await store.watchedContracts(id)).toEqual([])
  })

  test('a contract that was deployed after it was asked for is found by the next request', async () => {
    const { node, store, indexer } = await run({ chain: { height: 60, deploymentSpan: 150 } }, onDemand)
    await caughtUp(indexer, node)
    const contract = node.chain.contracts.all.find(({ kind, deployedAt }) => kind === 'erc721' && deployedAt > 60)!
      .address as Address
    await indexer.ensureContract(contract, patienceMs)
    expect(await store.watchedContracts(id)).toEqual([])
    node.mine(110)
    await caughtUp(indexer, node)
    await delay(fast.codelessMs)
    await indexer.ensureContract(contract, patienceMs)
    await expectContract(node, store, contract)
  })

  test('while the chain is stalled, what is not indexed is not waited for', async () => {
    const { node, indexer } = await run({}, onDemand)
    await caughtUp(indexer, node)
    const [contract, wallet] = [busiest(node), node.chain.block(50).transactions[0]!.from as Address]
    await node.close()
    await until(indexer, ({ state }) => state === 'stalled')
    const startedMs = performance.now()
    for (let asked = 0; asked < 3; asked++) {
      await indexer.ensureContract(contract, patienceMs)
      await indexer.ensureWallet(wallet, patienceMs)
    }
    expect(performance.now() - startedMs).toBeLessThan(patienceMs / 4)
  })

  test('a chain whose node never answered keeps nobody waiting', async () => {
    const node = await sim({ chain: usual })
    await node.close()
    const { indexer } = start(node, await emptyStore(), onDemand)
    await until(indexer, ({ state }) => state === 'stalled')
    const startedMs = performance.now()
    await indexer.ensureContract(zeroAddress, patienceMs)
    await indexer.ensureWallet(zeroAddress, patienceMs)
    expect(performance.now() - startedMs).toBeLessThan(patienceMs / 4)
  })

  test('an address without code is read where the operator lists it, and then complete', async () => {
    const node = await sim({ chain: { ...usual, hashes: 'cheap' } })
    const store = await emptyStore()
    const wallet = node.chain.block(50).transactions[0]!.from as Address
    const { indexer } = start(node, store, { index: 'on-demand', contracts: [wallet] })
    await caughtUp(indexer, node)
    await indexer.ensureContract(wallet, patienceMs)
    expect(await store.contractCoverage(id, wallet)).toMatchObject([{ from: 0, to: 150 }])
  })

  test('a node without old state cannot tell the deployment; everything is read', async () => {
    const faults = [{ kind: 'pruned-state', below: 140 }] as const
    const { node, store, indexer } = await run({ endpoints: [{ faults }] }, onDemand)
    const contract = busiest(node)
    await indexer.ensureContract(contract, patienceMs)
    await expectContract(node, store, contract)
    expect(await store.contractCoverage(id, contract)).toMatchObject([{ from: 0, to: 150 }])
  })

  test.each([1, 7])('ranges of %i blocks at the most, listed contracts included', async blocks => {
    const faults = [{ kind: 'range-limit', blocks, provider: 'besu' }] as const
    const node = await sim({ chain: { ...usual, hashes: 'cheap' }, endpoints: [{ faults }] })
    const store = await emptyStore()
    const contract = busiest(node)
    const { indexer } = start(node, store, { index: 'on-demand', contracts: blocks === 7 ? [contract] : [] })
    await caughtUp(indexer, node)
    await indexer.ensureContract(contract, patienceMs)
    await expectContract(node, store, contract)
    expect((await store.contractCoverage(id, contract)).at(-1)?.to).toBe(150)
  })

  // Long for what it shows, so only where the fault runs are many.
  test.runIf(process.env.ALMANAC_FAULT_RUNS)('twelve hundred contracts', { timeout: 120_000 }, async () => {
    const node = await sim({ chain: { height: 120, contracts: 1_200, finalityDepth: 20, callsPerStretch: 64 } })
    const store = await emptyStore()
    const contracts = node.chain.contracts.all.map(({ address }) => address as Address)
    const { indexer } = start(node, store, { index: 'on-demand', contracts })
    await caughtUp(indexer, node, 100_000)
    node.mine(10)
    await caughtUp(indexer, node)
    const truth = truthByContract(node.chain, { from: 0, to: node.chain.head })
    for (const [contract, rows] of truth) {
      // Contracts of ERC-20 tokens are watched too, and hold no row.
      if (contracts.includes(contract)) await expectContractTruth(store, node.chain, contract, rows)
    }
    expect(truth.size).toBeGreaterThan(100)
  })

  test('wallets: never used, a contract, and one with a past', async () => {
    const { node, store, indexer } = await run({}, onDemand)
    const unused = `0x${'12'.repeat(20)}` as Address
    const contract = busiest(node)
    const wallet = node.chain.block(80).transactions.find(({ from }) => expectedSent(node.chain, from))!.from as Address
    await Promise.all([unused, contract, wallet].map(address => indexer.ensureWallet(address, patienceMs)))
    expect(await store.activityOf(unused)).toEqual(new Map())
    expect((await store.activityOf(contract)).get(id)).toBeUndefined()
    await expectSentTruth(store, node.chain, wallet)
  })

  test('a wallet whose first block the endpoint that answers lacks', async () => {
    const faults = [{ kind: 'pruned', below: 100, answer: 'geth' }] as const
    const farther = [{ kind: 'latency', delayMs: 100 }] as const
    const { node, store, indexer } = await run({ endpoints: [{ faults }, { faults: farther }] }, onDemand)
    await caughtUp(indexer, node)
    const wallet = node.chain.block(80).transactions.find(({ from }) => expectedSent(node.chain, from))!.from as Address
    await indexer.ensureWallet(wallet, patienceMs)
    await expectSentTruth(store, node.chain, wallet)
  })

  test('a wallet on a chain that is too young for a final block', async () => {
    const { node, store, indexer } = await run(
      { chain: { height: 20 }, endpoints: [{ faults: [{ kind: 'no-finalized', provider: 'geth' }] }] },
      onDemand,
    )
    // A wallet is told up to the head that is stored when it is asked for.
    await caughtUp(indexer, node)
    const wallet = node.chain.block(15).transactions.find(({ from }) => expectedSent(node.chain, from))!.from as Address
    await indexer.ensureWallet(wallet, patienceMs)
    await expectSentTruth(store, node.chain, wallet)
  })

  test('a last transaction that is reorganised away is forgotten', async () => {
    const { node, store, indexer } = await run({}, onDemand)
    await caughtUp(indexer, node)
    for (const { from } of node.chain.block(150).transactions) {
      if (expectedSent(node.chain, from) === undefined) continue
      await indexer.ensureWallet(from as Address, patienceMs)
      await expectSentTruth(store, node.chain, from as Address)
    }
    const senders = node.chain.block(150).transactions.map(({ from }) => from as Address)
    node.reorg({ depth: 12, length: 4 })
    await caughtUp(indexer, node)
    for (const sender of senders) {
      await indexer.ensureWallet(sender, patienceMs)
      await expectSentTruth(store, node.chain, sender)
    }
  })

  test('a wallet on a node without old state: the request is answered and the trouble told', async () => {
    const faults = [{ kind: 'pruned-state', below: 140 }] as const
    const { node, store, indexer } = await run({ endpoints: [{ faults }] }, onDemand)
    await caughtUp(indexer, node)
    const wallet = node.chain.block(80).transactions.find(({ from }) => expectedSent(node.chain, from))!.from as Address
    const asked = Date.now()
    await indexer.ensureWallet(wallet, patienceMs)
    expect(Date.now() - asked).toBeLessThan(patienceMs / 4)
    expect(await store.activityOf(wallet)).toEqual(new Map())
    const status = await indexer.status()
    expect(status.state).toBe('live')
    expect(status.wallet_trouble).toMatch(/eth_getTransactionCount|eth_getBalance/)
  })
})

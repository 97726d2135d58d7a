// Which block is final, beside endpoints that lie about it, lag, are silent or are on another branch.
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { ChainIndexer, ChainPace, ChainSetup } from '../src/evm/index/chain-indexer.ts'
import type { Address, ChainId } from '../src/model.ts'
import { expectFullTruth } from './evm-fault-checks.ts'
import { caughtUp, patienceMs, startIndexer, storedTransfers, temporaryStore, truthByContract } from './evm-harness.ts'
import type { Forgery } from './sim/endpoint.ts'
import { hastyClock } from './sim/hasty-clock.ts'
import { forgedResults } from './sim/hostile.ts'
import { type SimNode, startSimNode } from './sim/node.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const id = 1 as ChainId
const small = { transactionsPerBlock: 2, contracts: 4, erc20Contracts: 1 }
const pace = { retryDelayMs: { first: 20, max: 100 }, historyCheckMs: 50, shorterBranchPatienceMs: 200 }

/** Two nodes that begin as one chain and may tell different stories, behind one indexer. */
async function twins({
  forge,
  fresh = false,
  ...setup
}: Partial<
  ChainSetup & { pace: Partial<ChainPace>; onNews: (look: () => void) => () => void; forge: Forgery; fresh: boolean }
> = {}) {
  // The newest blocks are of the last minute, or years old.
  const genesisTime = fresh ? Math.floor(Date.now() / 1_000) - 150 * 12 : 1_600_000_000
  const chain = { height: 150, hashes: 'real', finalityDepth: 40, genesisTime, ...small } as const
  const [honest, other] = await Promise.all([startSimNode({ chain }), startSimNode({ chain })])
  other.endpoints[0]!.forgery = forge
  cleanups.push(
    () => honest.close(),
    () => other.close(),
  )
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const both = { ...honest, endpoints: [...honest.endpoints, ...other.endpoints] }
  let { indexer, stop } = startIndexer(both, store, { pace, clock: hastyClock(5), ...setup })
  cleanups.push(() => stop())
  const restart = async (): Promise<ChainIndexer> => {
    await stop()
    ;({ indexer, stop } = startIndexer(both, store, { pace, clock: hastyClock(5), ...setup }))
    return indexer
  }
  return { honest, other, store, indexer, stop: () => stop(), restart }
}

type Status = Awaited<ReturnType<ChainIndexer['status']>>

async function until(indexer: ChainIndexer, isSo: (status: Status) => boolean): Promise<Status> {
  for (const deadline = Date.now() + patienceMs; ; await delay(20)) {
    const status = await indexer.status()
    if (isSo(status)) return status
    if (Date.now() > deadline) throw new Error(`it never came to be: ${JSON.stringify(status)}`)
  }
}

function nameOf(node: SimNode): string {
  return new URL(node.url).host
}

test('an endpoint alone that calls its last block final does not keep a reorganisation from being followed', async () => {
  const { honest, other, store, indexer } = await twins()
  await caughtUp(indexer, honest)
  honest.endpoints[0]!.faults = [{ kind: 'reset', rate: 1 }]
  for (const node of [honest, other]) node.mine(20)
  other.chain.finalize(other.chain.head - 1)
  // What it says is believed, but not up to its head.
  await until(indexer, ({ finalized }) => finalized > 130)
  expect((await indexer.status()).finalized).toBeLessThanOrEqual(162)
  await delay(500)
  honest.endpoints[0]!.faults = []
  other.chain.finalize(undefined)
  for (const node of [honest, other]) node.reorg({ depth: 3, length: 4 })
  await caughtUp(indexer, honest)
  await expectFullTruth(store, honest.chain, 0)
})

test('an endpoint that calls its last block final changes nothing beside an honest one', async () => {
  const { honest, other, indexer } = await twins()
  other.chain.finalize(150)
  await caughtUp(indexer, honest)
  await delay(300)
  expect((await indexer.status()).finalized).toBe(110)
})

test('where endpoints disagree on a final block the chain is disputed, and nothing is claimed until they agree', async () => {
  const { honest, other, store, indexer } = await twins()
  await caughtUp(indexer, honest)
  const trunk = other.chain.branch
  other.reorg({ depth: 10, length: 10 })
  for (const node of [honest, other]) node.mine(50)
  const { dispute, reason, finalized } = await until(indexer, ({ state }) => state === 'disputed')
  const sides = Object.fromEntries(dispute!.hashes.map(({ hash, endpoints }) => [endpoints.join(), hash]))
  expect(sides).toEqual({
    [nameOf(honest)]: honest.chain.hashOf(dispute!.block),
    [nameOf(other)]: other.chain.hashOf(dispute!.block),
  })
  for (const hash of Object.values(sides)) expect(reason).toContain(hash)
  expect(reason).toMatch(/ Try: remove the wrong endpoint from chains\.\w+\.rpc/)

  // Hot rows are still served; finality and claims stand still.
  const [contract] = [...truthByContract(honest.chain, { from: 0, to: 140 })][0] as [Address, unknown]
  const claimed = await store.coverage(id, 'full')
  const rows = await storedTransfers(store, honest.chain, contract)
  expect(rows.length).toBeGreaterThan(0)
  for (const node of [honest, other]) node.mine(20)
  await until(indexer, ({ head }) => head === 220)
  await delay(500)
  expect(await store.coverage(id, 'full')).toEqual(claimed)
  expect((await store.chainState(id))?.finalized).toBe(finalized)
  const kept = await storedTransfers(store, honest.chain, contract)
  expect(kept.slice(0, rows.length)).toEqual(rows)

  // One side that falls silent does not settle it.
  other.endpoints[0]!.faults = [{ kind: 'reset', rate: 1 }]
  await delay(600)
  expect((await indexer.status()).dispute).toBeDefined()
  other.endpoints[0]!.faults = []
  other.chain.switchTo(trunk, 221)
  honest.mine()
  await until(indexer, status => status.dispute === undefined)
  await caughtUp(indexer, honest)
  await expectFullTruth(store, honest.chain, 0)
  await until(indexer, status => status.finalized === 181)
})

test('what was stored while it was disputed is claimed without being read again, after a restart as well', async () => {
  const { honest, other, store, indexer, restart } = await twins()
  await caughtUp(indexer, honest)
  const trunk = other.chain.branch
  // The other one is not asked for the head, also where the machine is busy.
  other.endpoints[0]!.faults = [{ kind: 'latency', delayMs: 300 }]
  other.reorg({ depth: 10, length: 10 })
  for (const node of [honest, other]) node.mine(50)
  await until(indexer, ({ state }) => state === 'disputed')
  for (const node of [honest, other]) node.mine(20)
  const isStored = async () => (await store.hotBlocks(id)).at(-1)?.hash === honest.chain.hashOf(220)
  for (const deadline = Date.now() + patienceMs; !(await isStored()); await delay(20))
    if (Date.now() > deadline) throw new Error('never stored')
  const [claimed] = await store.coverage(id, 'full')
  expect(claimed!.to).toBeLessThan(220)
  const again = await restart()
  other.chain.switchTo(trunk, 220)
  for (const node of [honest, other]) node.endpoints[0]!.calls.clear()
  await until(again, status => status.covered.at(-1)?.to === 220)
  const read = [honest, other].reduce(
    (sum, node) => sum + (node.endpoints[0]!.calls.get('eth_getBlockReceipts') ?? 0),
    0,
  )
  // A probe samples some blocks.
  expect(read).toBeLessThanOrEqual(12)
  await caughtUp(again, honest)
  await expectFullTruth(store, honest.chain, 0)
})

test('an endpoint that lags does not hold finality back', async () => {
  const { honest, other, indexer } = await twins()
  await caughtUp(indexer, honest)
  honest.mine(60)
  await until(indexer, ({ finalized }) => finalized === 170)
  expect((await indexer.status()).state).not.toBe('disputed')
  expect(other.chain.finalized).toBe(110)
})

test('an endpoint that lagged is asked for the head again when the others are gone', async () => {
  const { honest, other, indexer } = await twins()
  await caughtUp(indexer, honest)
  honest.mine(60)
  await until(indexer, ({ finalized }) => finalized === 170)
  honest.endpoints[0]!.faults = [{ kind: 'reset', rate: 1 }]
  other.mine(70)
  await until(indexer, ({ head }) => head === 220)
})

/** A newest block of long ago that says that it is of now. */
const lowHead = forgedResults(['eth_getBlockByNumber'], (block, { params }) =>
  params?.[0] === 'latest'
    ? {
        ...block,
        number: '0x5',
        hash: `0x${'5'.repeat(64)}`,
        timestamp: `0x${Math.floor(Date.now() / 1_000).toString(16)}`,
      }
    : block,
)

test('neither a final block that stands still nor a head far below, said to be of now, holds finality back', async () => {
  const { honest, other, indexer } = await twins({ fresh: true })
  other.chain.finalize(20)
  await caughtUp(indexer, honest)
  for (const node of [honest, other]) node.mine(60)
  await until(indexer, ({ finalized }) => finalized === 170)
  honest.endpoints[0]!.faults = [{ kind: 'latency', delayMs: 50 }]
  other.endpoints[0]!.forgery = lowHead
  honest.mine(60)
  await until(indexer, ({ finalized, head }) => finalized === 230 && head === 270)
})

test('at a first start a head far below, said to be of now, makes a dispute, and nothing is read upwards from its block', async () => {
  const { other, indexer, store } = await twins({ fresh: true, forge: lowHead })
  const { dispute } = await until(indexer, ({ state }) => state === 'disputed')
  expect(dispute).toMatchObject({ block: 5 })
  expect(dispute!.hashes.flatMap(({ endpoints }) => endpoints)).toContain(nameOf(other))
  expect(await store.hotBlocks(id)).toEqual([])
})

test('an endpoint that invents parents without end is not asked for long', async () => {
  const { honest, other, store, indexer } = await twins()
  await caughtUp(indexer, honest)
  let asked = 0
  honest.endpoints[0]!.faults = [{ kind: 'latency', delayMs: 250 }]
  other.endpoints[0]!.forgery = forgedResults(['eth_getBlockByHash'], block => ({
    ...block,
    hash: `0x${(++asked).toString(16).padStart(64, '0')}`,
    parentHash: `0x${(asked + 1).toString(16).padStart(64, '0')}`,
  }))
  // Which endpoint is asked for the parents of a branch depends on their pace.
  for (let branch = 0; asked === 0 && branch < 10; branch++) {
    for (const node of [honest, other]) node.reorg({ depth: 3, length: 4 })
    await caughtUp(indexer, honest)
  }
  expect(asked).toBeGreaterThan(0)
  await expectFullTruth(store, honest.chain, 0)
})

test('a branch that replaces all above the final block must grow from it', async () => {
  const { honest, other, store, indexer } = await twins()
  await caughtUp(indexer, honest)
  const [final, claimed] = [honest.chain.hashOf(110), await store.coverage(id, 'full')]
  for (const node of [honest, other]) {
    node.endpoints[0]!.forgery = forgedResults(['eth_getBlockByHash'], block =>
      block.number === '0x6f' ? { ...block, parentHash: final } : block,
    )
    node.chain.finalize(100)
    node.reorg({ depth: 45, length: 50 })
  }
  const { reason } = await until(indexer, ({ state }) => state === 'stalled')
  expect(reason).toContain(`but block 110 was final as ${final}`)
  expect(await store.coverage(id, 'full')).toEqual(claimed)
})

test('a silent endpoint neither holds finality back nor delays the head', async () => {
  const { honest, other, store, indexer } = await twins()
  await caughtUp(indexer, honest)
  other.endpoints[0]!.faults = [{ kind: 'hang', rate: 1, methods: ['eth_getBlockByNumber'] }]
  const startedMs = performance.now()
  for (let mined = 0; mined < 5; mined++) {
    honest.mine(5)
    while ((await store.hotBlocks(id)).at(-1)?.number !== honest.chain.head) await delay(10)
  }
  expect(performance.now() - startedMs).toBeLessThan(10_000)
  await until(indexer, ({ finalized }) => finalized === 135)
})

test('a socket that floods does not make each of its news a question', async () => {
  const flood = (look: () => void) => {
    const timer = setInterval(look, 1)
    return () => clearInterval(timer)
  }
  const { honest, other, indexer } = await twins({ pollMs: 100, onNews: flood })
  await caughtUp(indexer, honest)
  const asked = () => [honest, other].reduce((sum, node) => sum + node.endpoints[0]!.requests, 0)
  const before = asked()
  await delay(500)
  // Every 25 ms at most, and a vote now and then.
  expect(asked() - before).toBeLessThan(35)
})

test('a hot block that the chain lost in an absence is not kept on the word of one endpoint', async () => {
  const { honest, other, store, indexer, stop, restart } = await twins()
  await caughtUp(indexer, honest)
  const lost = honest.chain.branch
  await stop()
  for (const node of [honest, other]) {
    node.reorg({ depth: 5, length: 6 })
    node.mine(100)
  }
  // It is faster, and names the lost blocks where it is asked for one by its number.
  honest.endpoints[0]!.faults = [{ kind: 'latency', delayMs: 50 }]
  const { branch } = other.chain
  const isAboutLost = ({ method, params }: { method: string; params: unknown[] }): boolean =>
    method === 'eth_getBlockByNumber' && params[1] === false && Number(params[0]) >= 140 && Number(params[0]) <= 150
  const truth = other.endpoints[0]!.answer.bind(other.endpoints[0])
  other.endpoints[0]!.answer = body => {
    const isLie = [JSON.parse(body)].flat().every(isAboutLost)
    if (isLie) other.chain.switchTo(lost, 150)
    const reply = truth(body)
    if (isLie) other.chain.switchTo(branch, honest.chain.head)
    return reply
  }
  const again = await restart()
  await caughtUp(again, honest)
  await expectFullTruth(store, honest.chain, 0)
})

test.each([{ hotBlocksMax: 100 }, { recentBytesMax: 40_000 }])(
  'blocks that never become final are followed up to a bound, and on from there when they do: %o',
  async bound => {
    const { honest, other, store, indexer } = await twins({ pace: { ...pace, ...bound } })
    await caughtUp(indexer, honest)
    for (const node of [honest, other]) {
      node.chain.finalize(110)
      node.mine(300)
    }
    const { reason } = await until(indexer, status => status.reason?.includes('no more are followed') === true)
    expect(reason).toContain('blocks above 110')
    expect((await store.hotBlocks(id)).length).toBeLessThanOrEqual(300)
    for (const node of [honest, other]) node.chain.finalize(undefined)
    await caughtUp(indexer, honest)
    await expectFullTruth(store, honest.chain, 0)
  },
)

test('a dispute that ends against a long branch does not read the other one at once', async () => {
  const { honest, other, store, indexer } = await twins({ pace: { ...pace, replacedBlocksMax: 60 } })
  await caughtUp(indexer, honest)
  const trunk = other.chain.branch
  // Ours is the branch of the one that is asked first, which was wrong.
  honest.endpoints[0]!.faults = [{ kind: 'latency', delayMs: 50 }]
  const storedTip = async () => (await store.hotBlocks(id)).at(-1)?.hash
  other.reorg({ depth: 10, length: 10 })
  await vi.waitFor(async () => expect(await storedTip()).toBe(other.chain.hashOf(150)), { timeout: patienceMs })
  for (const node of [honest, other]) node.mine(100)
  await until(indexer, ({ state }) => state === 'disputed')
  await vi.waitFor(async () => expect(await storedTip()).toBe(other.chain.hashOf(250)), { timeout: patienceMs })
  const commits: number[] = []
  const commitHot = store.commitHot.bind(store)
  store.commitHot = commit => {
    commits.push(commit.blocks.length)
    return commitHot(commit)
  }
  other.chain.switchTo(trunk, 250)
  await until(indexer, status => status.dispute === undefined)
  await caughtUp(indexer, honest)
  await expectFullTruth(store, honest.chain, 0)
  expect(Math.max(...commits)).toBeLessThanOrEqual(60)
})

test('a final block whose hash was not kept gets it from the next agreement, without a new block', async () => {
  const { honest, store, indexer, stop, restart } = await twins()
  await caughtUp(indexer, honest)
  await stop()
  await store.putCheckpoint('final/1', '')
  await caughtUp(await restart(), honest)
  expect(await store.checkpoint('final/1')).toBe(`110 ${honest.chain.hashOf(110)}`)
})

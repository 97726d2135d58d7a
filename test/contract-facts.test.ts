// What is found out of contracts while a chain is indexed: in both modes, when blocks are taken back, when endpoints
// fail, after a restart.
import { afterEach, expect, test } from 'vitest'
import { rulesVersion } from '../src/annotate/spam-rules.ts'
import type { ChainSetup } from '../src/evm/index/chain-indexer.ts'
import type { Address, ChainId } from '../src/model.ts'
import type { ContractFacts } from '../src/store/annotation-store.ts'
import type { Store } from '../src/store/store.ts'
import { caughtUp, startIndexer, temporaryStore } from './evm-harness.ts'
import { SimChain } from './sim/chain.ts'
import { zero } from './sim/events.ts'
import type { Fault } from './sim/faults.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { Collection, type CollectionFacts } from './spam/collection.ts'
import { RandomSource } from './spam/random-source.ts'
import { eagerAnnotator, judgeStored, scenarioOf } from './spam/world.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const random = new RandomSource('contract facts')
const chainId = 1_337 as ChainId
const height = 120

function collection(facts: Partial<CollectionFacts> = {}): Collection {
  return new Collection({
    ...{ kind: 'test', isSpam: true, standard: 'ERC721', name: 'Claim 500 USDC at gift-usdc.com', symbol: 'GIFT' },
    ...{ maker: random.address(), deployedAt: 5, state: 'true' },
    ...facts,
  })
}

/** So many strangers get one in a block. */
function airdrop(to: Collection, block: number, recipients = 60): Collection {
  const moves = Array.from({ length: recipients }, () => ({ from: zero, to: random.address(), id: to.newId() }))
  to.add(block, to.facts.maker, moves)
  return to
}

async function world(
  collections: readonly Collection[],
  faults: readonly Fault[] = [],
): Promise<{ node: SimNode; store: Store }> {
  const chain = new SimChain({
    chainId,
    height,
    contracts: 3,
    transactionsPerBlock: 1,
    scenario: scenarioOf(collections),
  })
  const node = await startSimNode({ chain, endpoints: [{ faults }] })
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  return { node, store }
}

/** Starts the indexer with an annotator; `stop` ends both before the test does. */
function start({ node, store }: { node: SimNode; store: Store }, setup: Partial<ChainSetup> = {}) {
  const { annotator, close } = eagerAnnotator(node, store)
  const { indexer, stop } = startIndexer(node, store, { ...setup, annotator })
  let stopped = false
  const end = async (): Promise<void> => {
    if (stopped) return
    stopped = true
    await stop()
    await close()
  }
  cleanups.push(end)
  return { indexer, annotator, stop: end }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('it did not come true')
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

const factsOf = async (store: Store, { address }: Collection): Promise<ContractFacts | undefined> =>
  (await store.annotationsOf(chainId, address as Address)).facts

test('a contract that is asked for has its name, origin and verdict with the first answer', async () => {
  const spam = airdrop(collection(), 30)
  const { node, store } = await world([spam])
  const { indexer } = start({ node, store }, { index: 'on-demand' })
  await indexer.ensureContract(spam.address as Address, 20_000)
  await until(async () => (await factsOf(store, spam))?.reading?.createdBlock !== undefined)
  const { name, symbol, maker } = spam.facts
  expect(await factsOf(store, spam)).toMatchObject({
    ...{ name, symbol, possibleSpam: true },
    reading: { interfaces: ['erc721', 'erc721-metadata'], deployer: maker, createdBlock: 5 },
  })
})

test('a verdict goes with the blocks that it rests on, and comes with others', async () => {
  const late = airdrop(collection(), height - 2)
  const { node, store } = await world([late])
  const { indexer, annotator } = start({ node, store })
  await caughtUp(indexer, node)
  await judgeStored(annotator, [late])
  const flagged = await factsOf(store, late)
  expect(flagged?.possibleSpam).toBe(true)
  expect(flagged?.verdict?.reasons.map(({ rule }) => rule)).toContain('unasked')
  // The other branch has none of its transfers.
  node.reorg({ depth: 6, length: 8 })
  await caughtUp(indexer, node)
  await until(async () => (await factsOf(store, late))?.possibleSpam === false)
  expect((await factsOf(store, late))?.verdict).toBeUndefined()
})

test('endpoints that fail are asked again; contracts that refuse are not', async () => {
  const named = airdrop(collection(), 30)
  const silent = airdrop(collection(), 31)
  const reverting = { ...scenarioOf([named, silent]) }
  let refusals = 0
  const refuse = (): undefined => void refusals++
  const scenario = {
    ...reverting,
    contract: (address: string) => {
      if (address !== silent.address) return reverting.contract(address)
      return { address, deployedAt: 5, answer: () => refuse() }
    },
  }
  const chain = new SimChain({ chainId, height, contracts: 0, transactionsPerBlock: 1, scenario })
  const broken: Fault = { kind: 'server-error', rate: 1, methods: ['eth_call'] }
  const node = await startSimNode({ chain, endpoints: [{ faults: [broken] }] })
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const { indexer } = start({ node, store })
  await caughtUp(indexer, node)
  // Judged without a name meanwhile: indexing and verdicts wait for nobody.
  await until(async () => (await factsOf(store, named))?.verdict !== undefined)
  expect((await factsOf(store, named))?.reading).toBeUndefined()
  Object.assign(node.endpoints[0]!, { faults: [] })
  await until(async () => (await factsOf(store, named))?.name === named.facts.name)
  await until(async () => (await factsOf(store, silent))?.reading !== undefined)
  expect(await factsOf(store, silent)).toMatchObject({ name: undefined, reading: { interfaces: [] } })
  const asked = refusals
  node.mine(3)
  await caughtUp(indexer, node)
  expect(refusals).toBe(asked)
})

test('what another version of the rules said is judged again after a restart', async () => {
  const spam = airdrop(collection(), 30)
  const { node, store } = await world([spam])
  const first = start({ node, store })
  await caughtUp(first.indexer, node)
  await judgeStored(first.annotator, [spam])
  await first.stop()
  const right = (await factsOf(store, spam)) as ContractFacts
  const verdict = { ...right.verdict!, rulesVersion: rulesVersion - 1, score: 0, reasons: [] }
  await store.annotate({ facts: [{ ...right, possibleSpam: false, verdict }] })
  const second = start({ node, store })
  await until(async () => (await factsOf(store, spam))?.verdict?.rulesVersion === rulesVersion)
  expect((await factsOf(store, spam))?.possibleSpam).toBe(true)
  await second.stop()
})

test('events that the contract denies are spam whatever it is called', async () => {
  const quiet = { name: 'Quiet Owls', symbol: 'OWL' }
  const fake = airdrop(collection({ ...quiet, state: 'own' }), 30, 6)
  const everyones = airdrop(collection({ ...quiet, standard: 'ERC1155', state: 'all' }), 30, 6)
  const honest = airdrop(collection({ ...quiet, isSpam: false }), 30, 6)
  const { node, store } = await world([fake, everyones, honest])
  const { indexer, annotator } = start({ node, store })
  await caughtUp(indexer, node)
  await judgeStored(annotator, [fake, everyones, honest])
  const rules = async (each: Collection) => (await factsOf(store, each))?.verdict?.reasons.map(({ rule }) => rule)
  expect(await rules(fake)).toContain('denied')
  expect(await rules(everyones)).toContain('held-by-all')
  expect((await factsOf(store, honest))?.possibleSpam).toBe(false)
})

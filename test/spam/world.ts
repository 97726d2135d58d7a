// A made-up chain of labelled collections, and what the running indexer says of them.
import type { Chain } from '../../src/chains.ts'
import { ContractAnnotator } from '../../src/evm/facts/contract-annotator.ts'
import { RateBudget } from '../../src/evm/rate-budget.ts'
import { ChainRpc } from '../../src/evm/rpc/chain-rpc.ts'
import { createLog } from '../../src/log.ts'
import { createEvmMetrics } from '../../src/metrics.ts'
import type { Address, ChainId } from '../../src/model.ts'
import type { ContractFacts } from '../../src/store/annotation-store.ts'
import type { Store } from '../../src/store/store.ts'
import { caughtUp, simulatedChain, startIndexer, temporaryStore } from '../evm-harness.ts'
import { SimChain } from '../sim/chain.ts'
import { type SimNode, startSimNode } from '../sim/node.ts'
import type { ScenarioTransaction, SimScenario } from '../sim/scenario.ts'
import type { Collection } from './collection.ts'
import { honestKinds, spamKinds, type World } from './kinds.ts'
import { verifiedNames } from './names.ts'
import { RandomSource } from './random-source.ts'

export type SpamWorldOptions = { seed: number; honest: number; spam: number; recipientsMax: number }

export type Judged = { collection: Collection; facts: ContractFacts | undefined }

const blockTimeSeconds = 600
const height = 14 * 24 * 6

export function makeCollections({ seed, honest, spam, recipientsMax }: SpamWorldOptions): Collection[] {
  const random = new RandomSource(seed)
  const people = Array.from({ length: recipientsMax * 6 }, () => random.address())
  const world: World = { random, height, blocksPerHour: 3_600 / blockTimeSeconds, people, recipientsMax }
  const collections = verifiedNames.map(name => verifiedCollection(world, name))
  for (const [kinds, count] of [
    [honestKinds, honest],
    [spamKinds, spam],
  ] as const) {
    // Every kind gets its share, and what rounding leaves goes to the first.
    const counts = kinds.map(({ share }) => Math.floor(share * count))
    counts[0]! += count - counts.reduce((sum, each) => sum + each, 0)
    for (const [at, kind] of kinds.entries()) {
      for (let made = 0; made < counts[at]!; made++) collections.push(kind.make(world))
    }
  }
  return collections
}

/** The originals that imitations imitate. They are no part of what is counted. */
function verifiedCollection(world: World, name: string): Collection {
  const collection = honestKinds[0]!.make(world)
  Object.assign(collection.facts, { name, kind: 'verified' })
  return collection
}

export function scenarioOf(collections: readonly Collection[]): SimScenario {
  const byAddress = new Map(collections.map(collection => [collection.address, collection]))
  const byBlock = new Map<number, ScenarioTransaction[]>()
  for (const { transactions } of collections) {
    for (const transaction of transactions) {
      if (transaction.to !== null && transaction.events.length === 0) continue
      byBlock.set(transaction.block, [...(byBlock.get(transaction.block) ?? []), transaction])
    }
  }
  return { transactionsIn: block => byBlock.get(block) ?? [], contract: address => byAddress.get(address) }
}

export async function startSpamNode(collections: readonly Collection[], seed: number): Promise<SimNode> {
  const background = { transactionsPerBlock: 1, contracts: 4, erc20Contracts: 1 }
  const chain = new SimChain({
    seed,
    chainId: 1_337,
    height,
    blockTimeSeconds,
    ...background,
    scenario: scenarioOf(collections),
  })
  return await startSimNode({ chain })
}

/** An annotator that does not rest: for judging a whole chain at once. */
export function eagerAnnotator(
  node: SimNode,
  store: Store,
): { annotator: ContractAnnotator; close: () => Promise<void> } {
  const chain: Chain = simulatedChain(node)
  const rpc = new ChainRpc({ chain, endpoints: node.endpoints.map(({ url }) => ({ url })), timeoutMs: 5_000 })
  const annotator = new ContractAnnotator({
    ...{ chain, store, rpc, budget: new RateBudget(Number.POSITIVE_INFINITY), metrics: createEvmMetrics() },
    log: createLog({ level: 'silent', format: 'text' }),
    pace: { restPerWork: 0, restPerWorkFilling: 0 },
  })
  return { annotator, close: () => rpc.close() }
}

/** Waits for judgements on what is stored now: of each contract the first one may have been under way before. */
export async function judgeStored(annotator: ContractAnnotator, collections: readonly Collection[]): Promise<void> {
  const atOnce = 500
  for (let at = 0; at < collections.length; at += atOnce) {
    const some = collections.slice(at, at + atOnce)
    const judge = () => Promise.all(some.map(({ address }) => annotator.ensure(address as Address, 60_000)))
    await judge()
    await judge()
  }
}

/** Indexes the chain with the real indexer and returns what it says of each collection. */
export async function judgeWorld(options: SpamWorldOptions): Promise<{ judged: Judged[]; transfers: number }> {
  const collections = makeCollections(options)
  const node = await startSpamNode(collections, options.seed)
  const { store, remove } = await temporaryStore()
  const chain = node.chain.options.chainId as ChainId
  const originals = collections.filter(({ facts }) => facts.kind === 'verified')
  await store.annotate({
    marks: originals.map(({ address }) => ({
      ...{ chain, contract: address as Address, source: 'test', rank: 'imported' },
      ...{ verified: true, spam: undefined, updatedAt: 1 },
    })),
  })
  await store.annotate({
    labels: originals.map(({ address, facts }) => ({
      ...{ chain, address: address as Address, label: facts.name, source: 'test', rank: 'imported', updatedAt: 1 },
    })),
  })
  const { annotator, close } = eagerAnnotator(node, store)
  const { indexer, stop } = startIndexer(node, store, { annotator })
  try {
    await caughtUp(indexer, node, 300_000)
    await judgeStored(annotator, collections)
    const counted = collections.filter(({ facts }) => facts.kind !== 'verified')
    const judged: Judged[] = []
    for (const collection of counted) {
      judged.push({ collection, facts: (await store.annotationsOf(chain, collection.address as Address)).facts })
    }
    return { judged, transfers: collections.reduce((sum, { transferCount }) => sum + transferCount, 0) }
  } finally {
    await stop()
    await close()
    await node.close()
    await remove()
  }
}

export type Tally = { kind: string; isSpam: boolean; count: number; flagged: number }

export function tallyOf(judged: readonly Judged[]): Tally[] {
  const tallies = new Map<string, Tally>()
  for (const { collection, facts } of judged) {
    const { kind, isSpam } = collection.facts
    const tally = tallies.get(kind) ?? { kind, isSpam, count: 0, flagged: 0 }
    tallies.set(kind, {
      ...tally,
      count: tally.count + 1,
      flagged: tally.flagged + Number(facts?.possibleSpam ?? false),
    })
  }
  return [...tallies.values()]
}

export function shareFlagged(tallies: readonly Tally[], isSpam: boolean): number {
  const of = tallies.filter(tally => tally.isSpam === isSpam)
  return of.reduce((sum, { flagged }) => sum + flagged, 0) / of.reduce((sum, { count }) => sum + count, 0)
}

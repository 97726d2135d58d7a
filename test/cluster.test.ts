// Four processes that answer and two that index on one database, under load, while any of them dies, the database dies, and indexers are
// cut off or paused for longer than they may hold a chain. Two minutes a round with short pauses, ALMANAC_CLUSTER_ROUNDS=1, so that only
// `npm run soak` does it, with pauses of 30 s and several rounds.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isCovered } from '../src/coverage.ts'
import type { ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { type ApiAddress, ClusterLoad, everyRow, truthKeys } from './cluster-load.ts'
import { CommandPlace, type CommandRun } from './command-run.ts'
import { addressesWithActivity, expectFullTruth, expectHotAndColdApart } from './evm-fault-checks.ts'
import { truthByContract } from './evm-harness.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { makeStory } from './sim/story.ts'
import { expectedActivity, expectedTransfers } from './sim/truth.ts'
import { TcpProxy } from './tcp-proxy.ts'

const rounds = Number(process.env.ALMANAC_CLUSTER_ROUNDS ?? 0)
const isLong = rounds > 1
/** Longer than a silent indexer keeps a chain. */
const absenceMs = isLong ? 30_000 : 12_000
const restMs = isLong ? 5_000 : 1_500
const catchUpMs = 90_000
const key = 'the-operator-key'
const chainId = 31_337

let server: PostgresServer
let node: SimNode
const place = new CommandPlace()
const proxies: TcpProxy[] = []
let url: string

beforeAll(async () => {
  server = await startPostgres()
  url = await server.createDatabase()
  node = await startSimNode({ chain: { chainId, height: 250, hashes: 'real', finalityDepth: 24 } })
  const chain = { id: chainId, rpc: node.url, index: 'full', finality: 24 }
  place.configure({ sim: chain })
}, 60_000)
afterAll(async () => {
  await place.dispose()
  for (const proxy of proxies) await proxy.close()
  await node.close()
  await server.stop()
})

async function startApi(): Promise<{ run: CommandRun; address: ApiAddress }> {
  const run = place.begin(['start', '--only', 'api', '--listen', '127.0.0.1:0', '--store', url], { ALMANAC_KEY: key })
  return { run, address: { url: await run.listening(), key } }
}

/** Each has a way of its own to the database, which can be cut. */
async function openWay(): Promise<{ proxy: TcpProxy; start: () => CommandRun }> {
  const { hostname, port } = new URL(url)
  const proxy = await TcpProxy.open({ host: hostname, port: Number(port) })
  proxies.push(proxy)
  const own = new URL(url)
  own.port = `${proxy.port}`
  return { proxy, start: () => place.begin(['start', '--only', 'index', '--store', own.href]) }
}

async function caughtUp(store: Store, indexers: readonly CommandRun[]): Promise<void> {
  const id = chainId as ChainId
  const isDone = async (): Promise<boolean> => {
    const { chain } = node
    const state = await store.chainState(id)
    if (state?.head.hash !== chain.hashOf(chain.head)) return false
    const hot = await store.hotBlocks(id)
    if (!hot.every(({ number, hash }) => chain.hashOf(number) === hash)) return false
    return isCovered(await store.coverage(id, 'full'), { from: 0, to: chain.head })
  }
  try {
    await expect.poll(() => isDone().catch(() => false), { timeout: catchUpMs, interval: 200 }).toBe(true)
  } catch (error) {
    const [state, hot, covered] = [
      await store.chainState(id),
      await store.hotBlocks(id),
      await store.coverage(id, 'full'),
    ]
    const seen = { wanted: node.chain.head, state, hot: [hot[0]?.number, hot.at(-1)?.number], covered }
    const told = indexers.map(({ stderr }) => stderr.slice(-3_000)).join('\n---\n')
    throw new Error(`Not caught up: ${JSON.stringify(seen)}\n${told}`, { cause: error })
  }
}

test.skipIf(rounds === 0)(
  'whoever dies or is cut off, nothing is lost, repeated or wrong, and all go on by themselves',
  {
    timeout: 180_000 + rounds * 150_000,
  },
  async () => {
    const contracts = [...truthByContract(node.chain, { from: 0, to: node.chain.head }).keys()].slice(0, 12)
    const ways = [await openWay(), await openWay()]
    const indexers = ways.map(way => way.start())
    const apis = await Promise.all(Array.from({ length: 4 }, () => startApi()))
    const load = new ClusterLoad(node.chain, contracts)
    for (const at of apis.keys()) load.begin(() => apis[at]!.address)
    const story = makeStory({ seed: 11, depthMax: 12 })
    const mining = setInterval(() => node.tell([story.next().value]), 200)

    try {
      for (let round = 0; round < rounds; round++) {
        const [one, other] = round % 2 === 0 ? [0, 1] : [1, 0]
        await delay(restMs)
        await indexers[one]!.kill()
        indexers[one] = ways[one]!.start()
        await delay(restMs)
        const fallen = round % apis.length
        await apis[fallen]!.run.kill()
        apis[fallen] = await startApi()
        await delay(restMs)
        await server.kill()
        await delay(restMs / 2)
        await server.start()
        await delay(restMs)
        ways[other]!.proxy.cut()
        await delay(absenceMs)
        ways[other]!.proxy.heal()
        await delay(restMs)
        indexers[one]!.child.kill('SIGSTOP')
        await delay(absenceMs)
        indexers[one]!.child.kill('SIGCONT')
      }
    } finally {
      clearInterval(mining)
    }
    // The last blocks stay where they are, so that there is one truth to compare with.
    node.mine(1)
    const store = await openStore(url, { role: 'tool' })
    try {
      await caughtUp(store, indexers)
      await load.end()
      expect(load.wrong).toEqual([])
      expect(load.answered).toBeGreaterThan(100)
      expect(load.complete).toBeGreaterThan(0)
      await expectFullTruth(store, node.chain, 0)
      const addresses = expectedActivity(node.chain, { from: 0, to: node.chain.head }).size
      expect(await addressesWithActivity(store, chainId as ChainId, url)).toBe(addresses)
      await expectHotAndColdApart(store, chainId as ChainId, url)
      // Every process is the one it was, or was started again by this test, and all of them answer the same.
      for (const { child } of [...indexers, ...apis.map(({ run }) => run)]) expect(child.exitCode).toBeNull()
      const all = expectedTransfers(node.chain, { from: 0, to: node.chain.head })
      for (const contract of contracts.slice(0, 4)) {
        const wanted = truthKeys(all, contract).sort()
        for (const { address } of apis) {
          const { keys, complete } = await everyRow(address, contract)
          expect(complete).toBe(true)
          expect(keys.sort()).toEqual(wanted)
        }
      }
      if (isLong)
        console.log(JSON.stringify({ rounds, head: node.chain.head, answered: load.answered, refused: load.refused }))
    } finally {
      await load.end()
      await store.close()
    }
  },
)

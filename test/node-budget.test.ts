// What requests of clients may ask of nodes where the operator has set `daily_budget`: a real service on both engines,
// and a node that counts its calls.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { issueKey, usualLimits } from '../src/keys/keys.ts'
import type { Address, ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { CommandPlace } from './command-run.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'
import { type Engine, engineAbove, startEngine } from './store-engines.ts'

const chainId = 31_337
const operatorKey = 'the-operator-key'
const height = 1_000
const dailyBudget = 3_000
/** A busy machine needs long to start processes. */
const patience = { timeout: 60_000, interval: 100 }

const cleanups: (() => Promise<void>)[] = []

const wallets = Array.from({ length: 25 }, (_, at) => `0x${`${at + 10}`.repeat(20)}` as Address)

type World = {
  node: SimNode
  get(path: string, key: string, headers?: Record<string, string>): Promise<Response>
  keyOf(limits: Partial<Parameters<typeof issueKey>[1]>): Promise<string>
  /** Calls of this method that the node was sent. */
  calls(method: string): number
  head(): Promise<number>
}

async function start(engine: Engine): Promise<World> {
  const url = await engine.newStore()
  const node = await startSimNode({ chain: { chainId, height, ...lightBlocks } })
  cleanups.push(() => node.close())
  const place = new CommandPlace()
  cleanups.push(() => place.dispose())
  const chain = { id: chainId, rpc: node.url, index: 'on-demand', daily_budget: dailyBudget }
  place.configure({ sim: chain })
  const run = place.begin(['start', '--listen', '127.0.0.1:0', '--store', url], { ALMANAC_KEY: operatorKey })
  const listening = await run.listening()
  const store = await openStore(url, { role: 'reader' })
  cleanups.push(() => store.close())
  const get: World['get'] = (path, key, headers) =>
    fetch(listening + path, { headers: { 'x-api-key': key, ...headers } })
  const head = async () => {
    const { chains } = (await (await get('/status', operatorKey)).json()) as {
      chains: { sim?: { head: number; finalized: number } }
    }
    return (chains.sim?.finalized ?? -1) < 200 ? -1 : chains.sim!.head
  }
  await vi.waitFor(async () => expect(await head()).toBe(height), patience)
  // The store may tell it a little later.
  await vi.waitFor(async () => expect((await store.chainState(chainId as ChainId))?.finalized).toBeGreaterThan(200), {
    timeout: 60_000,
  })
  return {
    ...{ node, get, head },
    keyOf: async limits =>
      (await issueKey(store, { name: 'k', scopes: ['balances', 'nft-transfers'], ...usualLimits, ...limits })).secret,
    calls: method => node.endpoints[0]!.calls.get(method) ?? 0,
  }
}

/** The same wallets after another block each: nothing of it can be kept. */
async function attack({ get }: World, key: string, requests: number, from = 1): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  const query = `wallet_addresses=${wallets.join()}`
  for (let at = 0; at < requests; at += 8) {
    const asked = Array.from({ length: Math.min(8, requests - at) }, async (_, next) => {
      const answer = await get(`/api/v2.2/wallets/balances?chain=sim&to_block=${from + at + next}&${query}`, key)
      await answer.arrayBuffer()
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    })
    await Promise.all(asked)
  }
  return statuses
}

describe.each(engineAbove('sqlite'))('on %s', name => {
  let world: World
  beforeAll(async () => {
    const engine = await startEngine(name)
    cleanups.push(() => engine.close())
    world = await start(engine)
  })
  afterAll(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  test('balances after a final block are read once', { timeout: 120_000 }, async () => {
    const { get, keyOf, calls } = world
    const path = `/api/v2.2/wallets/balances?chain=sim&to_block=100&wallet_addresses=${wallets.slice(0, 5).join()}`
    const first = await (await get(path, await keyOf({}))).json()
    for (let asked = 0; asked < 5; asked++) expect(await (await get(path, await keyOf({}))).json()).toEqual(first)
    expect(calls('eth_getBalance')).toBe(5)
  })

  test('120 requests for balances at other blocks leave the head its budget, and other keys theirs', {
    timeout: 240_000,
  }, async () => {
    const { node, get, keyOf, calls, head } = world
    const atFirst = calls('eth_getBalance')
    // As keys are made: each block below the head counts, as its call to the node does.
    const usual = await attack(world, await keyOf({ ratePerSecond: undefined }), 120)
    expect(usual.get(200)).toBeLessThanOrEqual(20)
    expect(usual.get(429)).toBeGreaterThanOrEqual(100)
    expect(calls('eth_getBalance') - atFirst).toBeLessThanOrEqual(500)

    // A key that may have much indexed has its share of the calls, a quarter of them.
    const busy = await keyOf({ ratePerSecond: undefined, indexPerDay: 1_000_000 })
    const before = calls('eth_getBalance')
    const statuses = await attack(world, busy, 120, 200)
    expect(statuses.get(429)).toBeGreaterThan(70)
    expect(calls('eth_getBalance') - before).toBeLessThanOrEqual(dailyBudget / 4)
    const full = await get(`/api/v2.2/wallets/balances?chain=sim&to_block=901&wallet_addresses=${wallets.join()}`, busy)
    expect(full.status).toBe(429)
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await full.json()).toMatchObject({
      code: 'quota_exceeded',
      message: 'Rate limit exceeded',
      details: {
        limit: '750 calls a day to nodes for a key',
        raise: expect.stringContaining('raise chains.sim.daily_budget'),
      },
    })

    // Another key has its own.
    const other = await keyOf({})
    expect((await get(`/api/v2.2/${wallets[0]}/balance?chain=sim&to_block=902`, other)).status).toBe(200)

    // A key without limits uses what is left to requests, and no more.
    const unlimited = await keyOf({ ratePerSecond: undefined, indexPerDay: undefined, indexWaiting: undefined })
    await attack(world, unlimited, 60, 500)
    expect(calls('eth_getBalance')).toBeLessThanOrEqual(dailyBudget / 2)
    const spent = await get(
      `/api/v2.2/wallets/balances?chain=sim&to_block=903&wallet_addresses=${wallets.join()}`,
      other,
    )
    expect(spent.status).toBe(503)
    expect(Number(spent.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await spent.json()).toMatchObject({ code: 'budget_exceeded', details: { limit: /^1500 calls a day/ } })
    // What is left of it, less than those take, goes to contracts that are not indexed yet; then these end too.
    await vi.waitFor(async () => {
      const contract = `0x${randomBytes(20).toString('hex')}`
      const page = await get(`/api/v2.2/nft/${contract}/transfers?chain=sim`, unlimited)
      expect([page.status, await page.json()]).toMatchObject([503, { code: 'budget_exceeded' }])
    }, patience)

    // The head goes on.
    node.mine(5)
    await vi.waitFor(async () => expect(await head()).toBe(height + 5), patience)
  })
})

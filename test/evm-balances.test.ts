// Native balances over HTTP: a simulated node has them, and says what is wrong with it.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { nativeBalance, nativeBalances } from '../src/api/schemas.ts'
import { ChainTable, defineChain } from '../src/chains.ts'
import { ChainRpc } from '../src/evm/rpc/chain-rpc.ts'
import { readBalances } from '../src/evm/source/balances.ts'
import { exactAmount } from '../src/exact-amount.ts'
import { IndexingLimits } from '../src/keys/indexing-limits.ts'
import { issueKey } from '../src/keys/keys.ts'
import type { Address, Hash } from '../src/model.ts'
import { type ServedApi, serveApi } from './served-api.ts'
import type { Fault } from './sim/faults.ts'
import { type SimNode, startSimNode } from './sim/node.ts'

const chain = defineChain({ name: 'sim', id: 31_337 })
const height = 150
const unknown = `0x${'ee'.repeat(20)}` as Address

const cleanups: (() => Promise<void>)[] = []
/** Of the world that several tests share. */
const kept: (() => Promise<void>)[] = []
const clean = async (steps: (() => Promise<void>)[]) => {
  for (const cleanup of steps.splice(0).reverse()) await cleanup()
}
afterEach(() => clean(cleanups))
afterAll(() => clean(kept))

type World = { node: SimNode; served: ServedApi; wallets: Address[]; headAt(number: number): Promise<void> }

async function start(
  faults: readonly (readonly Fault[])[] = [[]],
  { head = height, waitMs = 10_000 } = {},
): Promise<World> {
  const endpoints = faults.map(each => ({ faults: each }))
  const node = await startSimNode({ chain: { chainId: chain.id, height }, endpoints })
  cleanups.push(() => node.close())
  const urls = node.endpoints.map(({ url }) => ({ url }))
  const rpc = new ChainRpc({ chain, endpoints: urls, timeoutMs: 1_000 })
  cleanups.push(() => rpc.close())
  let limits: IndexingLimits
  const served = await serveApi({
    fill: async store => {
      limits = new IndexingLimits(store)
    },
    parts: {
      chains: new ChainTable([chain]),
      freshen: {
        async balances(asked, key) {
          await limits.balances(key, asked)
          return await readBalances({ chain, rpc }, asked, waitMs)
        },
      },
    },
  })
  cleanups.push(() => served.close())
  const headAt = async (number: number) => {
    const { hash, timestamp } = node.chain.block(number)
    await served.store.putChainState(chain.id, { head: { number, hash: hash as Hash, timestamp } })
  }
  if (head >= 0) await headAt(head)
  const blocks = Array.from({ length: height }, (_, number) => node.chain.block(number))
  const wallets = [...new Set(blocks.flatMap(({ transactions }) => transactions.map(({ from }) => from)))] as Address[]
  return { node, served, wallets, headAt }
}

describe('one chain, one node', () => {
  let world: World
  beforeAll(async () => {
    world = await start()
    kept.push(...cleanups.splice(0))
  })

  test.each(['v2', 'v2.1', 'v2.2'])('one wallet on /api/%s: at the head, at a block, in any case', async version => {
    const { node, served, wallets } = world
    const ask = async (address: string, query = '') => {
      const answer = await served.get(`/api/${version}/${address}/balance?chain=sim${query}`)
      expect(answer.status).toBe(200)
      const { balance } = nativeBalance.parse(await answer.json())
      return { balance, block: answer.headers.get('x-block-number') }
    }
    for (const wallet of wallets.slice(0, 5)) {
      expect(await ask(wallet)).toEqual({ balance: `${node.chain.balanceAt(wallet, height)}`, block: `${height}` })
      const shouted = `0x${wallet.slice(2).toUpperCase()}`
      const earlier = `${node.chain.balanceAt(wallet, 77)}`
      expect(await ask(shouted, '&to_block=77')).toEqual({ balance: earlier, block: '77' })
    }
    expect(await ask(unknown)).toEqual({ balance: '0', block: `${height}` })
    expect(new Set(wallets.map(wallet => node.chain.balanceAt(wallet, height))).size).toBeGreaterThan(1)
  })

  test.each(['v2', 'v2.1', 'v2.2'])(
    'several wallets on /api/%s: each, their sum and the block, exact',
    async version => {
      const { node, served, wallets } = world
      const asked = [...wallets.slice(0, 24), unknown]
      for (const [block, query] of [
        [140, asked.map(wallet => `wallet_addresses[]=${wallet}`).join('&')],
        [140, asked.map((wallet, at) => `wallet_addresses%5B${at}%5D=${wallet}`).join('&')],
        [height, `wallet_addresses=${asked.join(',')}`],
      ] as const) {
        const answer = await served.get(`/api/${version}/wallets/balances?chain=0x7a69&to_block=${block}&${query}`)
        expect(answer.status).toBe(200)
        const balances = asked.map(wallet => node.chain.balanceAt(wallet, block))
        const total = `${balances.reduce((sum, each) => sum + each, 0n)}`
        expect(nativeBalances.parse(await answer.json())).toEqual([
          {
            ...{ chain: 'sim', chain_id: '0x7a69', block_number: `${block}` },
            block_timestamp: new Date(node.chain.block(block).timestamp * 1_000).toISOString(),
            ...{ total_balance: total, total_balance_formatted: exactAmount(total, 18) },
            wallet_balances: asked.map((address, at) => ({
              ...{ address, balance: `${balances[at]}`, balance_formatted: exactAmount(`${balances[at]}`, 18) },
            })),
          },
        ])
      }
    },
  )

  test.each([
    ['/api/v2/0x12/balance?chain=sim', 'address is not a valid hex address'],
    [`/api/v2/${unknown}/balance?chain=nowhere`, 'chain must be a valid enum value'],
    [
      `/api/v2/${unknown}/balance?chain=sim&to_block=151`,
      'to_block must not be above the head of the chain, 150, not 151',
    ],
    [`/api/v2/${unknown}/balance?chain=sim&to_block=-1`, 'to_block must be a whole number'],
    ['/api/v2.2/wallets/balances?chain=sim', 'wallet_addresses must be 1 to 25 addresses'],
    [`/api/v2.2/wallets/balances?chain=sim&wallet_addresses=${unknown},0x1`, 'wallet_addresses has an address that'],
    [
      `/api/v2.2/wallets/balances?chain=sim&wallet_addresses=${Array.from({ length: 26 }, (_, at) => `0x${`${at + 10}`.repeat(20)}`).join()}`,
      'wallet_addresses must be 1 to 25 addresses',
    ],
  ])('400 for %s', async (path, message) => {
    const refused = await world.served.get(path)
    expect(refused.status).toBe(400)
    expect(((await refused.json()) as { message: string }).message).toContain(message)
  })
})

test('an answer is kept for a head, and read again for the next one', async () => {
  const { node, served, wallets, headAt } = await start([[]], { head: 140 })
  const requests = () => node.endpoints[0]!.requests
  const path = `/api/v2.2/${wallets[0]}/balance?chain=sim`
  const first = await served.get(path)
  const asked = requests()
  const again = await served.get(path, { 'if-none-match': first.headers.get('etag')! })
  expect([again.status, requests()]).toEqual([304, asked])
  await headAt(150)
  const next = await served.get(path)
  expect(next.headers.get('x-block-number')).toBe('150')
  expect(await next.json()).toEqual({ balance: `${node.chain.balanceAt(wallets[0]!, 150)}` })
  expect(requests()).toBe(asked + 1)
})

test('without a head in the store the node’s own counts, and nothing is kept', async () => {
  const { node, served, wallets } = await start([[]], { head: -1 })
  const path = `/api/v2/${wallets[1]}/balance?chain=sim`
  expect((await served.get(path)).headers.get('x-block-number')).toBe(`${height}`)
  node.mine(3)
  expect((await served.get(path)).headers.get('x-block-number')).toBe(`${height + 3}`)
})

test('a node without that state: 503 that says so, and the head is answered', async () => {
  const { served, wallets } = await start([[{ kind: 'pruned-state', below: 100 }]])
  const refused = await served.get(`/api/v2.2/${wallets[0]}/balance?chain=sim&to_block=99`)
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({
    code: 'not_configured',
    message: 'No node of sim has the state of block 99: that takes an archive node.',
  })
  expect((await served.get(`/api/v2.2/${wallets[0]}/balance?chain=sim&to_block=120`)).status).toBe(200)
})

test('one endpoint prunes, lags, refuses or breaks: another one answers', async () => {
  for (const faults of [
    [{ kind: 'pruned-state', below: 160 }],
    [{ kind: 'lagging', blocks: 20 }],
    [{ kind: 'method-missing', methods: ['eth_getBalance'] }],
    [{ kind: 'truncated', rate: 1 }],
  ] as Fault[][]) {
    const { node, served, wallets } = await start([faults, []])
    const answer = await served.get(`/api/v2.2/${wallets[2]}/balance?chain=sim`)
    expect([faults, answer.status]).toEqual([faults, 200])
    expect(await answer.json()).toEqual({ balance: `${node.chain.balanceAt(wallets[2]!, height)}` })
  }
})

test('a node that hangs: 504 in time, one that breaks: 502 without its words', async () => {
  const hanging = await start([[{ kind: 'hang', rate: 1 }]], { waitMs: 300 })
  const late = await hanging.served.get(`/api/v2.2/${hanging.wallets[0]}/balance?chain=sim`)
  expect(late.status).toBe(504)
  expect(await late.json()).toMatchObject({ code: 'timeout', message: /^No node of sim answered within/ })
  const broken = await start([[{ kind: 'method-missing', methods: ['eth_getBalance'] }]])
  const refused = await broken.served.get(`/api/v2.2/${broken.wallets[0]}/balance?chain=sim`)
  expect(refused.status).toBeGreaterThanOrEqual(500)
  expect(JSON.stringify(await refused.json())).not.toContain('127.0.0.1')
})

test('scopes and limits of keys hold; without a node it is said what is missing', async () => {
  const { served, wallets } = await start()
  const keyOf = async (options: Partial<Parameters<typeof issueKey>[1]>) =>
    (await issueKey(served.store, { name: 'k', scopes: ['balances'], ...options })).secret
  const status = async (wallet: Address, key: string) =>
    (await served.get(`/api/v2/${wallet}/balance?chain=sim&to_block=${height - 1}`, { 'x-api-key': key })).status
  expect(await status(wallets[0]!, await keyOf({ scopes: ['portfolio'] }))).toBe(403)
  const limited = await keyOf({ indexPerDay: 2 })
  const asked = wallets.slice(5, 8) as [Address, Address, Address]
  for (const wallet of [asked[0], asked[1], asked[0]]) expect(await status(wallet, limited)).toBe(200)
  expect(await status(asked[2], limited)).toBe(429)
  const bare = await serveApi({ parts: { chains: new ChainTable([chain]) } })
  cleanups.push(() => bare.close())
  const refused = await bare.get(`/api/v2/${unknown}/balance?chain=sim`)
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({ code: 'not_configured', message: /chains\.sim\.rpc/ })
})

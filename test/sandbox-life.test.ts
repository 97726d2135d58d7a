// The sandbox's Solana network for longer than its node once lived: under traffic beyond the slots and requests at which it froze, and
// with a node that stops. `npm run soak:sandbox` keeps a whole sandbox for minutes.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { loadCollections } from '../sandbox/src/collections.ts'
import { developmentAccount } from '../sandbox/src/evm-accounts.ts'
import { EvmNetwork } from '../sandbox/src/evm-network.ts'
import { signed } from '../sandbox/src/evm-transactions.ts'
import { EvmWorld } from '../sandbox/src/evm-world.ts'
import type { NodeNews } from '../sandbox/src/node-news.ts'
import { SolanaNetwork } from '../sandbox/src/solana-network.ts'
import { createLog } from '../src/log.ts'
import { Network } from '../src/solana/network.ts'
import { asker, openTestStore } from './solana-store.ts'

/** A node of the sandbox once froze after about 1,000 slots, or 1,600 requests. */
const slotsAtLeast = 1_600
const requestsAtLeast = 2_000
const patience = { timeout: 20_000, interval: 100 }

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A network of the sandbox, and the service's own view of it. */
async function start(options: { slotMs?: number; silentMsMax?: number }) {
  const sandbox = await SolanaNetwork.start({ seed: 'life', ...options })
  cleanups.push(() => sandbox.stop())
  const { store, remove } = await openTestStore()
  cleanups.push(remove)
  const { rpcUrl, wsUrl } = sandbox
  const network = new Network({
    network: 'devnet',
    settings: { rpc: [rpcUrl], ws: wsUrl, maxAgeMs: 0, subscriptionsMax: 1_000, reconcileMs: 60_000 },
    store,
    log: createLog({ level: 'silent', format: 'json' }),
  })
  cleanups.push(() => network.close())
  return { sandbox, network, ask: asker(store, network), wallet: sandbox.wallets[0]! }
}

const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot', params: [] })

async function slotOf(rpcUrl: string): Promise<number> {
  const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await answer.json()) as { result: number }).result
}

describe('a Solana network', { timeout: 60_000 }, () => {
  test('lives on under its own traffic', async () => {
    const { sandbox, network, ask, wallet } = await start({ slotMs: 2 })
    const news: NodeNews[] = []
    let requests = 0
    const first = await slotOf(sandbox.rpcUrl)
    for (let slot = 0; slot < first + slotsAtLeast || requests < requestsAtLeast; requests += 50) {
      await sandbox.transactOrReplace(told => news.push(told))
      const slots = await Promise.all(Array.from({ length: 50 }, () => slotOf(sandbox.rpcUrl)))
      slot = Math.max(...slots)
      expect((await ask(wallet)).tokens.length).toBeGreaterThan(2)
    }
    expect(news).toEqual([])
    await vi.waitFor(() => expect(network.status()).toMatchObject({ state: 'live' }), patience)
  })

  test('a node that stops is started again at the same address, and the service goes on', async () => {
    const { sandbox, network, ask, wallet } = await start({ silentMsMax: 1_500 })
    const before = await ask(wallet)
    const news: NodeNews[] = []
    // Frozen: it is there and does not answer.
    process.kill(sandbox.processId!, 'SIGSTOP')
    await sandbox.transactOrReplace(told => news.push(told))
    expect(news.map(({ event }) => event)).toEqual(['node stopped answering', 'node started again'])
    const after = await vi.waitFor(() => ask(wallet), patience)
    expect(after.slot).toBeGreaterThan(before.slot)
    expect(after.tokens.map(({ mint }) => mint)).toEqual(before.tokens.map(({ mint }) => mint))
    await sandbox.transactOrReplace(told => news.push(told))
    expect(news).toHaveLength(2)
    await vi.waitFor(() => expect(network.status()).toMatchObject({ state: 'live' }), patience)
  })
})

test('an EVM node that stops is replaced by the same', async () => {
  const genesisTimestamp = Math.floor(Date.now() / 1_000) - 6 * 3_600
  const node = await EvmNetwork.start({ chainId: 1, genesisTimestamp, answerMsMax: 3_000 })
  cleanups.push(() => node.stop())
  const kinds = ['ERC721', 'ERC1155'] as const
  const world = await EvmWorld.create({
    node,
    compiled: await loadCollections(),
    seed: 'life',
    kinds,
    genesisTimestamp,
    historyBlocks: 100,
  })
  const news: NodeNews[] = []
  const turn = (work: () => Promise<void>) => node.workOrReplace(work, told => news.push(told))
  await turn(() => world.reorganise())
  for (let block = 0; block < 3; block++) await turn(() => world.mineBlock())
  const [head, earlier] = [await blockAt(node.url, 'latest'), await blockAt(node.url, '0x30')]
  process.kill(node.processId!, 'SIGKILL')
  await turn(() => world.mineBlock())
  expect(news.map(({ event }) => event)).toEqual(['node stopped answering', 'node started again'])
  expect([await blockAt(node.url, 'latest'), await blockAt(node.url, '0x30')]).toEqual([head, earlier])
  await turn(() => world.mineBlock())
  expect((await blockAt(node.url, 'latest')).parentHash).toBe(head.hash)
  // Somebody tries the chain with a transaction of their own.
  const [theirs] = await signed(node, [{ from: developmentAccount(0), to: world.wallets[0]!.address, value: 1n }])
  const hash = await node.ask('eth_sendRawTransaction', theirs)
  await turn(() => world.mineBlock())
  expect((await blockAt(node.url, 'latest')).transactions).toContain(hash)
}, 60_000)

type ShownBlock = { hash: string; parentHash: string; transactions: string[] }

async function blockAt(url: string, block: string): Promise<ShownBlock> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: [block, false] })
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await answer.json()) as { result: ShownBlock }).result
}

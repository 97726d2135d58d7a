import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startSimNode } from '../../test/sim/node.ts'
import { openTestStore } from '../../test/solana-store.ts'
import { ChainTable } from '../chains.ts'
import { ledgerId } from '../ledgers.ts'
import { createLog } from '../log.ts'
import { type Address, type ChainId, type Hash, zeroAddress } from '../model.ts'
import { connectChain, createEvm } from './create-evm.ts'

test('the daily budget bounds what is asked of all endpoints together', async () => {
  const node = await startSimNode({ endpoints: [{}, {}] })
  const { rpc } = connectChain(
    'eth',
    { rpc: node.endpoints.map(({ url }) => url), dailyBudget: 8 },
    { chains: new ChainTable(), observer: { request: () => {}, hedge: () => {} } },
  )
  const { signal } = new AbortController()
  const ask = () => rpc.ask([{ method: 'eth_blockNumber', params: [] }], { signal })
  try {
    await expect(
      (async () => {
        for (let asked = 0; asked < 9; asked++) await ask()
      })(),
    ).rejects.toThrow()
    const calls = node.endpoints
      .flatMap(endpoint => [...endpoint.calls.values()])
      .reduce((sum, count) => sum + count, 0)
    expect(calls).toBeGreaterThan(2)
    expect(calls).toBeLessThanOrEqual(8)
  } finally {
    await rpc.close()
    await node.close()
  }
})

test('all endpoints of a chain share its daily budget, and a refusal names the setting', async () => {
  const node = await startSimNode({ chain: { height: 10 }, endpoints: [{}, {}] })
  const settings = { rpc: node.endpoints.map(({ url }) => url), dailyBudget: 3 }
  const observer = { request: () => {}, hedge: () => {} }
  const { rpc } = connectChain('eth', settings, { chains: new ChainTable(), observer })
  const { signal } = new AbortController()
  const ask = () => rpc.ask([{ method: 'eth_blockNumber', params: [] }], { signal, endpoint: rpc.endpoints[0] })
  const used = 'the 3 calls a day of chains.eth.daily_budget are used up'
  try {
    // The check of the chain is the first call.
    for (let at = 0; at < 2; at++) expect((await ask()).values).toEqual(['0xa'])
    await expect(ask()).rejects.toMatchObject({
      code: 'upstream_rate_limited',
      cause: { message: used },
      hint: 'raise chains.eth.daily_budget, or wait until midnight UTC.',
    })
    expect(rpc.status().map(({ healthy, reason }) => ({ healthy, reason }))).toEqual([
      { healthy: false, reason: used },
      { healthy: false, reason: used },
    ])
  } finally {
    await rpc.close()
    await node.close()
  }
})

test('the status of a chain says whether its WebSocket is up', async () => {
  const node = await startSimNode({ chain: { height: 20 } })
  const { store, remove } = await openTestStore()
  const { url, webSocketUrl } = node.endpoints[0]!
  const evm = createEvm({
    settings: { eth: { rpc: [url], ws: `${webSocketUrl}/v3/s3cr3t-t0ken`, index: 'full', from: 0, contracts: [] } },
    chains: new ChainTable(),
    store,
    log: createLog({ level: 'silent', format: 'json' }),
    pageSizeMax: 100,
  })
  const socket = async () => (await evm.status()).eth?.ws
  try {
    const endpoint = new URL(webSocketUrl).host
    await expect.poll(socket).toEqual({ endpoint, connected: true, reconnects: 0 })
    node.endpoints[0]!.dropWebSockets()
    await expect.poll(socket).toMatchObject({ connected: false })
    await expect.poll(socket).toEqual({ endpoint, connected: true, reconnects: 1 })
  } finally {
    await evm.close()
    await node.close()
    await remove()
  }
})

test('a chain in full mode is asked for single wallets where it does not keep their activity, and for tokens', async () => {
  const node = await startSimNode({ chain: { height: 20 } })
  const { store, remove } = await openTestStore()
  const { url } = node.endpoints[0]!
  for (const [views, wallets] of [
    [['transfers', 'activity'], []],
    [['transfers'], [1]],
  ] as const) {
    const evm = createEvm({
      settings: { eth: { rpc: [url], index: 'full', views, from: 0, contracts: [] } },
      chains: new ChainTable(),
      store,
      log: createLog({ level: 'silent', format: 'json' }),
      pageSizeMax: 100,
    })
    expect(await evm.onDemandChains()).toEqual({ contracts: [ledgerId(1 as ChainId, 'erc20')], wallets })
    const { erc20, ...status } = (await evm.status()).eth!
    expect(status).toMatchObject({ index: 'full', views })
    // Until one is asked for there is nothing to follow.
    expect(erc20).toBeUndefined()
    await evm.close()
  }
  await node.close()
  await remove()
})

test('a chain without a node asks none, and its status says what its sources lack', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-archive-'))
  const { store, remove } = await openTestStore()
  const eth = { rpc: [], history: [folder], index: 'full', views: ['transfers'], from: 0, contracts: [] } as const
  const evm = createEvm({
    settings: { eth },
    chains: new ChainTable(),
    store,
    log: createLog({ level: 'silent', format: 'json' }),
    pageSizeMax: 100,
  })
  const [chain, wallet, hash] = [1 as ChainId, zeroAddress, `0x${'0'.repeat(64)}` as Hash]
  try {
    expect(await evm.onDemandChains()).toEqual({ contracts: [], wallets: [] })
    expect(await evm.block(chain, 1, 1_000)).toBeUndefined()
    expect(await evm.nonce({ chain, wallet, block: 1 }, 1_000)).toBeUndefined()
    expect(await evm.balances({ chain, block: undefined, wallets: [wallet] }, 1_000)).toBeUndefined()
    expect(await evm.transaction({ chain: 'eth', contract: wallet, hash }, 1_000)).toBe('not asked')
    const status = async () => (await evm.status()).eth
    await expect.poll(status).toMatchObject({
      ...{ state: 'stalled', head: -1, lag_seconds: 0, complete: false, rpc: [] },
      sources: [{ kind: 'files', name: folder, blocks: 0, state: 'empty', refused: [] }],
      reason: expect.stringMatching(/^eth has no node, and no source gives it a head: .+ Try: put files with blocks/),
    })
    // The same settings look again, others take the place of these.
    await evm.configure({ eth })
    await evm.configure({ eth: { ...eth, history: [join(folder, 'elsewhere')] } })
    await expect.poll(status, { timeout: 30_000 }).toMatchObject({ sources: [{ name: join(folder, 'elsewhere') }] })
  } finally {
    await evm.close()
    await remove()
    rmSync(folder, { recursive: true })
  }
})

test('addresses without code that nobody waits for cost a call each, once', async () => {
  const node = await startSimNode({ chain: { height: 60 } })
  const { store, remove } = await openTestStore()
  const evm = createEvm({
    settings: { eth: { rpc: [node.url], index: 'on-demand', from: 0, contracts: [] } },
    chains: new ChainTable(),
    store,
    log: createLog({ level: 'silent', format: 'json' }),
    pageSizeMax: 100,
  })
  const calls = (method: string) => node.endpoints[0]!.calls.get(method) ?? 0
  const addresses = Array.from({ length: 20 }, (_, at) => `0x${(at + 1).toString(16).padStart(40, 'e')}` as Address)
  const asker = { id: 'k', indexWaiting: undefined, indexPerDay: 100 }
  try {
    await expect.poll(async () => (await evm.status()).eth?.head, { timeout: 30_000 }).toBe(60)
    for (let round = 0; round < 3; round++) {
      for (const address of addresses) await evm.ensureContract(1 as ChainId, address, 0, asker)
      await expect.poll(() => calls('eth_getCode'), { timeout: 30_000 }).toBe(addresses.length)
    }
    // What is read of a contract comes after all that would have been read of these.
    const contract = node.chain.contracts.all[0]!.address as Address
    await evm.ensureContract(1 as ChainId, contract, 30_000, asker)
    await expect.poll(() => calls('eth_call'), { timeout: 30_000 }).toBeGreaterThan(0)
    expect(calls('eth_call')).toBeLessThan(3 * addresses.length)
  } finally {
    await evm.close()
    await node.close()
    await remove()
  }
})

// The portfolio operation over HTTP, on top of a real node: headers, errors by name, and recovery.
import { base58 } from '@scure/base'
import { generateKeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SolanaNode } from '../sandbox/src/solana-node.ts'
import { createLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'
import { displayAmount } from '../src/solana/amounts.ts'
import { tokenProgramAddresses } from '../src/solana/decode.ts'
import { createSolana, type Solana } from '../src/solana/network.ts'
import { type ServedApi, serveApi } from './served-api.ts'
import { type FaultProxy, startFaultProxy } from './solana-fault-proxy.ts'
import { startProgramNode } from './solana-program-node.ts'
import { mintData, tokenAccountData } from './solana-snapshot-archive.ts'
import { Wallet } from './solana-wallet.ts'

let node: SolanaNode
let proxy: FaultProxy
let wallet: Wallet
let solana: Solana | undefined
let served: ServedApi

beforeAll(async () => {
  node = await startProgramNode()
  proxy = await startFaultProxy(node)
  wallet = await Wallet.create(node)
  const settings = {
    devnet: { rpc: [proxy.rpcUrl], ws: proxy.wsUrl, maxAgeMs: 0, subscriptionsMax: 100, reconcileMs: 60_000 },
  }
  const log = createLog({ level: 'silent', format: 'json' })
  served = await serveApi({
    parts: {
      displayAmount,
      freshen: { portfolio: (network, owner) => solana!.freshen.portfolio(network, owner) },
    },
  })
  solana = createSolana({ settings, store: served.store, log, metrics: createMetrics({ ofProcess: false }) })
})
afterAll(async () => {
  await solana?.close()
  await served?.close()
  await proxy?.close()
  await node?.stop()
})

test('answers with the slot and the age of what it says', async () => {
  const { address } = await generateKeyPairSigner()
  await wallet.transferSol(address, 1_500_000_000n)
  const account = await wallet.mintTo(address, await wallet.createMint({ decimals: 6 }), 2_500_000n)
  const answer = await served.get(`/account/devnet/${address}/portfolio`)
  expect(answer.status).toBe(200)
  expect(Number(answer.headers.get('x-solana-slot'))).toBeGreaterThan(0)
  expect(answer.headers.get('age')).toBe('0')
  expect(await answer.json()).toMatchObject({
    nativeBalance: { lamports: '1500000000', solana: '1.5' },
    nfts: [],
    tokens: [
      { associatedTokenAddress: account, amount: '2.5', amountRaw: '2500000', decimals: 6, name: '', symbol: '' },
    ],
  })
})

test('a mint that the node does not know leaves the rest of the account as it is, and is named', async () => {
  const { address } = await generateKeyPairSigner()
  await wallet.transferSol(address, 1_500_000_000n)
  await wallet.mintTo(address, await wallet.createMint({ decimals: 6 }), 2_500_000n)
  const { address: mint } = await generateKeyPairSigner()
  const { address: account } = await generateKeyPairSigner()
  const key = (text: string) => base58.decode(text)
  const held = tokenAccountData({ mint: key(mint), owner: key(address), amount: 1_234n })
  await node.setAccount(account, { lamports: 2_039_280, data: held, program: tokenProgramAddresses.token })
  const ask = async () => {
    const answer = await served.get(`/account/devnet/${address}/portfolio`)
    expect(answer.status).toBe(200)
    const { tokens, nativeBalance } = (await answer.json()) as {
      nativeBalance: { lamports: string }
      tokens: { mint: string; amount: string }[]
    }
    expect(nativeBalance.lamports).toBe('1500000000')
    expect(tokens).toHaveLength(2)
    expect(tokens.find(token => token.mint !== mint)).toMatchObject({ amount: '2.5', decimals: 6 })
    return { unknown: answer.headers.get('x-solana-unknown-mints'), token: tokens.find(token => token.mint === mint) }
  }
  const entry = { associatedTokenAddress: account, mint, name: '', symbol: '' }
  for (let again = 0; again < 3; again++)
    expect(await ask()).toEqual({
      unknown: mint,
      token: { ...entry, amount: '1234', amountRaw: '1234', decimals: 0 },
    })
  const program = tokenProgramAddresses.token
  await node.setAccount(mint, { lamports: 1_461_600, data: mintData({ decimals: 2, supply: 9_999n }), program })
  expect(await ask()).toEqual({
    unknown: null,
    token: { ...entry, amount: '12.34', amountRaw: '1234', decimals: 2 },
  })
})

test('answers 502 and names the part alone when a token program cannot be read, then recovers', async () => {
  const { address } = await generateKeyPairSigner()
  await wallet.transferSol(address, 1n * 10n ** 9n)
  proxy.fault = ({ method, params }) =>
    method === 'getTokenAccountsByOwner' && JSON.stringify(params).includes('TokenzQdBN')
      ? { kind: 'status', status: 500 }
      : undefined
  const refused = await served.get(`/account/devnet/${address}/portfolio`)
  expect(refused.status).toBe(502)
  const body = (await refused.json()) as { message: string; code: string; statusCode: number }
  expect(body).toMatchObject({ code: 'upstream_failed', statusCode: 502 })
  expect(body.message).toBe(`The Token-2022 accounts of ${address} could not be read from solana devnet.`)
  expect(served.logged.join('')).toContain(
    `endpoint ${new URL(proxy.rpcUrl).host} answered 500 to getTokenAccountsByOwner`,
  )
  proxy.fault = undefined
  await expect
    .poll(async () => (await served.get(`/account/devnet/${address}/portfolio`)).status, { timeout: 5_000 })
    .toBe(200)
})

test('says that a network is not configured', async () => {
  const { address } = await generateKeyPairSigner()
  const refused = await served.get(`/account/mainnet/${address}/portfolio`)
  expect(refused.status).toBeGreaterThanOrEqual(500)
  expect(await refused.json()).toMatchObject({
    code: 'not_configured',
    message: expect.stringMatching(/Solana mainnet/),
  })
})

test('reports the network with its endpoint and what is watched', async () => {
  const { address } = await generateKeyPairSigner()
  await served.get(`/account/devnet/${address}/portfolio`)
  await expect.poll(() => solana?.status().devnet?.watched?.live).toBeGreaterThan(0)
  expect(solana?.status().devnet).toMatchObject({
    state: 'live',
    rpc: [{ endpoint: new URL(proxy.rpcUrl).host, healthy: true }],
    watched: { connected: true },
  })
  await expect.poll(() => solana?.status().devnet?.lag_seconds).toBeLessThan(5)
})

test('a network that is stalled says why, and asks its endpoints though nobody asks it', async () => {
  const { address } = await generateKeyPairSigner()
  try {
    proxy.calls.clear()
    proxy.socketsDown = true
    await expect
      .poll(() => solana?.status().devnet, { timeout: 5_000 })
      .toMatchObject({ state: 'stalled', reason: 'The WebSocket is not connected.' })
    await expect.poll(() => proxy.calls.get('getMultipleAccounts'), { timeout: 5_000 }).toBeGreaterThan(0)
    proxy.fault = () => ({ kind: 'status', status: 500 })
    expect((await served.get(`/account/devnet/${address}/portfolio`)).status).toBe(502)
    const reason = expect.stringContaining(`${new URL(proxy.rpcUrl).host} answered 500 to get`)
    expect(solana?.status().devnet).toMatchObject({
      state: 'stalled',
      reason,
      rpc: [{ healthy: false, fault: reason }],
    })
  } finally {
    proxy.fault = undefined
    proxy.socketsDown = false
  }
})

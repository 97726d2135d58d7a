import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { realClock } from '../abort.ts'
import { systemProgram } from './decode.ts'
import { SlotProgress, SolanaRpc, type SolanaRpcOptions } from './rpc.ts'

/** Has the form of one. */
const hash = systemProgram
const servers: Server[] = []
const opened: SolanaRpc[] = []
afterEach(async () => {
  for (const rpc of opened.splice(0)) await rpc.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise(done => server.close(done))
  }
})

test('a genesis hash that has not the form of one is refused: the log would show it', async () => {
  const server = createServer((_, outgoing) =>
    outgoing.end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: 'project k3y of user' })),
  )
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const rpc = connect([`http://127.0.0.1:${(server.address() as AddressInfo).port}`])
  await expect(rpc.genesisHash()).rejects.toThrow('getGenesisHash')
})

/** A node that answers every question with one account of these lamports; `answer` undefined: it never does. */
async function node(answer: { slot: number; lamports: number } | undefined): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      if (answer === undefined) return
      const account = { lamports: answer.lamports, owner: systemProgram, data: ['', 'base64'] }
      outgoing.end(
        JSON.stringify({ jsonrpc: '2.0', id: 0, result: { context: { slot: answer.slot }, value: [account] } }),
      )
    })
  })
  servers.push(server)
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function connect(urls: readonly string[], other: Partial<SolanaRpcOptions> = {}): SolanaRpc {
  const rpc = new SolanaRpc({ network: 'devnet', urls, ...other })
  opened.push(rpc)
  return rpc
}
const lamports = async (rpc: SolanaRpc) => (await rpc.accounts([systemProgram])).value[0]?.lamports

test('a node that never answers is named, and another one is asked instead', async () => {
  const [silent, good] = [await node(undefined), await node({ slot: 1_000, lamports: 7 })]
  await expect(lamports(connect([silent], { timeoutMs: 200 }))).rejects.toMatchObject({
    code: 'upstream_failed',
    message: `solana devnet endpoint ${new URL(silent).host} did not answer getMultipleAccounts in time.`,
    cause: { message: 'no whole answer within 200 ms' },
  })
  expect(await lamports(connect([silent, good], { timeoutMs: 200 }))).toBe(7n)
})

test('a node that lags far behind another is not believed, whatever it says', async () => {
  const [ahead, behind] = [await node({ slot: 1_000, lamports: 7 }), await node({ slot: 849, lamports: 5 })]
  // Time stands still, so both are equally fast and the first one is preferred.
  const rpc = connect([behind, ahead], { clock: { ...realClock, now: () => 1_000_000 } })
  // That it lags shows once the other one has answered.
  const first = await rpc.accounts([systemProgram])
  expect(first.slot).toBe(849)
  await rpc.accounts([systemProgram], 900)
  expect(await lamports(rpc)).toBe(7n)
  // Once is not enough to let it rest.
  expect(rpc.status()[0]).toMatchObject({ healthy: true, errors: 1 })
  for (let at = 0; at < 2; at++) expect(await lamports(rpc)).toBe(7n)
  expect(rpc.status()[0]).toMatchObject({
    healthy: false,
    errors: 3,
    fault: expect.stringContaining('it lags 151 slots behind another endpoint'),
  })
  const alone = connect([behind])
  await expect(alone.accounts([systemProgram], 1_000)).rejects.toMatchObject({
    message: `solana devnet endpoint ${new URL(behind).host} failed getMultipleAccounts (behind).`,
    cause: { message: 'it is only at slot 849' },
  })
})

test('an answer that is too large is refused without closing the endpoint for others', async () => {
  const url = await node({ slot: 1_000, lamports: 7 })
  const rpc = connect([url], { bytesMax: 20 })
  await expect(lamports(rpc)).rejects.toMatchObject({
    code: 'upstream_invalid',
    message: `solana devnet endpoint ${new URL(url).host} failed getMultipleAccounts (response-too-large).`,
    cause: { message: 'the answer is larger than 20 bytes' },
  })
  // Another try would bring the same answer. It counts, and other accounts can be asked for.
  expect(rpc.status()).toMatchObject([{ healthy: true, requests: 1, errors: 1 }])
  expect(rpc.status()[0]?.latency_ms).toBeUndefined()
})

test('the status has requests, errors and the time to answer of each endpoint', async () => {
  const rpc = connect([await node({ slot: 1_000, lamports: 7 })])
  for (let count = 0; count < 3; count++) await lamports(rpc)
  expect(rpc.status()).toEqual([
    {
      endpoint: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      healthy: true,
      slot: 1_000,
      fault: null,
      requests: 3,
      errors: 0,
      latency_ms: expect.any(Number),
    },
  ])
})

test('an endpoint whose last requests failed is not called healthy once its rest is over', async () => {
  let now = 1_000_000
  let status = 500
  const server = createServer((_, answer) =>
    answer.writeHead(status).end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: hash })),
  )
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const rpc = connect([`http://127.0.0.1:${port}`], { clock: { ...realClock, now: () => now } })
  try {
    // Nothing is known of its slot, so none is told.
    expect(rpc.status()).toMatchObject([{ endpoint: `127.0.0.1:${port}`, healthy: true, slot: undefined }])
    for (let at = 0; at < 2; at++) await expect(rpc.genesisHash()).rejects.toThrow('answered 500')
    now += 120_000
    const fault = `solana devnet endpoint 127.0.0.1:${port} answered 500 to getGenesisHash`
    expect(rpc.status()).toMatchObject([{ healthy: false, fault: expect.stringContaining(fault) }])
    status = 200
    expect(await rpc.genesisHash()).toBe(hash)
    expect(rpc.status()).toMatchObject([{ healthy: true, fault: null }])
  } finally {
    server.close()
  }
})

test('a node whose slot stays is not believed once half a minute has gone by', () => {
  let now = 1_000_000
  const progress = new SlotProgress({ now: () => now })
  const stalledMs = (slot: number, atMs: number) => {
    now = 1_000_000 + atMs
    return progress.stalledMs(slot)
  }
  expect(stalledMs(500, 0)).toBe(0)
  expect(stalledMs(500, 30_000)).toBe(0)
  expect(progress.recentSlot()).toBe(500)
  expect(stalledMs(500, 31_000)).toBe(31_000)
  expect(progress.recentSlot()).toBe(0)
  expect(stalledMs(501, 32_000)).toBe(0)
  // A new ledger does not stand still.
  expect(stalledMs(3, 33_000)).toBe(0)
  expect(stalledMs(600_000, 33_000)).toBe(0)
  expect(stalledMs(3, 40_000)).toBe(0)
})

test('the daily budget bounds what all endpoints are sent together, failures too, and names the setting', async () => {
  let now = Date.UTC(2025, 0, 31, 23, 59, 59)
  let sent = 0
  let status = 503
  const server = createServer((_, answer) => {
    sent++
    answer.writeHead(status).end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: hash }))
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clock = { ...realClock, now: () => now }
  const rpc = new SolanaRpc({ network: 'devnet', urls: [`${url}/a`, `${url}/b`], dailyBudget: 3, clock })
  try {
    const refusal = {
      code: 'upstream_rate_limited',
      message: expect.stringMatching(/^solana devnet endpoint .* failed getGenesisHash \(quota\)\.$/),
      cause: { message: 'the 3 calls a day of solana.devnet.daily_budget are used up' },
      hint: 'raise solana.devnet.daily_budget, or wait until midnight UTC.',
      retryable: true,
      retryAfterMs: 1_000,
    }
    // Two rounds over two endpoints would be four.
    await expect(rpc.genesisHash()).rejects.toMatchObject(refusal)
    expect(sent).toBe(3)
    status = 200
    for (let more = 0; more < 5; more++) await expect(rpc.genesisHash()).rejects.toMatchObject(refusal)
    expect(sent).toBe(3)
    // The endpoints are not at fault.
    expect(rpc.status().map(({ healthy }) => healthy)).toEqual([true, true])
    now += 1_000
    expect(await rpc.genesisHash()).toBe(hash)
    expect(sent).toBe(4)
    for (let more = 0; more < 2; more++) await rpc.genesisHash()
    // A whole day is too long to wait: the status says why nothing is asked.
    expect(rpc.status()).toMatchObject([
      { healthy: false, fault: 'the 3 calls a day of solana.devnet.daily_budget are used up' },
      { healthy: false, fault: 'the 3 calls a day of solana.devnet.daily_budget are used up' },
    ])
  } finally {
    await rpc.close()
    server.close()
  }
})

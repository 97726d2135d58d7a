import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { realClock } from '../abort.ts'
import { DailyBudget } from '../rpc/limits.ts'
import { SolanaRpc } from './rpc.ts'

const evening = Date.UTC(2025, 0, 31, 23, 59, 59)

test('counts from midnight to midnight UTC', () => {
  let now = evening
  const budget = new DailyBudget(2, { now: () => now })
  const spend = () => {
    if (budget.left > 0) return budget.use(1) === undefined
    return false
  }
  expect([spend(), spend(), spend()]).toEqual([true, true, false])
  expect(budget.renewsInMs).toBe(1_000)
  now += 999
  expect(spend()).toBe(false)
  now += 1
  expect([spend(), spend(), spend()]).toEqual([true, true, false])
  expect(budget.renewsInMs).toBe(86_400_000)
})

test('bounds what all endpoints are sent together, failures too, and names the setting', async () => {
  let now = evening
  let sent = 0
  let status = 503
  const server = createServer((_, answer) => {
    sent++
    answer.writeHead(status).end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: 'the hash' }))
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
    expect(await rpc.genesisHash()).toBe('the hash')
    expect(sent).toBe(4)
  } finally {
    await rpc.close()
    server.close()
  }
})

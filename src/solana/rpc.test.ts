import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { systemProgram } from './decode.ts'
import { SolanaEndpoint } from './endpoint.ts'
import { SolanaRpc } from './rpc.ts'

const servers: Server[] = []
const opened: SolanaRpc[] = []
afterEach(async () => {
  for (const rpc of opened.splice(0)) await rpc.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise(done => server.close(done))
  }
})

/** A node that answers every question with one account of so many lamports; `answer` undefined: it never does. */
async function node(answer: { slot: number; lamports: number } | undefined): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      if (answer === undefined) return
      const account = { lamports: answer.lamports, owner: systemProgram, data: ['', 'base64'] }
      outgoing.end(JSON.stringify({ jsonrpc: '2.0', result: { context: { slot: answer.slot }, value: [account] } }))
    })
  })
  servers.push(server)
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function connect(urls: readonly string[], other: { timeoutMs?: number; answerBytesMax?: number } = {}): SolanaRpc {
  const endpoints = urls.map(url => new SolanaEndpoint({ network: 'devnet', url, ...other }))
  const rpc = new SolanaRpc({ network: 'devnet', endpoints })
  opened.push(rpc)
  return rpc
}
const lamports = async (rpc: SolanaRpc) => (await rpc.accounts([systemProgram])).value[0]?.lamports

test('a node that never answers is named, and another one is asked instead', async () => {
  const [silent, good] = [await node(undefined), await node({ slot: 1_000, lamports: 7 })]
  await expect(lamports(connect([silent], { timeoutMs: 200 }))).rejects.toMatchObject({
    code: 'upstream_failed',
    message: expect.stringMatching(`endpoint ${silent} did not answer getMultipleAccounts within 200 ms`),
  })
  expect(await lamports(connect([silent, good], { timeoutMs: 200 }))).toBe(7n)
})

test('a node that lags far behind another is not believed, whatever it says', async () => {
  const [ahead, behind] = [await node({ slot: 1_000, lamports: 7 }), await node({ slot: 849, lamports: 5 })]
  const rpc = connect([behind, ahead])
  // Nobody knows that it lags until the other one was heard.
  const first = await rpc.accounts([systemProgram])
  expect(first.slot).toBe(849)
  await rpc.accounts([systemProgram], 900)
  expect(await lamports(rpc)).toBe(7n)
  const alone = connect([behind])
  await expect(alone.accounts([systemProgram], 1_000)).rejects.toMatchObject({
    message: expect.stringMatching(`endpoint ${behind} is only at slot 849`),
  })
})

test('an answer that is too large is refused without closing the endpoint for others', async () => {
  const url = await node({ slot: 1_000, lamports: 7 })
  const rpc = connect([url], { answerBytesMax: 20 })
  await expect(lamports(rpc)).rejects.toMatchObject({
    code: 'upstream_invalid',
    message: expect.stringMatching(`endpoint ${url} answered more than 20 bytes`),
  })
  expect(rpc.status()).toMatchObject([{ healthy: true, requests: 2, errors: 2, latencyMs: undefined }])
})

test('requests, errors and the time to answer are told of each endpoint', async () => {
  const rpc = connect([await node({ slot: 1_000, lamports: 7 })])
  for (let count = 0; count < 3; count++) await lamports(rpc)
  const [{ requests, errors, latencyMs } = { requests: 0, errors: 0, latencyMs: 0 }] = rpc.status()
  expect({ requests, errors }).toEqual({ requests: 3, errors: 0 })
  expect(latencyMs).toBeGreaterThan(0)
})

test('a node whose slot stays is not believed once half a minute has gone by', () => {
  const endpoint = new SolanaEndpoint({ network: 'devnet', url: 'http://127.0.0.1:1' })
  const call = { method: 'getMultipleAccounts', params: [] }
  endpoint.checkSlot(500, call, 0)
  endpoint.checkSlot(500, call, 30_000)
  expect(() => endpoint.checkSlot(500, call, 31_000)).toThrow(/has not moved beyond slot 500 for 31 s/)
  endpoint.checkSlot(501, call, 32_000)
  // A ledger that began anew is no node that stands still.
  endpoint.checkSlot(3, call, 33_000)
  endpoint.checkSlot(600_000, call, 33_000)
  endpoint.checkSlot(3, call, 40_000)
})

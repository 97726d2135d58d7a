import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { base58 } from '@scure/base'
import { expect, test, vi } from 'vitest'
import { problemAnswer } from '../api/problem.ts'
import { createLog } from '../log.ts'
import type { Store } from '../store/store.ts'
import { clockSysvar, systemProgram, tokenProgramAddresses } from './decode.ts'
import { Network } from './network.ts'

const owner = new Uint8Array(32).fill(7)
const address = base58.encode(owner)

test('a portfolio whose mints cannot be read fails without the details of the request', async () => {
  const at = (value: unknown) => ({ result: { context: { slot: 1_000 }, value } })
  const account = (program: string, data: Buffer) => ({
    lamports: 1,
    owner: program,
    data: [data.toString('base64'), 'base64'],
  })
  const holding = Buffer.alloc(165, 1)
  holding.set(owner, 32)
  const answers: Record<string, (params: [unknown, { programId: string }]) => object> = {
    getGenesisHash: () => ({ result: systemProgram }),
    getTokenAccountsByOwner: ([, { programId }]) =>
      at(programId === tokenProgramAddresses.token ? [{ pubkey: address, account: account(programId, holding) }] : []),
    getMultipleAccounts: ([keys]) =>
      (keys as string[]).includes(clockSysvar)
        ? at([account(systemProgram, Buffer.alloc(0)), account(systemProgram, Buffer.alloc(40))])
        : { error: { code: -32005, message: 'Node is unhealthy' } },
  }
  const server = createServer(async (incoming, outgoing) => {
    const { id, method, params } = JSON.parse(Buffer.concat(await incoming.toArray()).toString())
    outgoing.end(JSON.stringify({ jsonrpc: '2.0', id, ...answers[method]!(params) }))
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const network = new Network({
    network: 'devnet',
    settings: { rpc: [url], maxAgeMs: 0, subscriptionsMax: 0, reconcileMs: 60_000 },
    store: { mintsOf: async () => [] } as unknown as Store,
    log: createLog({ level: 'silent', format: 'json' }),
  })
  try {
    const error = await network.freshen(owner).catch((failure: unknown) => failure)
    expect(error).toMatchObject({ code: 'upstream_failed', retryable: true, details: undefined })
    const { body } = problemAnswer(error, { requestId: 'r', accept: undefined, solana: true })
    expect(JSON.parse(String(body))).toEqual({
      message: `solana devnet endpoint ${new URL(url).host} failed getMultipleAccounts (refused).`,
      code: 'upstream_failed',
      request_id: 'r',
      statusCode: 502,
      error: 'Bad Gateway',
    })
  } finally {
    await network.close()
    server.close()
  }
})

test('a reading from before the clock went back is not taken for a fresh one', async () => {
  const at = (value: unknown) => ({ result: { context: { slot: 1_000 }, value } })
  const clock = { lamports: 1, owner: systemProgram, data: [Buffer.alloc(40).toString('base64'), 'base64'] }
  const answers: Record<string, object> = {
    getGenesisHash: { result: systemProgram },
    getTokenAccountsByOwner: at([]),
    getMultipleAccounts: at([null, clock]),
  }
  let readings = 0
  let backMs = 0
  const { now } = Date
  vi.spyOn(Date, 'now').mockImplementation(() => now() - backMs)
  const server = createServer(async (incoming, outgoing) => {
    const { id, method } = JSON.parse(Buffer.concat(await incoming.toArray()).toString())
    if (method === 'getMultipleAccounts') readings++
    outgoing.end(JSON.stringify({ jsonrpc: '2.0', id, ...answers[method] }))
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const rpc = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`]
  const network = new Network({
    network: 'devnet',
    settings: { rpc, maxAgeMs: 60_000, subscriptionsMax: 0, reconcileMs: 60_000 },
    store: { mintsOf: async () => [], updateAccounts: async () => {} } as unknown as Store,
    log: createLog({ level: 'silent', format: 'json' }),
  })
  try {
    await network.freshen(owner)
    await network.freshen(owner)
    expect(readings).toBe(1)
    backMs = 3_600_000
    await network.freshen(owner)
    expect(readings).toBe(2)
  } finally {
    vi.restoreAllMocks()
    await network.close()
    server.close()
  }
})

test('closing before the ledger is checked is not worth a warning', async () => {
  const server = createServer()
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const lines: string[] = []
  const network = new Network({
    network: 'devnet',
    settings: {
      rpc: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
      maxAgeMs: 0,
      subscriptionsMax: 0,
      reconcileMs: 60_000,
    },
    store: {} as Store,
    log: createLog({ level: 'warn', format: 'json', write: line => lines.push(line) }),
  })
  await network.close()
  server.closeAllConnections()
  await new Promise(done => server.close(done))
  expect(lines).toEqual([])
})

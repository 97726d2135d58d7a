// One answer of 62 MB that would take minutes and gigabytes to parse: it costs the endpoint that gave it, and neither the
// process nor its other requests.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { systemProgram } from '../src/solana/decode.ts'
import { SolanaRpc } from '../src/solana/rpc.ts'
import { CommandPlace } from './command-run.ts'
import { isRelease, someCases } from './release-runs.ts'
import { startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'

const chainId = 31_337
const height = 200
const key = 'large-answers-operator-key'
const bytes = 62_000_000
const lists = Buffer.from(`{"jsonrpc":"2.0","id":0,"result":[${'[],'.repeat(bytes / 3)}[]]}`)

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

/** `answer` gives the body to a request; undefined passes it on to the node. */
async function serve(answer: (request: string) => Buffer | undefined, node?: string): Promise<string> {
  const server: Server = createServer(async (incoming, outgoing) => {
    const request = (await incoming.toArray()).join('')
    const passedOn = async () => {
      const headers = { 'content-type': 'application/json' }
      return Buffer.from(await (await fetch(node!, { method: 'POST', body: request, headers })).arrayBuffer())
    }
    outgoing.end(answer(request) ?? (await passedOn()))
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Asks from a thread, because this one is the nodes too. The result says how long the slowest answer took. */
function watchOperators(url: string): () => Promise<number> {
  const worker = new Worker(
    `const { parentPort, workerData: { url, key } } = require('node:worker_threads')
     let slowestMs = 0
     parentPort.on('message', () => parentPort.postMessage(slowestMs))
     const ask = async path => {
       const startedMs = performance.now()
       await (await fetch(url + path, { headers: { 'x-api-key': key } })).text()
       slowestMs = Math.max(slowestMs, performance.now() - startedMs)
       setTimeout(ask, 50, path)
     }
     for (const path of ['/ready', '/status', '/metrics']) ask(path)`,
    { eval: true, workerData: { url, key } },
  )
  cleanups.push(() => worker.terminate())
  return async () => {
    worker.postMessage('slowest')
    return (await once(worker, 'message'))[0]
  }
}

const places = [
  ['blocks and receipts', 'eth_getBlockReceipts'],
  ['the chain id', 'eth_chainId'],
] as const

test.each(someCases(places, 2))(
  'instead of %s: operators are answered, and the chain completes',
  { timeout: 300_000 },
  async (_, method) => {
    const node = await startSimNode({ chain: { chainId, height, hashes: 'real', ...lightBlocks } })
    cleanups.push(() => node.close())
    let sent = 0
    const lie = (request: string): Buffer | undefined => {
      if (!request.includes(method) || sent > 0) return undefined
      sent++
      return lists
    }
    const hostile = await serve(lie, node.url)
    const place = new CommandPlace()
    cleanups.push(() => place.dispose())
    place.configure({ sim: { id: chainId, rpc: [hostile, node.url], index: 'full', from: 0 } })
    const run = place.begin(['start', '--listen', '127.0.0.1:0', '--log-format', 'json'], { ALMANAC_KEY: key })
    const url = await run.listening()
    const slowest = watchOperators(url)
    await vi.waitFor(
      async () => {
        const answer = await fetch(`${url}/status`, { headers: { 'x-api-key': key } })
        const status = (await answer.json()) as { chains: { sim?: object } }
        expect([sent, status.chains.sim]).toMatchObject([1, { complete: true, head: height }])
      },
      { timeout: 240_000, interval: 200 },
    )
    // To parse the answer in the thread that answers takes longer, and on a busy machine half a minute.
    expect(await slowest()).toBeLessThan(4_000)
    const peakKilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${run.child.pid}/status`, 'utf8'))?.[1])
    expect(peakKilobytes).toBeLessThan(900_000)
  },
)

test('from a Solana node: other requests do not wait for it', { timeout: 180_000 }, async () => {
  const account = `{"lamports":1,"owner":"${systemProgram}","data":["","base64"]}`
  const good = Buffer.from(`{"jsonrpc":"2.0","id":0,"result":{"context":{"slot":1000},"value":[${account}]}}`)
  const start = Buffer.from('{"jsonrpc":"2.0","id":0,"result":{"context":{"slot":1000},"value":[')
  // Fewer values than are refused at once, and names that are slow to read.
  const names = isRelease ? 1_000_000 : 300_000
  const named = Buffer.from(Array.from({ length: names }, (_, at) => `{"name${at}":1}`).join())
  const slow = Buffer.concat([start, named, Buffer.from(']}}')])
  const urls = await Promise.all([serve(() => good), serve(() => slow), serve(() => lists)])
  const [honest, slowly, huge] = urls.map(each => {
    const rpc = new SolanaRpc({ network: 'devnet', urls: [each] })
    cleanups.push(() => rpc.close())
    return rpc
  })
  let running = true
  const bad = Promise.allSettled([slowly!.accounts([systemProgram]), huge!.accounts([systemProgram])]).finally(() => {
    running = false
  })
  let slowestMs = 0
  const beganMs = performance.now()
  while (running) {
    const startedMs = performance.now()
    expect((await honest!.accounts([systemProgram])).value).toHaveLength(1)
    slowestMs = Math.max(slowestMs, performance.now() - startedMs)
    await delay(5)
  }
  const invalid = { status: 'rejected', reason: { code: 'upstream_invalid' } }
  expect(await bad).toMatchObject([invalid, invalid])
  // Read here it would be most of the time, which a busy machine makes long.
  expect(slowestMs).toBeLessThan((performance.now() - beganMs) / 4)
  expect(huge!.status()[0]!.errors).toBeGreaterThan(0)
})

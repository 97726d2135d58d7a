// Digesting in another thread gives what digesting here gives, for good answers and for bad ones.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { simulatedChain } from '../../../test/evm-harness.ts'
import { type SimNode, startSimNode } from '../../../test/sim/node.ts'
import { activityCount } from '../../store/packed-activity.ts'
import { ChainRpc } from '../rpc/chain-rpc.ts'
import type { RawAnswers } from '../rpc/port.ts'
import { DigestThreads, digestHere } from './digester.ts'
import { callsOf, type FullRequest } from './full-request.ts'
import { columnsOf, rangeOf } from './range-columns.ts'

let node: SimNode
let rpc: ChainRpc
const threads = new DigestThreads({ threads: 1 })
const { signal } = new AbortController()

beforeAll(async () => {
  node = await startSimNode({ chain: { height: 120, hashes: 'real', transactionsPerBlock: 12, seed: 5 } })
  rpc = new ChainRpc({ chain: { name: 'eth', id: undefined }, endpoints: [{ url: node.url }] })
})

afterAll(async () => {
  await threads.close()
  await rpc.close()
  await node.close()
})

const requests: FullRequest[] = [
  { interval: { from: 20, to: 110 }, grain: 'range', withReceipts: true },
  { interval: { from: 20, to: 110 }, grain: 'block', withReceipts: false },
]

const ask = (request: FullRequest): Promise<RawAnswers> => rpc.askRaw(callsOf(request), { signal })

describe.each(requests)('$grain, with receipts: $withReceipts', request => {
  test('equals what this thread makes of it', async () => {
    const chain = simulatedChain(node)
    const [first, second] = [await ask(request), await ask(request)]
    expect(first.bytes).toBeGreaterThan(500_000)
    const here = await digestHere.digest({ chain, request, bodies: first.bodies })
    if (!here.ok) throw new Error(here.failure.message)
    expect(here.range.transfers.length).toBeGreaterThan(500)
    expect(activityCount(here.range.activity)).toBeGreaterThan(100)
    expect(await threads.digest({ chain, request, bodies: second.bodies })).toEqual(here)
    expect(rangeOf(columnsOf(here.range))).toEqual(here.range)
  })

  test('a body that is cut off is told as such', async () => {
    const chain = simulatedChain(node)
    const { bodies } = await ask(request)
    const cut = bodies.map(body => body.subarray(0, body.length - 100))
    const expected = { ok: false, failure: { check: 'unreadable', block: 20 } }
    expect(await digestHere.digest({ chain, request, bodies: cut })).toMatchObject(expected)
    expect(await threads.digest({ chain, request, bodies: cut })).toMatchObject(expected)
  })
})

test('after it was closed, this thread does the work', async () => {
  const closed = new DigestThreads({ threads: 1 })
  await closed.close()
  const request = requests[0]!
  const { bodies } = await ask(request)
  expect(await closed.digest({ chain: simulatedChain(node), request, bodies })).toMatchObject({ ok: true })
})

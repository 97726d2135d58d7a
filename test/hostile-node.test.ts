// A hostile node alone and beside an honest one that is slower: alone the service says so and stores nothing false,
// beside an honest one it stores the honest rows. Prints a row for each attack.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ChainIndexer } from '../src/evm/index/chain-indexer.ts'
import type { Store } from '../src/store/store.ts'
import { expectFullTruth, expectNothingWrong } from './evm-fault-checks.ts'
import { caughtUp, patienceMs, startIndexer, temporaryStore } from './evm-harness.ts'
import { someCases } from './release-runs.ts'
import { hastyClock } from './sim/hasty-clock.ts'
import { type Attack, changingAttacks, endlessForks, transportAttacks, valueAttacks } from './sim/hostile.ts'
import { type SimNode, startSimNode } from './sim/node.ts'

const chain = { height: 40, hashes: 'real', finalityDepth: 12, transactionsPerBlock: 2, contracts: 3 } as const
const pace = {
  retryDelayMs: { first: 50, max: 500 },
  historyCheckMs: 50,
  shorterBranchPatienceMs: 200,
  stalledAfterMs: 2_000,
}
const slower = [{ kind: 'latency', delayMs: 100 }] as const

let elsewhere: Server
let askedElsewhere = 0
beforeAll(async () => {
  elsewhere = createServer((_, response) => {
    askedElsewhere++
    response.end('{}')
  })
  await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve))
  port = (elsewhere.address() as AddressInfo).port
})
let port = 0

const table = new Map<string, { alone?: string; beside?: string }>()
const note = (name: string, row: { alone?: string; beside?: string }) => table.set(name, { ...table.get(name), ...row })
afterAll(() => {
  elsewhere.close()
  expect(askedElsewhere, 'requests that followed a redirect').toBe(0)
  const rows = [...table].map(
    ([name, { alone = '', beside = '' }]) => `${name.padEnd(52)} | ${alone.padEnd(90)} | ${beside}`,
  )
  console.log(['attack'.padEnd(52), ...rows].join('\n'))
})

type Indexed = { status: ChainIndexer; store: Store }

async function indexed(node: SimNode, look: (indexed: Indexed) => Promise<void>): Promise<void> {
  const { store, remove } = await temporaryStore()
  const { indexer, stop } = startIndexer(node, store, { pace, clock: hastyClock(5), pollMs: 50 })
  try {
    await look({ status: indexer, store })
  } finally {
    await stop()
    await remove()
    await node.close()
  }
}

/** What the service says, or that it holds the truth in spite of everything. */
async function alone(attack: Attack): Promise<string> {
  const node = await startSimNode({ chain })
  node.endpoints[0]!.forgery = attack.forge(node)
  let outcome = ''
  await indexed(node, async ({ status, store }) => {
    for (const deadline = Date.now() + patienceMs; outcome === ''; await delay(20)) {
      const { reason, state, complete, head } = await status.status()
      if (reason !== undefined) outcome = `says ${reason.slice(0, 300)}`
      else if (state === 'live' && complete && head === node.chain.head) outcome = 'right'
      else if (Date.now() > deadline) throw new Error('it says nothing')
    }
    await delay(300)
    if (outcome === 'right') await expectFullTruth(store, node.chain, 0)
    else await expectNothingWrong(store, node.chain)
  })
  return outcome
}

/** `node` has the endpoints of both and the chain of the honest one. */
async function startPair(): Promise<{ node: SimNode; hostile: SimNode }> {
  const hostile = await startSimNode({ chain })
  const honest = await startSimNode({ chain, endpoints: [{ faults: slower }] })
  const close = async (): Promise<void> => void (await Promise.all([hostile.close(), honest.close()]))
  return { node: { ...honest, endpoints: [...hostile.endpoints, ...honest.endpoints], close }, hostile }
}

async function beside(attack: Attack): Promise<string> {
  const { node, hostile } = await startPair()
  hostile.endpoints[0]!.forgery = attack.forge(hostile)
  const startedAt = performance.now()
  let outcome = ''
  await indexed(node, async ({ status, store }) => {
    await caughtUp(status, node, patienceMs)
    await expectFullTruth(store, node.chain, 0)
    const { errors } = (await status.status()).rpc[0]!
    outcome = `right after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s, errors ${errors}`
  })
  return outcome
}

describe.concurrent('a hostile node', { timeout: 120_000 }, () => {
  // The slowest first.
  const attacks = (url: string): Attack[] => [...changingAttacks(), ...transportAttacks(url), ...valueAttacks()]
  const names = attacks('').map(({ name }) => name)
  const besides = someCases(names, 4)
  const find = (name: string): Attack => attacks(`http://127.0.0.1:${port}/`).find(each => each.name === name)!
  test('alone: forks without end leave nothing wrong, and the truth once they end', async () => {
    const node = await startSimNode({ chain })
    node.endpoints[0]!.forgery = endlessForks(node)
    await indexed(node, async ({ status, store }) => {
      await delay(1_500)
      node.endpoints[0]!.forgery = undefined
      await expectNothingWrong(store, node.chain)
      await caughtUp(status, node, patienceMs)
      await vi.waitFor(() => expectFullTruth(store, node.chain, 0), { timeout: patienceMs, interval: 100 })
      note('forks without end', { alone: `right after ${node.chain.branches.length} forks` })
    })
  })
  test('beside an honest one: forks without end leave nothing wrong, and the truth once they lag', async () => {
    const { node, hostile } = await startPair()
    hostile.endpoints[0]!.forgery = endlessForks(hostile)
    await indexed(node, async ({ status, store }) => {
      await delay(1_500)
      // Below the forks both have the same blocks.
      await expectNothingWrong(store, hostile.chain)
      // More than a minute of blocks: the other one lags.
      node.mine(40)
      await caughtUp(status, node, patienceMs)
      await vi.waitFor(() => expectFullTruth(store, node.chain, 0), { timeout: patienceMs, interval: 100 })
      note('forks without end', { beside: `right beside ${hostile.chain.branches.length} forks` })
    })
  })
  for (const name of names) {
    test(`alone: ${name}`, async () => {
      note(name, { alone: await alone(find(name)) })
    })
    // Alone each is met in every run; what it does beside another is the same in most of them.
    test.runIf(besides.includes(name))(`beside an honest one: ${name}`, async () => {
      note(name, { beside: await beside(find(name)) })
    })
  }
})

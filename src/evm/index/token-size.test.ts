// Tokens of many transfers on a simulated node: what is estimated, whose limit bounds what is read, and who lifts it.
import { afterEach, expect, test } from 'vitest'
import { patienceMs, simulatedChain, startIndexer, temporaryStore } from '../../../test/evm-harness.ts'
import { type SimNode, startSimNode } from '../../../test/sim/node.ts'
import { ledgerId } from '../../ledgers.ts'
import type { Address } from '../../model.ts'
import { sizeEstimate } from '../../store/size-estimates.ts'
import type { Store } from '../../store/store.ts'
import { topics as events } from '../decode/token-events.ts'
import type { Asker } from './job-queue.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A chain whose tokens have far more transfers than one target stands for. */
async function world(transfersPerTarget: number) {
  const node = await startSimNode({ chain: { height: 2_000 } })
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const ledger = ledgerId(simulatedChain(node).id, 'erc20')
  const token = node.chain.contracts.erc20[0]!.address as Address
  const begin = () => {
    const chain = { ...simulatedChain(node), id: ledger }
    const started = startIndexer(node, store, { chain, index: 'on-demand', pace: { transfersPerTarget } })
    cleanups.push(started.stop)
    return started
  }
  return { node, store, ledger, token, begin }
}

const key = (id: string, indexPerDay: number | undefined): Asker => ({ id, indexPerDay, indexWaiting: undefined })

async function heldBlocks(store: Store, ledger: World['ledger'], token: Address): Promise<number> {
  const covered = await store.contractCoverage(ledger, token)
  return covered.reduce((sum, { from, to }) => sum + to - from + 1, 0)
}
type World = Awaited<ReturnType<typeof world>>

/** Once nothing is under way. */
async function settled(indexer: ReturnType<World['begin']>['indexer']): Promise<void> {
  const running = async () => (await indexer.status()).queue?.running
  await expect.poll(running, { timeout: patienceMs }).toBe(0)
}

function transfersOf(node: SimNode, token: Address): number {
  let count = 0
  for (let number = 0; number <= node.chain.head; number++)
    for (const { logs } of node.chain.block(number).transactions)
      count += logs.filter(({ address, topics }) => address === token && topics[0] === events.transfer).length
  return count
}

test('a key has no more of a token read than its limit allows, another one has the rest', async () => {
  const { node, store, ledger, token, begin } = await world(50)
  const { indexer, stop } = begin()
  const refusal = { code: 'quota_exceeded', details: { reason: expect.stringMatching(/has about [\d,]+ transfers/) } }
  await expect(indexer.ensureContract(token, patienceMs, key('small', 3))).rejects.toMatchObject(refusal)
  await settled(indexer)
  const estimate = (await sizeEstimate(store, ledger, token))!
  const all = transfersOf(node, token)
  expect(all).toBeGreaterThan(1_000)
  expect(estimate.held).toBe(true)
  expect(Math.abs(estimate.transfers - all) / all).toBeLessThan(0.5)
  expect(estimate.targets).toBeGreaterThan(10)
  const { transfers, targets, seconds } = estimate
  expect(indexer.heldTokens).toEqual([{ contract: token, transfers, targets, seconds }])
  // The newest part is there, and is followed.
  const stored = await store.transferCount({ chain: ledger, contract: token })
  expect(stored).toBeGreaterThan(50)
  expect(stored).toBeLessThan(all / 2)
  node.mine(5)
  await expect.poll(async () => (await store.chainState(ledger))?.head.number, { timeout: patienceMs }).toBe(2_005)
  // Asking again reads nothing more, nor does it after a restart.
  const blocks = await heldBlocks(store, ledger, token)
  await expect(indexer.ensureContract(token, patienceMs, key('small', 3))).rejects.toMatchObject(refusal)
  await stop()
  const again = begin()
  await expect(again.indexer.ensureContract(token, patienceMs, key('small', 3))).rejects.toMatchObject(refusal)
  await settled(again.indexer)
  expect(await heldBlocks(store, ledger, token)).toBe(blocks)
  expect(again.indexer.heldTokens.length).toBe(1)
  // A key that may has it read, and it counts as what it is.
  await again.indexer.ensureContract(token, patienceMs, key('large', 500))
  await expect.poll(() => heldBlocks(store, ledger, token), { timeout: patienceMs }).toBe(2_006)
  expect(await sizeEstimate(store, ledger, token)).toBeUndefined()
  expect(again.indexer.heldTokens).toEqual([])
  const more = Array.from({ length: 495 }, (_, at) => `other ${at}`)
  expect(await store.takeIndexing({ keyId: 'large', targets: more, perDay: 500 })).toBe(false)
  expect(await store.transferCount({ chain: ledger, contract: token })).toBe(transfersOf(node, token))
}, 120_000)

test('a key without that limit has all read; a small token costs nothing more', async () => {
  const { store, ledger, token, begin } = await world(50)
  const { indexer } = begin()
  await indexer.ensureContract(token, patienceMs, key('free', undefined))
  await expect.poll(() => heldBlocks(store, ledger, token), { timeout: patienceMs }).toBe(2_001)
  expect(await sizeEstimate(store, ledger, token)).toBeUndefined()
  const small = await world(20_000)
  const ofSmall = small.begin().indexer
  await ofSmall.ensureContract(small.token, patienceMs, key('small', 1))
  await expect.poll(() => heldBlocks(small.store, small.ledger, small.token), { timeout: patienceMs }).toBe(2_001)
  expect(await small.store.takeIndexing({ keyId: 'small', targets: ['another'], perDay: 1 })).toBe(true)
}, 120_000)

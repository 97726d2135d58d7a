// The two ledgers of a chain on a simulated node: tokens are read when one is asked for, hold what the chain holds, and
// are followed on after a restart.
import { afterEach, describe, expect, test } from 'vitest'
import { patienceMs, simulatedChain, temporaryStore } from '../../../test/evm-harness.ts'
import { type SimNode, startSimNode } from '../../../test/sim/node.ts'
import { ledgerId } from '../../ledgers.ts'
import { createLog } from '../../log.ts'
import { createEvmMetrics } from '../../metrics.ts'
import type { Address, ChainId } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import { transfersOfPage, unpackTransfer } from '../../store/transfer-payload.ts'
import { type KeptView, usualViews } from '../../views.ts'
import { topics as events } from '../decode/token-events.ts'
import { ChainRpc } from '../rpc/chain-rpc.ts'
import { ChainIndexer, type ChainSetup } from './chain-indexer.ts'
import { ChainLedgers } from './chain-ledgers.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

type LedgersAsked = { hasNode?: boolean; views?: readonly KeptView[] }

function ledgersOn(node: SimNode, store: Store, { hasNode = true, views }: LedgersAsked = {}) {
  const chain = simulatedChain(node)
  const rpc = new ChainRpc({ chain, endpoints: [{ url: node.url }] })
  const setup: ChainSetup = { chain, index: 'full', views, from: 0, contracts: [], pollMs: 20 }
  const shared = { rpc, store, log: createLog({ level: 'silent', format: 'json' }), pageSizeMax: 100 }
  const metrics = createEvmMetrics()
  const makeIndexer = (of: ChainSetup) => new ChainIndexer({ ...of, ...shared, metrics })
  const ledgers = new ChainLedgers({ setup, store, hasNode, makeIndexer })
  const stop = async () => {
    await ledgers.stop()
    await rpc.close()
  }
  cleanups.push(stop)
  return { ledgers, metrics, stop }
}

/** Block, log, parties and amount of every transfer of a token, oldest first. */
function truthOf(node: SimNode, token: string): string[] {
  const told: string[] = []
  for (let number = 0; number <= node.chain.head; number++)
    for (const { firstLogIndex, logs } of node.chain.block(number).transactions)
      for (const [at, { address, topics, data }] of logs.entries())
        if (address === token && topics[0] === events.transfer)
          told.push([number, firstLogIndex + at, ...topics.slice(1), data].join(' '))
  return told
}

async function storedOf(store: Store, node: SimNode, token: Address): Promise<string[]> {
  const chain = ledgerId(simulatedChain(node).id, 'erc20')
  const page = await store.transferPage({ chain, contract: token, order: 'asc', limit: 10_000 })
  const wordOf = (text: string) => `0x${text.slice(2).padStart(64, '0')}`
  return (transfersOfPage(page) ?? []).map(({ block, logIndex, payload }) => {
    const { from, to, amount, tokenId, value } = unpackTransfer(payload)
    expect([tokenId, value]).toEqual([0n, 0n])
    return [block, logIndex, wordOf(from), wordOf(to), wordOf(`0x${amount.toString(16)}`)].join(' ')
  })
}

async function isComplete(store: Store, node: SimNode, token: Address): Promise<boolean> {
  const covered = await store.contractCoverage(ledgerId(simulatedChain(node).id, 'erc20'), token)
  return covered.reduce((next, { from, to }) => (from <= next ? Math.max(next, to + 1) : next), 0) > node.chain.head
}

/** Of contracts that have transfers: a store may have met others on the branch that was left. */
async function countsOf(store: Store, chain: ChainId): Promise<Map<Address, number>> {
  const counts = new Map<Address, number>()
  for (const contract of await store.contractsOf(chain, undefined, 1_000)) {
    const count = await store.transferCount({ chain, contract })
    if (count > 0) counts.set(contract, count)
  }
  return counts
}

test('a token is indexed beside the chain, through new blocks, a reorganisation and a restart', async () => {
  const node = await startSimNode({ chain: { height: 150 } })
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const token = node.chain.contracts.erc20[0]!.address as Address
  const { ledgers, metrics, stop } = ledgersOn(node, store)
  ledgers.start()
  await expect.poll(async () => (await ledgers.status()).state, { timeout: patienceMs }).toBe('live')
  expect((await ledgers.status()).erc20).toBeUndefined()

  await ledgers.of('erc20')!.ensureContract(token, 10_000)
  await expect.poll(() => isComplete(store, node, token), { timeout: patienceMs }).toBe(true)
  expect((await storedOf(store, node, token)).length).toBeGreaterThan(10)
  expect(await storedOf(store, node, token)).toEqual(truthOf(node, token))
  expect((await ledgers.status()).erc20).toMatchObject({ state: 'live', contracts: 1, complete: true, head: 150 })
  const shown = await metrics.registry.metrics()
  for (const chain of ['sim', 'sim erc20']) expect(shown).toContain(`almanac_evm_head_block{chain="${chain}"} 150`)

  node.mine(10)
  node.reorg({ depth: 4, length: 6 })
  await expect.poll(() => isComplete(store, node, token), { timeout: patienceMs }).toBe(true)
  await expect.poll(() => storedOf(store, node, token), { timeout: patienceMs }).toEqual(truthOf(node, token))

  await stop()
  node.mine(20)
  const again = ledgersOn(node, store)
  again.ledgers.start()
  await expect.poll(async () => (await again.ledgers.status()).erc20?.head, { timeout: patienceMs }).toBe(182)
  await expect.poll(() => isComplete(store, node, token), { timeout: patienceMs }).toBe(true)
  expect(await storedOf(store, node, token)).toEqual(truthOf(node, token))
}, 120_000)

test('without a node, and once it has stopped, nothing is begun', async () => {
  const node = await startSimNode({ chain: { height: 20 } })
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const { ledgers } = ledgersOn(node, store, { hasNode: false })
  ledgers.start()
  expect(ledgers.of('erc20')).toBeUndefined()
  const { ledgers: stopped, stop } = ledgersOn(node, store)
  stopped.start()
  await stop()
  expect(stopped.of('erc20')).toBeUndefined()
})

describe.each(['json', 'raw'])('a chain that keeps erc20, of a node with %s receipts', form => {
  test('has every token from the start, without a request, and its NFTs as ever', async () => {
    const faults = form === 'raw' ? [{ kind: 'raw-receipts' as const }] : []
    const node = await startSimNode({ chain: { height: 150, hashes: 'real' }, endpoints: [{ faults }] })
    cleanups.push(() => node.close())
    const [kept, plain] = await Promise.all([temporaryStore(), temporaryStore()])
    cleanups.push(kept.remove, plain.remove)
    const { ledgers } = ledgersOn(node, kept.store, { views: [...usualViews, 'erc20'] })
    const { ledgers: without } = ledgersOn(node, plain.store)
    for (const each of [ledgers, without]) each.start()
    expect([ledgers.onDemand, without.onDemand]).toEqual([[], ['erc20']])
    const complete = { complete: true, head: node.chain.head }
    await expect.poll(() => without.status(), { timeout: patienceMs }).toMatchObject(complete)
    await expect.poll(() => ledgers.status(), { timeout: patienceMs }).toMatchObject({ ...complete, erc20: complete })

    node.mine(10)
    node.reorg({ depth: 4, length: 6 })
    const { head } = node.chain
    await expect.poll(() => without.status(), { timeout: patienceMs }).toMatchObject({ head, complete: true })
    await expect
      .poll(() => ledgers.status(), { timeout: patienceMs })
      .toMatchObject({ head, erc20: { head, complete: true } })
    const { id } = simulatedChain(node)
    const tokens = node.chain.contracts.erc20.map(({ address }) => address as Address)
    for (const token of tokens)
      await expect.poll(() => storedOf(kept.store, node, token), { timeout: patienceMs }).toEqual(truthOf(node, token))
    const tokenLedger = ledgerId(id, 'erc20')
    // Nothing else is a token, and the ledger of NFTs holds what it holds without the other.
    expect(await kept.store.contractsOf(tokenLedger, undefined, 1_000)).toEqual(
      tokens.filter(token => truthOf(node, token).length > 0).sort(),
    )
    const nfts = await countsOf(plain.store, id)
    expect(nfts.size).toBeGreaterThan(10)
    await expect.poll(() => countsOf(kept.store, id), { timeout: patienceMs }).toEqual(nfts)
    const evidence = new Set((await kept.store.coverage(tokenLedger, 'transfers')).map(claim => claim.evidence))
    expect(evidence).toEqual(new Set(['receipts-root']))
  }, 120_000)
})

// Commands on a store that has the ledger of ERC-20 tokens beside that of NFTs: what they say of it, copy, compare, put
// right and remove.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { explanation } from '../src/api/operator-schemas.ts'
import { ledgerId } from '../src/ledgers.ts'
import type { Address, ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { putSizeEstimate } from '../src/store/size-estimates.ts'
import type { Store } from '../src/store/store.ts'
import { tokenSettings } from '../src/views.ts'
import { alter, busiest, chainId, place, placeEachTest, simulate } from './chain-commands.ts'
import { patienceMs, simulatedChain, startIndexer } from './evm-harness.ts'
import type { SimNode } from './sim/node.ts'

placeEachTest()

const tokens = ledgerId(chainId as ChainId, 'erc20')

/** NFTs up to block 200, and one token to the head. */
async function indexed(): Promise<{ node: SimNode; token: Address; transfers: number }> {
  const node = await simulate()
  const synced = await place.runHere(['sync', '--chain', 'sim', '--from', '0', '--to', '200'])
  expect(synced).toMatchObject({ code: 0 })
  const token = node.chain.contracts.erc20[0]!.address as Address
  const store = await openStore(place.storeUrl, { role: 'owner' })
  const chain = { ...simulatedChain(node), id: tokens }
  const { indexer, stop } = startIndexer(node, store, { chain, index: 'on-demand' })
  await indexer.ensureContract(token, patienceMs)
  await expect.poll(async () => (await indexer.status()).complete, { timeout: patienceMs }).toBe(true)
  await stop()
  const transfers = await store.transferCount({ chain: tokens, contract: token })
  await store.close()
  expect(transfers).toBeGreaterThan(100)
  return { node, token, transfers }
}

async function inStore<T>(read: (store: Store) => Promise<T>, url = place.storeUrl): Promise<T> {
  const store = await openStore(url, { role: 'tool' })
  try {
    return await read(store)
  } finally {
    await store.close()
  }
}

test('verify compares tokens where it is asked to, by the name of their ledger, and puts them right', async () => {
  const { token, transfers } = await indexed()
  const asked = ['verify', '--chain', 'sim', '--erc20', '--from', '0', '--to', '300']
  const same = await place.runHere(asked)
  expect(same).toMatchObject({ code: 0 })
  expect(same.stdout).toContain('sim erc20 is the same in the store as on the chain: 301 blocks in 1 range')
  expect(await place.runHere(['verify', '--chain', 'sim', '--from', '0', '--to', '200'])).toMatchObject({ code: 0 })
  await alter(`DELETE FROM transfers WHERE rowid = (SELECT rowid FROM transfers
    WHERE contract = (SELECT id FROM contracts WHERE address = x'${token.slice(2)}') AND block < 300 LIMIT 1)`)
  const { code, stdout } = await place.runHere([...asked, '--contract', token, '--json'])
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    expect.objectContaining({ chain: 'sim erc20', differences_by_kind: { missing: 1 } }),
  ])
  const repaired = await place.runHere([...asked, '--repair'])
  expect(repaired).toMatchObject({ code: 0 })
  expect(repaired.stdout).toContain('sim erc20 is the same')
  const held = await inStore(store =>
    store.transferPage({ chain: tokens, contract: token, order: 'asc', limit: 10_000 }),
  )
  expect(held.length).toBe(transfers)
}, 60_000)

test('verify compares whole blocks of a chain that keeps every token, and puts them right', async () => {
  const node = await simulate({}, { index: 'full', views: ['transfers', 'erc20'] })
  const store = await openStore(place.storeUrl, { role: 'owner' })
  const chain = { ...simulatedChain(node), id: tokens }
  const { indexer, stop } = startIndexer(node, store, { chain, ...tokenSettings(['erc20']) })
  await expect.poll(async () => (await indexer.status()).complete, { timeout: patienceMs }).toBe(true)
  await stop()
  await store.close()
  const asked = ['verify', '--chain', 'sim', '--erc20', '--from', '0', '--to', '300']
  const same = await place.runHere(asked)
  expect(same).toMatchObject({ code: 0 })
  expect(same.stdout).toContain('sim erc20 is the same in the store as on the chain: 301 blocks in 1 range')
  expect((await place.runHere([...asked, '--contract', `0x${'1'.repeat(40)}`])).stderr).toContain('indexed in full')
  // A token that nobody names: its other rows are as they were.
  await alter(`DELETE FROM transfers WHERE rowid = (SELECT rowid FROM transfers WHERE block < 300 LIMIT 1)`)
  const { code, stdout } = await place.runHere([...asked, '--json'])
  expect([code, JSON.parse(stdout)]).toEqual([1, expect.objectContaining({ differences_by_kind: { missing: 1 } })])
  const repaired = await place.runHere([...asked, '--repair'])
  expect(repaired).toMatchObject({ code: 0 })
  expect(repaired.stdout).toContain('sim erc20 is the same')
}, 60_000)

test('copies, backups and what is told of a stopped store have it too', async () => {
  const { token, transfers } = await indexed()
  // Where another service answers, the store says what is known.
  const other = createServer((_, response) => response.end('another service')).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const listen = `127.0.0.1:${(other.address() as AddressInfo).port}`
  const status = await place.runHere(['status', '--json', '--listen', listen]).finally(() => other.close())
  expect(JSON.parse(status.stdout).chains.sim).toMatchObject({ erc20: { state: 'stopped', head: 364, contracts: 1 } })
  const [copied, kept] = ['copied.db', 'kept.db'].map(name => `${place.directory}/${name}`) as [string, string]
  const copy = await place.runHere(['store', 'copy', '--from', place.storeUrl, '--to', `file:${copied}`])
  expect(copy).toMatchObject({ code: 0 })
  expect(await place.runHere(['store', 'backup', kept])).toMatchObject({ code: 0 })
  for (const file of [copied, kept])
    await inStore(async store => {
      expect(await store.transferCount({ chain: tokens, contract: token })).toBe(transfers)
      expect(await store.contractCoverage(tokens, token)).not.toEqual([])
      expect((await store.chainState(tokens))?.head.number).toBe(364)
    }, `file:${file}`)
}, 60_000)

test('a contract and a chain are forgotten in both ledgers', async () => {
  const { node, token, transfers } = await indexed()
  const nft = busiest(node)
  const ofToken = await place.runHere(['forget', 'sim', '--contract', token, '--yes', '--json'])
  expect(JSON.parse(ofToken.stdout)).toMatchObject({ contract: token, transfers })
  await inStore(async store => {
    expect(await store.transferCount({ chain: tokens, contract: token })).toBe(0)
    expect(await store.contractCoverage(tokens, token)).toEqual([])
    expect(await store.transferCount({ chain: chainId as ChainId, contract: nft })).toBeGreaterThan(0)
  })
  expect((await place.runHere(['forget', 'sim', '--yes'])).stdout).toContain('sim is forgotten.')
  await inStore(async store => {
    for (const id of [tokens, chainId as ChainId]) {
      expect(await store.chainState(id)).toBeUndefined()
      expect(await store.coverage(id)).toEqual([])
    }
  })
  expect((await place.runHere(['forget', 'sim', '--yes'])).stderr).toContain('The store holds nothing of sim.')
}, 60_000)

test('explain tells of a token beside NFTs, and what reading the rest of a large one would cost', async () => {
  const { token, transfers } = await indexed()
  const whole = await place.runHere(['explain', 'sim', token])
  expect(whole.stdout).toMatch(new RegExp(`erc20 {16}${transfers} transfers; head 364, final 300`))
  expect(whole.stdout).not.toContain('in all')
  const owner = await openStore(place.storeUrl, { role: 'owner' })
  const estimate = { transfers: 120_000_000, seconds: 40_000, targets: 6_000, held: true }
  await putSizeEstimate(owner, { ledger: tokens, contract: token }, estimate)
  await owner.close()
  const { stdout } = await place.runHere(['explain', 'sim', token])
  expect(stdout).toContain('about 120,000,000 transfers in all, some 28.3 GB: reading the rest takes about 11 h')
  expect(stdout).toContain('no key that asked may have 6,000 indexed a day')
  expect(stdout).toContain('keys limit <id> --index <number>')
  const json = await place.runHere(['explain', 'sim', token, '--json'])
  expect(explanation.parse(JSON.parse(json.stdout)).erc20).toMatchObject({ transfers, estimate })
}, 60_000)

// Over HTTP: what operations say of a chain that does not keep the index that they need.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostedOperations } from '../src/api/hosted/operations.ts'
import { ChainTable } from '../src/chains.ts'
import { type ChainId, type Hash, zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'
import { seededAddress } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const eth = new ChainTable().parse('eth')!
const contract = seededAddress('apes')
const wallet = seededAddress('alice')
const hash = `0x${'1'.repeat(64)}` as Hash
const polygon = 137 as ChainId

async function fill(store: Store): Promise<void> {
  await store.keepIndexes(eth.id, [], 1)
  const facts = { standard: 'ERC721', batch: false, from: zeroAddress, to: wallet, operator: undefined } as const
  const payload = packTransfer({ ...facts, tokenId: 1n, amount: 1n, value: 0n, transactionHash: hash, idCount: 1 })
  const transfers = [{ block: 3, transactionIndex: 0, logIndex: 0, batchIndex: 0, contract, payload }]
  const block = { number: 3, hash, timestamp: 30 }
  const covered = [{ scope: 'transfers', from: 0, to: 3, evidence: 'receipts-root' }] as const
  for (const chain of [eth.id, polygon])
    await store.commitCold({ chain, covered, blocks: [block], transfers, activity: noActivity })
  for (const chain of [eth.id, polygon]) await store.putChainState(chain, { head: block })
}

let api: ServedApi
beforeAll(async () => {
  api = await serveApi({ fill })
})
afterAll(() => api.close())

const operations = hostedOperations.flatMap(({ method, path, view }) => {
  const asked = path.replace(/^\/nft\/{address}/, `/nft/${contract}`).replace('{address}', wallet)
  return view === undefined || method !== 'GET' ? [] : [[asked.replace('{token_id}', '1').replace(/{\w+}/, '3'), view]]
})

test('an index that a known chain does not keep is named, with the setting that adds it', async () => {
  expect(operations).toHaveLength(16)
  for (const [path, view] of operations) {
    const response = await api.get(`/api/v2.2${path}?chain=eth`)
    expect(response.status, path).toBe(503)
    expect(await response.json()).toMatchObject({
      code: 'not_configured',
      message: `Chain eth does not keep ${view}, which this operation needs: add it to chains.eth.views`,
      details: { chain: 'eth', view },
    })
  }
  for (const path of [`/api/v2.2/nft/${contract}/transfers?chain=eth`, `/explain/eth/${contract}`])
    expect((await api.get(path)).status, path).toBe(200)
})

test('a chain that keeps all, and one that is not known yet, answer', async () => {
  for (const [path] of operations) {
    // Metadata is read again after the answer.
    const status = path!.endsWith('/resync') ? 202 : 200
    expect((await api.get(`/api/v2.2${path}?chain=polygon`)).status, path).toBe(status)
  }
  expect(await (await api.get(`/api/v2.2/${wallet}/nft?chain=bsc`)).json()).toMatchObject({ status: 'SYNCING' })
})

test('an index that is being filled is syncing', async () => {
  await api.store.keepIndexes(eth.id, ['by_wallet'], 1)
  const response = await api.get(`/api/v2.2/${wallet}/nft?chain=eth`)
  expect(await response.json()).toMatchObject({ status: 'SYNCING' })
  while (await api.store.keepIndexes(eth.id, undefined, 5_000));
  const filled = await api.get(`/api/v2.2/${wallet}/nft?chain=eth`)
  expect(await filled.json()).toMatchObject({ status: 'SYNCED', result: [{ token_id: '1' }] })
})

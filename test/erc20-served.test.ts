// Operations on ERC-20 over HTTP where a chain keeps every token, and where its node does not have what is asked of it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ledgerId } from '../src/ledgers.ts'
import { type Address, type Block, type ChainId, type Hash, zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { packTransfer } from './pack-transfer.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const chain = 1 as ChainId
const ledger = ledgerId(chain, 'erc20')
const addressOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as Address
const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as Hash
const [alice, bob, carol, plain, other] = [11, 12, 13, 21, 22].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
]
const head: Block = { number: 3, hash: hashOf(3), timestamp: 36 }

let api: ServedApi
beforeAll(async () => {
  api = await serveApi({
    fill: async store => {
      const blocks = [0, 1, 2].map(number => ({ ...head, number, hash: hashOf(number), timestamp: number * 12 }))
      const rows = [
        row(1, 0, plain, zeroAddress, alice, 100n),
        row(2, 0, plain, alice, bob, 30n),
        row(2, 1, other, zeroAddress, bob, 7n),
        row(3, 0, plain, bob, bob, 1n),
      ]
      for (const id of [chain, ledger]) {
        await store.commitCold({
          ...{ chain: id, activity: noActivity, blocks: [...blocks, head], transfers: id === ledger ? rows : [] },
          covered: [{ scope: 'full', from: 0, to: head.number, evidence: 'bloom' }],
        })
        await store.putChainState(id, { head, finalized: head.number })
      }
    },
  })
})
afterAll(() => api.close())

// biome-ignore lint/suspicious/noExplicitAny: answers as clients see them.
async function json(target: string): Promise<any> {
  const response = await api.get(`/api/v2.2${target}`)
  expect([target, response.status]).toEqual([target, 200])
  return await response.json()
}

test('stats of a wallet count its transfers of every token, where the chain keeps them', async () => {
  for (const [wallet, total] of [
    [alice, '2'],
    [bob, '3'],
    [carol, '0'],
  ] as const)
    expect(await json(`/wallets/${wallet}/stats`)).toMatchObject({
      nft_transfers: { total: '0' },
      token_transfers: { total },
    })
})

function row(block: number, logIndex: number, contract: Address, from: Address, to: Address, amount: bigint) {
  const payload = packTransfer({
    ...{ standard: 'ERC1155', batch: false, from, to, operator: undefined, tokenId: 0n, amount, value: 0n },
    ...{ transactionHash: hashOf(logIndex), idCount: 1 },
  })
  return { block, transactionIndex: 0, logIndex, batchIndex: 0, contract, payload }
}

// Answers about a token of which no key that asked may have all transfers indexed: what is there is answered, what takes
// the whole history is refused with what it would cost.
import { afterEach, expect, test } from 'vitest'
import { ledgerId } from '../src/ledgers.ts'
import type { Address, ChainId, Hash } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { putSizeEstimate } from '../src/store/size-estimates.ts'
import { packTransfer } from './pack-transfer.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const ledger = ledgerId(1 as ChainId, 'erc20')
const [token, alice, bob] = ['11', 'a1', 'b0'].map(byte => `0x${byte.repeat(20)}`) as [Address, Address, Address]
const hash = `0x${'ab'.repeat(32)}` as Hash
const estimate = { transfers: 120_000_000, seconds: 40_000, targets: 6_000 }

let served: ServedApi
afterEach(() => served.close())

/** The newest part of a token. */
async function serve(held: boolean): Promise<void> {
  const payload = packTransfer({
    ...{ standard: 'ERC1155', batch: false, from: alice, to: bob, operator: undefined },
    ...{ tokenId: 0n, amount: 7n, value: 0n, transactionHash: hash, idCount: 1 },
  })
  served = await serveApi({
    fill: async store => {
      await store.putChainState(ledger, { head: { number: 100, hash, timestamp: 1_700_000_000 }, finalized: 100 })
      await store.commitCold({
        ...{ chain: ledger, activity: noActivity, blocks: [{ number: 95, hash, timestamp: 1_699_999_000 }] },
        covered: [{ from: 90, to: 100, evidence: 'bloom', scope: token }],
        transfers: [{ block: 95, transactionIndex: 0, logIndex: 0, batchIndex: 0, contract: token, payload }],
      })
      await putSizeEstimate(store, { ledger, contract: token }, { ...estimate, held })
    },
  })
}

const lists = [`/erc20/${token}/transfers`, `/erc20/${token}/stats`]
const ofAll = [`/erc20/${token}/owners`, `/erc20/${token}/holders`]

test('the newest transfers and their count are answered, with why waiting does not help', async () => {
  await serve(true)
  for (const path of lists) {
    const answer = await served.get(`/api/v2.2${path}?chain=eth`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-index-complete')).toBe('false')
    expect(answer.headers.get('x-index-incomplete-reason')).toBe(
      'The token has about 120,000,000 transfers, and reading the rest counts as 6000 targets to index, more than any key that asked may have',
    )
  }
  const { result } = (await (await served.get(`/api/v2.2${lists[0]}?chain=eth`)).json()) as { result: object[] }
  expect(result).toMatchObject([{ address: token, value: '7', from_address: alice }])
})

test('what takes all of its transfers is refused, with the command that allows it', async () => {
  await serve(true)
  for (const path of ofAll) {
    const answer = await served.get(`/api/v2.2${path}?chain=eth`)
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await answer.json()).toMatchObject({
      message: 'Rate limit exceeded',
      details: {
        ...{ contract: token, ...estimate },
        reason: 'The token has about 120,000,000 transfers, and reading the rest counts as 6000 targets to index.',
        raise: expect.stringMatching(/^almanac keys limit \S+ --index 6000$/),
      },
    })
  }
})

test('while it is being read nothing is refused', async () => {
  await serve(false)
  for (const path of [...lists, ...ofAll]) {
    const answer = await served.get(`/api/v2.2${path}?chain=eth`)
    expect([path, answer.status]).toEqual([path, 200])
    expect(answer.headers.get('x-index-incomplete-reason')).toBeNull()
  }
})

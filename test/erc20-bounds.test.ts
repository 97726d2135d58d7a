// What one question on ERC-20 may take: rows of a token with many holders, tokens of a wallet, transfers that are taken
// back, and what is kept of a node's answers.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineChain } from '../src/chains.ts'
import { ledgerId } from '../src/ledgers.ts'
import { type Address, type AskedCalls, type Block, type Hash, zeroAddress } from '../src/model.ts'
import { Claims } from '../src/query/claims.ts'
import { TokenCalls } from '../src/query/erc20/token-calls.ts'
import { TokenFacts } from '../src/query/erc20/token-facts.ts'
import { TouchedTokens, walletTokensMax } from '../src/query/erc20/touched-tokens.ts'
import { WalletTokens } from '../src/query/erc20/wallet-tokens.ts'
import { Holdings, type HoldingsBounds } from '../src/query/holdings/holdings.ts'
import { HoldingsAdmission } from '../src/query/holdings/holdings-admission.ts'
import type { HoldersQuestion, HoldingsOptions } from '../src/query/holdings/questions.ts'
import { ShownContracts } from '../src/query/shown-contracts.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { temporaryStore } from './evm-harness.ts'
import { packTransfer } from './pack-transfer.ts'

const chain = defineChain({ name: 'sim', id: 31_337 })
const ledger = ledgerId(chain.id, 'erc20')
const addressOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as Address
const wallet = addressOf(2 ** 40)
const manyHolders = addressOf(2 ** 41)
const busy = addressOf(2 ** 42)
const holders = 6_000
const moves = 100_500
/** Dust that a wallet was sent. */
const touched = 100_000
/** More than a number tells exactly. */
const held = 10n ** 20n
const head: Block = { number: 3, hash: `0x${'3'.repeat(64)}` as Hash, timestamp: 36 }

let store: Store
let remove: () => Promise<void>
beforeAll(async () => {
  ;({ store, remove } = await temporaryStore())
  const blocks = [0, 1, 2].map(number => ({ ...head, number, hash: hashOf(number), timestamp: number * 12 }))
  await store.commitCold({
    ...{ chain: ledger, activity: noActivity, blocks: [...blocks, head] },
    covered: [{ scope: 'full', from: 0, to: head.number, evidence: 'bloom' }],
    transfers: [
      ...Array.from({ length: holders }, (_, at) => row(1, at, manyHolders, zeroAddress, addressOf(at + 1), held)),
      ...Array.from({ length: touched }, (_, at) => row(2, at, addressOf(2 ** 43 + at), zeroAddress, wallet, 1n)),
      // To and fro, so that hardly any address is touched.
      ...Array.from({ length: moves }, (_, at) =>
        row(3, at, busy, addressOf(1 + (at % 2)), addressOf(2 - (at % 2)), 1n),
      ),
    ],
  })
  await store.putChainState(ledger, { head })
}, 120_000)
afterAll(() => remove())

test('amounts that are no numbers count while a token is folded', async () => {
  const bytesMax = 1_100_000
  // As many holders with small amounts would fit.
  const refused = holdingsWith({ limits: { bytesMax } }).holders(question(manyHolders), options())
  await expect(refused).rejects.toMatchObject({ code: 'list_too_large' })
  const { holders: count, sum } = await holdingsWith({}).holders(question(manyHolders), options())
  expect([count, sum]).toEqual([holders, BigInt(holders) * held])
})

test('those with the same come in the order of their addresses, however many there are', async () => {
  const { rows } = await holdingsWith({}).holders({ ...question(manyHolders), limit: 3 }, options())
  expect(rows).toEqual([1, 2, 3].map(number => ({ owner: addressOf(number), amount: held })))
})

test('no more transfers are taken back than one question may read', { timeout: 60_000 }, async () => {
  const moments = [head.timestamp, head.timestamp - 1]
  const { past } = await holdingsWith({}).holders({ ...question(busy), moments }, options())
  expect(past).toEqual([expect.any(Number), undefined])
})

test('a wallet with 100,000 tokens of dust is told so, and no more are read or asked than one answer has', async () => {
  const revision = () => store.revision()
  const calls = new TokenCalls(store)
  const claims = new Claims(store, revision)
  const facts = new TokenFacts(new ShownContracts(store, revision), calls)
  let recordsRead = 0
  const indexes: Store['indexes'] = {
    ...store.indexes,
    indexRecords: async query => {
      const records = await store.indexes.indexRecords(query)
      recordsRead += records.length
      return records
    },
  }
  const touchedTokens = new TouchedTokens({ indexes, claims, admission: new HoldingsAdmission() })
  const tokens = new WalletTokens({ touched: touchedTokens, calls, facts })
  const asked: AskedCalls[] = []
  const asking = { chain, wallet, toBlock: undefined, tokens: undefined, excludeSpam: false }
  const answer = await tokens.answer(asking, options(asked))
  expect([answer.rows.length, answer.lookedAt, answer.complete]).toEqual([walletTokensMax, walletTokensMax, false])
  // The rest of the list is not read, nor asked about.
  expect(recordsRead).toBeLessThan(3 * walletTokensMax)
  // The newest touched come first.
  expect(answer.rows[0]!.token).toBe(addressOf(2 ** 43 + touched - 1))
  const balances = asked.flatMap(each => each.calls).filter(({ data }) => data.startsWith('0x70a08231'))
  expect(balances.length).toBe(walletTokensMax)
  expect(asked.every(({ about }) => about.length === 1 && about[0] === wallet)).toBe(true)
  asked.length = 0
  await tokens.answer(asking, options(asked))
  expect(asked).toEqual([])
})

function holdingsWith(bounds: HoldingsBounds): Holdings {
  return new Holdings(store, bounds)
}

function question(contract: Address): HoldersQuestion {
  return { chain: ledger, contract, atBlock: undefined, after: undefined, limit: 1, smallestFirst: false }
}

function options(asked: AskedCalls[] = []): HoldingsOptions {
  const calls = async (each: AskedCalls) => {
    asked.push(each)
    return { block: head.number, hash: head.hash, results: each.calls.map(() => `0x${'1'.padStart(64, '0')}`) }
  }
  return { key: { id: 'k' } as HoldingsOptions['key'], freshen: { calls }, freshenWaitMs: 0 }
}

function row(block: number, logIndex: number, contract: Address, from: Address, to: Address, amount: bigint) {
  const payload = packTransfer({
    ...{ standard: 'ERC1155', batch: false, from, to, operator: undefined, tokenId: 0n, amount, value: 0n },
    ...{ transactionHash: hashOf(logIndex), idCount: 1 },
  })
  return { block, transactionIndex: 0, logIndex, batchIndex: 0, contract, payload }
}

function hashOf(number: number): Hash {
  return `0x${number.toString(16).padStart(64, '0')}` as Hash
}

// Compares a store with the simulator's truth, row for row: at the end everything, and at any moment that what is claimed to be
// covered is right. It only reads.
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { isCovered } from '../src/coverage.ts'
import type { Address, ChainId, Interval } from '../src/model.ts'
import { type PackedActivity, unpackActivity } from '../src/store/packed-activity.ts'
import { activityView } from '../src/store/runs/activity-view.ts'
import type { Store } from '../src/store/store.ts'
import { storedTransfers, truthByContract } from './evm-harness.ts'
import type { SimBlock } from './sim/block.ts'
import type { SimChain } from './sim/chain.ts'
import { type ExpectedTransfer, expectedActivity, expectedSent, transfersOfBlock } from './sim/truth.ts'
import { countIn, valuesIn } from './store-tables.ts'

/** As `toEqual`, which takes many times as long over thousands of rows that are the same. */
export function expectSame(found: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(found, expected)) expect(found, what).toEqual(expected)
}

/** What every store must be like at any moment, also right after its process was killed. */
export async function expectNothingWrong(store: Store, chain: SimChain): Promise<void> {
  const id = chain.options.chainId as ChainId
  // Rows may be committed before the first head is: they are final then.
  const finalized = (await store.chainState(id))?.finalized ?? Number.POSITIVE_INFINITY
  const hot = new Map((await store.hotBlocks(id)).map(block => [block.number, block.hash]))
  for (const [number, hash] of hot) expect(chain.blockByHash(hash)?.number, `hot block ${number}`).toBe(number)
  for (const contract of await contractsOf(store, id)) {
    const covered = await store.contractCoverage(id, contract)
    const stored = byBlock(await storedTransfers(store, chain, contract))
    const numbers = new Set([...stored.keys(), ...covered.flatMap(({ from, to }) => numbersOf(from, to))])
    for (const number of numbers) {
      const rows = stored.get(number) ?? []
      const hash = hot.get(number)
      if (number > finalized && hash === undefined) {
        expect(rows, `rows of block ${number}, which is neither final nor hot`).toEqual([])
        continue
      }
      const block = (hash === undefined ? chain.block(number) : chain.blockByHash(hash)) as SimBlock
      const truth = transfersOfBlock(block).filter(row => row.contract === contract)
      const claimed = isCovered(covered, { from: number, to: number })
      if (claimed || rows.length > 0) expectSame(rows, truth, `${contract} in block ${number}`)
    }
  }
}

/** The whole history from `from` to the head, of every contract and address, and nothing beside it. */
export async function expectFullTruth(store: Store, chain: SimChain, from: number): Promise<void> {
  const id = chain.options.chainId as ChainId
  const range = { from, to: chain.head }
  const coverage = await store.coverage(id, 'full')
  expect(coverage[0]?.from).toBe(from)
  expect(coverage.at(-1)?.to).toBe(chain.head)
  expect(isCovered(coverage, range)).toBe(true)
  const truth = truthByContract(chain, range)
  expect(new Set(await contractsOf(store, id, true))).toEqual(new Set(truth.keys()))
  for (const [contract, rows] of truth) await expectContractTruth(store, chain, contract, rows)
  const activity = expectedActivity(chain, range)
  await Promise.all(
    [...activity].map(async ([address, row]) =>
      expectSame((await store.activityOf(address)).get(id), row, `activity of ${address}`),
    ),
  )
  const state = await store.chainState(id)
  expect(state?.head).toMatchObject({ number: chain.head, hash: chain.hashOf(chain.head) })
}

export async function expectContractTruth(
  store: Store,
  chain: SimChain,
  contract: Address,
  truth: readonly ExpectedTransfer[],
): Promise<void> {
  const id = chain.options.chainId as ChainId
  expectSame(await storedTransfers(store, chain, contract), truth, `transfers of ${contract}`)
  const count = truth.reduce((sum, { idCount }) => sum + idCount, 0)
  expect(await store.transferCount({ chain: id, contract }), `count of ${contract}`).toBe(count)
}

/**
 * Whether a transaction of a wallet can be stored on demand: its block is final, or followed. Where the first block of interest lies
 * above the final one, those between are neither.
 */
export async function isTold(store: Store, chain: SimChain, block: number): Promise<boolean> {
  const followedAbove = (await store.chainState(chain.options.chainId as ChainId))?.finalized ?? -1
  return block <= chain.finalized || block > followedAbove
}

/** The transactions that a wallet sent, and the one that funded it. */
export async function expectSentTruth(store: Store, chain: SimChain, wallet: Address): Promise<void> {
  const id = chain.options.chainId as ChainId
  const sent = expectedSent(chain, wallet)
  const found = (await store.activityOf(wallet)).get(id)
  if (sent === undefined || !(await isTold(store, chain, sent.last.block))) return
  expect(found?.last, `last transaction of ${wallet}`).toEqual(sent.last)
  if (!(await isTold(store, chain, sent.first.block))) return
  const first = expectedActivity(chain, { from: found!.first.block, to: found!.first.block }).get(wallet)?.first
  expect(found?.first.block).toBeLessThanOrEqual(sent.first.block)
  // A wallet may be paid before it sends; then its first transaction is the funding.
  if (found?.first.hash !== sent.first.hash) expect(found?.first, `funding of ${wallet}`).toEqual(first)
}

/** No recent block at or below the fold, no row of a run above it, and the chain's row tells of recent blocks what is so. */
export async function expectHotAndColdApart(store: Store, chain: ChainId, url: string): Promise<void> {
  const { finalized } = (await store.chainState(chain)) ?? { finalized: -1 }
  const fold = await countIn(url, 'SELECT fold FROM chains WHERE id = ?', chain)
  const count = (sql: string): Promise<number> => countIn(url, sql, fold)
  expect(fold, 'the fold').toBeLessThanOrEqual(finalized)
  expect(await count('SELECT count(*) FROM recent_blocks WHERE number <= ?'), 'recent blocks below').toBe(0)
  // Wallets that were looked up may be of any block.
  const above = `SELECT count(*) FROM runs WHERE view <> ${activityView.id} AND to_block > ?`
  expect(await count(above), 'runs above').toBe(0)
  expect(await coldAddresses(store, chain, { from: finalized + 1, to: blockMax }), 'cold activity above').toEqual([])
  const parts = await countIn(url, 'SELECT parts FROM chains WHERE id = ?', chain)
  expect(await countIn(url, 'SELECT count(*) FROM recent_blocks'), 'parts of recent blocks').toBe(parts)
  const tip = await countIn(url, 'SELECT tip FROM chains WHERE id = ?', chain)
  expect(await countIn(url, 'SELECT coalesce(max(number), -1) FROM recent_blocks'), 'highest recent block').toBe(tip)
}

const blockMax = 2 ** 32 - 1

async function coldAddresses(store: Store, chain: ChainId, interval: Interval): Promise<Address[]> {
  const rows = await store.activityWithin(chain, interval, { after: undefined, limit: 100_000 })
  return rows.map(({ address }) => address)
}

/** How many addresses have activity, hot or cold. */
export async function addressesWithActivity(store: Store, chain: ChainId, url: string): Promise<number> {
  const recent = (await valuesIn(url, 'SELECT activity FROM recent_blocks')) as PackedActivity[]
  const cold = await coldAddresses(store, chain, { from: 0, to: blockMax })
  return new Set([...recent.flatMap(unpackActivity).map(({ address }) => address), ...cold]).size
}

/** Every contract that rows were ever stored for; `withRows`: that has some now. */
async function contractsOf(store: Store, chain: ChainId, withRows = false): Promise<Address[]> {
  const known = await store.contractsOf(chain, undefined, 10_000)
  if (!withRows) return known
  const counts = await Promise.all(known.map(contract => store.transferCount({ chain, contract })))
  return known.filter((_, at) => counts[at]! > 0)
}

function byBlock(rows: readonly ExpectedTransfer[]): Map<number, ExpectedTransfer[]> {
  return Map.groupBy(rows, row => row.block)
}

function numbersOf(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

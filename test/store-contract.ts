// What every engine of the store must do, whatever it stores in. Nothing here may know an engine.
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Address, type Block, type ChainId, type Hash, type TransferRow, zeroAddress } from '../src/model.ts'
import { KnownLabels } from '../src/query/known-labels.ts'
import { activityGaps, setActivityGap } from '../src/store/activity-gaps.ts'
import type { ContractFacts, Label, Mark, RankedContract, TokenUri } from '../src/store/annotation-store.ts'
import { finishForgetting, forget, forgetName } from '../src/store/forget.ts'
import type { KeyRecord } from '../src/store/key-store.ts'
import { changesKept, everyAddress } from '../src/store/label-changes.ts'
import { noActivity, packActivity } from '../src/store/packed-activity.ts'
import type { Holding, ReadOwner } from '../src/store/solana-store.ts'
import type { ColdCommit, HotBlock, Store } from '../src/store/store.ts'
import type { WebFact } from '../src/store/web-fact-store.ts'
import type { WebhookRecord } from '../src/store/webhook-store.ts'
import { holdingRows } from './holding-rows.ts'
import { compareIndexes, compareTransfersAt } from './index-reads.ts'
import { pageOfParties, textsOf } from './labelled-page.ts'
import { ModelStore } from './model-store.ts'
import { packTransfer } from './pack-transfer.ts'
import { rowsOf } from './store-rows.ts'
import { compareReads, StepRunner, steps } from './store-steps.ts'

/** A new and empty store, opened to index into; `beside` opens the same data once more, as another process would. */
export type StoreFixture = {
  store: Store
  beside(): Promise<Store>
  /** Steps the clock of stores that are opened from now on; absent where the engine's clock cannot be stepped. */
  stepClock?(ms: number): Promise<void>
  dispose(): Promise<void>
}

const usualRuns = Number(process.env.STORE_RUNS ?? 4)

const eth = 1 as ChainId
const polygon = 0x89 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const otherContract = `0x${'d'.repeat(40)}` as Address
const wallet = `0x${'1'.repeat(40)}` as Address

const hash = (n: number): Hash => `0x${n.toString(16).padStart(64, '0')}` as Hash
const block = (number: number, branch = 0): Block => ({
  number,
  hash: hash(number * 16 + branch),
  timestamp: number * 10,
})

function transfer(number: number, logIndex: number, { idCount = 1, of = contract } = {}): TransferRow {
  const payload = packTransfer({
    standard: 'ERC721',
    batch: false,
    from: zeroAddress,
    to: wallet,
    operator: undefined,
    tokenId: BigInt(number),
    amount: 1n,
    value: 0n,
    transactionHash: hash(number),
    idCount,
  })
  return { block: number, transactionIndex: 0, logIndex, batchIndex: 0, contract: of, payload }
}

function cold(numbers: readonly number[], changes: Partial<ColdCommit> = {}): ColdCommit {
  const transfers = numbers.map(number => transfer(number, 0))
  return {
    chain: eth,
    covered: [],
    blocks: numbers.map(number => block(number)),
    transfers,
    activity: noActivity,
    ...changes,
  }
}

function hot(number: number, branch = 0): HotBlock {
  const at = { block: number, transactionIndex: branch, hash: hash(number), timestamp: number * 10 }
  return {
    ...block(number, branch),
    transfers: [transfer(number, branch)],
    activity: packActivity([{ address: wallet, first: at, last: at }]),
  }
}

const latest = { chain: eth, contract, order: 'desc', limit: 100 } as const

/** `rowsOnly`: what is kept of chains, and nothing of keys, annotations and Solana, which lies in the same tables anyway. */
export function storeContract(
  name: string,
  create: () => Promise<StoreFixture>,
  { runs = usualRuns, rowsOnly = false } = {},
): void {
  describe(`the store contract on ${name}`, () => {
    let fixture: StoreFixture
    let store: Store

    beforeEach(async () => {
      fixture = await create()
      store = fixture.store
    })
    afterEach(() => fixture.dispose())

    const blocksOfPage = async (from = store) => (await from.transferPage(latest)).blocks

    describe('indexes', () => {
      const kept = async () => (await store.indexes.rowState(eth)).indexes.map(({ index }) => index).sort()
      const same = async () => {
        await compareIndexes(store, eth, [contract, otherContract], 2)
        await compareTransfersAt(store, eth, [contract, otherContract])
      }
      const fill = async () => {
        while (await store.keepIndexes(eth, undefined, 1)) await same()
      }

      test('a new chain keeps all, which follow hot and final rows', async () => {
        await store.commitCold(cold([1, 2]))
        await store.commitHot({ chain: eth, ancestor: 2, blocks: [hot(3), hot(4)], head: block(4) })
        expect(await kept()).toEqual(['by_block', 'by_token', 'by_wallet'])
        await same()
        await store.commitHot({ chain: eth, ancestor: 3, blocks: [hot(4, 1)], head: block(4, 1) })
        await same()
        await store.putChainState(eth, { finalized: 3 })
        await same()
        await store.dropRange(eth, contract, { from: 2, to: 2 })
        await same()
        await store.unfinalize(eth, 1)
        await same()
        expect(await store.keepIndexes(eth, undefined, 10)).toBe(false)
      })

      test('one that is named later is filled from stored rows, and one that is left answers nothing', async () => {
        await store.keepIndexes(eth, [], 1)
        await store.commitCold(cold([1, 2], { transfers: [transfer(1, 0), transfer(2, 0, { of: otherContract })] }))
        await store.commitHot({ chain: eth, ancestor: 2, blocks: [hot(3), hot(4)], head: block(4) })
        expect(await kept()).toEqual([])
        await same()
        await store.keepIndexes(eth, ['by_token', 'by_wallet'], 1)
        const [state] = (await store.indexes.rowState(eth)).indexes
        expect(state).toMatchObject({ filled: false, progress: { contracts: 0, of: 2 } })
        await store.putChainState(eth, { finalized: 3 })
        await fill()
        expect((await store.indexes.rowState(eth)).indexes.every(({ filled }) => filled)).toBe(true)
        await same()
        await store.keepIndexes(eth, ['by_token'], 1)
        expect(await kept()).toEqual(['by_token'])
        await same()
        // Rows that go before its records are removed do not come back with it.
        await store.dropRange(eth, 'full', { from: 1, to: 1 })
        await store.keepIndexes(eth, ['by_block', 'by_wallet'], 1)
        await fill()
        expect(await kept()).toEqual(['by_block', 'by_wallet'])
        await same()
        await forget(store, { chain: eth, view: 'by_block' })
        expect(await kept()).toEqual(['by_wallet'])
      })

      test('changes of final rows are counted, and others are not', async () => {
        const changes = async () => {
          const { takenBack, filled } = await store.indexes.rowState(eth)
          return { takenBack, filled }
        }
        expect(await changes()).toEqual({ takenBack: 0, filled: 0 })
        await store.commitCold(cold([5]))
        await store.commitHot({ chain: eth, ancestor: 5, blocks: [hot(6)], head: block(6) })
        await store.commitHot({ chain: eth, ancestor: 5, blocks: [hot(6, 1)], head: block(6, 1) })
        await store.putChainState(eth, { finalized: 6 })
        expect(await changes()).toEqual({ takenBack: 0, filled: 0 })
        await store.commitCold(cold([3]))
        await store.commitCold(cold([3]))
        expect(await changes()).toEqual({ takenBack: 0, filled: 1 })
        await store.dropRange(eth, contract, { from: 3, to: 3 })
        const { takenBack, filled } = await changes()
        expect([takenBack > 0, filled]).toEqual([true, 1])
        await store.unfinalize(eth, 5)
        const unfinalized = (await changes()).takenBack
        expect(unfinalized).toBeGreaterThan(takenBack)
        // What was read of an index while it was left is not what it has when it is filled again.
        await store.keepIndexes(eth, [], 1)
        await store.keepIndexes(eth, ['by_token'], 1)
        await fill()
        expect((await changes()).takenBack).toBeGreaterThan(unfinalized)
      })
    })

    describe('forgetting', () => {
      test('a contract goes in the smallest steps, past runs that do not have it', async () => {
        for (const n of [1, 2, 3]) await store.commitCold(cold([n]))
        const other = [4, 5].map(n => transfer(n, 0, { of: otherContract }))
        await store.commitCold(cold([4, 5], { transfers: other }))
        let steps = 0
        while (!(await store.forgetStep({ chain: eth, contract: otherContract }, 1)).done)
          expect(++steps).toBeLessThan(50)
        expect(await store.transferCount({ chain: eth, contract: otherContract })).toBe(0)
        expect(await store.transferCount({ chain: eth, contract })).toBe(3)
      })

      const ref = { block: 2, transactionIndex: 0, hash: hash(2), timestamp: 20 }
      const activity = packActivity([{ address: wallet, first: ref, last: ref }])
      const facts = (chain: ChainId, of: Address): ContractFacts => ({
        ...{ chain, contract: of, name: 'A', symbol: 'B', possibleSpam: false },
      })

      const tokenUri = (of: Address, at: number): TokenUri => ({
        ...{ contract: of, tokenId: BigInt(at), uri: `ipfs://${at}`, readAtMs: at },
      })

      /** Whole blocks, hot ones, a pending range, and what is kept beside them. */
      async function fill(chain: ChainId): Promise<void> {
        const rows = [1, 2, 3].flatMap(n => [transfer(n, 0, { idCount: n }), transfer(n, 1, { of: otherContract })])
        const range = (from: number, to: number) => ({ from, to, hash: block(to).hash })
        const covered = [{ from: 0, to: 3, evidence: 'bloom', scope: 'full' }] as const
        await store.commitCold(cold([1, 2, 3], { chain, covered, ranges: [range(0, 3)], transfers: rows, activity }))
        await store.commitCold(cold([4], { chain, ranges: [range(4, 4)] }))
        const hotCovered = { scope: 'full', from: 5, evidence: 'bloom' } as const
        await store.commitHot({ chain, ancestor: 4, blocks: [hot(5)], head: block(5), covered: hotCovered })
        await store.addCoverage(chain, contract, { from: 0, to: 1, evidence: 'bloom' })
        await store.watchContract(chain, contract, { from: 2 })
        await store.annotate({ facts: [facts(chain, contract), facts(chain, otherContract)] })
        await store.annotate({ tokenUris: { chain, uris: [contract, contract, otherContract].map(tokenUri) } })
        await store.annotate({ marks: [{ ...markOfContract, chain }] })
        for (const name of kept(chain)) await store.putCheckpoint(name, '{}')
      }
      const kept = (chain: ChainId) =>
        ['final', 'genesis'].map(n => `${n}/${chain}`).concat(`wallet/${chain}/${wallet}`)
      const markOfContract: Mark = {
        ...{
          chain: eth,
          contract,
          source: 'operator',
          rank: 'operator',
          verified: true,
          spam: undefined,
          updatedAt: 1,
        },
      }

      /** Everything that can be read of a chain. */
      async function readAll(chain: ChainId, from = store): Promise<unknown[]> {
        const ofContract = async (of: Address) => [
          rowsOf(await from.transferPage({ chain, contract: of, order: 'desc', limit: 100 })),
          await from.transferCount({ chain, contract: of }),
          await from.transferCount({ chain, contract: of, fromBlock: 2 }),
          await from.contractCoverage(chain, of),
          (await from.annotationsOf(chain, of)).facts,
          await from.tokenUris(
            chain,
            [0, 1, 2].map(at => tokenUri(of, at)),
          ),
        ]
        return [
          await from.chainState(chain),
          await from.coverage(chain),
          await from.pendingRanges(chain),
          await from.hotBlocks(chain),
          await from.watchedContracts(chain),
          await from.contractsOf(chain, undefined, 10),
          await from.blocksAround(chain, 25),
          await from.lowestBlock(chain, { from: 0, to: 100 }),
          (await from.activityOf(wallet)).get(chain),
          await from.activityWithin(chain, { from: 0, to: 100 }, { after: undefined, limit: 10 }),
          (await from.runs()).filter(run => run.chain === chain),
          ...(await Promise.all(kept(chain).map(name => from.checkpoint(name)))),
          ...(await ofContract(contract)),
          ...(await ofContract(otherContract)),
        ]
      }

      test('a forgotten chain reads as one that never was, and others and what operators said stay', async () => {
        const never = await readAll(eth)
        await fill(eth)
        const filled = await readAll(eth)
        await fill(polygon)
        const other = await readAll(polygon)
        await setActivityGap(store, eth, wallet, 7)
        await setActivityGap(store, polygon, wallet, 7)
        const revision = store.revision()
        await forget(store, { chain: eth }, { rowsMax: 1 })
        expect(store.revision()).not.toBe(revision)
        expect(await readAll(eth)).toEqual(never)
        expect(await readAll(polygon)).toEqual(other)
        expect([...(await activityGaps(store, wallet))]).toEqual([[polygon, 7]])
        expect((await store.annotationsOf(eth, contract)).marks).toHaveLength(1)
        await fill(eth)
        expect(await readAll(eth)).toEqual(filled)
      })

      test('a contract that is forgotten is not claimed by whole blocks of before, and is by those stored anew', async () => {
        await fill(eth)
        const full = await store.coverage(eth, 'full')
        const others = await store.contractCoverage(eth, otherContract)
        await forget(store, { chain: eth, contract }, { rowsMax: 1 })
        expect(await store.transferCount({ chain: eth, contract })).toBe(0)
        expect(await blocksOfPage()).toEqual([])
        expect(await store.contractCoverage(eth, contract)).toEqual([])
        expect(await store.contractCoverage(eth, 'every')).toEqual([])
        expect((await store.annotationsOf(eth, contract)).facts).toBeUndefined()
        expect(await store.tokenUris(eth, [contract, contract, otherContract].map(tokenUri))).toEqual([
          tokenUri(otherContract, 2),
        ])
        expect(await store.watchedContracts(eth)).toEqual([])
        expect(await store.contractsOf(eth, undefined, 1)).toEqual([otherContract])
        expect(await store.transferCount({ chain: eth, contract: otherContract })).toBe(3)
        expect(await store.contractCoverage(eth, otherContract)).toEqual(others)
        expect(await store.coverage(eth, 'full')).toEqual(full)
        expect(await store.coverage(eth)).toEqual(full)
        const next = { chain: eth, ancestor: 5, blocks: [hot(6)], head: block(6) }
        await store.commitHot({ ...next, covered: { scope: 'full', from: 6, evidence: 'bloom' } })
        expect(await store.contractCoverage(eth, contract)).toEqual([{ from: 6, to: 6, evidence: 'bloom' }])
        const again = { from: 0, to: 3, evidence: 'bloom', scope: 'full' } as const
        await store.commitCold(cold([1, 2, 3], { covered: [again], ranges: [{ ...again, hash: block(3).hash }] }))
        expect((await store.contractCoverage(eth, contract))[0]).toEqual({ from: 0, to: 3, evidence: 'bloom' })
        expect((await store.contractCoverage(eth, 'every'))[0]?.from).toBe(0)
        expect(await store.transferCount({ chain: eth, contract })).toBe(4)
      })

      test('without its activity a chain keeps its transfers, and the claim of them alone', async () => {
        await fill(eth)
        await fill(polygon)
        const full = await store.coverage(eth, 'full')
        const pages = await blocksOfPage()
        await forget(store, { chain: eth, view: 'activity' }, { rowsMax: 1 })
        expect((await store.runs()).filter(run => run.chain === eth && run.view === 'activity')).toEqual([])
        expect([...(await store.activityOf(wallet)).keys()]).toEqual([polygon])
        expect(await store.coverage(eth, 'full')).toEqual([])
        expect(await store.coverage(eth, 'transfers')).toEqual(full.map(claim => ({ ...claim, scope: 'transfers' })))
        expect(await store.coverage(polygon, 'full')).toEqual(full)
        expect(await blocksOfPage()).toEqual(pages)
        expect(await store.checkpoint(`wallet/${eth}/${wallet}`)).toBeUndefined()
        expect(await store.checkpoint(`final/${eth}`)).toBe('{}')
      })

      test('what was begun takes claims first, and another process finishes it', async () => {
        const never = await readAll(eth)
        await fill(eth)
        await fill(polygon)
        const other = await readAll(polygon)
        await store.forgetStep({ chain: eth }, 1)
        expect(await store.coverage(eth)).toEqual([])
        expect(await store.checkpoint(forgetName(eth))).toBeDefined()
        for (let step = 0; step < 4; step++) await store.forgetStep({ chain: eth }, 1)
        const beside = await fixture.beside()
        try {
          await finishForgetting(beside, eth)
          expect(await beside.checkpoint(forgetName(eth))).toBeUndefined()
          await finishForgetting(beside, eth)
          expect(await readAll(eth, beside)).toEqual(never)
          expect(await readAll(polygon, beside)).toEqual(other)
        } finally {
          await beside.close()
        }
      })
    })

    describe('commits', () => {
      test('any sequence of writes reads as in the model', { timeout: 240_000 }, async () => {
        const property = fc.asyncProperty(steps, fc.integer({ min: 1, max: 7 }), async (sequence, limit) => {
          const fresh = await create()
          try {
            const model = new ModelStore()
            const runner = new StepRunner(model, fresh.store)
            for (const [index, step] of sequence.entries()) {
              await runner.apply(step)
              if (index % 10 === 0) await compareReads(model, fresh.store, limit)
            }
            await compareReads(model, fresh.store, limit)
          } finally {
            await fresh.dispose()
          }
        })
        await fc.assert(property, { numRuns: runs })
      })

      test('counts are exact when blocks are final again after finality was taken back', async () => {
        for (const number of [1, 2, 3]) await store.commitCold(cold([number]))
        await store.unfinalize(eth, 1)
        expect(await store.transferCount({ chain: eth, contract })).toBe(1)
        for (const ancestor of [1, 2])
          await store.commitHot({ chain: eth, ancestor, blocks: [hot(ancestor + 1, 1)], head: block(ancestor + 1, 1) })
        await store.putChainState(eth, { finalized: 3 })
        expect(await store.transferCount({ chain: eth, contract })).toBe(3)
        // Folds what is final.
        await store.dropRange(eth, otherContract, { from: 0, to: 3 })
        expect(await store.transferCount({ chain: eth, contract })).toBe(3)
        expect(await blocksOfPage()).toEqual([3, 2, 1])
      })

      test('a repeated commit adds nothing and leaves the revision alone', async () => {
        const commit = cold([1, 2, 3], { covered: [{ from: 0, to: 3, evidence: 'bloom', scope: 'full' }] })
        expect(await store.commitCold(commit)).toEqual({ transfersAdded: 3 })
        const revision = store.revision()
        expect(await store.commitCold(commit)).toEqual({ transfersAdded: 0 })
        expect(store.revision()).toBe(revision)
        expect(await store.transferCount({ chain: eth, contract })).toBe(3)
      })

      test('a commit that is refused leaves nothing behind', async () => {
        const revision = store.revision()
        const broken = cold([1, 2], { blocks: [block(1)], activity: hot(1).activity })
        await expect(store.commitCold(broken)).rejects.toMatchObject({ code: 'conflict' })
        expect(await blocksOfPage()).toEqual([])
        expect(await store.activityOf(wallet)).toEqual(new Map())
        expect(store.revision()).toBe(revision)
        await store.commitCold(cold([1, 2]))
        expect(await blocksOfPage()).toEqual([2, 1])
      })

      test('chains do not see each other', async () => {
        await store.commitCold(cold([1]))
        await store.commitCold(cold([2], { chain: polygon }))
        expect(await blocksOfPage()).toEqual([1])
        expect((await store.transferPage({ ...latest, chain: polygon })).blocks).toEqual([2])
        expect(await store.transferCount({ chain: 77 as ChainId, contract })).toBe(0)
      })

      test('a reorganisation replaces blocks, rows, activity, coverage and head at once', async () => {
        const covered = { scope: 'full', from: 11, evidence: 'bloom' } as const
        await store.putChainState(eth, { finalized: 10 })
        await store.commitHot({
          chain: eth,
          ancestor: 10,
          blocks: [hot(11), hot(12), hot(13)],
          covered,
          head: block(13),
        })
        await store.addToHot(eth, [], [{ from: 11, to: 13, evidence: 'one-endpoint', scope: otherContract }])
        // What a process keeps in memory of recent blocks is replaced too.
        expect(await blocksOfPage()).toEqual([13, 12, 11])
        await store.commitHot({ chain: eth, ancestor: 11, blocks: [hot(12, 1)], head: block(12, 1) })
        expect(await store.hotBlocks(eth)).toEqual([block(11), block(12, 1)])
        expect(rowsOf(await store.transferPage(latest)).map(row => [row.block, row.logIndex, row.hash])).toEqual([
          [12, 1, block(12, 1).hash],
          [11, 0, block(11).hash],
        ])
        expect((await store.activityOf(wallet)).get(eth)?.last).toMatchObject({ block: 12, transactionIndex: 1 })
        expect(await store.coverage(eth, 'full')).toEqual([{ scope: 'full', from: 11, to: 11, evidence: 'bloom' }])
        expect(await store.coverage(eth, otherContract)).toEqual([
          { scope: otherContract, from: 11, to: 11, evidence: 'one-endpoint' },
        ])
        expect(await store.chainState(eth)).toMatchObject({ head: block(12, 1), finalized: 10 })
      })

      test('a block without rows stays known by its hash when it becomes final', async () => {
        const empty = (number: number) => ({ ...block(number), transfers: [], activity: noActivity })
        await store.commitHot({ chain: eth, ancestor: -1, blocks: [0, 1, 2, 3].map(empty), head: block(3) })
        for (const upTo of [1, 3]) {
          await store.putChainState(eth, { finalized: upTo })
          for (const number of [0, 1, 2, 3])
            expect(await store.lowestBlock(eth, { from: number, to: number })).toEqual(block(number))
        }
      })

      test('nothing at or below the final block is replaced', async () => {
        await store.putChainState(eth, { finalized: 10 })
        const below = store.commitHot({ chain: eth, ancestor: 9, blocks: [hot(10)], head: block(10) })
        await expect(below).rejects.toMatchObject({ code: 'conflict' })
      })

      test('hot blocks with a gap, out of order or above the head are refused', async () => {
        const covered = { scope: 'full', from: 1, evidence: 'bloom' } as const
        const refused = async (blocks: HotBlock[], head: Block, from?: number) => {
          const claim = from === undefined ? {} : { covered: { ...covered, from } }
          const commit = store.commitHot({ chain: eth, ancestor: 0, blocks, head, ...claim })
          await expect(commit).rejects.toMatchObject({ code: 'conflict' })
        }
        await refused([hot(1), hot(3)], block(3), 1)
        await refused([hot(2)], block(2), 1)
        await refused([hot(2), hot(1)], block(2))
        await refused([hot(2)], block(1))
        await refused([{ ...hot(2), transfers: [transfer(3, 0)] }], block(3))
        await store.commitHot({
          chain: eth,
          ancestor: 0,
          blocks: [hot(2), hot(3)],
          head: block(3),
          covered: { ...covered, from: 2 },
        })
        expect(await store.coverage(eth, 'full')).toEqual([{ scope: 'full', from: 2, to: 3, evidence: 'bloom' }])
      })

      test('activity is merged by block and transaction index, in whatever order and however often it comes', async () => {
        const ref = (number: number, transactionIndex: number) => ({
          block: number,
          transactionIndex,
          hash: hash(number * 100 + transactionIndex),
          timestamp: number * 10,
        })
        const spans = [
          [ref(5, 2), ref(5, 2)],
          [ref(5, 3), ref(5, 3)],
          [ref(5, 1), ref(5, 1)],
          [ref(4, 9), ref(4, 9)],
          [ref(2, 5), ref(6, 0)],
        ] as const
        for (const [first, last] of [...spans, ...spans])
          await store.commitCold(cold([first.block], { activity: packActivity([{ address: wallet, first, last }]) }))
        expect((await store.activityOf(wallet)).get(eth)).toEqual({
          address: wallet,
          first: ref(2, 5),
          last: ref(6, 0),
        })
        for (const [first, last] of spans.slice(0, 3))
          await store.commitCold(
            cold([5], { chain: polygon, activity: packActivity([{ address: wallet, first, last }]) }),
          )
        const there = { address: wallet, first: ref(5, 1), last: ref(5, 3) }
        expect((await store.activityOf(wallet)).get(polygon)).toEqual(there)
      })

      test('what a wallet did stays when the first blocks of a chain become final', async () => {
        const ref = (number: number) => ({
          ...{ block: number, transactionIndex: 0, hash: hash(number), timestamp: number * 10 },
        })
        const looked = packActivity([{ address: wallet, first: ref(1), last: ref(3) }])
        await store.commitCold({ chain: eth, covered: [], blocks: [], transfers: [], activity: looked })
        await store.commitHot({ chain: eth, ancestor: 4, blocks: [hot(5), hot(6)], head: block(6) })
        await store.putChainState(eth, { finalized: 5 })
        const known = (await store.activityOf(wallet)).get(eth)
        expect([known?.first.block, known?.last.block]).toEqual([1, 6])
      })

      test('the last reading of a final block is the one that is kept', async () => {
        await store.commitCold(cold([1], { blocks: [block(1, 3)] }))
        await store.commitCold(cold([1]))
        expect(rowsOf(await store.transferPage(latest))[0]?.hash).toBe(block(1).hash)
      })

      test('a final commit that contradicts a hot block is refused', async () => {
        await store.commitHot({ chain: eth, ancestor: 0, blocks: [hot(1, 1)], head: block(1, 1) })
        await expect(store.commitCold(cold([1]))).rejects.toMatchObject({ code: 'conflict' })
        expect(await store.hotBlocks(eth)).toEqual([block(1, 1)])
      })

      test('rows are added to hot blocks of the same hash only, all or nothing', async () => {
        await store.commitHot({ chain: eth, ancestor: 0, blocks: [hot(1), hot(2)], head: block(2) })
        const added = (number: number, branch: number): HotBlock => ({
          ...block(number, branch),
          transfers: [transfer(number, 9)],
          activity: noActivity,
        })
        const mixed = store.addToHot(eth, [added(1, 0), added(2, 1)], [])
        await expect(mixed).rejects.toMatchObject({ code: 'conflict' })
        expect(await store.transferCount({ chain: eth, contract })).toBe(2)
        await store.addToHot(eth, [added(1, 0)], [{ from: 1, to: 2, evidence: 'bloom', scope: contract }])
        expect(await store.transferCount({ chain: eth, contract })).toBe(3)
        await store.putChainState(eth, { finalized: 1 })
        await expect(store.addToHot(eth, [added(1, 0)], [])).rejects.toMatchObject({ code: 'conflict' })
      })

      test('the head never falls below a stored block', async () => {
        await store.putChainState(eth, { head: block(5) })
        await store.putChainState(eth, { head: block(3) })
        expect((await store.chainState(eth))?.head).toEqual(block(3))
        await store.commitHot({ chain: eth, ancestor: 9, blocks: [hot(10)], head: block(10) })
        await store.putChainState(eth, { head: block(9) })
        expect((await store.chainState(eth))?.head).toEqual(block(10))
      })
    })

    describe('what holds no longer', () => {
      const kept = async (from: Store, number: number, branch = 0) => {
        const gone = await from.goneBlock(eth, block(number, branch).hash)
        if (gone === undefined) return undefined
        const { page, parent, ...its } = gone
        expect(its).toEqual(block(number, branch))
        const rows = rowsOf(page).map(({ block: of, logIndex, hash: its }) => [of, logIndex, its])
        return { parent, contracts: page.contracts, rows }
      }
      const hashOf = (number: number, branch = 0) => block(number, branch).hash

      test('a reorganisation keeps the blocks that it replaces, with all of their parts and their parents', async () => {
        await store.commitCold(cold([9]))
        await store.commitHot({ chain: eth, ancestor: 9, blocks: [hot(10), hot(11), hot(12)], head: block(12) })
        const later = { ...hot(12), transfers: [transfer(12, 7, { of: otherContract })], activity: noActivity }
        await store.addToHot(eth, [later], [])
        expect(await kept(store, 12)).toBeUndefined()
        await store.commitHot({ chain: eth, ancestor: 10, blocks: [hot(11, 1)], head: block(11, 1) })
        const other = await fixture.beside()
        expect(await kept(other, 10)).toBeUndefined()
        expect(await kept(other, 11)).toEqual({
          parent: { number: 10, hash: hashOf(10) },
          contracts: [contract],
          rows: [[11, 0, hashOf(11)]],
        })
        expect(await kept(other, 12)).toEqual({
          parent: { number: 11, hash: hashOf(11) },
          // Newest first.
          contracts: [otherContract, contract],
          rows: [
            [12, 7, hashOf(12)],
            [12, 0, hashOf(12)],
          ],
        })
        await other.close()
        // All the way down to the final block, whose hash is not needed.
        await store.commitHot({ chain: eth, ancestor: 9, blocks: [hot(10, 2)], head: block(10, 2) })
        expect((await kept(store, 10))?.parent).toEqual({ number: 9, hash: undefined })
        expect((await kept(store, 11, 1))?.parent).toEqual({ number: 10, hash: hashOf(10) })
        // One that comes back is stored, and goes again.
        await store.commitHot({ chain: eth, ancestor: 9, blocks: [hot(10), hot(11)], head: block(11) })
        expect(await store.lowestBlock(eth, { from: 10, to: 10 })).toEqual(block(10))
        await store.commitHot({ chain: eth, ancestor: 10, blocks: [], head: block(10) })
        expect((await kept(store, 11))?.rows).toHaveLength(1)
        expect(await store.takenBack(eth)).toEqual([])
      })

      test('blocks with gaps have the stored block before them as a parent', async () => {
        await store.commitHot({ chain: eth, ancestor: 9, blocks: [hot(12), hot(15)], head: block(15) })
        await store.commitHot({ chain: eth, ancestor: 10, blocks: [hot(11, 1)], head: block(11, 1) })
        expect((await kept(store, 15))?.parent).toEqual({ number: 12, hash: hashOf(12) })
        expect((await kept(store, 12))?.parent).toEqual({ number: -1, hash: undefined })
      })

      test('what is taken back of final blocks is noted with its blocks, where it was claimed', async () => {
        const full = { scope: 'full', from: 0, to: 20, evidence: 'receipts-root' } as const
        const ranges = [{ from: 0, to: 20, hash: hash(20) }]
        await store.commitCold(cold([3, 5, 15], { covered: [full], ranges }))
        await store.commitHot({ chain: eth, ancestor: 20, blocks: [hot(21)], head: block(21) })
        expect(await store.takenBack(eth)).toEqual([])
        await store.dropRange(eth, contract, { from: 3, to: 4 })
        await store.dropRange(eth, 'full', { from: 10, to: 30 })
        // No claim is left there.
        await store.dropRange(eth, 'full', { from: 12, to: 13 })
        await store.unfinalize(eth, 18)
        const taken = await store.takenBack(eth)
        expect(taken.map(({ era: _, ...rest }) => rest)).toEqual([
          { from: 3, to: 4, contract },
          { from: 10, to: 20, contract: undefined },
          { from: 19, to: 2 ** 32, contract: undefined },
        ])
        expect(taken.map(({ era }) => era).toSorted((a, b) => a - b)).toEqual(taken.map(({ era }) => era))
        expect(new Set(taken.map(({ era }) => era)).size).toBe(3)
        await forget(store, { chain: eth, contract })
        expect((await store.takenBack(eth)).at(-1)).toMatchObject({ from: 0, to: 2 ** 32, contract })
        await forget(store, { chain: eth })
        expect((await store.takenBack(eth)).at(-1)).toMatchObject({ from: 0, to: 2 ** 32, contract: undefined })
        expect(await store.goneBlock(eth, hashOf(21))).toBeUndefined()
        expect(await store.takenBack(polygon)).toEqual([])
      })
    })

    describe('reads of transfers', () => {
      test('a page crosses from hot to cold, in both directions', async () => {
        await store.commitCold(cold([1, 2, 3]))
        await store.commitHot({ chain: eth, ancestor: 3, blocks: [hot(4), hot(5)], head: block(5) })
        expect((await store.transferPage({ ...latest, limit: 3 })).blocks).toEqual([5, 4, 3])
        expect((await store.transferPage({ ...latest, order: 'asc', limit: 4 })).blocks).toEqual([1, 2, 3, 4])
        const after = { block: 4, transactionIndex: 0, logIndex: 0, batchIndex: 0 }
        expect((await store.transferPage({ ...latest, after })).blocks).toEqual([3, 2, 1])
        expect((await store.transferPage({ ...latest, order: 'asc', after })).blocks).toEqual([5])
        const before = { ...after, batchIndex: -1 }
        expect((await store.transferPage({ ...latest, order: 'asc', after: before })).blocks).toEqual([4, 5])
      })

      test('an unknown contract, an empty range and a limit of zero give an empty page', async () => {
        await store.commitCold(cold([1]))
        const empty = { length: 0, blocks: [], timestamps: [] }
        expect(await store.transferPage({ ...latest, contract: otherContract })).toMatchObject(empty)
        expect(await store.transferPage({ ...latest, fromBlock: 5, toBlock: 4 })).toMatchObject(empty)
        expect(await store.transferPage({ ...latest, limit: 0 })).toMatchObject(empty)
        expect(await store.transferCount({ chain: eth, contract, fromBlock: 5, toBlock: 4 })).toBe(0)
      })

      test('an ERC-2309 range is one row and counts as many as its ids, hot and cold', async () => {
        const big = transfer(5, 1, { idCount: 4_000_000_000 })
        await store.commitHot({
          chain: eth,
          ancestor: 4,
          blocks: [{ ...block(5), transfers: [big, transfer(5, 2)], activity: noActivity }],
          head: block(5),
        })
        for (const upTo of [4, 5]) {
          await store.putChainState(eth, { finalized: upTo })
          expect((await store.transferPage(latest)).length).toBe(2)
          expect(await store.transferCount({ chain: eth, contract })).toBe(4_000_000_001)
          expect(await store.transferCount({ chain: eth, contract, fromBlock: 5, toBlock: 5 })).toBe(4_000_000_001)
          expect(await store.transferCount({ chain: eth, contract, fromBlock: 6 })).toBe(0)
        }
        await store.dropRange(eth, contract, { from: 5, to: 5 })
        expect(await store.transferCount({ chain: eth, contract })).toBe(0)
      })

      test('the contracts of a chain are listed in the order of their addresses, page by page', async () => {
        const first = `0x00${'e'.repeat(38)}` as Address
        const rows = [contract, otherContract, first].map((of, at) => transfer(1, at, { of }))
        await store.commitCold(cold([1], { transfers: rows }))
        await store.commitCold(cold([1], { chain: polygon, transfers: [transfer(1, 0, { of: wallet })] }))
        await store.commitHot({
          chain: polygon,
          ancestor: 1,
          blocks: [{ ...block(2), transfers: [transfer(2, 0)], activity: noActivity }],
          head: block(2),
        })
        expect(await store.contractsOf(eth, undefined, 100)).toEqual([first, contract, otherContract])
        expect(await store.contractsOf(eth, undefined, 2)).toEqual([first, contract])
        expect(await store.contractsOf(eth, contract, 2)).toEqual([otherContract])
        expect(await store.contractsOf(eth, otherContract, 2)).toEqual([])
        expect(await store.contractsOf(polygon, undefined, 100)).toEqual([wallet, contract])
        expect(await store.contractsOf(77 as ChainId, undefined, 100)).toEqual([])
      })

      test('payload bytes come back as they went in', async () => {
        const payload = Buffer.from(
          packTransfer({
            standard: 'ERC1155',
            batch: true,
            from: wallet,
            to: zeroAddress,
            operator: contract,
            tokenId: 1n << 255n,
            amount: 0n,
            value: 256n,
            transactionHash: hash(0),
            idCount: 1,
          }),
        )
        await store.commitCold(cold([1], { transfers: [{ ...transfer(1, 0), payload }, transfer(1, 1)] }))
        expect(rowsOf(await store.transferPage({ ...latest, order: 'asc' }))[0]?.payload).toBe(payload.toString('hex'))
      })
    })

    describe('coverage', () => {
      test('a contract is covered by its own, the full and, from its mark on, the watched intervals', async () => {
        await store.addCoverage(eth, contract, { from: 0, to: 9, evidence: 'one-endpoint' })
        await store.addCoverage(eth, 'watched', { from: 5, to: 30, evidence: 'two-endpoints' })
        await store.addCoverage(eth, 'full', { from: 28, to: 40, evidence: 'bloom' })
        expect(await store.contractCoverage(eth, otherContract)).toEqual([{ from: 28, to: 40, evidence: 'bloom' }])
        expect((await store.coverage(eth, undefined, 2)).map(({ scope }) => scope)).toEqual(['full', 'watched'])
        expect((await store.coverage(eth)).map(({ scope }) => scope)).toEqual(['full', 'watched', contract])
        await store.watchContract(eth, contract, { from: 20 })
        await store.watchContract(eth, contract, { from: 25 })
        expect(await store.watchedContracts(eth)).toMatchObject([{ contract, watchedFrom: 20 }])
        expect(await store.contractCoverage(eth, contract)).toEqual([
          { from: 0, to: 9, evidence: 'one-endpoint' },
          { from: 20, to: 27, evidence: 'two-endpoints' },
          { from: 28, to: 40, evidence: 'bloom' },
        ])
      })

      test('a contract is covered by whole blocks whose wallets are not known', async () => {
        const whole = { from: 5, to: 20, evidence: 'receipts-root', scope: 'transfers' } as const
        await store.commitCold(cold([7, 9], { covered: [whole] }))
        await store.addCoverage(eth, 'full', { from: 15, to: 30, evidence: 'bloom' })
        await store.addCoverage(eth, contract, { from: 0, to: 9, evidence: 'one-endpoint' })
        expect((await store.coverage(eth, undefined, 2)).map(({ scope }) => scope)).toEqual(['full', 'transfers'])
        expect(await store.coverage(eth, 'full')).toEqual([{ scope: 'full', from: 15, to: 30, evidence: 'bloom' }])
        expect(await store.contractCoverage(eth, contract)).toEqual([
          { from: 0, to: 4, evidence: 'one-endpoint' },
          { from: 5, to: 20, evidence: 'receipts-root' },
          { from: 21, to: 30, evidence: 'bloom' },
        ])
        await store.dropRange(eth, otherContract, { from: 8, to: 16 })
        expect(await store.coverage(eth, 'transfers')).toEqual([
          { scope: 'transfers', from: 5, to: 7, evidence: 'receipts-root' },
          { scope: 'transfers', from: 17, to: 20, evidence: 'receipts-root' },
        ])
        await store.dropRange(eth, 'full', { from: 0, to: 18 })
        expect(await store.coverage(eth, 'transfers')).toEqual([
          { scope: 'transfers', from: 19, to: 20, evidence: 'receipts-root' },
        ])
        expect(await blocksOfPage()).toEqual([])
      })

      test('a reorganisation takes every claim of whole blocks back', async () => {
        const claim = (scope: 'full' | 'transfers', from: number) => ({ scope, from, evidence: 'bloom' }) as const
        const append = { chain: eth, ancestor: 0, blocks: [hot(1), hot(2)], head: block(2) }
        await store.commitHot({ ...append, covered: claim('transfers', 1) })
        await store.commitHot({ ...append, ancestor: 2, blocks: [hot(3)], head: block(3), covered: claim('full', 3) })
        expect(await store.contractCoverage(eth, contract)).toEqual([{ from: 1, to: 3, evidence: 'bloom' }])
        const other = { ...append, ancestor: 1, blocks: [hot(2, 1)], head: block(2, 1) }
        await store.commitHot({ ...other, covered: claim('full', 2) })
        expect(await store.coverage(eth, 'transfers')).toEqual([
          { scope: 'transfers', from: 1, to: 1, evidence: 'bloom' },
        ])
        expect(await store.coverage(eth, 'full')).toEqual([{ scope: 'full', from: 2, to: 2, evidence: 'bloom' }])
        await store.putChainState(eth, { finalized: 2 })
        await store.unfinalize(eth, 0)
        expect(await store.coverage(eth)).toEqual([])
      })

      test('a dropped range is no longer vouched for, and comes back with the next commit', async () => {
        const commit = cold([1, 2, 3], { covered: [{ from: 0, to: 9, evidence: 'bloom', scope: 'full' }] })
        await store.commitCold(commit)
        await store.dropRange(eth, 'full', { from: 2, to: 2 })
        expect(await blocksOfPage()).toEqual([3, 1])
        expect(await store.transferCount({ chain: eth, contract })).toBe(2)
        expect(await store.coverage(eth, 'full')).toEqual([
          { scope: 'full', from: 0, to: 1, evidence: 'bloom' },
          { scope: 'full', from: 3, to: 9, evidence: 'bloom' },
        ])
        expect(await store.commitCold(commit)).toEqual({ transfersAdded: 1 })
        expect(await store.transferCount({ chain: eth, contract })).toBe(3)
      })

      test('finality that is taken back leaves nothing above it, and the chain can be followed again', async () => {
        const ref = (number: number) => ({
          block: number,
          transactionIndex: 0,
          hash: hash(number),
          timestamp: number * 10,
        })
        const active = (address: Address, first: number, last: number) => ({
          address,
          first: ref(first),
          last: ref(last),
        })
        const later = contract
        const activity = packActivity([active(wallet, 1, 3), active(later, 3, 3), active(otherContract, 1, 2)])
        const covered = { from: 0, to: 3, evidence: 'bloom', scope: 'full' } as const
        await store.commitCold(cold([1, 2, 3], { covered: [covered], activity }))
        await store.commitCold(cold([2, 3], { chain: polygon }))
        await store.addCoverage(eth, contract, { from: 0, to: 3, evidence: 'one-endpoint' })
        await store.putCheckpoint(`wallet/${eth}/${wallet}`, '{}')
        await store.putCheckpoint(`wallet/${polygon}/${wallet}`, '{}')
        for (const chain of [eth, polygon]) await store.putCheckpoint(`final/${chain}`, `3 ${block(3).hash}`)
        const head = { chain: eth, ancestor: 3, blocks: [hot(4)], head: block(4) }
        await store.commitHot({ ...head, covered: { scope: 'full', from: 4, evidence: 'bloom' } })
        await expect(store.unfinalize(eth, 3)).rejects.toMatchObject({ code: 'conflict' })
        const revision = store.revision()
        await store.unfinalize(eth, 2)
        expect(store.revision()).not.toBe(revision)
        expect((await store.chainState(eth))?.finalized).toBe(2)
        expect(await blocksOfPage()).toEqual([2, 1])
        expect(await store.transferCount({ chain: eth, contract })).toBe(2)
        expect(await store.hotBlocks(eth)).toEqual([])
        expect(await store.coverage(eth, 'full')).toEqual([{ scope: 'full', from: 0, to: 2, evidence: 'bloom' }])
        expect(await store.coverage(eth, contract)).toEqual([
          { scope: contract, from: 0, to: 2, evidence: 'one-endpoint' },
        ])
        expect((await store.blocksAround(eth, 25)).after).toBeUndefined()
        const activityOf = async (address: Address) => (await store.activityOf(address)).get(eth)
        expect(await activityOf(wallet)).toEqual(active(wallet, 1, 1))
        expect(await activityOf(later)).toBeUndefined()
        expect(await activityOf(otherContract)).toEqual(active(otherContract, 1, 2))
        expect(await store.checkpoint(`wallet/${eth}/${wallet}`)).toBeUndefined()
        expect(await store.checkpoint(`wallet/${polygon}/${wallet}`)).toBe('{}')
        expect(await store.checkpoint(`final/${eth}`)).toBeUndefined()
        expect(await store.checkpoint(`final/${polygon}`)).toBeDefined()
        expect(await store.transferCount({ chain: polygon, contract })).toBe(2)
        await store.commitHot({ chain: eth, ancestor: 2, blocks: [hot(3, 1)], head: block(3, 1) })
        expect(await blocksOfPage()).toEqual([3, 2, 1])
        expect((await activityOf(wallet))?.last.block).toBe(3)
      })

      test('a wallet with a transaction above where finality is taken back to keeps its first one alone', async () => {
        for (const number of [1, 2, 4]) {
          const ref = { block: number, transactionIndex: 0, hash: hash(number), timestamp: number * 10 }
          const activity = packActivity([{ address: wallet, first: ref, last: ref }])
          const ranges = [{ from: number, to: number, hash: block(number).hash }]
          await store.commitCold(cold([number], { ranges, activity }))
        }
        await store.unfinalize(eth, 3)
        const found = (await store.activityOf(wallet)).get(eth)
        expect([found?.first.block, found?.last.block]).toEqual([1, 1])
      })

      test('dropping one contract leaves the rows of the others', async () => {
        await store.commitCold(cold([1], { transfers: [transfer(1, 0), transfer(1, 1, { of: otherContract })] }))
        await store.dropRange(eth, contract, { from: 0, to: 5 })
        expect(await blocksOfPage()).toEqual([])
        expect((await store.transferPage({ ...latest, contract: otherContract })).blocks).toEqual([1])
      })
    })

    describe('rows ahead of their claim', () => {
      const claimOf = (from: number, to: number) => ({ from, to, evidence: 'bloom', scope: 'full' }) as const
      const rangeOf = (from: number, to: number) => ({ from, to, hash: block(to).hash })
      const empty = { chain: eth, covered: [], blocks: [], transfers: [], activity: noActivity }

      test('have their wallets with the claim, which goes by its own blocks', async () => {
        await store.commitCold(cold([5], { ranges: [rangeOf(4, 6)] }))
        const ref = { block: 6, transactionIndex: 0, hash: hash(6), timestamp: 60 }
        const activity = packActivity([{ address: wallet, first: ref, last: ref }])
        await store.commitCold(cold([2], { ranges: [rangeOf(1, 3)], covered: [claimOf(4, 6)], activity }))
        const within = (from: number, to: number) =>
          store.activityWithin(eth, { from, to }, { after: undefined, limit: 9 })
        expect([(await within(4, 6)).length, (await within(1, 3)).length]).toEqual([1, 0])
        await store.unfinalize(eth, 3)
        expect((await store.activityOf(wallet)).size).toBe(0)
        // A claim whose rows are stored brings the wallets alone.
        await store.commitCold({ ...empty, covered: [claimOf(1, 6)], activity })
        expect((await store.activityOf(wallet)).get(eth)?.last.block).toBe(6)
        expect((await within(4, 6)).length).toBe(1)
      })

      test('are claimed without their wallets as well', async () => {
        await store.commitCold(cold([1, 3], { ranges: [rangeOf(1, 3)] }))
        await store.commitCold({ ...empty, covered: [{ ...claimOf(1, 3), scope: 'transfers' }] })
        expect(await store.pendingRanges(eth)).toEqual([])
        expect(await blocksOfPage()).toEqual([3, 1])
        // Rows that replace claimed ones are not claimed before they are connected.
        await store.commitCold(cold([3], { ranges: [rangeOf(2, 3)] }))
        expect(await store.coverage(eth, 'transfers')).toEqual([
          { scope: 'transfers', from: 1, to: 1, evidence: 'bloom' },
        ])
        expect(await store.pendingRanges(eth)).toEqual([rangeOf(2, 3)])
      })

      test('are pending until they are claimed', async () => {
        await store.commitCold(cold([1, 3], { ranges: [rangeOf(1, 3), rangeOf(4, 6)], covered: [claimOf(4, 6)] }))
        expect(await store.pendingRanges(eth)).toEqual([rangeOf(1, 3)])
        expect(await store.pendingRanges(polygon)).toEqual([])
        await store.commitCold({ ...empty, covered: [claimOf(1, 3)] })
        expect(await store.pendingRanges(eth)).toEqual([])
        expect(await blocksOfPage()).toEqual([3, 1])
      })

      test('go when their blocks come again, and leave what is claimed', async () => {
        await store.commitCold(cold([9], { covered: [claimOf(8, 9)], ranges: [rangeOf(8, 9)] }))
        await store.commitCold(cold([1, 3, 5], { ranges: [rangeOf(1, 3), rangeOf(4, 7)] }))
        const again = cold([2, 3], { ranges: [rangeOf(2, 3)] })
        expect(await store.commitCold(again)).toEqual({ transfersAdded: 2 })
        expect(await blocksOfPage()).toEqual([9, 5, 3, 2])
        expect(await store.transferCount({ chain: eth, contract })).toBe(4)
        expect(await store.pendingRanges(eth)).toEqual([rangeOf(2, 3), rangeOf(4, 7)])
        await store.dropRange(eth, 'full', { from: 7, to: 7 })
        expect(await blocksOfPage()).toEqual([9, 3, 2])
        expect(await store.pendingRanges(eth)).toEqual([rangeOf(2, 3)])
        expect(await store.transferCount({ chain: eth, contract })).toBe(3)
      })
    })

    describe('whole blocks', () => {
      const rangeOf = (from: number, to: number) => ({ from, to, hash: block(to).hash })
      const known = { evidence: 'one-endpoint', scope: contract } as const

      test('replace what was stored and claimed of them before', async () => {
        const [ofOthers, wrong] = [transfer(4, 1, { of: otherContract }), transfer(3, 0, { idCount: 5 })]
        const transfers = [transfer(1, 0), transfer(2, 0), wrong, ofOthers, transfer(6, 0)]
        await store.commitCold(cold([1, 2, 3, 4, 6], { transfers, covered: [{ from: 0, to: 6, ...known }] }))
        await store.commitCold(cold([3, 5], { ranges: [rangeOf(4, 5), rangeOf(2, 3)] }))
        expect(await blocksOfPage()).toEqual([6, 5, 3, 1])
        expect(await store.transferCount({ chain: eth, contract })).toBe(4)
        expect(await store.transferCount({ chain: eth, contract: otherContract })).toBe(0)
        const rest = [
          { from: 0, to: 1 },
          { from: 6, to: 6 },
        ].map(each => ({ ...each, evidence: 'one-endpoint' }))
        expect(await store.contractCoverage(eth, contract)).toEqual(rest)
        const covered = [{ from: 2, to: 5, evidence: 'receipts-root', scope: 'full' } as const]
        await store.commitCold({ chain: eth, covered, blocks: [], transfers: [], activity: noActivity })
        const proven = { from: 2, to: 5, evidence: 'receipts-root' }
        expect(await store.contractCoverage(eth, contract)).toEqual([rest[0], proven, rest[1]])
      })

      test('that are not claimed go with a claim of a contract', async () => {
        await store.commitCold(cold([2, 3], { ranges: [rangeOf(2, 3)] }))
        await store.commitCold(cold([1, 2], { covered: [{ from: 0, to: 2, ...known }] }))
        expect(await blocksOfPage()).toEqual([2, 1])
        expect(await store.pendingRanges(eth)).toEqual([])
      })
    })

    test('activity is found by the blocks of its ends, page by page, and dropped by wallet', async () => {
      const wallets = ['1', '2', '3'].map(digit => `0x${digit.repeat(40)}` as Address)
      const ref = (number: number) => ({ block: number, transactionIndex: 2, hash: block(number).hash, timestamp: 7 })
      const rows = [
        { address: wallets[0]!, first: ref(5), last: ref(90) },
        { address: wallets[1]!, first: ref(50), last: ref(50) },
        { address: wallets[2]!, first: ref(1), last: ref(300) },
      ]
      await store.commitCold({ ...cold([]), activity: packActivity(rows) })
      const within = (from: number, to: number, after?: Address, limit = 10) =>
        store.activityWithin(eth, { from, to }, { after, limit })
      expect(await within(0, 1_000)).toEqual(rows)
      expect(await within(0, 1_000, wallets[0], 1)).toEqual([rows[1]])
      expect(await within(50, 90)).toEqual(rows.slice(0, 2))
      expect(await within(2, 4)).toEqual([])
      expect(await within(300, 300)).toEqual([rows[2]])
      expect(await store.activityWithin(polygon, { from: 0, to: 9 }, { after: undefined, limit: 9 })).toEqual([])
      await store.dropActivity(eth, [wallets[0]!, wallets[2]!])
      expect(await within(0, 1_000)).toEqual([rows[1]])
      expect(await store.activityOf(wallets[0]!)).toEqual(new Map())
    })

    describe('several handles', () => {
      test('another handle sees each commit, its revision and the same secret', async () => {
        const reader = await fixture.beside()
        const before = reader.revision()
        await store.commitCold(cold([1]))
        expect(reader.revision()).not.toBe(before)
        expect(reader.revision()).toBe(store.revision())
        expect(await blocksOfPage(reader)).toEqual([1])
        expect(reader.secret).toEqual(store.secret)
        expect(store.secret.length).toBe(32)
        await reader.close()
      })

      test('key use and checkpoints do not change the revision', async () => {
        await store.putCheckpoint('feed', '1')
        const revision = store.revision()
        await store.putCheckpoint('feed', '2')
        await store.addUse([{ keyId: 'a', day: '2026-01-01', operation: 'x', count: 1 }])
        expect(store.revision()).toBe(revision)
        expect(await store.checkpoint('feed')).toBe('2')
        expect(await store.checkpoint('none')).toBeUndefined()
      })

      test('use counted by several handles at once is all counted', async () => {
        const reader = await fixture.beside()
        const day = '2026-01-01'
        const additions = Array.from({ length: 50 }, (_, index) =>
          (index % 2 === 0 ? store : reader).addUse([{ keyId: 'k', day, operation: 'x', count: 2 }]),
        )
        await Promise.all(additions)
        expect(await store.usesOf(day)).toEqual([{ keyId: 'k', day, operation: 'x', count: 100 }])
        await reader.close()
      })
    })

    if (rowsOnly) return

    describe('leases', () => {
      test('a name has one holder at a time, and each new holder a higher token', async () => {
        const other = await fixture.beside()
        const first = await store.claim('follow eth', 'a', 60_000)
        expect(first).toEqual({ name: 'follow eth', token: 1 })
        expect(await other.claim('follow eth', 'b', 60_000)).toBeUndefined()
        expect(await other.claim('follow polygon', 'b', 60_000)).toEqual({ name: 'follow polygon', token: 1 })
        expect(await store.claim('follow eth', 'a', 60_000)).toEqual(first)
        await store.release({ name: 'follow eth', token: 0 })
        expect(await other.claim('follow eth', 'b', 60_000)).toBeUndefined()
        await store.release(first!)
        expect(await other.claim('follow eth', 'b', 1)).toEqual({ name: 'follow eth', token: 2 })
        await expect.poll(() => store.claim('follow eth', 'a', 60_000)).toEqual({ name: 'follow eth', token: 3 })
        await other.close()
      })

      test('a holder that lost its lease cannot write, and leaves nothing behind', async () => {
        const lost = store.fenced((await store.claim('x', 'a', 0))!)
        await lost.commitCold(cold([1]))
        await lost.putCheckpoint('feed', '1')
        const held = store.fenced((await store.claim('x', 'b', 60_000))!)
        const revision = store.revision()
        await expect(lost.commitCold(cold([2]))).rejects.toMatchObject({ code: 'conflict' })
        await expect(
          lost.commitHot({ chain: eth, ancestor: 5, blocks: [hot(6)], head: block(6) }),
        ).rejects.toMatchObject({ code: 'conflict' })
        await expect(lost.putChainState(eth, { finalized: 50 })).rejects.toMatchObject({ code: 'conflict' })
        await expect(lost.putCheckpoint('feed', '2')).rejects.toMatchObject({ code: 'conflict' })
        expect([await blocksOfPage(), await store.checkpoint('feed'), store.revision()]).toEqual([[1], '1', revision])
        await held.commitCold(cold([2]))
        expect(await blocksOfPage()).toEqual([2, 1])
      })
    })

    describe('webhooks', () => {
      const webhook: WebhookRecord = {
        ...{ id: 'w1', keyId: 'k1', name: 'shop', url: 'https://shop.example/', filter: '{}', createdAt: 1 },
        ...{ paused: false, secret: 1, oldSecretUntil: undefined },
      }
      const max = { ofKeys: ['k1', 'k0'], count: 2 }
      const batch = { id: 'msg_1', end: 'end', digest: 'digest', changes: 3 }

      test('are kept with their progress, and a key has so many', async () => {
        expect(await store.addWebhook(webhook, 'begin', max)).toBe(true)
        const [stored] = await store.webhooks()
        expect(stored!.webhook).toEqual(webhook)
        expect(stored!.progress).toEqual({
          ...{ id: 'w1', turn: 0, restart: false, position: 'begin', batch: undefined, attempts: 0, sent: 0 },
          ...{ failingSince: undefined, nextAttemptAt: undefined, behindSince: undefined, stopped: false },
          reason: undefined,
        })
        expect(await store.addWebhook({ ...webhook, id: 'w0', keyId: 'k0' }, 'x', max)).toBe(true)
        expect(await store.addWebhook({ ...webhook, id: 'w3' }, 'x', max)).toBe(false)
        const idsOf = async (asked?: Parameters<typeof store.webhooks>[0]) =>
          (await store.webhooks(asked)).map(each => each.webhook.id)
        expect([await idsOf(), await idsOf({ keys: ['k0'] }), await idsOf({ keys: [] })]).toEqual([
          ['w0', 'w1'],
          ['w0'],
          [],
        ])
        expect([await store.removeWebhook('w0'), await store.removeWebhook('w0')]).toEqual([true, false])
        expect(await store.changeWebhook('w1', { paused: true, secret: 2, oldSecretUntil: 9 })).toBe(true)
        expect((await store.webhooks({ id: 'w1' }))[0]!.webhook).toEqual({
          ...{ ...webhook, paused: true, secret: 2, oldSecretUntil: 9 },
        })
        expect(await store.changeWebhook('w0', {})).toBe(false)
      })

      test('progress is written by the holder of the lease, of the turn that it knows', async () => {
        await store.addWebhook(webhook, 'begin', max)
        const writer = store.fenced((await store.claim('webhooks', 'a', 60_000))!)
        const revision = store.revision()
        const { progress } = (await store.webhooks())[0]!
        const sent = (number: number) => ({
          ...{ webhook: 'w1', number, at: number, batch: `msg_${number}`, changes: 1, status: undefined },
          ...{ error: 'timeout', tookMs: 1 },
        })
        const failed = { ...progress, batch, attempts: 2, failingSince: 1, nextAttemptAt: 2, reason: 'no', sent: 22 }
        await writer.putProgress(
          [failed],
          Array.from({ length: 22 }, (_, at) => sent(at + 1)),
        )
        expect((await store.webhooks())[0]!.progress).toEqual(failed)
        expect(store.revision()).toBe(revision)
        const kept = await store.deliveries('w1')
        expect([kept.length, kept[0], kept.at(-1)]).toEqual([20, sent(22), sent(3)])
        // It is resumed meanwhile: what was known before is not written any more.
        await store.changeWebhook('w1', {}, { position: 'other' })
        await writer.putProgress([{ ...failed, position: 'late' }], [sent(23)])
        expect((await store.webhooks())[0]!.progress).toMatchObject({
          ...{ turn: 1, position: 'other', batch: undefined, attempts: 0, stopped: false, reason: undefined },
        })
        expect((await store.deliveries('w1'))[0]).toEqual(sent(22))
        const next = { ...(await store.webhooks())[0]!.progress, batch }
        await writer.putProgress([next], [])
        await store.changeWebhook('w1', {}, {})
        expect((await store.webhooks())[0]!.progress).toEqual({ ...next, turn: 2 })
        await store.changeWebhook('w1', {}, { restart: true })
        expect((await store.webhooks())[0]!.progress).toEqual({ ...next, turn: 3, batch: undefined, restart: true })
        await store.removeWebhook('w1')
        await writer.putProgress([{ ...next, turn: 3 }], [sent(24)])
        expect([await store.webhooks(), await store.deliveries('w1')]).toEqual([[], []])
        const lost = store.fenced((await store.claim('lost', 'a', 0))!)
        await store.claim('lost', 'b', 60_000)
        await expect(lost.putProgress([next], [])).rejects.toMatchObject({ code: 'conflict' })
      })
    })

    describe('keys', () => {
      const key: KeyRecord = {
        id: 'k1',
        name: 'one',
        hash: 'ab'.repeat(32),
        scopes: ['nft', 'ops'],
        createdAt: 1_700_000_000_000,
        expiresAt: undefined,
        revokedAt: undefined,
        ratePerSecond: 2.5,
        quotaPerDay: undefined,
        indexPerDay: 7,
        indexWaiting: 3,
        replaces: 'k0',
      }

      test('a key is found by its hash, replaced by it, listed and revoked once', async () => {
        const before = store.revision()
        await store.putKey(key)
        expect(store.revision()).not.toBe(before)
        await store.putKey({ ...key, name: 'renamed', quotaPerDay: 7 })
        const second = { ...key, id: 'k2', hash: 'cd'.repeat(32), createdAt: key.createdAt + 1 }
        await store.putKey(second)
        expect(await store.keys({ hash: key.hash })).toEqual([{ ...key, name: 'renamed', quotaPerDay: 7 }])
        expect(await store.keys({ hash: '00' })).toEqual([])
        expect(await store.endKey('k2', { revokedAt: 5 })).toBe(true)
        expect(await store.endKey('k2', { revokedAt: 6 })).toBe(true)
        // Whoever changes a key read it before.
        await store.putKey(second)
        expect(await store.endKey('none', { revokedAt: 5 })).toBe(false)
        expect((await store.keys()).map(({ id, revokedAt }) => [id, revokedAt])).toEqual([
          ['k1', undefined],
          ['k2', 5],
        ])
      })

      test('an end is brought forward, never put off, and a revoked key keeps what it was', async () => {
        const second = { ...key, id: 'k2', hash: 'cd'.repeat(32), createdAt: key.createdAt + 1 }
        await store.putKey(key)
        await store.putKey(second)
        await store.endKey('k2', { revokedAt: 5 })
        for (const end of [9, 7, 8]) expect(await store.endKey('k1', { expiresAt: end })).toBe(true)
        expect(await store.endKey('k2', { expiresAt: 7 })).toBe(true)
        expect(await store.endKey('none', { expiresAt: 7 })).toBe(false)
        expect(await store.keys()).toEqual([
          { ...key, expiresAt: 7 },
          { ...second, revokedAt: 5 },
        ])
      })

      test('an id that another key has is refused', async () => {
        await store.putKey(key)
        await expect(store.putKey({ ...key, hash: 'ef'.repeat(32) })).rejects.toMatchObject({ code: 'conflict' })
      })

      test('use adds up by day and operation', async () => {
        const use = { keyId: 'k1', day: '2026-01-02', operation: 'nft', count: 3 }
        await store.addUse([use, { ...use, operation: 'wallet', count: 4 }])
        await store.addUse([use, { ...use, day: '2026-01-01', count: 100 }])
        expect(await store.usesOf('2026-01-01')).toEqual([{ ...use, day: '2026-01-01', count: 100 }])
        expect(await store.usesOf('2026-01-02')).toEqual([
          { ...use, count: 6 },
          { ...use, operation: 'wallet', count: 4 },
        ])
        await store.addUse([{ ...use, keyId: 'k2', day: '2026-01-01' }])
        const second = { ...key, id: 'k2', hash: 'cd'.repeat(32), createdAt: key.createdAt + 1 }
        for (const used of [key, second]) await store.putKey(used)
        expect(await store.keys({ usedSince: '2026-01-01' })).toEqual([
          { ...key, lastUsedOn: '2026-01-02' },
          { ...second, lastUsedOn: '2026-01-01' },
        ])
        expect(await store.keys({ usedSince: '2026-01-02' })).toEqual([{ ...key, lastUsedOn: '2026-01-02' }, second])
      })
    })

    describe('what nobody asks for', () => {
      test('a watched contract is idle from the day after its last request, and leaves alone', async () => {
        const today = Math.floor(Date.now() / 86_400_000)
        await store.watchContract(eth, contract, { from: 20 })
        await store.watchContract(eth, otherContract, { from: 20 })
        await store.watchContract(eth, wallet, { askedOn: 7 })
        await store.watchContract(polygon, contract, { askedOn: 7 })
        for (const { askedOn } of await store.watchedContracts(eth)) expect(askedOn).toBeGreaterThanOrEqual(today)
        await store.watchContract(eth, contract, { askedOn: 7 })
        const asked = (await store.watchedContracts(eth)).map(watched => [watched.contract, watched.askedOn])
        expect(asked).toContainEqual([contract, 7])
        await store.watchContract(eth, contract, 'ended')
        expect(await store.watchedContracts(eth)).toMatchObject([{ contract: otherContract, watchedFrom: 20 }])
      })

      test('wallets are forgotten by block, and Solana owners by the time of their last reading', async () => {
        for (const block of [4, 9]) await store.putCheckpoint(`wallet/${eth}/${block}`, JSON.stringify({ block }))
        await store.putCheckpoint(`wallet/${polygon}/4`, JSON.stringify({ block: 4 }))
        await store.forgetWallets(eth, 9)
        expect(await store.checkpoint(`wallet/${eth}/4`)).toBeUndefined()
        expect(await store.checkpoint(`wallet/${eth}/9`)).toBeDefined()
        expect(await store.checkpoint(`wallet/${polygon}/4`)).toBeDefined()

        const key = (byte: number) => new Uint8Array(32).fill(byte)
        for (const at of [1, 2, 3]) {
          const account = { owner: key(at), lamports: 5n, slot: 10, chainTime: 1, readAtMs: at * 100 }
          const holding: Holding = {
            ...{ account: key(at + 10), owner: key(at), mint: key(9), amount: 1n },
            ...{ program: 'token', slot: 10, writeVersion: 0n },
          }
          await store.updateAccounts('devnet', { reading: { account, holdings: [holding] } })
        }
        expect(await store.forgetOwners('mainnet', 300, 10)).toBe(0)
        expect(await store.forgetOwners('devnet', 300, 1)).toBe(1)
        expect(await store.forgetOwners('devnet', 300, 10)).toBe(1)
        expect(await store.forgetOwners('devnet', 300, 10)).toBe(0)
        expect(await store.portfolioOf('devnet', key(1))).toBeUndefined()
        expect((await store.portfolioOf('devnet', key(3)))?.holdings.length).toBe(1)
        // Read again, it is there with what it holds.
        const again = { owner: key(1), lamports: 5n, slot: 9, chainTime: 1, readAtMs: 500 }
        await store.updateAccounts('devnet', { reading: { account: again, holdings: [] } })
        expect((await store.portfolioOf('devnet', key(1)))?.holdings.length).toBe(0)
      })
    })

    describe('allowances', () => {
      const limits = { keyId: 'k', ratePerSecond: undefined, quotaPerDay: undefined, unused: undefined }
      const today = () => new Date().toISOString().slice(0, 10)

      test('a rate is granted once to all handles together, and anew in the next second', async () => {
        const other = await fixture.beside()
        const asked = { ...limits, ratePerSecond: 10 }
        const grants = await Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            (index % 2 === 0 ? store : other).takeAllowance({ ...asked, wanted: 3 }),
          ),
        )
        const later = Math.max(...grants.map(grant => grant.secondEndsInMs))
        // A machine that pauses for a second in between is granted the next one too; it never gets more than that.
        const seconds = grants.filter(grant => grant.usedInSecond === grant.granted && grant.granted > 0).length
        expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(10 * seconds)
        expect(later).toBeGreaterThan(0)
        expect(later).toBeLessThanOrEqual(1_000)
        await expect
          .poll(async () => (await other.takeAllowance({ ...asked, wanted: 30 })).granted, { timeout: 10_000 })
          .toBe(10)
        await other.close()
      })

      test('a quota begins with the uses of the day, and gets back what was not used', async () => {
        const other = await fixture.beside()
        const day = today()
        await store.addUse([
          { keyId: 'k', day, operation: 'x', count: 2 },
          { keyId: 'k', day, operation: 'y', count: 1 },
          { keyId: 'k', day: '2020-01-01', operation: 'x', count: 100 },
        ])
        const asked = { ...limits, quotaPerDay: 10, wanted: 4 }
        expect(await store.takeAllowance(asked)).toMatchObject({ granted: 4, day, usedInDay: 7 })
        expect(await other.takeAllowance(asked)).toMatchObject({ granted: 3, usedInDay: 10 })
        expect(await other.takeAllowance(asked)).toMatchObject({ granted: 0, usedInDay: 10 })
        const back = { ...asked, wanted: 0, unused: { count: 2, day } }
        expect(await store.takeAllowance(back)).toMatchObject({ granted: 0, usedInDay: 8 })
        expect(await store.takeAllowance({ ...back, unused: { count: 2, day: '2020-01-01' } })).toMatchObject({
          usedInDay: 8,
        })
        expect(await other.takeAllowance(asked)).toMatchObject({ granted: 2, usedInDay: 10 })
        const taken = { ...asked, wanted: 0, unused: { count: -5, day } }
        const { usedInSecond } = await store.takeAllowance({ ...taken, unused: undefined })
        expect(await store.takeAllowance(taken)).toMatchObject({ granted: 0, usedInDay: 15 })
        expect((await store.takeAllowance({ ...taken, unused: undefined })).usedInSecond).toBeLessThanOrEqual(
          usedInSecond,
        )
        expect(await other.takeAllowance({ ...asked, keyId: 'another' })).toMatchObject({ granted: 4 })
        await other.close()
      })

      test.each([3_600_000, 86_400_000, 50 * 365 * 86_400_000])(
        'a clock that was %s ms ahead and goes back neither refuses nor forgets',
        async aheadMs => {
          if (fixture.stepClock === undefined) return
          const day = today()
          await store.addUse([{ keyId: 'q', day, operation: 'x', count: 6 }])
          const rated = { ...limits, ratePerSecond: 5, wanted: 5 }
          const counted = { ...limits, keyId: 'q', quotaPerDay: 10, wanted: 30 }
          const take = { topics: ['evm/1'], holdMs: 60_000, limit: 10 }
          const indexed = { keyId: 'q', perDay: 1 }
          expect(await store.takeIndexing({ ...indexed, targets: ['a'] })).toBe(true)
          await fixture.stepClock(aheadMs)
          const ahead = await fixture.beside()
          expect((await ahead.takeAllowance(rated)).granted).toBe(5)
          const countedAhead = await ahead.takeAllowance(counted)
          const isOtherDay = countedAhead.day !== day
          expect(countedAhead.granted).toBe(isOtherDay ? 10 : 4)
          expect(await ahead.takeIndexing({ ...indexed, targets: ['b'] })).toBe(isOtherDay)
          expect(await ahead.claim('follow', 'gone', 60_000)).toBeDefined()
          await ahead.requestWork({ name: 'w', topic: 'evm/1', waitMs: 60_000 })
          expect(await ahead.takeWork(take)).toHaveLength(1)
          await ahead.putHeartbeat('gone', '1')
          await ahead.close()
          await fixture.stepClock(0)
          const back = await fixture.beside()
          const grant = await back.takeAllowance(rated)
          expect(grant).toMatchObject({ granted: 5, day })
          expect(grant.secondEndsInMs).toBeLessThanOrEqual(1_000)
          expect((await back.takeAllowance(counted)).granted).toBe(isOtherDay ? 4 : 0)
          // What was counted is kept for a week.
          if (aheadMs < 7 * 86_400_000) expect(await back.takeIndexing({ ...indexed, targets: ['c'] })).toBe(false)
          expect(await back.claim('follow', 'successor', 60_000)).toBeDefined()
          expect(await back.takeWork(take)).toHaveLength(1)
          expect((await back.heartbeats())[0]!.ageMs).toBeGreaterThan(3_000_000)
          await back.close()
        },
      )

      test('a key without limits is granted all it wants, and a rate below one nothing', async () => {
        expect((await store.takeAllowance({ ...limits, wanted: 1_000_000 })).granted).toBe(1_000_000)
        expect((await store.takeAllowance({ ...limits, keyId: 'b', wanted: 1, ratePerSecond: 0.5 })).granted).toBe(0)
      })

      test('indexing is counted by target, whichever handle asks', async () => {
        const other = await fixture.beside()
        const asked = { keyId: 'k', perDay: 3 }
        const targets = ['a', 'a', 'b', 'c', 'd', 'a', 'e']
        const answers = []
        for (const [index, target] of targets.entries())
          answers.push(await (index % 2 === 0 ? store : other).takeIndexing({ ...asked, targets: [target] }))
        expect(answers).toEqual([true, true, true, true, false, true, false])
        const racing = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            (index % 2 === 0 ? store : other).takeIndexing({ keyId: 'r', perDay: 3, targets: [`${index}`] }),
          ),
        )
        expect(racing.filter(allowed => allowed)).toHaveLength(3)
        // Several at once count together, and not at all where they are too many.
        const several = async (...targets: string[]) => await store.takeIndexing({ keyId: 's', perDay: 3, targets })
        expect([await several('a', 'b', 'a'), await several('b', 'c', 'd'), await several('b', 'c')]).toEqual([
          ...[true, false, true],
        ])
        expect([await several('d'), await several('a', 'b', 'c')]).toEqual([false, true])
        await other.close()
      })
    })

    describe('work for other processes', () => {
      const take = (by: Store, topics = ['evm/1'], holdMs = 60_000) => by.takeWork({ topics, holdMs, limit: 10 })
      const ask = (name: string, waitMs = 60_000, topic = 'evm/1') => store.requestWork({ name, topic, waitMs })

      test('is taken once, by one that serves its topic, oldest first, and its outcome is seen', async () => {
        const other = await fixture.beside()
        for (const name of ['a', 'b', 'c', 'a']) await ask(name)
        await ask('s', 60_000, 'solana/mainnet')
        const taken = await take(other)
        expect(taken.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c'])
        expect(taken.every(({ waitMs, topic }) => waitMs > 0 && waitMs <= 60_000 && topic === 'evm/1')).toBe(true)
        expect(await take(store)).toEqual([])
        expect(await store.workOutcomes(['a', 'b', 'none'])).toEqual(new Map())
        await other.finishWork('a', '{"done":true}')
        expect(await store.workOutcomes(['a', 'b', 'none'])).toEqual(new Map([['a', '{"done":true}']]))
        // Asked for again it is done again, and the old outcome is gone.
        await ask('a')
        expect(await store.workOutcomes(['a'])).toEqual(new Map())
        expect((await take(store)).map(({ name }) => name)).toEqual(['a'])
        await other.close()
      })

      test('takers that come at once share the work', async () => {
        const other = await fixture.beside()
        await Promise.all(Array.from({ length: 20 }, (_, index) => ask(`w${index}`)))
        const shares = await Promise.all([store, other, store, other].map(by => take(by)))
        const names = shares.flat().map(({ name }) => name)
        expect(new Set(names).size).toBe(names.length)
        const rest = await take(store)
        expect(new Set([...names, ...rest.map(({ name }) => name)]).size).toBe(20)
        await other.close()
      })

      test('is left to others by one that dies, and to nobody once the wait is over', async () => {
        await ask('a')
        await ask('late', 0)
        expect((await take(store, ['evm/1'], 1)).map(({ name }) => name)).toEqual(['a'])
        await expect.poll(async () => (await take(store)).map(({ name }) => name)).toEqual(['a'])
      })

      test('heartbeats are those of every process that runs', async () => {
        const other = await fixture.beside()
        await store.putHeartbeat('a', '1')
        await other.putHeartbeat('b', '2')
        await store.putHeartbeat('a', '3')
        const beats = await other.heartbeats()
        expect(beats.map(({ process, report }) => [process, report]).sort()).toEqual([
          ['a', '3'],
          ['b', '2'],
        ])
        expect(beats.every(({ ageMs }) => ageMs >= 0 && ageMs < 60_000)).toBe(true)
        await other.putHeartbeat('b', undefined)
        expect((await store.heartbeats()).map(({ process }) => process)).toEqual(['a'])
        await other.close()
      })
    })

    describe('annotations', () => {
      const label = (changes: Partial<Label>): Label => ({
        chain: undefined,
        address: wallet,
        label: 'x',
        source: 's',
        rank: 'imported',
        updatedAt: 1,
        ...changes,
      })

      const mark = (changes: Partial<Mark>): Mark => ({
        ...{ chain: eth, contract, source: 's', rank: 'imported', verified: undefined, spam: undefined, updatedAt: 1 },
        ...changes,
      })

      test('the better rank wins, then this chain, then the newer; removing brings back the next', async () => {
        await store.annotate({
          labels: [
            label({ label: 'everywhere', source: 'a' }),
            label({ label: 'pack', source: 'b', rank: 'built-in', chain: eth, updatedAt: 9 }),
            label({ label: 'older here', source: 'c', chain: eth }),
            label({ label: 'newer here', source: 'd', chain: eth, updatedAt: 2 }),
            label({ label: 'mine', source: 'e', rank: 'operator' }),
          ],
        })
        const winner = async (chain = eth) => (await store.labelsOf(chain, [wallet, contract, wallet])).get(wallet)
        expect(await winner()).toBe('mine')
        expect(await store.annotate({ removedLabels: [label({ source: 'e' }), label({ source: 'none' })] })).toBe(1)
        expect(await winner()).toBe('newer here')
        expect(await winner(polygon)).toBe('everywhere')
        await store.annotate({ labels: [label({ label: 'renamed', source: 'd', chain: eth, updatedAt: 3 })] })
        expect(await store.labelsOf(eth, [wallet, contract])).toEqual(new Map([[wallet, 'renamed']]))
      })

      test('contracts and labels are found by the beginning of a name, and within one where there are few', async () => {
        const facts = (chain: ChainId, digit: string, name: string | undefined, symbol?: string) => ({
          ...{ chain, contract: `0x${digit.repeat(40)}` as Address, name, symbol, possibleSpam: false },
        })
        const long = `Bored ${'x'.repeat(5_000)}`
        await store.annotate({
          facts: [
            facts(eth, '1', 'Bored Ape Yacht Club', 'BAYC'),
            facts(polygon, '2', 'BORED', undefined),
            facts(eth, '3', 'Club of bears', 'bor'),
            facts(eth, '4', undefined, undefined),
            facts(eth, '5', 'Ünbored \0 100%', '%'),
            facts(eth, '6', long, '_'),
          ],
        })
        await store.annotate({
          labels: [label({ label: 'Ada' }), label({ label: 'The Adaptable', source: 't', chain: eth })],
        })
        const question = (text: string) => ({ text, limit: 10, readMax: 100 })
        const found = async (text: string, changes = {}) => {
          const answer = await store.named({ ...question(text), ...changes })
          return [
            [...new Set(answer.contracts.map(({ contract }) => contract.at(-1)))].sort().join(''),
            answer.anywhere,
          ]
        }
        expect(await found('bored')).toEqual(['1256', true])
        expect(await found('bored', { readMax: 5 })).toEqual(['126', false])
        expect(await found('BOR')).toEqual(['12356', true])
        expect(await found('bay', { readMax: 5 })).toEqual(['1', false])
        expect(await found('YACHT')).toEqual(['1', true])
        expect(await found('%')).toEqual(['5', true])
        expect(await found('_', { readMax: 5 })).toEqual(['6', false])
        expect(await found('nothing')).toEqual(['', true])
        const [club] = (await store.named(question('club'))).contracts
        expect(club).toEqual({
          ...{ chain: eth, contract: `0x${'3'.repeat(40)}`, name: 'Club of bears', symbol: 'bor' },
        })
        const labels = async (text: string) => (await store.named(question(text))).labels.map(each => each.label)
        expect(new Set(await labels('ada'))).toEqual(new Set(['Ada', 'The Adaptable']))
        expect((await labels('ada'))[0]).toBe('Ada')
        expect((await store.named(question('the'))).labels[0]).toEqual({
          ...{ chain: eth, address: wallet, label: 'The Adaptable' },
        })
      })

      test('where labels changed is told, whoever changed them, for as long as the changes are kept', async () => {
        const reader = await fixture.beside()
        const { count, ranges } = await reader.labelChanges(undefined)
        expect(ranges).toEqual([everyAddress])
        const version = reader.labelVersion()
        expect(await reader.labelChanges(count)).toEqual({ count, ranges: [] })
        await store.putChainState(eth, { head: block(1) })
        expect(reader.labelVersion()).toBe(version)
        await store.annotate({ labels: [label({}), label({ address: contract })] })
        expect(reader.labelVersion()).not.toBe(version)
        await store.annotate({ removedLabels: [label({ source: 'none' })] })
        await store.annotate({ removedLabels: [label({ address: contract })] })
        const one = (address: Address) => ({ first: address, last: address })
        expect(await reader.labelChanges(count)).toEqual({
          count: count + 2,
          ranges: [one(wallet), one(contract), one(contract)],
        })
        const checkpoint = { name: 'pack', value: '1' }
        const replacing = label({ source: 's', address: otherContract })
        await store.annotate({ replaces: 's', labels: [replacing], checkpoint })
        const replaced = await reader.labelChanges(count + 2)
        expect(replaced).toEqual({ count: count + 3, ranges: [one(wallet), one(otherContract)] })
        for (let change = 0; change < changesKept; change++) await store.annotate({ labels: [label({})] })
        const { count: now } = await reader.labelChanges(undefined)
        expect((await reader.labelChanges(now - changesKept)).ranges.length).toBe(changesKept)
        expect((await reader.labelChanges(now - changesKept - 1)).ranges).toEqual([everyAddress])
        await reader.close()
      })

      test('labels are read stretch by stretch, the stronger of an address first', async () => {
        const addresses = Array.from({ length: 5 }, (_, index) => `0x${`${index}`.repeat(40)}` as Address)
        const everywhere = addresses.map(address => label({ address, label: 'everywhere' }))
        const own = addresses.map(address => label({ address, label: 'own ✓', chain: polygon, rank: 'operator' }))
        const here = addresses.map(address => label({ address, label: 'here', chain: eth }))
        await store.annotate({ labels: [...everywhere, ...own, ...here] })
        const expected = (from: number, to: number) =>
          addresses.slice(from, to).flatMap(address => [
            { address, chain: polygon, label: 'own ✓' },
            { address, chain: eth, label: 'here' },
            { address, chain: undefined, label: 'everywhere' },
          ])
        expect(await store.labelsWithin(everyAddress, 3)).toEqual(expected(0, 3))
        expect(await store.labelsWithin(everyAddress, 5)).toEqual(expected(0, 5))
        expect(await store.labelsWithin(everyAddress, 6)).toEqual(expected(0, 5))
        const middle = { first: addresses[1]!, last: addresses[3]! }
        expect(await store.labelsWithin(middle, 10)).toEqual(expected(1, 4))
        expect(await store.labelsWithin(middle, 1)).toEqual(expected(1, 2))
        expect(await store.labelsWithin({ first: contract, last: otherContract }, 10)).toEqual([])
      })

      test('labels in memory are those of the store, whatever is set, removed and imported', async () => {
        const pool = [0, 1, 0xfffffffe].flatMap(start =>
          [0, 7, 9, 0xff].flatMap(end =>
            [0, 3].map(middle => {
              const bytes = Buffer.alloc(20, middle)
              bytes.writeUInt32BE(start, 0)
              return `0x${bytes.toString('hex', 0, 19)}${end.toString(16).padStart(2, '0')}` as Address
            }),
          ),
        )
        const page = pageOfParties(pool)
        const reader = await fixture.beside()
        const known = [
          new KnownLabels(store, () => store.revision(), { addressesPerRead: 4 }),
          new KnownLabels(reader, () => reader.revision(), { addressesPerRead: 3, bytesMax: 1_000 }),
        ]
        const chosen = fc.record({
          chain: fc.constantFrom(undefined, eth, polygon),
          address: fc.constantFrom(...pool),
          label: fc.string({ unit: 'grapheme', maxLength: 5 }),
          source: fc.constantFrom('a', 'b'),
          rank: fc.constantFrom('operator' as const, 'imported' as const),
          updatedAt: fc.nat(3),
        })
        const change = fc.record({
          kind: fc.constantFrom('put', 'put', 'remove', 'replace'),
          labels: fc.array(chosen, { maxLength: 12 }),
          settles: fc.boolean(),
        })
        const apply = async (kind: string, labels: readonly Label[]): Promise<unknown> => {
          if (kind === 'put') return await store.annotate({ labels })
          if (kind === 'remove') return await store.annotate({ removedLabels: labels })
          const checkpoint = { name: 'pack', value: '1' }
          return await store.annotate({
            replaces: 'a',
            labels: labels.map(each => ({ ...each, source: 'a' })),
            checkpoint,
          })
        }
        await fc.assert(
          fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async changes => {
            for (const { kind, labels, settles } of changes) {
              await apply(kind, labels)
              for (const memory of known)
                for (const chain of [eth, polygon]) {
                  const found = textsOf(page, await memory.ofPage(chain, page))
                  const expected = await store.labelsOf(chain, pool)
                  expect(pool.map((_, index) => found[index * 2])).toEqual(pool.map(address => expected.get(address)))
                  // Without it the next change comes in the middle of the reading.
                  if (settles) await memory.settled()
                }
            }
          }),
          { numRuns: Math.min(25, runs) },
        )
        for (const memory of known) await memory.settled()
        await reader.close()
      })

      test('labels written by another handle are seen at once', async () => {
        const reader = await fixture.beside()
        const addresses = Array.from(
          { length: 300 },
          (_, index) => `0x${index.toString(16).padStart(40, '0')}` as Address,
        )
        await store.annotate({ labels: addresses.slice(0, 100).map(address => label({ address, label: address })) })
        for (let round = 0; round < 3; round++) expect((await reader.labelsOf(eth, addresses)).size).toBe(100)
        await store.annotate({ labels: [label({ address: addresses[200]!, label: 'late' })] })
        const found = await reader.labelsOf(eth, addresses)
        expect([found.size, found.get(addresses[200]!), found.get(addresses[7]!)]).toEqual([101, 'late', addresses[7]])
        await reader.close()
      })

      test('every label of an address is told, the winner first, on the chains where it applies', async () => {
        const here = label({ label: 'here', source: 'b', chain: eth })
        const everywhere = label({ label: 'everywhere', source: 'a', updatedAt: 7 })
        const own = label({ label: 'mine \0 ✓', source: 'operator', rank: 'operator', chain: polygon })
        await store.annotate({ labels: [everywhere, own, here, label({ address: contract })] })
        expect(await store.labelCandidates(eth, wallet)).toEqual([here, everywhere])
        expect(await store.labelCandidates(polygon, wallet)).toEqual([own, everywhere])
        expect(await store.labelCandidates(77 as ChainId, wallet)).toEqual([everywhere])
        expect(await store.labelCandidates(eth, otherContract)).toEqual([])
      })

      test('labels and marks are walked page by page, by chain, source and rank', async () => {
        const addresses = Array.from({ length: 5 }, (_, index) => `0x${`${index}`.repeat(40)}` as Address)
        const labels = addresses.flatMap(address => [
          label({ address }),
          label({ address, chain: eth, source: 't', rank: 'built-in' }),
          label({ address, chain: polygon }),
        ])
        const marks = addresses.flatMap(address => [
          mark({ contract: address, verified: true }),
          mark({ contract: address, chain: polygon, source: 't', rank: 'operator', spam: false }),
        ])
        await store.putChainState(eth, { head: block(1) })
        await store.annotate({ labels: labels.toReversed() })
        await store.annotate({ marks: marks.toReversed() })
        const walk = async <T>(page: (after: T | undefined) => Promise<T[]>) => {
          const found: T[] = []
          for (let rows = await page(undefined); rows.length > 0; rows = await page(rows.at(-1))) found.push(...rows)
          return found
        }
        const filters = [{}, { chain: eth }, { chain: 77 as ChainId }, { source: 's' }, { rank: 'built-in' as const }]
        for (const filter of [...filters, { chain: polygon, source: 't', rank: 'operator' as const }]) {
          const passes = (row: Label | Mark) =>
            Object.entries(filter).every(([key, value]) => row[key as never] === value)
          const foundLabels = await walk<Label>(after => store.labels(filter, after, 2))
          expect(foundLabels).toEqual(labels.filter(passes))
          const foundMarks = await walk<Mark>(after => store.marks(filter, after, 2))
          const byChain = (chain: ChainId) => marks.filter(row => row.chain === chain && passes(row))
          expect(foundMarks).toEqual([...byChain(eth), ...byChain(polygon)])
        }
      })

      test('what a source says is replaced as a whole, with its checkpoint', async () => {
        const plainLabel = label({ rank: 'built-in', source: 'pack' })
        const plainMark = mark({ rank: 'built-in', source: 'pack', verified: true })
        const checkpoint = { name: 'pack', value: '1' }
        await store.annotate({ labels: [label({ source: 'other', label: 'other' })] })
        await store.annotate({ replaces: 'pack', labels: [plainLabel], marks: [plainMark], checkpoint })
        const second = { ...plainLabel, address: contract }
        const revision = store.revision()
        await store.annotate({
          ...{ replaces: 'pack', labels: [second], marks: [{ ...plainMark, contract: otherContract }] },
          checkpoint: { name: 'pack', value: '2' },
        })
        expect(store.revision()).not.toBe(revision)
        expect(await store.labelsOf(eth, [wallet, contract])).toEqual(
          new Map([
            [wallet, 'other'],
            [contract, 'x'],
          ]),
        )
        expect(await store.marks({}, undefined, 10)).toEqual([{ ...plainMark, contract: otherContract }])
        expect(await store.checkpoint('pack')).toBe('2')
        await store.annotate({ replaces: 'pack', checkpoint })
        expect(await store.labels({ source: 'pack' }, undefined, 10)).toEqual([])
      })

      test('facts of a contract are replaced', async () => {
        const facts = { chain: eth, contract, name: 'N', symbol: undefined, possibleSpam: true }
        await store.annotate({ facts: [facts] })
        await store.annotate({ facts: [{ ...facts, name: undefined, symbol: 'S' }] })
        expect((await store.annotationsOf(eth, contract)).facts).toEqual({ ...facts, name: undefined, symbol: 'S' })
        expect((await store.annotationsOf(polygon, contract)).facts).toBeUndefined()
      })

      test('contracts are ranked by the transfers of their last verdict, page by page', async () => {
        const judged = (of: Address, transfers: number | undefined, chain = eth): ContractFacts => ({
          ...{ chain, contract: of, name: `N\u0000${of.slice(2, 4)}`, symbol: undefined, possibleSpam: false },
          verdict: {
            ...{ rulesVersion: 1, score: 0, reasons: [], basis: '', judgedAtMs: 9 },
            ...(transfers === undefined ? {} : { transfers }),
          },
        })
        const all = [contract, otherContract, wallet].sort()
        await store.annotate({ facts: [...all.map(of => judged(of, 7)), judged(contract, 9, polygon)] })
        await store.annotate({ facts: [judged(all[1]!, 12_345_678_901), judged(all[0]!, undefined)] })
        const ranked: [Address, number][] = []
        for (let after: RankedContract | undefined; ; ) {
          const [next] = await store.rankedContracts(eth, after, 1)
          if (next === undefined) break
          expect(next).toMatchObject({ name: `N\u0000${next.contract.slice(2, 4)}`, symbol: undefined })
          ranked.push([next.contract, next.transfers])
          after = next
        }
        const expected = [
          [all[1], 12_345_678_901],
          [all[2], 7],
          [all[0], 0],
        ]
        expect(ranked).toEqual(expected)
        expect((await store.rankedContracts(eth, undefined, 9)).map(({ contract: of }) => of)).toEqual(
          expected.map(([of]) => of),
        )
        expect(await store.rankedContracts(77 as ChainId, undefined, 9)).toEqual([])
      })

      test('contracts with a symbol are found, those with the most transfers first', async () => {
        const facts = (of: Address, symbol: string | undefined, transfers: number, chain = eth): ContractFacts => ({
          ...{ chain, contract: of, name: 'USDT', symbol, possibleSpam: false },
          verdict: { rulesVersion: 1, score: 0, reasons: [], basis: '', judgedAtMs: 9, transfers },
        })
        const at = (digit: string) => `0x${digit.repeat(40)}` as Address
        const long = `${'\u00dc'.repeat(70)}a`
        await store.annotate({
          facts: [
            ...[facts(contract, 'USDT', 5), facts(otherContract, 'usdt', 7), facts(wallet, 'USDT', 9, polygon)],
            ...[facts(wallet, 'USDTx', 8), facts(zeroAddress, undefined, 8), facts(at('7'), long, 1)],
            ...[facts(at('8'), `${long}b`, 1), facts(at('9'), 'a%_', 1), facts(at('a'), 'USDT\u0000', 1)],
          ],
        })
        const found = async (symbol: string, limit = 10, after?: RankedContract) =>
          (await store.rankedContracts(eth, after, limit, symbol)).map(ranked => ranked.contract)
        expect(await found('Usdt')).toEqual([otherContract, contract])
        const [first] = await store.rankedContracts(eth, undefined, 1, 'usdt')
        expect(first).toEqual({ contract: otherContract, name: 'USDT', symbol: 'usdt', transfers: 7 })
        expect(await found('usdt', 1, first)).toEqual([contract])
        expect(await found(long)).toEqual([at('7')])
        expect(await found('A%_')).toEqual([at('9')])
        for (const none of ['usd', '%', '']) expect(await found(none)).toEqual([])
        expect(await store.rankedContracts(77 as ChainId, undefined, 9, 'usdt')).toEqual([])
      })

      test('what was read of a contract and how it was judged come back as they were given', async () => {
        const facts: ContractFacts = {
          ...{ chain: eth, contract, name: 'N\u0000\u{1f412}', symbol: undefined, possibleSpam: true },
          reading: { interfaces: ['erc721', 'erc2981'], deployer: wallet, createdBlock: 7, readAtMs: 8 },
          verdict: {
            ...{ rulesVersion: 3, score: 1.25, basis: '5 1-2-3', judgedAtMs: 9 },
            reasons: [{ rule: 'r', weight: 0.5, numbers: { share: 0.25, text: 'a"\u0000b' } }],
          },
        }
        await store.annotate({ facts: [facts] })
        expect((await store.annotationsOf(eth, contract)).facts).toEqual(facts)
      })

      test('token URIs come back as they were given, those that are not there as nothing', async () => {
        const uris: TokenUri[] = [
          { contract, tokenId: 0n, uri: 'ipfs://a\u{1f412}/0', readAtMs: 1 },
          { contract, tokenId: 2n ** 256n - 1n, uri: `data:,${'x'.repeat(90_000)}`, readAtMs: 2 },
          { contract: otherContract, tokenId: 256n, uri: undefined, readAtMs: 3 },
        ]
        expect(await store.tokenUris(eth, uris)).toEqual([])
        const revision = store.revision()
        await store.annotate({ tokenUris: { chain: eth, uris } })
        expect(store.revision()).not.toBe(revision)
        const byTime = (a: TokenUri, b: TokenUri) => a.readAtMs - b.readAtMs
        const unread = [1n, 255n, 25_600n].map(tokenId => ({ contract, tokenId }))
        expect((await store.tokenUris(eth, [...unread, ...uris])).sort(byTime)).toEqual(uris)
        const short = [uris[0], { ...uris[1]!, uri: undefined, uriBytes: 90_006 }, uris[2]]
        expect((await store.tokenUris(eth, uris, 90_005)).sort(byTime)).toEqual(short)
        expect((await store.tokenUris(eth, uris, 90_006)).sort(byTime)).toEqual(uris)
        expect(await store.tokenUris(polygon, uris)).toEqual([])
        const contracts = [contract, `0x${'9'.repeat(40)}` as Address, otherContract]
        expect(await store.contractsWithUris(eth, contracts)).toEqual(new Set([contract, otherContract]))
        expect(await store.contractsWithUris(polygon, contracts)).toEqual(new Set())
        const changed = [
          { ...uris[0]!, uri: undefined, readAtMs: 4 },
          { ...uris[2]!, uri: 'b', readAtMs: 5 },
        ]
        await store.annotate({ tokenUris: { chain: eth, uris: [uris[0]!, ...changed] } })
        expect((await store.tokenUris(eth, uris)).sort(byTime)).toEqual([uris[1], ...changed])
      })

      test('what was fetched comes back as it was given, within a bound on all of it', async () => {
        const fact = (at: number, size = 100_000): WebFact => ({
          ...{ name: createHash('sha256').update(`${at}`).digest(), status: 'success', evidence: 'gateway' },
          ...{ type: 'image/png', size, width: 4, height: null, readAtMs: at },
          content: size === 0 ? undefined : (Buffer.alloc(size, at) as Buffer<ArrayBuffer>),
        })
        const namesOf = (facts: readonly WebFact[]) => facts.map(({ name }) => name)
        const two = [fact(1), { ...fact(2, 0), status: 'host_unavailable', type: null } as WebFact]
        expect(await store.webFacts(namesOf(two), 2 ** 20)).toEqual([])
        const revision = store.revision()
        for (const each of two) await store.putWebFact(each, { bytesMax: 2 ** 30 })
        expect(store.revision()).toBe(revision)
        const byTime = (a: WebFact, b: WebFact) => a.readAtMs - b.readAtMs
        expect((await store.webFacts(namesOf(two), 100_000)).sort(byTime)).toEqual(two)
        const [short] = (await store.webFacts(namesOf(two), 99_999)).sort(byTime)
        expect(short).toEqual({ ...two[0], content: undefined })
        await store.putWebFact({ ...two[0]!, evidence: 'hash' }, { bytesMax: 2 ** 30, seen: true })
        expect(store.revision()).not.toBe(revision)
        expect(await store.webFacts(namesOf([two[0]!]), 0)).toMatchObject([{ evidence: 'hash' }])
        const many = Array.from({ length: 40 }, (_, at) => fact(at + 10))
        for (const each of many) await store.putWebFact(each, { bytesMax: 1_000_000 })
        const left = (await store.webFacts(namesOf([...two, ...many]), 0)).map(({ readAtMs }) => readAtMs)
        expect(left.length).toBeLessThanOrEqual(10)
        expect(left.length).toBeGreaterThan(5)
        expect(Math.max(...left)).toBe(49)
        expect(Math.min(...left)).toBe(50 - left.length)
      })

      test('verified names are those of verified contracts and of their labels', async () => {
        const named = (of: Address, name: string) => ({
          ...{ chain: eth, contract: of, name, symbol: undefined, possibleSpam: false },
        })
        await store.annotate({ facts: [named(contract, 'Apes'), named(otherContract, 'Others')] })
        await store.annotate({ marks: [mark({ verified: true }), mark({ contract: otherContract, verified: false })] })
        const label = { source: 's', rank: 'imported', updatedAt: 1 } as const
        await store.annotate({
          labels: [
            { ...label, chain: undefined, address: contract, label: 'The Apes' },
            { ...label, chain: eth, address: otherContract, label: 'The Others' },
          ],
        })
        expect((await store.verifiedNames()).sort()).toEqual(['Apes', 'The Apes'])
      })

      test('marks come by rank, then the newer first, and a source adds to what it said', async () => {
        const pack = mark({ source: 'pack', rank: 'built-in', verified: true, updatedAt: 9 })
        const older = mark({ source: 'z', verified: false })
        const newer = mark({ source: 'b', spam: true, updatedAt: 2 })
        const twin = mark({ source: 'a', spam: false, updatedAt: 2 })
        const pin = mark({ source: 'operator', rank: 'operator', spam: false })
        await store.annotate({
          marks: [pack, older, newer, twin, pin, mark({ contract: otherContract, verified: true })],
        })
        expect((await store.annotationsOf(eth, contract)).marks).toEqual([pin, twin, newer, older, pack])
        expect((await store.annotationsOf(polygon, contract)).marks).toEqual([])
        const revision = store.revision()
        await store.annotate({
          marks: [
            mark({ source: 'operator', rank: 'operator', verified: true, updatedAt: 3 }),
            mark({ source: 'operator', rank: 'operator', spam: true, updatedAt: 4 }),
          ],
        })
        expect(store.revision()).not.toBe(revision)
        expect((await store.annotationsOf(eth, contract)).marks[0]).toEqual({
          ...pin,
          verified: true,
          spam: true,
          updatedAt: 4,
        })
        expect(
          await store.annotate({ removedMarks: [pin, mark({ source: 'none' }), mark({ chain: 77 as ChainId })] }),
        ).toBe(1)
        expect((await store.annotationsOf(eth, contract)).marks).toEqual([twin, newer, older, pack])
      })
    })

    describe('Solana', () => {
      const bytes = (n: number) => new Uint8Array(32).fill(n)
      const owner = bytes(1)
      const account = { owner, lamports: 2n ** 64n - 1n, slot: 100, chainTime: 50, readAtMs: 7 }
      const holding = (n: number, changes: Partial<Holding> = {}): Holding => ({
        account: bytes(n),
        owner,
        mint: bytes(200),
        amount: 5n,
        program: 'token',
        slot: 100,
        writeVersion: 0n,
        ...changes,
      })
      const accountsOf = async () =>
        holdingRows((await store.portfolioOf('mainnet', owner))?.holdings).map(({ account: [n], amount }) => [
          n,
          amount,
        ])

      test('a portfolio is what was put, in the order of account keys, with full-range numbers', async () => {
        expect(await store.portfolioOf('mainnet', owner)).toBeUndefined()
        const large = holding(3, { amount: 2n ** 64n - 1n, writeVersion: 2n ** 64n - 1n, program: 'token-2022' })
        await store.updateAccounts('mainnet', { reading: { account, holdings: [large, holding(2)] } })
        const found = await store.portfolioOf('mainnet', owner)
        expect(found?.account).toEqual(account)
        const unread = { decimals: null, supply: null, name: '', symbol: '', tokenStandard: null, amountRule: null }
        expect(holdingRows(found?.holdings)).toEqual([
          { account: bytes(2), mint: bytes(200), amount: 5n, ...unread },
          { account: bytes(3), mint: bytes(200), amount: 2n ** 64n - 1n, ...unread },
        ])
        expect(await store.portfolioOf('devnet', owner)).toBeUndefined()
      })

      test('a reading replaces what is not newer; an older reading changes nothing', async () => {
        await store.updateAccounts('mainnet', { reading: { account, holdings: [holding(2), holding(3)] } })
        await store.updateAccounts('mainnet', {
          holdings: [holding(4, { slot: 120 }), holding(3, { slot: 120, amount: 6n })],
        })
        await store.updateAccounts('mainnet', {
          reading: {
            account: { ...account, slot: 110, lamports: 1n },
            holdings: [holding(3, { slot: 110, amount: 1n })],
          },
        })
        expect(await accountsOf()).toEqual([
          [3, 6n],
          [4, 5n],
        ])
        await store.updateAccounts('mainnet', {
          reading: { account: { ...account, slot: 105 }, holdings: [holding(9, { slot: 105 })] },
        })
        expect(await accountsOf()).toEqual([
          [3, 6n],
          [4, 5n],
        ])
        expect((await store.portfolioOf('mainnet', owner))?.account.lamports).toBe(1n)
      })

      test('updates apply unless older, in whatever order they come', async () => {
        await store.updateAccounts('mainnet', { reading: { account: { ...account, slot: 1 }, holdings: [] } })
        const versions = [
          holding(2, { slot: 5, writeVersion: 2n ** 63n, amount: 3n }),
          holding(2, { slot: 5, writeVersion: 1n, amount: 1n }),
          holding(2, { slot: 4, writeVersion: 2n ** 64n - 1n, amount: 2n }),
        ]
        for (const update of versions) await store.updateAccounts('mainnet', { holdings: [update] })
        expect(await accountsOf()).toEqual([[2, 3n]])
        await store.updateAccounts('mainnet', {
          holdings: [holding(2, { slot: 6, amount: 1n }), holding(2, { slot: 6, amount: 2n })],
        })
        expect(await accountsOf()).toEqual([[2, 2n]])
      })

      test('a closed account is not revived by an older update or reading, and can be opened again', async () => {
        await store.updateAccounts('mainnet', { reading: { account, holdings: [holding(2)] } })
        await store.updateAccounts('mainnet', {
          holdings: [{ account: bytes(2), closed: true, slot: 130, writeVersion: 4n }],
        })
        expect(await accountsOf()).toEqual([])
        await store.updateAccounts('mainnet', { holdings: [holding(2, { slot: 130, writeVersion: 3n })] })
        await store.updateAccounts('mainnet', {
          reading: { account: { ...account, slot: 120 }, holdings: [holding(2, { slot: 120 })] },
        })
        expect(await accountsOf()).toEqual([])
        await store.updateAccounts('mainnet', { holdings: [holding(2, { slot: 131 })] })
        expect(await accountsOf()).toEqual([[2, 5n]])
      })

      test('an account that an owner no longer had at its reading is not brought back by what happened before', async () => {
        await store.updateAccounts('mainnet', { reading: { account, holdings: [] } })
        await store.updateAccounts('mainnet', { holdings: [holding(2, { slot: 99 })] })
        expect(await accountsOf()).toEqual([])
        await store.updateAccounts('mainnet', { holdings: [holding(2, { slot: 101 })] })
        expect(await accountsOf()).toEqual([[2, 5n]])
      })

      test('a token account that changes hands leaves the old owner', async () => {
        await store.updateAccounts('mainnet', { reading: { account, holdings: [holding(2)] } })
        await store.updateAccounts('mainnet', { reading: { account: { ...account, owner: bytes(9) }, holdings: [] } })
        await store.updateAccounts('mainnet', { holdings: [holding(2, { owner: bytes(9), slot: 101 })] })
        expect(await accountsOf()).toEqual([])
        expect((await store.portfolioOf('mainnet', bytes(9)))?.holdings.length).toBe(1)
      })

      test('lamports follow the higher slot and do not stand for a reading', async () => {
        await store.updateAccounts('mainnet', { owners: [account] })
        expect(await store.portfolioOf('mainnet', owner)).toBeUndefined()
        await store.updateAccounts('mainnet', { reading: { account, holdings: [holding(2)] } })
        await store.updateAccounts('mainnet', { owners: [{ ...account, slot: 101, lamports: 1n }] })
        await store.updateAccounts('mainnet', { owners: [{ ...account, slot: 99, lamports: 2n }] })
        expect((await store.portfolioOf('mainnet', owner))?.account).toEqual({ ...account, slot: 101, lamports: 1n })
        expect(await accountsOf()).toEqual([[2, 5n]])
      })

      test('owners that were read are listed by their last reading, page by page', async () => {
        expect(await store.solanaOwners('mainnet', { limit: 10 })).toEqual([])
        const read = (n: number, readAtMs: number, slot = 100) =>
          store.updateAccounts('mainnet', {
            reading: { account: { ...account, owner: bytes(n), readAtMs, slot }, holdings: [] },
          })
        for (const n of [3, 1, 2]) await read(n, 700)
        await read(4, 900)
        await read(5, 500)
        // Neither is a reading of this network.
        await store.updateAccounts('mainnet', { owners: [{ ...account, owner: bytes(6), readAtMs: 1_000 }] })
        await store.updateAccounts('devnet', {
          reading: { account: { ...account, owner: bytes(7), readAtMs: 1_000 }, holdings: [] },
        })
        const listed = async (limit: number): Promise<(number | undefined)[][]> => {
          const pages: (number | undefined)[][] = []
          for (let before: ReadOwner | undefined; ; ) {
            const page: ReadOwner[] = await store.solanaOwners('mainnet', { limit, before })
            if (page.length === 0) return pages
            pages.push(page.map(({ owner: [n] }) => n))
            before = page.at(-1)
          }
        }
        expect(await listed(2)).toEqual([[4, 3], [2, 1], [5]])
        await read(5, 950, 101)
        expect(await listed(10)).toEqual([[5, 4, 3, 2, 1]])
        expect(await store.solanaOwners('mainnet', { limit: 1 })).toMatchObject([{ readAtMs: 950 }])
        await store.forgetOwners('mainnet', 900, 10)
        expect(await listed(10)).toEqual([[5, 4]])
      })

      test('the parts of a mint have versions of their own', async () => {
        const mint = bytes(200)
        const own = {
          program: 'token',
          decimals: 6,
          supply: 2n ** 64n - 1n,
          name: undefined,
          symbol: 'EXT',
          amountRule: 'r',
        } as const
        const metadata = { name: 'Meta', symbol: 'META', tokenStandard: 2 }
        const empty = { name: undefined, symbol: undefined, tokenStandard: undefined }
        await store.updateAccounts('mainnet', { mints: [{ mint, slot: 10, readAtMs: 1, metadata }] })
        expect(await store.mintsOf('mainnet', [mint])).toEqual([])
        await store.updateAccounts('mainnet', { mints: [{ mint, slot: 20, readAtMs: 2, account: own }] })
        const facts = { ...own, ...metadata, mint, symbol: 'EXT', slot: 10, readAtMs: 1 }
        expect((await store.mintsOf('mainnet', [mint, bytes(1)])).map(plainMint)).toEqual([plainMint(facts)])
        await store.updateAccounts('mainnet', {
          mints: [{ mint, slot: 19, readAtMs: 3, account: { ...own, decimals: 1 }, metadata: empty }],
        })
        expect((await store.mintsOf('mainnet', [mint]))[0]).toMatchObject({
          decimals: 6,
          name: '',
          slot: 19,
          readAtMs: 2,
        })
        await store.updateAccounts('mainnet', { mints: [{ mint: bytes(201), slot: 5, readAtMs: 5, account: own }] })
        expect((await store.mintsOf('mainnet', [bytes(201)]))[0]).toMatchObject({ slot: 0, readAtMs: 0, name: '' })
        await store.updateAccounts('mainnet', { reading: { account, holdings: [holding(2)] } })
        expect(holdingRows((await store.portfolioOf('mainnet', owner))?.holdings)).toMatchObject([
          {
            decimals: 6,
            supply: `${2n ** 64n - 1n}`,
            name: '',
            symbol: 'EXT',
            tokenStandard: null,
            amountRule: 'r',
          },
        ])
      })
    })
  })
}

/** Engines may hand over Buffers: bytes are compared as hex. */
function plainMint<T extends { mint: Uint8Array }>(facts: T) {
  return { ...facts, mint: Buffer.from(facts.mint).toString('hex') }
}

// Random writes for the store's property test: drawn as plain numbers, read against the model's state when they are applied,
// so that they stay meaningful while they are shrunk. Each goes to the model and the store alike.
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { AlmanacError } from '../src/errors.ts'
import {
  type ActivityRow,
  type Address,
  type Block,
  type ChainId,
  type CoverageScope,
  chainScopes,
  type Evidence,
  evidences,
  type Hash,
  type TransferRow,
  zeroAddress,
} from '../src/model.ts'
import { noActivity, packActivity } from '../src/store/packed-activity.ts'
import type { ColdCommit, ForgetTarget, HotBlock, HotCommit, Store } from '../src/store/store.ts'
import { idCountOf } from '../src/store/transfer-payload.ts'
import type { ModelRow, ModelStore } from './model-store.ts'
import { packTransfer } from './pack-transfer.ts'
import { rowsOf } from './store-rows.ts'

export const chains = [1, 0x2a15c308d] as ChainId[]
export const contracts = ['a', 'b', 'c'].map(digit => `0x${digit.repeat(40)}` as Address)
export const wallets = ['1', '2', '3', '4'].map(digit => `0x${digit.repeat(40)}` as Address)
const scopes: CoverageScope[] = [...chainScopes, ...contracts]

/** Neighbours share a moment now and then, as on fast chains. */
export const timestampOf = (number: number): number => 1_600_000_000 + Math.floor(number / 2) * 10

function hex(...parts: number[]): string {
  return parts.map(part => part.toString(16).padStart(16, '0')).join('')
}

function block(chain: ChainId, number: number, branch: number): Block {
  return { number, hash: `0x${hex(chain, number, branch, 1)}` as Hash, timestamp: timestampOf(number) }
}

/** A row in the block that lies `at` (0..1) of the way through the commit. */
type RowDraw = { at: number; contract: number; tx: number; log: number; pos: number; seed: number }
type Draw = { chain: number; a: number; b: number; c: number; flag: boolean; rows: RowDraw[] }

const kinds = [
  'cold',
  'cold',
  'hot',
  'hot',
  'hot',
  'addToHot',
  'finalize',
  'putHead',
  'addCoverage',
  'dropRange',
  'watch',
  'forget',
  'repeat',
] as const
export type Step = Draw & { kind: (typeof kinds)[number] }

const row = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  contract: fc.nat(2),
  tx: fc.nat(2),
  log: fc.nat(3),
  pos: fc.nat(1),
  seed: fc.nat(1000),
})

/** Numbers on both sides of where kept counts are cut. */
const number = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 4085, max: 4110 }),
  fc.integer({ min: 8180, max: 8200 }),
)

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    chain: fc.nat(chains.length - 1),
    a: number,
    b: fc.nat(60),
    c: fc.nat(12),
    flag: fc.boolean(),
    rows: fc.array(row, { maxLength: 12 }),
  }),
  { minLength: 1, maxLength: 30 },
)

/** Both sides of a write; they must agree on the outcome, a refusal included. */
type Write = { toModel: (model: ModelStore) => unknown; toStore: (store: Store) => Promise<unknown> }

export class StepRunner {
  readonly #model: ModelStore
  readonly #store: Store
  #last: Write | undefined

  constructor(model: ModelStore, store: Store) {
    this.#model = model
    this.#store = store
  }

  async apply(step: Step): Promise<void> {
    const write = step.kind === 'repeat' ? this.#last : writeOf(step, this.#model)
    if (write === undefined) return
    this.#last = write
    const expected = await outcomeOf(async () => write.toModel(this.#model))
    expect(await outcomeOf(() => write.toStore(this.#store))).toEqual(expected)
  }
}

async function outcomeOf(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return { result: (await run()) ?? null }
  } catch (error) {
    if (error instanceof AlmanacError) return { code: error.code }
    throw error
  }
}

function writeOf(step: Step, model: ModelStore): Write | undefined {
  const chain = chains[step.chain]!
  const scope = scopes[step.c % scopes.length]!
  const evidence = evidences[step.b % evidences.length]!
  const interval = { from: step.a, to: step.a + step.b }
  const hot = model.hotBlocks(chain)
  const finalized = model.finalized(chain)
  switch (step.kind) {
    case 'cold': {
      const commit = coldCommit(step, chain, scope, evidence)
      return { toModel: m => m.commitCold(commit), toStore: s => s.commitCold(commit) }
    }
    case 'hot': {
      // One below the final block is among them, which must be refused.
      const lowest = finalized - 1
      const highest = hot.at(-1)?.number ?? finalized + (step.flag ? 0 : 3)
      const commit = hotCommit(step, chain, lowest + (step.b % (highest - lowest + 1)), scope)
      return { toModel: m => m.commitHot(commit), toStore: s => s.commitHot(commit) }
    }
    case 'addToHot': {
      if (hot.length === 0) return undefined
      const chosen = hot.slice(step.c % hot.length).slice(0, 3)
      const known = chosen.map(b => ({
        ...b,
        transfers: transfersIn(step, chain, [b]),
        activity: packActivity(activityIn(step, [b])),
      }))
      const blocks = step.b === 0 ? known.map(b => ({ ...b, hash: `0x${hex(9, 9, 9, 9)}` as Hash })) : known
      const covered = step.flag ? [{ from: chosen[0]!.number, to: chosen.at(-1)!.number, evidence, scope }] : []
      return { toModel: m => m.addToHot(chain, blocks, covered), toStore: s => s.addToHot(chain, blocks, covered) }
    }
    case 'finalize': {
      const upTo = Math.max(0, finalized + step.c - 1)
      return { toModel: m => m.finalize(chain, upTo), toStore: s => s.putChainState(chain, { finalized: upTo }) }
    }
    case 'putHead': {
      const head = block(chain, step.flag ? Math.max(0, finalized + step.c) : step.a, step.c)
      return { toModel: m => m.putHead(chain, head), toStore: s => s.putChainState(chain, { head }) }
    }
    case 'addCoverage': {
      const covered = { ...interval, evidence }
      return { toModel: m => m.addCoverage(chain, scope, covered), toStore: s => s.addCoverage(chain, scope, covered) }
    }
    case 'dropRange': {
      if (scope === 'watched' || scope === 'transfers') return undefined
      return { toModel: m => m.dropRange(chain, scope, interval), toStore: s => s.dropRange(chain, scope, interval) }
    }
    case 'watch': {
      const contract = contracts[step.c % contracts.length]!
      return {
        toModel: m => m.watchContract(chain, contract, step.a),
        toStore: s => s.watchContract(chain, contract, { from: step.a }),
      }
    }
    case 'forget': {
      const contract = contracts[step.a % contracts.length]!
      const forgotten = ([{ chain, contract }, { chain, view: 'activity' }, { chain }] as const)[step.c % 3]!
      return { toModel: m => m.forget(forgotten), toStore: s => forgetInSteps(s, forgotten, 1 + (step.b % 5)) }
    }
    case 'repeat':
      return undefined
  }
}

/** Counts are exact after each step. */
async function forgetInSteps(store: Store, what: ForgetTarget, rowsMax: number): Promise<void> {
  while (!(await store.forgetStep(what, rowsMax)).done)
    for (const contract of contracts) {
      const { chain } = what
      const page = rowsOf(await store.transferPage({ chain, contract, order: 'desc', limit: 1_000 }))
      const counted = page.reduce((sum, { payload }) => sum + idCountOf(Buffer.from(payload, 'hex')), 0)
      expect(await store.transferCount({ chain, contract })).toBe(counted)
    }
}

function coldCommit(step: Step, chain: ChainId, scope: CoverageScope, evidence: Evidence): ColdCommit {
  const blocks = Array.from({ length: step.b % 15 }, (_, index) => block(chain, step.a + index, 0))
  const last = blocks.at(-1)
  const covered =
    step.flag && last !== undefined ? [{ from: Math.max(0, step.a - step.c), to: last.number, evidence, scope }] : []
  // The range may reach above and below what is claimed with it, and may overlap one that is pending.
  const range = last === undefined ? undefined : { from: Math.max(0, step.a - 2), to: last.number, hash: last.hash }
  return {
    chain,
    covered,
    ...(range !== undefined && step.rows.length % 2 === 1 ? { ranges: [range] } : {}),
    blocks,
    transfers: transfersIn(step, chain, blocks),
    activity: packActivity(activityIn(step, blocks)),
  }
}

function hotCommit(step: Step, chain: ChainId, ancestor: number, scope: CoverageScope): HotCommit {
  const branch = 1 + (step.a % 3)
  const numbers = Array.from({ length: step.c % 7 }, (_, index) => ancestor + 1 + index)
  const blocks: HotBlock[] = numbers
    .filter(number => number >= 0)
    .map(number => block(chain, number, branch))
    .map(b => ({ ...b, transfers: [], activity: noActivity }))
  const filled = blocks.map(b => ({
    ...b,
    transfers: transfersIn(step, chain, blocks).filter(r => r.block === b.number),
    activity: packActivity(activityIn(step, blocks).filter(r => r.first.block === b.number)),
  }))
  const head = block(chain, Math.max(0, (numbers.at(-1) ?? ancestor) + (step.flag ? 0 : 2)), branch)
  if (step.rows.length % 3 === 0) return { chain, ancestor, blocks: filled, head }
  const from = Math.max(0, ancestor + 1)
  return { chain, ancestor, blocks: filled, head, covered: { scope, from, evidence: evidences[step.a % 4]! } }
}

function transfersIn(step: Step, chain: ChainId, blocks: readonly Block[]): TransferRow[] {
  return step.rows.flatMap(draw => {
    const place = blocks[Math.floor(draw.at * blocks.length)]
    if (place === undefined) return []
    const { seed } = draw
    // Only the third contract has ERC-2309 ranges.
    const idCount = draw.contract === 2 && seed % 2 === 0 ? 2 + seed : 1
    const payload = packTransfer({
      standard: seed % 3 === 0 ? 'ERC1155' : 'ERC721',
      batch: seed % 6 === 0,
      from: seed % 4 === 0 ? zeroAddress : wallets[0]!,
      to: seed % 5 === 0 ? zeroAddress : wallets[1]!,
      operator: seed % 3 === 0 ? wallets[2] : undefined,
      tokenId: BigInt(seed) ** 20n,
      amount: BigInt(seed % 7),
      value: BigInt(seed) * 256n,
      transactionHash: `0x${hex(chain, place.number, draw.tx, seed)}` as Hash,
      idCount,
      ...(seed % 4 === 0 ? {} : { sentBy: (['recipient', 'giver', 'other'] as const)[seed % 3]! }),
    })
    // A log is of one contract.
    const logIndex = draw.log * contracts.length + draw.contract
    const position = { block: place.number, transactionIndex: draw.tx, logIndex, batchIndex: draw.pos }
    return [{ ...position, contract: contracts[draw.contract]!, payload }]
  })
}

function activityIn(step: Step, blocks: readonly Block[]): ActivityRow[] {
  return step.rows.flatMap(({ at, tx, seed }) => {
    const place = blocks[Math.floor(at * blocks.length)]
    if (place === undefined) return []
    const hash = `0x${hex(7, 7, place.number, tx)}` as Hash
    const ref = { block: place.number, transactionIndex: tx, hash, timestamp: place.timestamp }
    return [{ address: wallets[seed % wallets.length]!, first: ref, last: ref }]
  })
}

const noHash = `0x${'00'.repeat(32)}` as Hash

/** Everything that can be read, compared. The paging follows positions as cursors do. */
export async function compareReads(model: ModelStore, store: Store, limit: number): Promise<void> {
  for (const chain of chains) {
    const state = await store.chainState(chain)
    expect(state && { head: state.head, finalized: state.finalized }).toEqual(model.chainState(chain))
    expect(await store.hotBlocks(chain)).toEqual(model.hotBlocks(chain))
    expect(await store.pendingRanges(chain)).toEqual(model.pendingRanges(chain))
    for (const from of [0, 20, 4090])
      for (const to of [10, 41, 9000]) {
        const lowest = model.lowestBlock(chain, { from, to })
        expect(await store.lowestBlock(chain, { from, to })).toEqual(lowest)
        const hash = lowest?.hash ?? noHash
        for (const within of [
          { from, to },
          { from: 0, to: 30 },
        ])
          expect(await store.lowestBlock(chain, { ...within, hash })).toEqual(
            model.lowestBlock(chain, { ...within, hash }),
          )
      }
    for (const scope of scopes) expect(await store.coverage(chain, scope)).toEqual(model.coverage(chain, scope))
    expect(await store.contractsOf(chain, undefined, 100)).toEqual(model.contractsOf(chain))
    expect(await store.coverage(chain)).toEqual(model.coverage(chain, [...chainScopes, ...contracts.toSorted()]))
    for (const near of [0, 3, 20, 41, 4090, 4100, 8190, 9000])
      for (const offset of [-1, 0, 1]) {
        const timestamp = timestampOf(near) + offset
        expect(await store.blocksAround(chain, timestamp)).toEqual(model.blocksAround(chain, timestamp))
      }
    for (const contract of ['every', ...contracts] as const)
      expect(await store.contractCoverage(chain, contract)).toEqual(model.contractCoverage(chain, contract))
    for (const contract of contracts) {
      await comparePages(model, store, { chain, contract }, limit)
    }
  }
  for (const wallet of wallets) expect(await store.activityOf(wallet)).toEqual(model.activityOf(wallet))
}

const bounds = [
  {},
  { fromBlock: 5 },
  { toBlock: 4096 },
  { fromBlock: 4096, toBlock: 8191 },
  { fromBlock: 4090, toBlock: 4105 },
]

async function comparePages(
  model: ModelStore,
  store: Store,
  { chain, contract }: { chain: ChainId; contract: Address },
  limit: number,
): Promise<void> {
  for (const bound of bounds) {
    const range = { chain, contract, ...bound }
    expect(await store.transferCount(range)).toBe(model.transferCount(range))
    for (const order of ['asc', 'desc'] as const) {
      let after: ModelRow | undefined
      do {
        const query = { ...range, order, limit, ...(after === undefined ? {} : { after }) }
        const rows = rowsOf(await store.transferPage(query))
        expect(rows).toEqual(model.transferPage(query))
        after = rows.length === limit ? rows.at(-1) : undefined
      } while (after !== undefined)
    }
  }
}

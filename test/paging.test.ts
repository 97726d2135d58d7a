// Runs of pages against a model of the chain, while rows arrive, history fills in below and blocks are reorganised.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { builtInChains } from '../src/chains.ts'
import type { Address, Block, Hash, Position, TransferRow } from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'
import { seededAddress } from './seed.ts'
import { serveApi } from './served-api.ts'

const chain = builtInChains[0]!.id
const contract = seededAddress('paged')

/** One log of the contract: a transfer, a batch of several or a range of several ids. */
type Log = { kind: 'single' | 'batch' | 'range'; size: number }
type Step =
  | { do: 'page' }
  | { do: 'append'; logs: Log[] }
  | { do: 'reorganise'; depth: number; blocks: Log[][] }
  | { do: 'finalize'; depth: number }
  | { do: 'fill'; logs: Log[] }

const log: fc.Arbitrary<Log> = fc.record({
  kind: fc.constantFrom('single', 'single', 'batch', 'range'),
  size: fc.integer({ min: 2, max: 9 }),
})
const logs = fc.array(log, { maxLength: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: 'page' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('append' as const), logs }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reorganise' as const),
      depth: fc.integer({ min: 1, max: 4 }),
      blocks: fc.array(logs, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('finalize' as const), depth: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fill' as const), logs }) },
)

type ModelBlock = Block & { rows: (TransferRow & { idCount: number })[] }

/** The chain as it should be seen, and the same through the store's write side. */
class Chain {
  readonly store: Store
  readonly #blocks = new Map<number, ModelBlock>()
  #lowest = 1_000
  #final = 1_000
  #head = 1_000
  #branch = 0

  constructor(store: Store) {
    this.store = store
  }

  async begin(blocks: Log[][]): Promise<void> {
    await this.#commitCold([this.#block(1_000, blocks[0] ?? [])], { from: 1_000, to: 1_000 })
    await this.store.putChainState(chain, { finalized: 1_000 })
    for (const given of blocks.slice(1)) await this.append(given)
    if (blocks.length < 2) await this.append([])
  }

  async append(given: Log[]): Promise<void> {
    await this.#replaceAbove(this.#head, [given])
  }

  async take(next: Step): Promise<void> {
    if (next.do === 'append') await this.append(next.logs)
    if (next.do === 'reorganise') await this.#replaceAbove(Math.max(this.#final, this.#head - next.depth), next.blocks)
    if (next.do === 'finalize') {
      this.#final = Math.max(this.#final, this.#head - next.depth)
      await this.store.putChainState(chain, { finalized: this.#final })
    }
    if (next.do === 'fill') {
      const to = this.#lowest - 1
      this.#lowest -= 5
      await this.#commitCold([this.#block(this.#lowest + 2, next.logs)], { from: this.#lowest, to })
    }
  }

  /** Every row that an answer would show now, in its order. */
  rows(order: 'asc' | 'desc'): (Position & { id: number })[] {
    const all = [...this.#blocks.values()].flatMap(block =>
      block.rows.flatMap(({ block: number, transactionIndex, logIndex, batchIndex, idCount }) =>
        Array.from({ length: idCount }, (_, id) => ({
          block: number,
          transactionIndex,
          logIndex,
          batchIndex: batchIndex + id,
          id,
        })),
      ),
    )
    return all.sort((a, b) => (order === 'asc' ? 1 : -1) * compare(a, b))
  }

  #block(number: number, given: Log[]): ModelBlock {
    const hash = `0x${number.toString(16).padStart(32, '0')}${this.#branch.toString(16).padStart(32, '0')}` as Hash
    const rows = given.flatMap((each, index) =>
      Array.from({ length: each.kind === 'batch' ? each.size : 1 }, (_, batchIndex) => {
        const idCount = each.kind === 'range' ? each.size : 1
        const position = { block: number, transactionIndex: index >> 1, logIndex: index, batchIndex }
        return { ...position, contract, idCount, payload: payloadOf(each, batchIndex, idCount, hash) }
      }),
    )
    const block = { number, hash, timestamp: 1_600_000_000 + number * 12, rows }
    this.#blocks.set(number, block)
    return block
  }

  async #commitCold(blocks: ModelBlock[], covered: { from: number; to: number }): Promise<void> {
    await this.store.commitCold({
      chain,
      covered: [{ ...covered, scope: 'full', evidence: 'bloom' }],
      blocks: [covered.from, covered.to, ...blocks.map(({ number }) => number)]
        .filter((number, index, all) => all.indexOf(number) === index)
        .map(number => this.#blocks.get(number) ?? emptyBlock(number)),
      transfers: blocks.flatMap(({ rows }) => rows),
      activity: noActivity,
    })
  }

  async #replaceAbove(ancestor: number, given: Log[][]): Promise<void> {
    this.#branch++
    for (let number = ancestor + 1; number <= this.#head; number++) this.#blocks.delete(number)
    const blocks = given.map((each, index) => this.#block(ancestor + 1 + index, each))
    this.#head = ancestor + blocks.length
    await this.store.commitHot({
      chain,
      ancestor,
      blocks: blocks.map(({ rows, ...block }) => ({ ...block, transfers: rows, activity: noActivity })),
      covered: { scope: 'full', from: ancestor + 1, evidence: 'bloom' },
      head: blocks.at(-1)!,
    })
  }
}

function emptyBlock(number: number): Block {
  return { number, hash: `0x${number.toString(16).padStart(64, '0')}` as Hash, timestamp: 1_600_000_000 + number * 12 }
}

function payloadOf({ kind }: Log, batchIndex: number, idCount: number, hash: Hash): Uint8Array {
  return packTransfer({
    standard: kind === 'batch' ? 'ERC1155' : 'ERC721',
    batch: kind === 'batch',
    from: zeroAddress,
    to: contract as Address,
    operator: undefined,
    tokenId: BigInt(kind === 'batch' ? 100 + batchIndex : 1_000),
    amount: 1n,
    value: 0n,
    transactionHash: hash,
    idCount,
  })
}

function compare(a: Position, b: Position): number {
  return (
    a.block - b.block ||
    a.transactionIndex - b.transactionIndex ||
    a.logIndex - b.logIndex ||
    a.batchIndex - b.batchIndex
  )
}

type Page = {
  total?: number | null
  page: number
  cursor: string | null
  result: { block_number: string; transaction_index: number; log_index: number; token_id: string }[]
}

test('every page is the next stretch of what the chain holds when it is asked for', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(logs, { minLength: 1, maxLength: 8 }),
      fc.array(step, { maxLength: 14 }),
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      async (blocks, steps, limit, order) => {
        const api = await serveApi()
        try {
          const model = new Chain(api.store)
          await model.begin(blocks)
          const path = `/api/v2.2/nft/${contract}/transfers`
          let target = `${path}?limit=${limit}&order=${order}`
          let last: Position | undefined
          let pages = 0
          const readPage = async (): Promise<boolean> => {
            const now = model.rows(order)
            const beyond = now.filter(row => last === undefined || (order === 'asc' ? 1 : -1) * compare(row, last) > 0)
            const page = (await (await api.get(target)).json()) as Page
            const expected = beyond.slice(0, limit)
            expect(page.result.map(shownRow)).toEqual(expected.map(modelRow))
            expect(page.page).toBe(pages)
            expect(page.cursor === null).toBe(beyond.length <= limit)
            pages++
            last = expected.at(-1) ?? last
            target = `${path}?cursor=${page.cursor}`
            return page.cursor !== null
          }
          let more = true
          for (const next of steps) {
            if (next.do !== 'page') await model.take(next)
            else if (more) more = await readPage()
          }
          while (more) more = await readPage()
        } finally {
          await api.close()
        }
      },
    ),
    { numRuns: Number(process.env.ALMANAC_PAGING_RUNS ?? 5) },
  )
}, 1_200_000)

/** Ids tell the rows of a log apart: those of a range start at 1,000, those of a batch at 100. */
function shownRow(row: Page['result'][number]) {
  const id = Number(row.token_id)
  return [Number(row.block_number), row.transaction_index, row.log_index, id >= 1_000 ? id - 1_000 : id - 100]
}

function modelRow({ block, transactionIndex, logIndex, batchIndex }: Position) {
  return [block, transactionIndex, logIndex, batchIndex]
}

test.each([
  ['a batch', [{ kind: 'batch', size: 7 }], [4, 5, 6]],
  ['a shorter range', [{ kind: 'range', size: 3 }], []],
  ['a longer range', [{ kind: 'range', size: 6 }], [4, 5]],
  ['nothing', [], []],
] as [string, Log[], number[]][])(
  'a run within a range goes on behind its place when %s replaces it',
  async (_, logs, rest) => {
    const api = await serveApi()
    try {
      const model = new Chain(api.store)
      await model.begin([[], [{ kind: 'range', size: 9 }]])
      const path = `/api/v2.2/nft/${contract}/transfers`
      const read = async (query: string) => (await (await api.get(`${path}?${query}`)).json()) as Page
      const first = await read('limit=4&order=ASC')
      expect(first.result.map(row => shownRow(row)[3])).toEqual([0, 1, 2, 3])
      await model.take({ do: 'reorganise', depth: 1, blocks: [logs] })
      const second = await read(`cursor=${first.cursor}`)
      expect(second.result.map(row => shownRow(row)[3])).toEqual(rest)
      expect(second.cursor).toBeNull()
    } finally {
      await api.close()
    }
  },
)

test('a run goes on within a range that replaces the single transfer it stands on', async () => {
  const api = await serveApi()
  try {
    const model = new Chain(api.store)
    await model.begin([[], [{ kind: 'single', size: 2 }], [{ kind: 'single', size: 2 }]])
    const path = `/api/v2.2/nft/${contract}/transfers`
    const read = async (query: string) => (await (await api.get(`${path}?${query}`)).json()) as Page
    const first = await read('limit=1&order=ASC')
    expect(first.result).toHaveLength(1)
    await model.take({ do: 'reorganise', depth: 2, blocks: [[{ kind: 'range', size: 4 }]] })
    const second = await read(`cursor=${first.cursor}&limit=9`)
    expect(second.result.map(row => shownRow(row)[3])).toEqual([1])
  } finally {
    await api.close()
  }
})

test('totals are right on every page and end the run for clients that compare them', async () => {
  const api = await serveApi()
  try {
    const model = new Chain(api.store)
    await model.begin([
      [{ kind: 'range', size: 9 }],
      [
        { kind: 'batch', size: 4 },
        { kind: 'single', size: 2 },
      ],
      [{ kind: 'single', size: 2 }],
    ])
    const path = `/api/v2/nft/${contract}/transfers`
    const read = async (target: string) =>
      (await (await api.get(target, { 'x-moralis-platform': 'test' })).json()) as Page
    const first = await read(`${path}?limit=4&disable_total=false`)
    expect(first).toMatchObject({ total: 15, page: 0 })
    await model.append([{ kind: 'batch', size: 7 }])
    const second = await read(`${path}?cursor=${first.cursor}`)
    expect(second).toMatchObject({ total: 22, page: 1 })
    const third = await read(`${path}?cursor=${second.cursor}`)
    const fourth = await read(`${path}?cursor=${third.cursor}`)
    // Seven more rows exist than the run has shown, and yet the last page says that it is the last.
    expect(fourth).toMatchObject({ total: 15, page: 3, cursor: null })
    expect(fourth.result).toHaveLength(3)
  } finally {
    await api.close()
  }
})

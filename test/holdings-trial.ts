// Every question of who owns what compared with the model after each step of a random history, as of some blocks or as
// of every one: for any store, given by its writes and reads. It needs no test runner.
import assert from 'node:assert/strict'
import { isCovered } from '../src/coverage.ts'
import type { Address, Hash } from '../src/model.ts'
import type { AskBlock } from '../src/query/freshen.ts'
import { Holdings } from '../src/query/holdings/holdings.ts'
import type { Continuation, HoldingsOptions, ListAnswer, NftRow } from '../src/query/holdings/questions.ts'
import { stateBlockAt } from '../src/query/lookups/date-to-block.ts'
import {
  historyChain as chain,
  historyContracts as contracts,
  History,
  type HistoryStep,
  type HistoryWrites,
  historyIds as ids,
  timeOf,
  historyWallets as wallets,
} from './holdings-history.ts'
import { HoldingsModel, type ModelHolding, type ModelTransfer } from './holdings-model.ts'
import { factsOf, type MemoryStore } from './memory-store.ts'
import { WholeLists } from './whole-holdings.ts'

export type TrialStore = ReturnType<MemoryStore['reads']>

const options: HoldingsOptions = {
  key: { id: 'trial', indexPerDay: undefined, indexWaiting: undefined } as HoldingsOptions['key'],
  freshen: undefined,
  freshenWaitMs: 0,
  tokenFacts: async (_, tokens) =>
    tokens.map(({ tokenId }) => ({ tokenUri: `${tokenId}`, metadata: undefined, syncedAtMs: 1 })),
}

export class HoldingsTrial {
  readonly #history: History
  readonly #reads: TrialStore
  /** Which of them is asked decides whether a sheet is patched, advanced, dropped for others or made from nothing. */
  readonly #askers: Holdings[]
  #whole: WholeLists
  #order = 0
  #blocks: 'some' | 'every' = 'some'
  #open: OpenList | undefined

  /** Without a store the model's own reads are tried. */
  constructor(tried?: { reads: TrialStore; writes: HistoryWrites }) {
    this.#history = new History(tried?.writes)
    this.#reads = tried?.reads ?? this.#history.memory.reads()
    const bounds = [{}, { limits: { changesMax: 3, finalChangesMax: 1 } }, { bytesMax: 400_000 }, {}]
    this.#askers = bounds.map(each => new Holdings(this.#reads, each))
    this.#whole = new WholeLists(this.#reads, chain)
  }

  async run(steps: readonly HistoryStep[], blocks: 'some' | 'every' = 'some'): Promise<void> {
    this.#blocks = blocks
    await this.#history.start()
    for (const step of steps) {
      const before = this.#history.transfers()
      const { rewrites } = this.#history
      await this.#history.apply(step)
      this.#order = step.order
      this.#askers[0] = new Holdings(this.#reads)
      // Counts that are kept rest on it that nothing comes into complete blocks.
      if (this.#history.rewrites !== rewrites) this.#whole = new WholeLists(this.#reads, chain)
      await this.#readOn(before, step)
      await (blocks === 'some' ? this.#compareSome(step) : this.#compareEvery(step))
    }
    await this.#open?.readToEnd()
  }

  /** A number below another one, the same for the same history. */
  #draw(below: number): number {
    this.#order = (Math.imul(this.#order, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#order / 2 ** 32) * below)
  }

  get #holdings(): Holdings {
    return this.#askers[this.#draw(this.#askers.length)]!
  }

  /** All, or where every block is asked for some of them, others each time. */
  #some<T>(all: readonly T[], count: number): readonly T[] {
    if (this.#blocks === 'some') return all
    const first = this.#draw(all.length)
    return Array.from({ length: count }, (_, at) => all[(first + at) % all.length]!)
  }

  #drawId(): bigint {
    return [...ids, 4n, 9n][this.#draw(ids.length + 2)]!
  }

  /** A list that is read page by page while the chain goes on must be that of its first page's block. */
  async #readOn(before: readonly ModelTransfer[], { question, limit }: HistoryStep): Promise<void> {
    const now = this.#history.transfers()
    const block = this.#open?.block ?? -1
    const upTo = (all: readonly ModelTransfer[]) =>
      JSON.stringify(
        all.filter(each => each.block <= block),
        texts,
      )
    if (this.#open === undefined || upTo(before) !== upTo(now)) {
      const model = new HoldingsModel(now, this.#history.head())
      this.#open = new OpenList(this.#lists(model)[question]!, limit)
    }
    await this.#open.readPage()
  }

  /** Each list as what is expected of it and how a page is read. */
  #lists(model: HoldingsModel): List[] {
    const [wallet, contract, spam] = [wallets[0]!, contracts[2]!, contracts[1]!]
    return [
      ...[contract, spam].map(each => this.#owners(model, each, undefined)),
      this.#walletNfts(model, wallet, {}),
      this.#contractNfts(model, contract, undefined),
      {
        expected: model.uniqueOwners(contract),
        read: page => this.#holdings.uniqueOwners({ chain, contract, ...page }, options),
      },
    ]
  }

  async #compareSome({ at, limit, depth }: HistoryStep): Promise<void> {
    const head = this.#history.head()
    for (const atBlock of [undefined, Math.min(at, head), Math.max(0, head - depth)])
      await this.#compareAt({ atBlock, limit, tokenIds: [0n, 2n, 2n ** 256n - 1n] })
    for (const contract of contracts)
      for (const range of [0, 1, 2]) {
        const part = { range, totalRanges: 3 }
        const model = new HoldingsModel(this.#history.transfers(), head)
        const isComplete = this.#isComplete(contract, head)
        await readWhole(this.#contractNfts(model, contract, part), { atBlock: undefined, limit: 7, isComplete })
      }
    if (limit === 7) await this.#compareWhole(Math.min(at, head))
  }

  /** In an order of its own each time, so that sheets of older blocks are there, or not yet. */
  async #compareEvery({ limit }: HistoryStep): Promise<void> {
    const blocks = [undefined, ...Array(this.#history.head() + 1).keys()]
    while (blocks.length > 0) {
      const [atBlock] = blocks.splice(this.#draw(blocks.length), 1)
      const isPaged = this.#draw(4) === 0
      await this.#compareAt({ atBlock, limit: isPaged ? limit : 100, tokenIds: [this.#drawId(), this.#drawId()] })
    }
    await this.#compareDates()
    await this.#compareWhole(this.#draw(this.#history.head() + 1))
  }

  async #compareWhole(block: number): Promise<void> {
    const model = new HoldingsModel(this.#history.transfers(), block)
    const [contract, wallet] = [contracts[this.#draw(contracts.length)]!, wallets[this.#draw(wallets.length)]!]
    await this.#whole.compareContract(model, contract, block)
    await this.#whole.compareWallet(model, wallet, block)
  }

  async #compareAt(asked: Asked & { tokenIds: readonly bigint[] }): Promise<void> {
    const block = asked.atBlock ?? this.#history.head()
    const model = new HoldingsModel(this.#history.transfers(), block)
    await Promise.all([
      ...this.#some(contracts, 2).map(contract => this.#compareContract(model, { ...asked, contract, block })),
      ...this.#some(wallets, 2).map(wallet => this.#compareWallet(model, { ...asked, wallet, block })),
    ])
    const stats = await this.#holdings.blockStats({ chain, block })
    assert.deepEqual([stats.transfers, stats.exists], [model.blockTransfers(block), true])
  }

  /** Right at, before and after each block: what happened up to the block that is found is what happened by then. */
  async #compareDates(): Promise<void> {
    const head = this.#history.head()
    const blocks = [...Array(head + 1).keys()]
    const transfers = this.#history.transfers()
    const upTo = (block: number) => transfers.filter(each => each.block <= block).length
    const askBlock: AskBlock = async (_, block) => {
      const number = Number(block)
      return { number, timestamp: timeOf(number), hash: noHash, parentHash: noHash, transactions: 0 }
    }
    for (const seconds of blocks.flatMap(block => [timeOf(block) - 1, timeOf(block), timeOf(block) + 1])) {
      const found = (await stateBlockAt(this.#reads, { chain, seconds }, askBlock)) ?? head
      const last = blocks.findLast(block => timeOf(block) <= seconds) ?? -1
      assert.deepEqual([seconds, upTo(found)], [seconds, upTo(last)])
    }
  }

  #isComplete(contract: Address | 'every', block: number): boolean {
    const { model } = this.#history.memory
    return isCovered(model.contractCoverage(chain, contract), { from: 0, to: block })
  }

  async #compareContract(
    model: HoldingsModel,
    { contract, tokenIds, block, ...asked }: AskedOf & { contract: Address },
  ): Promise<void> {
    const { atBlock } = asked
    const whole = { ...asked, isComplete: this.#isComplete(contract, block) }
    await readWhole(this.#owners(model, contract, undefined), whole)
    await readWhole(this.#contractNfts(model, contract, undefined), whole)
    const expected = model.uniqueOwners(contract)
    const read: List<Address>['read'] = page => this.#holdings.uniqueOwners({ chain, contract, ...page }, options)
    await readWhole({ expected, read }, whole)
    for (const tokenId of tokenIds) await readWhole(this.#owners(model, contract, tokenId), whole)
    const tokens = [...tokenIds, ...this.#some([9n, 77n], 0)].map(tokenId => ({ contract, tokenId }))
    const { rows } = await this.#holdings.nfts({ chain, tokens, atBlock }, options)
    assert.deepEqual(
      rows.map(each => each && plain(each)),
      tokens.map(({ tokenId }) => model.nft(contract, tokenId)),
    )
    const stats = await this.#holdings.collectionStats({ chain, contract, atBlock }, options)
    const { tokens: count, owners, transfers, impossible } = stats
    const ofModel = [model.contractNfts(contract).length, expected.length, model.transfers(contract)]
    assert.deepEqual([count, owners, transfers, impossible], [...ofModel, model.impossible(contract)])
    assert.equal(stats.complete, whole.isComplete)
    for (const tokenId of tokenIds) {
      const token = await this.#holdings.tokenStats({ chain, contract, tokenId, atBlock }, options)
      const tokenOwners = new Set(model.owners(contract, tokenId).map(({ owner }) => owner)).size
      assert.deepEqual([token.owners, token.transfers], [tokenOwners, model.transfers(contract, tokenId)])
    }
  }

  async #compareWallet(
    model: HoldingsModel,
    { wallet, tokenIds: _, block, ...asked }: AskedOf & { wallet: Address },
  ): Promise<void> {
    const { atBlock } = asked
    const whole = { ...asked, isComplete: this.#isComplete('every', block) }
    const named = [contracts.slice(1), ...contracts.map(contract => [contract])]
    const filters = [{}, { excludeSpam: true }, ...named.map(some => ({ contracts: some }))]
    for (const filter of this.#some(filters, 1)) {
      // Others than the named ones need not be indexed.
      const subjects = 'contracts' in filter ? filter.contracts : (['every'] as const)
      const isComplete = subjects.every(each => this.#isComplete(each, block))
      await readWhole(this.#walletNfts(model, wallet, filter), { ...asked, isComplete })
    }
    const held = model.walletNfts(wallet)
    for (const excludeSpam of this.#some([false, true], 1)) {
      const shown = held.filter(({ contract }) => !excludeSpam || !factsOf(contract).possibleSpam)
      const collections = [...new Set(shown.map(({ contract }) => contract))].sort().reverse()
      const expected = collections.map(contract => {
        const own = shown.filter(each => each.contract === contract)
        return { contract, standard: own[0]!.standard, count: own.length, name: factsOf(contract).name }
      })
      const read: List<(typeof expected)[number], Address>['read'] = async page => {
        const answer = await this.#holdings.walletCollections({ chain, wallet, excludeSpam, ...page }, options)
        return { ...answer, rows: answer.rows.map(({ facts, ...rest }) => ({ ...rest, name: facts!.name! })) }
      }
      await readWhole({ expected, read }, whole)
    }
    const { nfts, collections, transfers } = await this.#holdings.walletStats({ chain, wallet, atBlock }, options)
    const counted = new Set(held.map(({ contract }) => contract)).size
    assert.deepEqual([nfts, collections, transfers], [held.length, counted, model.walletTransfers(wallet)])
  }

  #owners(model: HoldingsModel, contract: Address, tokenId: bigint | undefined): List {
    return {
      expected: model.owners(contract, tokenId),
      read: async page => shown(await this.#holdings.owners({ chain, contract, tokenId, ...page }, options)),
    }
  }

  #walletNfts(model: HoldingsModel, wallet: Address, filter: { contracts?: Address[]; excludeSpam?: boolean }): List {
    const expected = model
      .walletNfts(wallet)
      .filter(({ contract }) => filter.contracts?.includes(contract) ?? true)
      .filter(({ contract }) => !filter.excludeSpam || !factsOf(contract).possibleSpam)
    const question = { chain, wallet, contracts: undefined, excludeSpam: false, ...filter }
    return {
      expected,
      read: async page => shown(await this.#holdings.walletNfts({ ...question, ...page }, options)),
    }
  }

  #contractNfts(
    model: HoldingsModel,
    contract: Address,
    part: { range: number; totalRanges: number } | undefined,
  ): List {
    return {
      expected: model.contractNfts(contract, part),
      read: async page => {
        const answer = await this.#holdings.contractNfts({ chain, contract, part, ...page }, options)
        return { ...answer, rows: answer.rows.map(({ tokenHash, tokenId }) => ({ tokenHash, tokenId })) }
      },
    }
  }
}

type Asked = { atBlock: number | undefined; limit: number }
type AskedOf = Asked & { tokenIds: readonly bigint[]; block: number }
// biome-ignore lint/suspicious/noExplicitAny: lists of all kinds are read alike.
type List<Row = any, Key = any> = {
  expected: readonly Row[]
  read: (page: Asked & { after: Key | undefined; countTotal: boolean }) => Promise<ListAnswer<Row, Key>>
}

async function readWhole(list: List, { atBlock, limit, isComplete }: Asked & { isComplete: boolean }): Promise<void> {
  const rows: unknown[] = []
  let next: Continuation<unknown> | undefined
  do {
    const page = { atBlock, after: undefined, ...next, limit, countTotal: true }
    const answer = await list.read(page)
    assert.equal(answer.complete, isComplete)
    assert.equal(answer.evidence, isComplete ? 'bloom' : undefined)
    assert.equal(answer.total, list.expected.length)
    rows.push(...answer.rows)
    assert.ok(answer.rows.length <= limit && (answer.next === undefined || answer.rows.length === limit))
    next = answer.next
  } while (next !== undefined)
  assert.deepEqual(rows, list.expected)
}

/** A list of which a page is read now and then. */
class OpenList {
  readonly #list: List
  readonly #limit: number
  readonly #rows: unknown[] = []
  #next: Continuation<unknown> | undefined
  #isDone = false
  block = -1

  constructor(list: List, limit: number) {
    this.#list = list
    this.#limit = limit
  }

  async readPage(): Promise<void> {
    if (this.#isDone) return
    const page = { atBlock: undefined, after: undefined, ...this.#next, limit: this.#limit, countTotal: false }
    const answer = await this.#list.read(page)
    this.block = answer.block
    this.#rows.push(...answer.rows)
    this.#next = answer.next
    this.#isDone = answer.next === undefined
    assert.deepEqual(this.#rows, this.#list.expected.slice(0, this.#rows.length))
  }

  async readToEnd(): Promise<void> {
    while (!this.#isDone) await this.readPage()
    assert.deepEqual(this.#rows, this.#list.expected)
  }
}

const noHash = `0x${'0'.repeat(64)}` as Hash

function shown<Key>(answer: ListAnswer<NftRow, Key>): ListAnswer<ModelHolding, Key> {
  return { ...answer, rows: answer.rows.map(plain) }
}

function plain({ facts, token, ...rest }: NftRow): ModelHolding {
  assert.equal(facts?.name, factsOf(rest.contract).name)
  assert.equal(token?.tokenUri, `${rest.tokenId}`)
  return rest
}

function texts(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value
}

// Random histories of tokens, and every question of who owns what compared with the model after each step: for any
// store, given by its writes and reads. It needs no test runner.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { isCovered } from '../src/coverage.ts'
import { type Address, type Block, type ChainId, type Hash, type TransferFacts, zeroAddress } from '../src/model.ts'
import { Holdings } from '../src/query/holdings/holdings.ts'
import type { Continuation, HoldingsOptions, ListAnswer, NftRow } from '../src/query/holdings/questions.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { ColdCommit, HotCommit } from '../src/store/store.ts'
import { unpackTransfer } from '../src/store/transfer-payload.ts'
import { HoldingsModel, type ModelHolding, type ModelTransfer } from './holdings-model.ts'
import { factsOf, MemoryStore } from './memory-store.ts'
import { packTransfer } from './pack-transfer.ts'

export type TrialStore = ReturnType<MemoryStore['reads']>

/** Writes that go to the store beside those to the model. */
export type TrialWrites = {
  commitCold(commit: ColdCommit): unknown
  commitHot(commit: HotCommit): unknown
  finalize(chain: ChainId, upTo: number): unknown
  dropRange(chain: ChainId, scope: 'full', interval: { from: number; to: number }): unknown
}

const chain = 1 as ChainId
/** ERC-721 with ranges, ERC-1155, both. The second is spam. */
const contracts = ['a', 'b', 'c'].map(digit => `0x${digit.repeat(40)}` as Address)
const wallets = ['1', '2', '3', '4'].map(digit => `0x${digit.repeat(40)}` as Address)
const parties = [zeroAddress, ...wallets]
const amounts = [0n, 1n, 2n, 5n, 2n ** 53n - 1n, 2n ** 200n]
const ids = [0n, 1n, 2n, 3n, 5n, 8n, 2n ** 32n + 1n, 2n ** 256n - 1n]
const startBlock = 30
const options: HoldingsOptions = {
  key: { id: 'trial', indexPerDay: undefined, indexWaiting: undefined } as HoldingsOptions['key'],
  freshen: undefined,
  freshenWaitMs: 0,
  tokenFacts: async (_, tokens) =>
    tokens.map(({ tokenId }) => ({ tokenUri: `${tokenId}`, metadata: undefined, syncedAtMs: 1 })),
}

const row = fc.record({
  block: fc.nat(30),
  tx: fc.nat(2),
  contract: fc.nat(2),
  from: fc.oneof(fc.constant(0), fc.nat(4)),
  to: fc.nat(4),
  id: fc.oneof(fc.nat(2), fc.nat(ids.length - 1)),
  amount: fc.nat(amounts.length - 1),
  kind: fc.constantFrom('single', 'single', 'single', 'batch', 'range'),
  isErc1155: fc.boolean(),
  idCount: fc.integer({ min: 2, max: 9 }),
  sentBy: fc.constantFrom('recipient', 'recipient', 'giver', 'other', undefined),
})
type RowDraw = typeof row extends fc.Arbitrary<infer T> ? T : never

export const trialSteps = fc.array(
  fc.record({
    kind: fc.constantFrom('hot', 'hot', 'hot', 'reorg', 'finalize', 'older', 'older', 'drop', 'nothing'),
    depth: fc.nat(4),
    at: fc.nat(40),
    limit: fc.constantFrom(1, 7, 100),
    question: fc.nat(4),
    rows: fc.array(row, { maxLength: 8 }),
  }),
  { minLength: 1, maxLength: 14 },
)
export type TrialStep = typeof trialSteps extends fc.Arbitrary<(infer T)[]> ? T : never

export class HoldingsTrial {
  readonly #memory = new MemoryStore()
  readonly #writes: readonly TrialWrites[]
  readonly #holdings: Holdings
  #logs = 0
  #branch = 0
  #open: OpenList | undefined

  /** Without a store the model's own reads are tried. */
  constructor(tried?: { reads: TrialStore; writes: TrialWrites }) {
    this.#writes = tried === undefined ? [this.#memory] : [this.#memory, tried.writes]
    const reads = tried?.reads ?? this.#memory.reads()
    this.#holdings = new Holdings(reads, reads.indexes)
  }

  async run(steps: readonly TrialStep[]): Promise<void> {
    await this.#commitCold([], startBlock)
    for (const step of steps) {
      const before = this.#transfers()
      await this.#apply(step)
      await this.#readOn(before, step)
      await this.#compare(step)
    }
    await this.#open?.readToEnd()
  }

  #head(): number {
    return this.#memory.model.chainState(chain)?.head.number ?? -1
  }

  async #apply({ kind, depth, at, rows }: TrialStep): Promise<void> {
    const finalized = this.#memory.model.finalized(chain)
    const head = this.#head()
    if (kind === 'hot') await this.#commitHot(head, 1 + (depth % 2), rows)
    if (kind === 'reorg') await this.#commitHot(Math.max(finalized, head - depth), 1 + depth, rows)
    if (kind === 'finalize' && head - depth > finalized)
      for (const writes of this.#writes) await writes.finalize(chain, head - depth)
    if (kind === 'older') await this.#commitCold(rows, finalized)
    if (kind === 'drop')
      for (const writes of this.#writes) await writes.dropRange(chain, 'full', { from: at, to: at + depth })
  }

  async #commitCold(rows: readonly RowDraw[], upTo: number): Promise<void> {
    const transfers = rows.flatMap(draw => this.#rowsOf(draw, Math.min(draw.block, upTo)))
    const numbers = new Set([...transfers.map(({ block }) => block), upTo])
    const lowest = Math.min(...numbers)
    const covered = [{ scope: 'full', from: lowest, to: upTo, evidence: 'bloom' } as const]
    const blocks = [...numbers].map(number => this.#block(number, 0))
    const commit = { chain, covered, blocks, transfers, activity: noActivity }
    for (const writes of this.#writes) await writes.commitCold(commit)
    if (this.#memory.model.chainState(chain) === undefined) await this.#commitHot(upTo, 1, [])
  }

  async #commitHot(ancestor: number, count: number, rows: readonly RowDraw[]): Promise<void> {
    this.#branch++
    const blocks = Array.from({ length: count }, (_, at) => this.#block(ancestor + 1 + at, this.#branch))
    const transfers = rows.flatMap(draw => this.#rowsOf(draw, ancestor + 1 + (draw.block % count)))
    const covered = { scope: 'full', from: ancestor + 1, evidence: 'bloom' } as const
    const filled = blocks.map(block => ({
      ...block,
      transfers: transfers.filter(transfer => transfer.block === block.number),
      activity: noActivity,
    }))
    const commit = { chain, ancestor, blocks: filled, covered, head: blocks.at(-1)! }
    for (const writes of this.#writes) await writes.commitHot(commit)
  }

  #block(number: number, branch: number): Block {
    const hash = `0x${number.toString(16).padStart(32, '0')}${branch.toString(16).padStart(32, '0')}` as Hash
    return { number, hash, timestamp: 1_600_000_000 + number * 10 }
  }

  #rowsOf(draw: RowDraw, block: number): HotCommit['blocks'][number]['transfers'] {
    const logIndex = this.#logs++
    const isErc1155 = draw.contract === 1 || (draw.contract === 2 && draw.isErc1155)
    const facts: TransferFacts = {
      standard: isErc1155 ? 'ERC1155' : 'ERC721',
      batch: isErc1155 && draw.kind === 'batch',
      from: parties[draw.from]!,
      to: parties[draw.to]!,
      operator: undefined,
      tokenId: ids[draw.id]!,
      amount: isErc1155 ? amounts[draw.amount]! : 1n,
      value: 0n,
      transactionHash: `0x${logIndex.toString(16).padStart(64, '0')}` as Hash,
      idCount: 1,
      ...(draw.sentBy === undefined ? {} : { sentBy: draw.sentBy }),
    }
    const place = { contract: contracts[draw.contract]!, block, transactionIndex: draw.tx, logIndex }
    if (!isErc1155 && draw.kind === 'range' && draw.id < 7)
      return [{ ...place, batchIndex: 0, payload: packTransfer({ ...facts, idCount: draw.idCount }) }]
    // The second of a batch is of the same token.
    const count = facts.batch ? 2 : 1
    return Array.from({ length: count }, (_, batchIndex) => ({ ...place, batchIndex, payload: packTransfer(facts) }))
  }

  #transfers(): ModelTransfer[] {
    return contracts.flatMap(contract =>
      this.#memory.model
        .transferPage({ chain, contract, order: 'asc', limit: Number.POSITIVE_INFINITY })
        .map(({ payload, ...position }) => ({ ...position, contract, ...unpackTransfer(Buffer.from(payload, 'hex')) })),
    )
  }

  /** A list that is read page by page while the chain goes on must be that of its first page's block. */
  async #readOn(before: readonly ModelTransfer[], { question, limit }: TrialStep): Promise<void> {
    const now = this.#transfers()
    const block = this.#open?.block ?? -1
    const upTo = (all: readonly ModelTransfer[]) =>
      JSON.stringify(
        all.filter(each => each.block <= block),
        texts,
      )
    if (this.#open === undefined || upTo(before) !== upTo(now)) {
      const model = new HoldingsModel(now, this.#head())
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

  async #compare({ at, limit, depth }: TrialStep): Promise<void> {
    const head = this.#head()
    for (const atBlock of [undefined, Math.min(at, head), Math.max(0, head - depth)]) {
      const model = new HoldingsModel(this.#transfers(), atBlock ?? head)
      for (const contract of contracts) await this.#compareContract(model, { contract, atBlock, limit })
      for (const wallet of wallets) await this.#compareWallet(model, { wallet, atBlock, limit })
      const block = atBlock ?? head
      const stats = await this.#holdings.blockStats({ chain, block })
      assert.deepEqual([stats.transfers, stats.exists], [model.blockTransfers(block), true])
    }
  }

  async #compareContract(
    model: HoldingsModel,
    { contract, atBlock, limit }: Asked & { contract: Address },
  ): Promise<void> {
    const block = atBlock ?? this.#head()
    const covered = this.#memory.model.contractCoverage(chain, contract)
    const isComplete = isCovered(covered, { from: 0, to: block })
    await readWhole(this.#owners(model, contract, undefined), { atBlock, limit, isComplete })
    await readWhole(this.#contractNfts(model, contract, undefined), { atBlock, limit, isComplete })
    for (const range of [0, 1, 2])
      await readWhole(this.#contractNfts(model, contract, { range, totalRanges: 3 }), { atBlock, limit: 7, isComplete })
    const expected = model.uniqueOwners(contract)
    const read: List<Address>['read'] = page => this.#holdings.uniqueOwners({ chain, contract, ...page }, options)
    await readWhole({ expected, read }, { atBlock, limit, isComplete })
    for (const tokenId of [0n, 2n, 2n ** 256n - 1n])
      await readWhole(this.#owners(model, contract, tokenId), { atBlock, limit, isComplete })
    const tokens = [...ids, 9n, 77n].map(tokenId => ({ contract, tokenId }))
    const { rows } = await this.#holdings.nfts({ chain, tokens, atBlock }, options)
    assert.deepEqual(
      rows.map(each => each && plain(each)),
      tokens.map(({ tokenId }) => model.nft(contract, tokenId)),
    )
    const stats = await this.#holdings.collectionStats({ chain, contract, atBlock }, options)
    const { tokens: count, owners, transfers, impossible } = stats
    const ofModel = [model.contractNfts(contract).length, expected.length, model.transfers(contract)]
    assert.deepEqual([count, owners, transfers, impossible], [...ofModel, model.impossible(contract)])
    const token = await this.#holdings.tokenStats({ chain, contract, tokenId: 2n, atBlock }, options)
    const tokenOwners = new Set(model.owners(contract, 2n).map(({ owner }) => owner)).size
    assert.deepEqual([token.owners, token.transfers], [tokenOwners, model.transfers(contract, 2n)])
  }

  async #compareWallet(model: HoldingsModel, { wallet, atBlock, limit }: Asked & { wallet: Address }): Promise<void> {
    const whole = this.#memory.model.coverage(chain, 'full')
    const asked = { atBlock, limit, isComplete: isCovered(whole, { from: 0, to: atBlock ?? this.#head() }) }
    const filters = [{}, { contracts: contracts.slice(1) }, { excludeSpam: true }]
    for (const filter of filters) await readWhole(this.#walletNfts(model, wallet, filter), asked)
    const held = model.walletNfts(wallet)
    for (const excludeSpam of [false, true]) {
      const shown = held.filter(({ contract }) => !excludeSpam || !factsOf(contract).possibleSpam)
      const collections = [...new Set(shown.map(({ contract }) => contract))].sort().reverse()
      const expected = collections.map(contract => {
        const own = shown.filter(each => each.contract === contract)
        return { contract, standard: own[0]!.standard, count: own.length, name: factsOf(contract).name }
      })
      const read: List<(typeof expected)[number], Address>['read'] = async page => {
        const answer = await this.#holdings.walletCollections({ chain, wallet, excludeSpam, ...page })
        return { ...answer, rows: answer.rows.map(({ facts, ...rest }) => ({ ...rest, name: facts!.name! })) }
      }
      await readWhole({ expected, read }, asked)
    }
    const { nfts, collections, transfers } = await this.#holdings.walletStats({ chain, wallet, atBlock })
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

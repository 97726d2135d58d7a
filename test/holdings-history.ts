// Random histories of tokens, written step by step to a model and to a store beside it: new blocks, reorganisations,
// finality, history that arrives in any order, and rows that go again. It needs no test runner.
import fc from 'fast-check'
import { isCovered } from '../src/coverage.ts'
import { type Address, type Block, type ChainId, type Hash, type TransferFacts, zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { ChainWriter, ColdCommit, HotCommit } from '../src/store/store.ts'
import { unpackTransfer } from '../src/store/transfer-payload.ts'
import type { ModelTransfer } from './holdings-model.ts'
import { MemoryStore } from './memory-store.ts'
import { packTransfer } from './pack-transfer.ts'

/** Writes that go to the store beside those to the model. */
export type HistoryWrites = Pick<
  ChainWriter,
  'commitCold' | 'commitHot' | 'addToHot' | 'putChainState' | 'dropRange' | 'forgetStep' | 'keepIndexes'
>

export const historyChain = 1 as ChainId
const chain = historyChain
/** ERC-721 with ranges, ERC-1155, both. The second is spam. */
export const historyContracts = ['a', 'b', 'c'].map(digit => `0x${digit.repeat(40)}` as Address)
const contracts = historyContracts
export const historyWallets = ['1', '2', '3', '4'].map(digit => `0x${digit.repeat(40)}` as Address)
const parties = [zeroAddress, ...historyWallets]
const amounts = [0n, 1n, 2n, 5n, 2n ** 53n - 1n, 2n ** 200n]
export const historyIds = [0n, 1n, 2n, 3n, 5n, 8n, 2n ** 32n + 1n, 2n ** 256n - 1n]
const startBlock = 9

const row = fc.record({
  block: fc.nat(startBlock),
  tx: fc.nat(2),
  contract: fc.nat(2),
  from: fc.oneof(fc.constant(0), fc.nat(4)),
  to: fc.nat(4),
  id: fc.oneof(fc.nat(2), fc.nat(historyIds.length - 1)),
  amount: fc.nat(amounts.length - 1),
  kind: fc.constantFrom('single', 'single', 'single', 'batch', 'range'),
  isErc1155: fc.boolean(),
  idCount: fc.integer({ min: 2, max: 9 }),
  sentBy: fc.constantFrom('recipient', 'recipient', 'giver', 'other', undefined),
})
type RowDraw = typeof row extends fc.Arbitrary<infer T> ? T : never

/** `older` reaches up to the final block, `stretch` is anywhere below it, `late` adds to blocks that are not final. */
const kinds = [
  ...['hot', 'hot', 'hot', 'reorg', 'reorg', 'finalize', 'finalize', 'older', 'stretch', 'stretch'],
  ...['late', 'drop', 'forget', 'refill', 'nothing'],
] as const

export const historySteps = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    depth: fc.nat(4),
    at: fc.nat(startBlock + 6),
    limit: fc.constantFrom(1, 7, 100),
    question: fc.nat(4),
    /** Decides in which order what is asked. */
    order: fc.nat(1_000_000),
    rows: fc.array(row, { maxLength: 8 }),
  }),
  { minLength: 1, maxLength: 10 },
)
export type HistoryStep = typeof historySteps extends fc.Arbitrary<(infer T)[]> ? T : never

export class History {
  readonly memory = new MemoryStore()
  readonly #store: HistoryWrites | undefined
  /** How often rows came into blocks that were claimed as complete: without a repair no indexer does that. */
  rewrites = 0
  #logs = 0
  #branch = 0

  /** Without a store the model alone is written. */
  constructor(store?: HistoryWrites) {
    this.#store = store
  }

  async start(): Promise<void> {
    await this.#commitCold([], { from: 0, to: startBlock })
    await this.#commitHot(startBlock, 1, [])
  }

  head(): number {
    return this.memory.model.chainState(chain)?.head.number ?? -1
  }

  async apply({ kind, depth, at, rows }: HistoryStep): Promise<void> {
    const finalized = this.memory.model.finalized(chain)
    const head = this.head()
    const contract = contracts[depth % contracts.length]!
    if (kind === 'hot') await this.#commitHot(head, 1 + (depth % 2), rows)
    if (kind === 'reorg') await this.#commitHot(Math.max(finalized, head - depth), 1 + depth, rows)
    if (kind === 'finalize' && head - depth > finalized)
      await this.#both(to => to.putChainState(chain, { finalized: head - depth }))
    if (kind === 'older') await this.#commitCold(rows, { from: Math.min(at, finalized), to: finalized })
    if (kind === 'stretch' && at <= finalized) {
      const isOfOne = (at + depth) % 2 === 0
      await this.#commitCold(rows, { from: at, to: Math.min(finalized, at + depth) }, isOfOne ? contract : undefined)
    }
    if (kind === 'late') await this.#addToHot(rows, contract)
    if (kind === 'drop') await this.#both(to => to.dropRange(chain, 'full', { from: at, to: at + depth }))
    if (kind === 'forget') await this.#forget(contract)
    if (kind === 'refill') await this.#refill()
  }

  transfers(): ModelTransfer[] {
    return contracts.flatMap(contract =>
      this.memory.model
        .transferPage({ chain, contract, order: 'asc', limit: Number.POSITIVE_INFINITY })
        .map(({ payload, ...position }) => ({ ...position, contract, ...unpackTransfer(Buffer.from(payload, 'hex')) })),
    )
  }

  async #both(
    write: (to: Pick<MemoryStore, 'commitCold' | 'commitHot' | 'addToHot' | 'putChainState' | 'dropRange'>) => unknown,
  ) {
    await write(this.memory)
    if (this.#store !== undefined) await write(this.#store)
  }

  /** Rows of an interval that is then complete, of one contract or of all. */
  async #commitCold(rows: readonly RowDraw[], { from, to }: { from: number; to: number }, contract?: Address) {
    const transfers = rows
      .flatMap(draw => this.#rowsOf(draw, from + (draw.block % (to - from + 1))))
      .filter(each => contract === undefined || each.contract === contract)
    const numbers = new Set([...transfers.map(({ block }) => block), from, to])
    const covered = [{ scope: contract ?? 'full', from, to, evidence: 'bloom' } as const]
    // A block that was final before has the hash that it had.
    const blocks = [...numbers].map(
      number => this.memory.model.lowestBlock(chain, { from: number, to: number }) ?? this.#block(number, 0),
    )
    this.#countRewrites(transfers)
    const commit: ColdCommit = { chain, covered, blocks, transfers, activity: noActivity }
    await this.#both(each => each.commitCold(commit))
  }

  #countRewrites(transfers: readonly { contract: Address; block: number }[]): void {
    const isClaimed = ({ contract, block }: { contract: Address; block: number }): boolean =>
      isCovered(this.memory.model.contractCoverage(chain, contract), { from: block, to: block })
    if (transfers.some(isClaimed)) this.rewrites++
  }

  async #commitHot(ancestor: number, count: number, rows: readonly RowDraw[]): Promise<void> {
    this.#branch++
    const blocks = Array.from({ length: count }, (_, at) => this.#block(ancestor + 1 + at, this.#branch))
    const transfers = rows.flatMap(draw => this.#rowsOf(draw, ancestor + 1 + (draw.block % count)))
    const covered = { scope: 'full', from: ancestor + 1, evidence: 'bloom' } as const
    const commit = {
      chain,
      ancestor,
      blocks: blocks.map(block => hotBlock(block, transfers)),
      covered,
      head: blocks.at(-1)!,
    }
    await this.#both(to => to.commitHot(commit))
  }

  async #addToHot(rows: readonly RowDraw[], contract: Address): Promise<void> {
    const blocks = this.memory.model.hotBlocks(chain)
    if (blocks.length === 0) return
    const transfers = rows
      .flatMap(draw => this.#rowsOf(draw, blocks[draw.block % blocks.length]!.number))
      .filter(each => each.contract === contract)
    this.#countRewrites(transfers)
    await this.#both(to =>
      to.addToHot(
        chain,
        blocks.map(block => hotBlock(block, transfers)),
        [],
      ),
    )
  }

  async #forget(contract: Address): Promise<void> {
    this.memory.forget({ chain, contract })
    if (this.#store !== undefined) while (!(await this.#store.forgetStep({ chain, contract }, 3)).done);
  }

  /** The indexes are left, and made again of stored rows. */
  async #refill(): Promise<void> {
    if (this.#store === undefined) return
    await this.#store.keepIndexes(chain, [], 1)
    await this.#store.keepIndexes(chain, ['by_wallet', 'by_token', 'by_block'], 1)
    while (await this.#store.keepIndexes(chain, undefined, 5));
  }

  #block(number: number, branch: number): Block {
    const hash = `0x${number.toString(16).padStart(32, '0')}${branch.toString(16).padStart(32, '0')}` as Hash
    return { number, hash, timestamp: timeOf(number) }
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
      tokenId: historyIds[draw.id]!,
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
}

/** Two blocks share a moment now and then, as on fast chains. */
export function timeOf(block: number): number {
  return 1_600_000_000 + Math.floor(block * 0.75) * 10
}

function hotBlock(block: Block, transfers: HotCommit['blocks'][number]['transfers']): HotCommit['blocks'][number] {
  return { ...block, transfers: transfers.filter(each => each.block === block.number), activity: noActivity }
}

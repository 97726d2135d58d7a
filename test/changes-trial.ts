// A chain of random history in a store, with reorganisations down to the final block, folds, history that comes late,
// rows on demand and repairs; and what listeners to it must have been told.
import { expect } from 'vitest'
import { type Address, type Block, type ChainId, type Hash, zeroAddress } from '../src/model.ts'
import { Changes } from '../src/query/changes/changes.ts'
import type { ChangeState } from '../src/query/changes/ledger-read.ts'
import type { ChangeFilter } from '../src/query/changes/position.ts'
import { KnownLabels } from '../src/query/known-labels.ts'
import { transferReads } from '../src/query/nft-transfers.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { HotBlock, Store } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'

export const chain = 31_337 as ChainId
const addressOf = (digit: string) => `0x${digit.repeat(40)}` as Address
const [first, second] = [addressOf('a'), addressOf('b')]
const wallets = ['1', '2', '3'].map(addressOf)

type Row = {
  logIndex: number
  batchIndex: number
  contract: Address
  from: Address
  to: Address
  id: number
  idCount: number
}
type ModelBlock = Block & { rows: Row[] }

/** Who is told of the chain. */
export interface Told {
  /** Final rows were taken back since it read all. */
  mayBeGone: boolean
}

export class Trial {
  store!: Store
  changes!: Changes
  readonly #open: () => Promise<Store>
  #random: number
  #branch = 0
  /** By number. */
  blocks: ModelBlock[] = []
  /** Of the branch that the last reorganisation left, with the block before them. */
  #left: ModelBlock[] = []
  finalized = 9
  /** History below it is not stored yet. */
  #storedFrom = 6
  /** Rows of the second contract come on demand, in this run. */
  readonly #isOnDemand: boolean
  /** Up to where they came, of blocks that are not final. */
  #demandTo = -1
  /** Blocks of which rows were taken back, until they come again. */
  #hole: { from: number; to: number } | undefined
  readonly told: Told[] = []

  constructor(open: () => Promise<Store>, seed: number) {
    this.#open = open
    this.#random = seed
    this.#isOnDemand = seed % 3 === 0
  }

  /** Below a number, the same for the same seed. */
  draw(below: number): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#random / 2 ** 32) * below)
  }

  get head(): ModelBlock {
    return this.blocks.at(-1)!
  }

  async start(): Promise<void> {
    await this.reopen()
    this.blocks = Array.from({ length: 10 }, (_, number) => this.#block(number))
    await this.#commitCold(this.#storedFrom, 9)
    if (this.#isOnDemand) await this.store.watchContract(chain, first, { from: 0 })
    await this.#commitHot(9, [this.#block(10), this.#block(11)])
  }

  /** What may be asked for in this run. */
  get filters(): ChangeFilter[] {
    const none = { ledgers: [chain], contract: undefined, wallet: undefined, tokenId: undefined, finalOnly: false }
    return [
      { ...none, contract: first },
      { ...none, contract: second },
      { ...none, contract: first, finalOnly: true },
      { ...none, contract: first, tokenId: 3n },
      { ...none, contract: second, wallet: wallets[0] },
      { ...none, contract: second, wallet: wallets[1], tokenId: 3n },
      ...(this.#isOnDemand ? [] : [none, { ...none, wallet: wallets[1] }, { ...none, finalOnly: true }]),
    ]
  }

  /** A block to begin with, or now. */
  drawFrom(): number | undefined {
    return [undefined, 6, 8, this.head.number, 0][this.draw(5)]
  }

  async reopen(): Promise<void> {
    await this.store?.close()
    const store = await this.#open()
    this.store = store
    this.changes = new Changes(store, transferReads(store, new KnownLabels(store, () => store.revision())))
  }

  async move(): Promise<void> {
    const head = this.head.number
    const kind = this.draw(16)
    if (kind < 6) await this.#commitHot(head, [this.#block(head + 1), ...(kind < 2 ? [this.#block(head + 2)] : [])])
    else if (kind < 9) await this.#reorganise(Math.max(this.finalized, head - 1 - this.draw(4)))
    else if (kind === 9) await this.#goBack()
    else if (kind < 12) await this.#finalize(head - this.draw(5))
    else if (kind === 12 && this.#storedFrom > 0) {
      const from = Math.max(0, this.#storedFrom - 1 - this.draw(3))
      await this.#commitCold(from, this.#storedFrom - 1)
      this.#storedFrom = from
    } else if (kind === 13) await this.#repair()
    else if (kind === 14) await this.#unfinalize()
    else await this.#demand()
  }

  async #reorganise(ancestor: number): Promise<void> {
    this.#left = this.blocks.slice(ancestor)
    const length = 1 + this.draw(4)
    await this.#commitHot(
      ancestor,
      Array.from({ length }, (_, at) => this.#block(ancestor + 1 + at)),
    )
  }

  /** To the branch that was left last. */
  async #goBack(): Promise<void> {
    const [parent, ...back] = this.#left
    const ancestor = parent?.number ?? -1
    if (back.length === 0 || ancestor < this.finalized || this.blocks[ancestor]?.hash !== parent!.hash) return
    this.#left = this.blocks.slice(ancestor)
    await this.#commitHot(ancestor, back)
  }

  async #commitHot(ancestor: number, blocks: ModelBlock[]): Promise<void> {
    const scope = this.#isOnDemand ? 'watched' : 'full'
    this.blocks = [...this.blocks.slice(0, ancestor + 1), ...blocks]
    this.#demandTo = Math.min(this.#demandTo, ancestor)
    const given = blocks.map(block => this.#hot(block, this.#isOnDemand ? first : undefined))
    await this.store.commitHot({
      ...{ chain, ancestor, blocks: given, head: plain(blocks.at(-1)!) },
      covered: { scope, from: ancestor + 1, evidence: 'receipts-root' },
    })
  }

  /** Rows of the second contract come for blocks that are stored. */
  async #demand(): Promise<void> {
    if (!this.#isOnDemand) return
    const from = Math.max(this.finalized, this.#demandTo) + 1
    const to = Math.min(this.head.number, from + this.draw(3))
    if (to < from) return
    const blocks = this.blocks.slice(from, to + 1).map(block => this.#hot(block, second))
    this.#demandTo = to
    await this.store.addToHot(chain, blocks, [{ scope: second, from, to, evidence: 'receipts-root' }])
  }

  async #finalize(to: number): Promise<void> {
    // What came on demand is whole up to the final block, as history is.
    if (this.#isOnDemand && to > this.#demandTo) return
    this.finalized = Math.max(this.finalized, to)
    await this.store.putChainState(chain, { finalized: this.finalized })
  }

  /** Final rows that were wrong: they go, and come again. */
  async #repair(): Promise<void> {
    if (this.#isOnDemand) return
    if (this.#hole === undefined) {
      const from = this.#storedFrom + this.draw(this.finalized - this.#storedFrom + 1)
      this.#hole = { from, to: Math.min(this.finalized, from + this.draw(3)) }
      for (const each of this.told) each.mayBeGone = true
      await this.store.dropRange(chain, 'full', this.#hole)
    } else {
      const { from, to } = this.#hole
      this.#hole = undefined
      await this.#commitCold(from, to)
    }
  }

  async #unfinalize(): Promise<void> {
    if (this.#isOnDemand || this.draw(2) > 0 || this.#hole !== undefined) return
    const to = this.finalized - 1 - this.draw(2)
    if (to < this.#storedFrom) return
    this.finalized = to
    this.#left = []
    for (const each of this.told) each.mayBeGone = true
    this.blocks = this.blocks.slice(0, to + 1)
    await this.store.unfinalize(chain, to)
    await this.#commitHot(to, [this.#block(to + 1), this.#block(to + 2)])
  }

  async #commitCold(from: number, to: number): Promise<void> {
    const blocks = this.blocks.slice(from, to + 1)
    await this.store.commitCold({
      ...{ chain, activity: noActivity, blocks: blocks.map(plain), ranges: [{ from, to, hash: blocks.at(-1)!.hash }] },
      covered: [{ scope: 'full', from, to, evidence: 'receipts-root' }],
      transfers: blocks.flatMap(block => this.#hot(block, undefined).transfers),
    })
  }

  #hot(block: ModelBlock, contract: Address | undefined): HotBlock {
    const rows = block.rows.filter(row => contract === undefined || row.contract === contract)
    const transfers = rows.map(({ logIndex, batchIndex, contract: of, from, to, id, idCount }) => ({
      ...{ block: block.number, transactionIndex: logIndex >> 1, logIndex, batchIndex, contract: of },
      payload: packTransfer({
        ...{
          standard: batchIndex > 0 ? 'ERC1155' : 'ERC721',
          batch: false,
          operator: undefined,
          amount: 1n,
          value: 0n,
        },
        ...{ from, to, tokenId: BigInt(id), idCount, transactionHash: block.hash },
      }),
    }))
    return { ...plain(block), transfers, activity: noActivity }
  }

  #block(number: number): ModelBlock {
    const hash = `0x${`${number}`.padStart(32, '0')}${`${++this.#branch}`.padStart(32, '0')}` as Hash
    const rows = Array.from({ length: this.draw(4) }, (_, logIndex): Row[] => {
      const contract = this.draw(2) === 0 ? first : second
      const wallet = () => wallets[this.draw(3)]!
      const kind = this.draw(6)
      const id = this.draw(5)
      if (kind === 0)
        return [{ logIndex, batchIndex: 0, contract, from: zeroAddress, to: wallet(), id, idCount: 2 + this.draw(5) }]
      const parties = { from: wallet(), to: wallet() }
      const batch = kind === 1 ? 1 + this.draw(3) : 1
      return Array.from({ length: batch }, (_, batchIndex) => ({
        logIndex,
        batchIndex,
        contract,
        ...parties,
        id: id + batchIndex,
        idCount: 1,
      }))
    })
    return { number, hash, timestamp: 1_000 + number, rows: rows.flat() }
  }

  /** The last block that a filter is told of who begins behind a block. */
  toldTo({ contract }: ChangeFilter, from: number): number {
    if (from < this.#storedFrom) return from - 1
    if (this.#hole !== undefined && from <= this.#hole.to) return Math.max(from, this.#hole.from) - 1
    const isLate = this.#isOnDemand && contract === second
    return isLate ? Math.max(this.#demandTo, this.finalized) : this.head.number
  }
}

function plain({ number, hash, timestamp }: ModelBlock): Block {
  return { number, hash, timestamp }
}

/** Of the row at this place of a block. */
export type PlaceOf = (hash: Hash, place: { transactionIndex: number; logIndex: number; batchIndex: number }) => string

type Ids = { final: string[]; seen: string[] }
type KeptParts = { filter: ChangeFilter; fromBlock: number | undefined; placeOf: PlaceOf; isUnsure: boolean }

/** The rows that a listener was told, by their ids, with the last word on each. */
export class Kept implements Told {
  readonly #trial: Trial
  readonly #filter: ChangeFilter
  readonly #placeOf: PlaceOf
  /** It may be told the same again. */
  readonly #isUnsure: boolean
  readonly #kept = new Map<string, { state: ChangeState; block: number }>()
  /** Blocks up to it may be known as final alone. */
  #maybeTo: number
  readonly #from: number
  #begunAt: number
  mayBeGone = false

  /** Of one who begins now. */
  constructor(trial: Trial, { filter, fromBlock, placeOf, isUnsure }: KeptParts) {
    this.#trial = trial
    this.#filter = filter
    this.#placeOf = placeOf
    this.#isUnsure = isUnsure
    const { finalized, head } = trial
    this.#from = fromBlock ?? finalized + 1
    // What is missing below does not hold it up.
    this.#begunAt = this.#from
    this.#maybeTo = fromBlock === undefined ? head.number : -1
    trial.told.push(this)
  }

  forget(fromBlock: number): void {
    expect(this.mayBeGone).toBe(true)
    for (const [id, { block }] of this.#kept) if (block >= fromBlock) this.#kept.delete(id)
    this.#begunAt = Math.min(this.#begunAt, fromBlock)
    this.#maybeTo = Math.min(this.#maybeTo, fromBlock - 1)
  }

  hear(state: ChangeState, id: string, block: number): void {
    const known = this.#kept.get(id)?.state
    expect([state, known], `${id} of ${JSON.stringify(this.#filter, (_, value) => `${value}`)}`).toSatisfy(
      ([now, before]) =>
        this.#isUnsure
          ? now === 'final' || before !== 'final'
          : now === 'seen'
            ? before === undefined
            : now === 'retracted'
              ? before === 'seen'
              : before !== 'final',
    )
    if (state === 'retracted') this.#kept.delete(id)
    else this.#kept.set(id, { state, block })
  }

  /** Once it was told everything: it has what the store has. */
  check(): void {
    const [has, is] = this.hasAndIs()
    expect(has).toEqual(is)
    // What becomes of blocks below does not hold it up.
    const { finalized } = this.#trial
    const to = this.#trial.toldTo(this.#filter, this.#begunAt)
    this.#begunAt = Math.max(this.#begunAt, Math.min(to, finalized) + 1)
  }

  hasAndIs(): [has: Ids, is: Ids] {
    const { finalized, blocks } = this.#trial
    const to = this.#trial.toldTo(this.#filter, this.#begunAt)
    const seen: string[] = []
    const final: string[] = []
    for (const block of blocks.slice(this.#from)) {
      const isFinal = block.number <= finalized
      // One who began at the head was not told of the blocks below. Of a block that came back without its rows on
      // demand one may know them from before.
      const isMaybe = !isFinal && (block.number > to || block.number <= this.#maybeTo)
      for (const id of this.#idsOf(block))
        if (isMaybe ? this.#kept.has(id) : block.number <= to) (isFinal ? final : seen).push(id)
    }
    const kept = (state: ChangeState) => [...this.#kept].filter(([, each]) => each.state === state).map(([id]) => id)
    return [
      { final: kept('final').sort(), seen: kept('seen').sort() },
      { final: final.sort(), seen: this.#filter.finalOnly ? [] : seen.sort() },
    ]
  }

  #idsOf({ hash, rows }: ModelBlock): string[] {
    const { contract, wallet, tokenId } = this.#filter
    return rows
      .filter(row => contract === undefined || row.contract === contract)
      .filter(row => wallet === undefined || row.from === wallet || row.to === wallet)
      .flatMap(({ logIndex, batchIndex, id, idCount }) =>
        Array.from({ length: idCount }, (_, at) => ({
          id: BigInt(id + at),
          place: this.#placeOf(hash, { transactionIndex: logIndex >> 1, logIndex, batchIndex: batchIndex + at }),
        })),
      )
      .filter(({ id }) => tokenId === undefined || id === tokenId)
      .map(({ place }) => place)
  }
}

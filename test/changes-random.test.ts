// Listeners to the changes of random histories: each keeps the rows that it is told by their places, and has what the
// store has after every commit, through reorganisations down to the final block, folds, history that comes late, rows
// on demand, repairs and restarts, wherever pages end and whichever acknowledgements get lost. `npm run soak:changes`
// takes many more seeds.
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Address, type Block, type ChainId, type Hash, zeroAddress } from '../src/model.ts'
import { type ChangePage, type ChangeRows, type ChangeState, Changes, type ChangesGone } from '../src/query/changes/changes.ts'
import { type ChangeFilter, type ChangePosition, maybeTold, PositionSigner } from '../src/query/changes/position.ts'
import { KnownLabels } from '../src/query/known-labels.ts'
import { transferReads } from '../src/query/nft-transfers.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { HotBlock, Store } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'
import { isRelease } from './release-runs.ts'
import { type Engine, engineNames, startEngine } from './store-engines.ts'

const runs = Number(process.env.CHANGES_RUNS ?? (isRelease ? 250 : 4))
const firstSeed = Number(process.env.CHANGES_SEED ?? Math.floor(Math.random() * 1_000_000))
const stepsPerRun = 30

const chain = 31_337 as ChainId
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

describe.each(engineNames)('on %s', name => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine.close())

  test.each(Array.from({ length: runs }, (_, at) => firstSeed + at))('seed %s', { timeout: 120_000 }, async seed => {
    const url = await engine.newStore()
    const options = { role: 'owner', foldBlocks: 1 + (seed % 4) } as const
    const open = () =>
      name === 'sqlite'
        ? openSqliteStore(url.replace('file:', ''), options)
        : openPostgresStore(url, { foldBlocks: options.foldBlocks })
    const trial = new Trial(open, seed)
    await trial.start()
    try {
      for (let step = 0; step < stepsPerRun; step++) await trial.step()
    } finally {
      await trial.store.close()
    }
  })
})

class Trial {
  store!: Store
  #changes!: Changes
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
  readonly #listeners: Listener[] = []

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
    await this.#reopen()
    this.blocks = Array.from({ length: 10 }, (_, number) => this.#block(number))
    await this.#commitCold(this.#storedFrom, 9)
    if (this.#isOnDemand) await this.store.watchContract(chain, first, { from: 0 })
    await this.#commitHot(9, [this.#block(10), this.#block(11)])
    const none = { contract: undefined, wallet: undefined, tokenId: undefined, finalOnly: false }
    const filters = [
      { ...none, contract: first },
      { ...none, contract: second },
      { ...none, contract: first, finalOnly: true },
      { ...none, contract: first, tokenId: 3n },
      { ...none, contract: second, wallet: wallets[0] },
      { ...none, contract: second, wallet: wallets[1], tokenId: 3n },
      ...(this.#isOnDemand ? [] : [none, { ...none, wallet: wallets[1] }, { ...none, finalOnly: true }]),
    ]
    for (const filter of filters) await this.#listen({ ledgers: [chain], ...filter })
  }

  async #listen(filter: ChangeFilter): Promise<void> {
    const fromBlock = [undefined, 6, 8, this.head.number, 0][this.draw(5)]
    const listener = new Listener(this, filter)
    await listener.begin(this.#changes, fromBlock)
    this.#listeners.push(listener)
  }

  async #reopen(): Promise<void> {
    await this.store?.close()
    const store = await this.#open()
    this.store = store
    this.#changes = new Changes(store, transferReads(store, new KnownLabels(store, () => store.revision())))
  }

  async step(): Promise<void> {
    if (this.draw(12) === 0) await this.#reopen()
    // Some read while the chain moves on.
    const page =
      this.draw(2) === 0 ? this.#listeners[this.draw(this.#listeners.length)]!.page(this.#changes) : undefined
    const moved = this.#move()
    const read = await page
    await moved
    read?.()
    for (const listener of this.#listeners) if (this.draw(3) > 0) await listener.readAll(this.#changes)
  }

  async #move(): Promise<void> {
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
      for (const listener of this.#listeners) listener.mayBeGone = true
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
    for (const listener of this.#listeners) listener.mayBeGone = true
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

const signer = new PositionSigner(new Uint8Array(32).fill(7))

/** What was sent last, and may have arrived. */
type Unsure = { end: string; told: Told[] }
type Told = { state: ChangeState; id: string; block: number }

function changesIn({ state, rows, places }: ChangeRows): Told[] {
  return places.map(({ row, position }) => {
    const hash = Buffer.from(rows.stored.blockHashes.subarray(row * 32, row * 32 + 32)).toString('hex')
    return { state, id: `0x${hash} ${position.logIndex} ${position.batchIndex}`, block: position.block }
  })
}

function toldIn({ told }: ChangePage): Told[] {
  return told.flatMap(changesIn)
}

/** Keeps the places that it is told, with the last word on each. */
class Listener {
  readonly #trial: Trial
  readonly #filter: ChangeFilter
  readonly #kept = new Map<string, { state: ChangeState; block: number }>()
  #position!: string
  /** Acknowledgements of this one get lost. */
  readonly #isUnsure: boolean
  #unsure: Unsure | undefined
  /** Blocks up to it may be known as final alone. */
  #maybeTo = -1
  #from = 0
  #begunAt = 0
  mayBeGone = false

  constructor(trial: Trial, filter: ChangeFilter) {
    this.#trial = trial
    this.#filter = filter
    this.#isUnsure = trial.draw(2) === 0
  }

  async begin(changes: Changes, fromBlock: number | undefined): Promise<void> {
    const { finalized, head } = this.#trial
    this.#from = fromBlock ?? finalized + 1
    this.#begunAt = Math.min((fromBlock ?? finalized + 1) - 1, finalized) + 1
    this.#maybeTo = fromBlock === undefined ? head.number : -1
    this.#keep(await changes.begin(this.#filter, fromBlock))
  }

  #keep(position: ChangePosition): void {
    this.#position = signer.seal(this.#filter, position)
  }

  /** Reads one page and answers what takes it in. */
  async page(changes: Changes): Promise<() => boolean> {
    const position = signer.open(this.#filter, this.#position) as ChangePosition
    if (this.#unsure !== undefined) return await this.#pageAgain(changes, position, this.#unsure)
    const page = await changes.after(this.#filter, position, 1 + this.#trial.draw(6))
    return () => ('fromBlock' in page ? this.#forget(page) : this.#take(page))
  }

  /** After an answer that got lost, or of which only the acknowledgement was: the same again, or what became of it. */
  async #pageAgain(changes: Changes, before: ChangePosition, { end, told }: Unsure): Promise<() => boolean> {
    const upTo = signer.open(this.#filter, end) as ChangePosition
    const same = await changes.after(this.#filter, before, told.length, upTo)
    const isSame = 'told' in same && isDeepStrictEqual(toldIn(same), told)
    if (!isSame) this.#keep(maybeTold(before, upTo))
    else if (this.#trial.draw(2) === 0) {
      this.#hearAll(same.told)
      this.#position = end
    }
    if (!isSame || this.#position === end) this.#unsure = undefined
    return () => true
  }

  #hearAll(told: readonly ChangeRows[]): void {
    for (const { state, block, id } of told.flatMap(changesIn)) this.#hear(state, id, block)
  }

  #forget({ fromBlock, next }: ChangesGone): boolean {
    expect(this.mayBeGone).toBe(true)
    for (const [id, { block }] of this.#kept) if (block >= fromBlock) this.#kept.delete(id)
    this.#begunAt = Math.min(this.#begunAt, fromBlock)
    this.#maybeTo = Math.min(this.#maybeTo, fromBlock - 1)
    this.#keep(next)
    return true
  }

  #take(page: ChangePage): boolean {
    const { told, next, more } = page
    for (const rows of told) {
      expect(rows.places).toHaveLength(rows.rows.length)
      if (this.#isUnsure && this.#trial.draw(4) === 0) {
        this.#unsure = { end: signer.seal(this.#filter, next), told: toldIn(page) }
        if (this.#trial.draw(2) === 0) this.#hearAll(told)
        return true
      }
      for (const [at, { state, id, block }] of changesIn(rows).entries()) {
        this.#hear(state, id, block)
        // The connection ends here, and what comes behind is told again.
        if (this.#trial.draw(10) > 0) continue
        this.#keep(rows.behind(at))
        return true
      }
    }
    this.#keep(next)
    return more
  }

  #hear(state: ChangeState, id: string, block: number): void {
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

  async readAll(changes: Changes): Promise<void> {
    for (let pages = 0; (await this.page(changes))(); pages++) expect(pages).toBeLessThan(500)
    this.mayBeGone = false
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
    expect(kept('final').sort()).toEqual(final.sort())
    expect(kept('seen').sort()).toEqual(this.#filter.finalOnly ? [] : seen.sort())
    // What becomes of blocks below does not hold it up.
    this.#begunAt = Math.max(this.#begunAt, Math.min(to, finalized) + 1)
  }

  #idsOf({ hash, rows }: ModelBlock): string[] {
    const { contract, wallet, tokenId } = this.#filter
    return rows
      .filter(row => contract === undefined || row.contract === contract)
      .filter(row => wallet === undefined || row.from === wallet || row.to === wallet)
      .flatMap(({ logIndex, batchIndex, id, idCount }) =>
        Array.from({ length: idCount }, (_, at) => ({
          id: BigInt(id + at),
          place: `${hash} ${logIndex} ${batchIndex + at}`,
        })),
      )
      .filter(({ id }) => tokenId === undefined || id === tokenId)
      .map(({ place }) => place)
  }
}

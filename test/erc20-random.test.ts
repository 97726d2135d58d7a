// ERC-20 answers against a plain model, step by step through random histories of a ledger: new blocks, reorganisations,
// finality and older blocks that arrive late. ERC20_RUNS says how many, on both engines before a release.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineChain } from '../src/chains.ts'
import { ledgerId } from '../src/ledgers.ts'
import { type Address, type AskedCalls, type Block, type Hash, zeroAddress } from '../src/model.ts'
import { Claims } from '../src/query/claims.ts'
import { firstPage, type PageCursor } from '../src/query/cursor.ts'
import { TokenCalls } from '../src/query/erc20/token-calls.ts'
import { TokenFacts } from '../src/query/erc20/token-facts.ts'
import { TokenOwners } from '../src/query/erc20/token-owners.ts'
import { TouchedTokens } from '../src/query/erc20/touched-tokens.ts'
import { WalletTokens } from '../src/query/erc20/wallet-tokens.ts'
import type { Freshen } from '../src/query/freshen.ts'
import { Holdings } from '../src/query/holdings/holdings.ts'
import { HoldingsAdmission } from '../src/query/holdings/holdings-admission.ts'
import type { HolderKey, HoldingsOptions } from '../src/query/holdings/questions.ts'
import { KnownLabels } from '../src/query/known-labels.ts'
import { TokenUris } from '../src/query/metadata/token-uris.ts'
import { NftTransfers, transferReads } from '../src/query/nft-transfers.ts'
import { ShownContracts } from '../src/query/shown-contracts.ts'
import { openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { transfersOfPage, unpackTransfer } from '../src/store/transfer-payload.ts'
import { packTransfer } from './pack-transfer.ts'
import { isRelease } from './release-runs.ts'
import { type Engine, engineAbove, startEngine } from './store-engines.ts'

const runs = Number(process.env.ERC20_RUNS ?? (isRelease ? 3 : 1))
const firstSeed = Number(process.env.ERC20_SEED ?? Math.floor(Math.random() * 1_000_000))
const stepsPerRun = 25

const chain = defineChain({ name: 'sim', id: 31_337 })
const ledger = ledgerId(chain.id, 'erc20')
const addressOf = (digit: string) => `0x${digit.repeat(40)}` as Address
const tokens = ['a', 'b', 'c'].map(addressOf)
/** Says twice of what its transfers come to. */
const strange = tokens[2]!
const wallets = ['1', '2', '3', '4', '5', '6', '7', '8'].map(addressOf)
const amounts = [0n, 1n, 2n, 5n, 2n ** 53n, 10n ** 18n, 10n ** 18n + 1n, 2n ** 200n]

type Moved = { block: number; logIndex: number; token: Address; from: Address; to: Address; amount: bigint }

describe.each(engineAbove('sqlite'))('on %s', name => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine.close())

  test.each(Array.from({ length: runs }, (_, at) => firstSeed + at))('seed %s', { timeout: 60_000 }, async seed => {
    const store = await openStore(await engine.newStore(), { role: 'owner' })
    try {
      const trial = new Trial(store, seed)
      await trial.start()
      for (let step = 0; step < stepsPerRun; step++) {
        await trial.step()
        await trial.compare()
      }
    } finally {
      await store.close()
    }
  })
})

class Trial {
  readonly #store: Store
  #random: number
  #branch = 0
  #logs = 0
  #blocks: Block[] = []
  #moved: Moved[] = []
  #finalized = 9
  /** Blocks below it are not stored yet. */
  #storedFrom = 6
  readonly #owners: TokenOwners
  readonly #wallets: WalletTokens
  readonly #transfers: NftTransfers

  constructor(store: Store, seed: number) {
    this.#store = store
    this.#random = seed
    const revision = () => store.revision()
    const claims = new Claims(store, revision)
    const contracts = new ShownContracts(store, revision)
    const admission = new HoldingsAdmission()
    const calls = new TokenCalls(store)
    const holdings = new Holdings(store, { claims, contracts, admission })
    const streams = holdings.streams(new TokenUris(store, undefined))
    this.#owners = new TokenOwners({ holdings, streams, calls, store })
    const facts = new TokenFacts(contracts, calls)
    const touched = new TouchedTokens({ indexes: store.indexes, claims, admission })
    this.#wallets = new WalletTokens({ touched, calls, facts })
    this.#transfers = new NftTransfers(store, transferReads(store, new KnownLabels(store, revision)))
  }

  /** Below a number, the same for the same seed. */
  #draw(below: number): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#random / 2 ** 32) * below)
  }

  get #head(): Block {
    return this.#blocks.at(-1)!
  }

  async start(): Promise<void> {
    this.#blocks = Array.from({ length: 10 }, (_, number) => this.#block(number))
    for (const { number } of this.#blocks) this.#drawRows(number)
    await this.#commitCold(this.#storedFrom, 9)
    await this.#commitHot(9, 1)
  }

  async step(): Promise<void> {
    const head = this.#head.number
    const kind = this.#draw(10)
    if (kind < 5) await this.#commitHot(head, 1 + this.#draw(2))
    else if (kind < 7) await this.#commitHot(Math.max(this.#finalized, head - 1 - this.#draw(3)), 1 + this.#draw(3))
    else if (kind < 9) {
      this.#finalized = Math.max(this.#finalized, head - this.#draw(4))
      await this.#store.putChainState(ledger, { finalized: this.#finalized })
    } else if (this.#storedFrom > 0) {
      const from = Math.max(0, this.#storedFrom - 1 - this.#draw(3))
      await this.#commitCold(from, this.#storedFrom - 1)
      this.#storedFrom = from
    }
  }

  async compare(): Promise<void> {
    for (const token of tokens) {
      await this.#compareTransfers(token)
      const blocks = [undefined, this.#storedFrom + this.#draw(this.#head.number - this.#storedFrom + 1)]
      for (const atBlock of blocks) await this.#compareOwners(token, atBlock)
      await this.#compareCounts(token)
    }
    for (const wallet of wallets.slice(0, 3)) await this.#compareWallet(wallet)
  }

  async #compareTransfers(contract: Address): Promise<void> {
    const order = this.#draw(2) === 0 ? 'asc' : 'desc'
    const found: unknown[] = []
    const question: PageCursor = {
      ...{ ...firstPage, list: 'erc20-transfers', subject: contract.slice(2), chain: ledger, order },
      limit: 1 + this.#draw(4),
    }
    for (let next: PageCursor | undefined = question; next !== undefined; ) {
      const answer = await this.#transfers.answer({ ...next, contract }, this.#options())
      expect(answer.complete).toBe(this.#storedFrom === 0)
      const rows = transfersOfPage(answer.rows.stored)!.slice(0, answer.rows.length)
      for (const { block, logIndex, payload } of rows) {
        const { from, to, amount } = unpackTransfer(payload)
        found.push({ block, logIndex, from, to, amount })
      }
      next = answer.next
    }
    const wanted = this.#stored(contract).map(({ token: _, ...row }) => row)
    expect(found).toEqual(order === 'asc' ? wanted : wanted.toReversed())
  }

  async #compareOwners(contract: Address, atBlock: number | undefined): Promise<void> {
    const smallestFirst = this.#draw(2) === 0
    const limit = 1 + this.#draw(4)
    const sums = this.#sums(contract, atBlock)
    const holders = sums.filter(({ amount }) => amount > 0n)
    const wanted = smallestFirst ? holders.toReversed() : holders
    const isTrue = contract !== strange || holders.length === 0
    const isExact = this.#storedFrom === 0 && sums.every(({ amount }) => amount >= 0n) && isTrue
    const rows: { owner: Address; amount: bigint | undefined }[] = []
    let block = atBlock
    let after: HolderKey | undefined
    do {
      const question = { chain, contract, limit, atBlock: block, after, smallestFirst }
      const answer = await this.#owners.owners(question, this.#options())
      expect([contract, answer.balances]).toEqual([contract, isExact ? 'exact' : 'read'])
      rows.push(...answer.rows)
      ;({ atBlock: block, after } = answer.next ?? { atBlock: undefined, after: undefined })
    } while (after !== undefined)
    expect(rows.map(({ owner }) => owner)).toEqual(wanted.map(({ owner }) => owner))
    const { batches, balances } = await this.#owners.whole({ chain, contract, atBlock, smallestFirst }, this.#options())
    const listed = (await Array.fromAsync(batches)).flat()
    expect(balances).toBe(isExact ? 'exact' : 'read')
    expect(listed).toEqual(wanted.map(({ owner, amount }) => ({ owner, amount: isExact ? amount : undefined })))
    const asked = atBlock ?? this.#head.number
    const shown = rows.map(({ owner, amount }) => [owner, amount])
    expect(shown).toEqual(rows.map(({ owner }) => [owner, this.#says(contract, owner, asked)]))
  }

  async #compareCounts(contract: Address): Promise<void> {
    const moments = [0, 1, 3, 6, 20].map(blocks => timeOf(this.#head.number - blocks))
    const question = { chain, contract, limit: 0, atBlock: undefined, after: undefined, smallestFirst: false, moments }
    const { holders, past, largest } = await this.#owners.counts(question, this.#options())
    const held = (block: number) => this.#sums(contract, block).filter(({ amount }) => amount > 0n)
    const blockAt = (moment: number) => this.#blocks.findLast(({ timestamp }) => timestamp <= moment)?.number ?? -1
    expect(holders).toBe(held(this.#head.number).length)
    expect(past).toEqual(moments.map(moment => held(blockAt(moment)).length))
    expect(largest).toEqual(held(this.#head.number).map(({ amount }) => amount))
  }

  async #compareWallet(wallet: Address): Promise<void> {
    const question = { chain, wallet, toBlock: undefined, tokens: undefined, excludeSpam: false }
    const { rows, complete, lookedAt } = await this.#wallets.answer(question, this.#options())
    expect([complete, lookedAt]).toEqual([this.#storedFrom === 0, undefined])
    const wanted = tokens.flatMap(token => {
      const isTouched = this.#stored(token).some(({ from, to }) => from === wallet || to === wallet)
      const balance = this.#says(token, wallet, this.#head.number)
      return isTouched && balance > 0n ? [{ token, balance }] : []
    })
    const shown = rows.map(({ token, balance }) => ({ token, balance }))
    expect(shown.sort((a, b) => (a.token < b.token ? -1 : 1))).toEqual(wanted)
  }

  #options(): HoldingsOptions {
    const freshen: Freshen = { calls: async asked => this.#answer(asked) }
    return { key: { id: 'k' } as HoldingsOptions['key'], freshen, freshenWaitMs: 0 }
  }

  /** As a node of this branch does. */
  #answer({ block = this.#head.number, calls }: AskedCalls) {
    const results = calls.map(({ to, data }) => {
      if (data.startsWith('0x18160ddd')) return wordOf(this.#supply(to, block))
      if (data.startsWith('0x70a08231')) return wordOf(this.#says(to, `0x${data.slice(-40)}` as Address, block))
      return null
    })
    return { block, hash: this.#blocks[block]!.hash, results }
  }

  #supply(token: Address, block: number): bigint {
    return this.#sums(token, block, 0).reduce((sum, { owner }) => sum + this.#says(token, owner, block), 0n)
  }

  /** No token says less than nothing. */
  #says(token: Address, owner: Address, block: number): bigint {
    const sum = this.#sums(token, block, 0).find(each => each.owner === owner)?.amount ?? 0n
    return sum < 0n ? 0n : token === strange ? 2n * sum : sum
  }

  /** Of blocks from one on: those that the store has, unless told. */
  #stored(token: Address, first = this.#storedFrom): Moved[] {
    return this.#moved
      .filter(each => each.token === token && each.block >= first)
      .sort((a, b) => a.block - b.block || a.logIndex - b.logIndex)
  }

  /** By what they come to, the largest first. */
  #sums(token: Address, upTo = this.#head.number, first?: number): { owner: Address; amount: bigint }[] {
    const sums = new Map<Address, bigint>()
    for (const { from, to, amount, block } of this.#stored(token, first)) {
      if (block > upTo || from === to) continue
      sums.set(from, (sums.get(from) ?? 0n) - amount)
      sums.set(to, (sums.get(to) ?? 0n) + amount)
    }
    return [...sums]
      .map(([owner, amount]) => ({ owner, amount }))
      .filter(({ owner }) => owner !== zeroAddress)
      .sort((a, b) => (a.amount === b.amount ? (a.owner < b.owner ? -1 : 1) : a.amount > b.amount ? -1 : 1))
  }

  async #commitHot(ancestor: number, count: number): Promise<void> {
    this.#branch++
    this.#moved = this.#moved.filter(({ block }) => block <= ancestor)
    this.#blocks = this.#blocks.slice(0, ancestor + 1)
    const blocks = Array.from({ length: count }, (_, at) => this.#block(ancestor + 1 + at))
    this.#blocks.push(...blocks)
    const rows = blocks.flatMap(({ number }) => this.#drawRows(number))
    await this.#store.commitHot({
      ...{ chain: ledger, ancestor, head: blocks.at(-1)! },
      covered: { scope: 'full', from: ancestor + 1, evidence: 'bloom' },
      blocks: blocks.map(block => ({
        ...{ ...block, activity: noActivity },
        transfers: rows.filter(row => row.block === block.number).map(stored),
      })),
    })
  }

  async #commitCold(from: number, to: number): Promise<void> {
    const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at)
    await this.#store.commitCold({
      ...{ chain: ledger, activity: noActivity, blocks: numbers.map(number => this.#blocks[number]!) },
      covered: [{ scope: 'full', from, to, evidence: 'bloom' }],
      transfers: this.#moved.filter(({ block }) => block >= from && block <= to).map(stored),
    })
  }

  #drawRows(block: number): Moved[] {
    const rows = Array.from({ length: this.#draw(5) }, (): Moved => {
      const from = this.#draw(3) === 0 ? zeroAddress : wallets[this.#draw(wallets.length)]!
      const to = this.#draw(6) === 0 ? zeroAddress : wallets[this.#draw(wallets.length)]!
      const amount = amounts[this.#draw(amounts.length)]!
      return { block, logIndex: this.#logs++, token: tokens[this.#draw(tokens.length)]!, from, to, amount }
    })
    this.#moved.push(...rows)
    return rows
  }

  #block(number: number): Block {
    const digits = number.toString(16).padStart(32, '0') + this.#branch.toString(16).padStart(32, '0')
    return { number, hash: `0x${digits}` as Hash, timestamp: timeOf(number) }
  }
}

function timeOf(block: number): number {
  return 1_600_000_000 + block * 12
}

function wordOf(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}

function stored({ block, logIndex, token, from, to, amount }: Moved) {
  const payload = packTransfer({
    ...{ standard: 'ERC1155', batch: false, from, to, operator: undefined, tokenId: 0n, amount, value: 0n },
    ...{ transactionHash: `0x${logIndex.toString(16).padStart(64, '0')}` as Hash, idCount: 1 },
  })
  return { block, transactionIndex: 0, logIndex, batchIndex: 0, contract: token, payload }
}

// The rules of who owns an ERC-20 token: sums of its transfers tell who may, and the token itself tells whether they
// are balances. No HTTP and no JSON.

import { LRUCache } from 'lru-cache'
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { ledgerId } from '../../ledgers.ts'
import { type Address, etherLogs } from '../../model.ts'
import type { CheckpointStore } from '../../store/store.ts'
import type {
  Completeness,
  Continuation,
  HolderKey,
  HoldersAnswer,
  HoldersQuestion,
  HoldingsOptions,
  HoldingsQueries,
} from '../holdings/questions.ts'
import type { HoldingStreams, WholeList } from '../holdings/streams/holding-streams.ts'
import type { TokenCalls } from './token-calls.ts'
import { requireBegun } from './token-size.ts'

/**
 * `exact`: the sums of the transfers are the supply, and a sample of holders has what the sums say. `read`: they are
 * not, or rows may be missing, so what is shown was read from the token. `unchecked`: no node told, and what is shown
 * are sums of transfers.
 */
export type Balances = 'exact' | 'read' | 'unchecked'

/** `chain` is the chain itself, not its ledger of tokens. */
export type TokenQuestion = Omit<HoldersQuestion, 'chain'> & { chain: Chain }

export type Checked = {
  balances: Balances
  /** After which block the token was asked: another one than that of the answer where no node has the state there. */
  checkedAt: number | undefined
  /** Undefined where the token or the node did not tell. */
  supply: bigint | undefined
}

/** Undefined where the token does not say what the owner has, or no node tells it. */
type OwnerRow = { owner: Address; amount: bigint | undefined }

export type OwnersAnswer = Completeness &
  Checked & { rows: readonly OwnerRow[]; next: Continuation<HolderKey> | undefined }

/** Where sums are not balances of the token its rows have no amounts: nobody asks a node for all of them. */
export type WholeOwners = WholeList<readonly OwnerRow[]> & Checked

export type HolderCounts = Pick<HoldersAnswer, 'holders' | 'largest' | 'past'> & Completeness & Checked

const verdictsMax = 10_000
const unchecked: Checked = { balances: 'unchecked', checkedAt: undefined, supply: undefined }

type Parts = {
  holdings: HoldingsQueries
  streams: HoldingStreams
  calls: TokenCalls
  store: Pick<CheckpointStore, 'checkpoint'>
}

export class TokenOwners {
  readonly #parts: Parts
  /** Of whole histories alone: the last that was found of each token. */
  readonly #verdicts = new LRUCache<string, Checked>({ max: verdictsMax })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async owners(question: TokenQuestion, options: HoldingsOptions): Promise<OwnersAnswer> {
    const found = await this.#holders(question, options)
    const { block, complete, evidence, next } = found
    const checked = await this.#check(question, found, options)
    const answer = { block, complete, evidence, next, ...checked }
    if (checked.balances !== 'read') return { ...answer, rows: found.rows }
    const rows = found.rows.map(({ owner }): OwnerRow => ({ owner, amount: undefined }))
    const hasState = block < 0 || checked.checkedAt === block
    if (!hasState || rows.length === 0) return { ...answer, rows }
    const pairs = rows.map(({ owner }) => ({ token: question.contract, wallet: owner }))
    const read = await told(this.#parts.calls.balances(this.#askedAt(question, found), pairs, options))
    if (read === undefined) return { ...answer, checkedAt: undefined, rows }
    return { ...answer, rows: rows.map(({ owner }, at) => ({ owner, amount: read.values[at] })) }
  }

  /** All owners in the order of pages, as of the block that the check is of. */
  async whole(question: Omit<TokenQuestion, 'limit' | 'after'>, options: HoldingsOptions): Promise<WholeOwners> {
    const found = await this.#holders({ ...question, limit: 0, after: undefined }, options)
    const checked = await this.#check(question, found, options)
    const asked = { ...question, chain: ledgerId(question.chain.id, 'erc20'), atBlock: found.block }
    const { batches, ...claim } = await this.#parts.streams.holders(asked, options)
    return { ...claim, ...checked, batches: checked.balances === 'read' ? withoutAmounts(batches) : batches }
  }

  async counts(question: TokenQuestion, options: HoldingsOptions): Promise<HolderCounts> {
    const found = await this.#holders(question, options)
    return { ...found, ...(await this.#check(question, found, options)) }
  }

  async #holders({ chain, ...question }: TokenQuestion, options: HoldingsOptions): Promise<HoldersAnswer> {
    if (question.contract === etherLogs)
      throw new AlmanacError('bad_request', 'Ether has no list of owners: its logs leave out fees and withdrawals.', {
        details: { parameter: 'address' },
      })
    const ledger = ledgerId(chain.id, 'erc20')
    const found = await this.#parts.holdings.holders({ ...question, chain: ledger }, options)
    if (!found.complete) await requireBegun(this.#parts.store, { ledger, contract: question.contract }, options.key)
    return found
  }

  /** Where no node tells it at the block of the answer, the last verdict stands. */
  async #check(question: Asked, found: HoldersAnswer, options: HoldingsOptions): Promise<Checked> {
    const checked = await this.#compare(question, found, options)
    if (checked !== undefined) return checked
    // Rows that are missing make sums that no verdict is of.
    const standing = found.complete ? await this.#standing(question, found, options) : undefined
    return { ...(standing ?? unchecked), supply: undefined }
  }

  async #compare(question: Asked, found: HoldersAnswer, options: HoldingsOptions): Promise<Checked | undefined> {
    const { complete, sum, impossible, sample } = found
    const wallets = sample.map(({ owner }) => owner)
    const asked = this.#askedAt(question, found)
    const said = await told(this.#parts.calls.supplyAndBalances(asked, question.contract, wallets, options))
    if (said === undefined) return undefined
    const isSame = sample.every(({ amount }, at) => said.balances[at] === amount)
    const isExact = complete && impossible === 0 && said.supply === sum && isSame
    const { block: checkedAt, supply } = said
    const checked: Checked = { balances: isExact ? 'exact' : 'read', checkedAt, supply }
    const name = nameOf(question)
    if (complete && checkedAt >= (this.#verdicts.get(name)?.checkedAt ?? 0)) this.#verdicts.set(name, checked)
    return checked
  }

  /** Nodes that keep no old states have that of the head. */
  async #standing(question: Asked, { block }: HoldersAnswer, options: HoldingsOptions): Promise<Checked | undefined> {
    const known = this.#verdicts.get(nameOf(question))
    if (known !== undefined || question.atBlock === undefined) return known
    const ofHead = { ...question, limit: 0, after: undefined, atBlock: undefined, moments: [] }
    const head = await told(this.#holders(ofHead, options))
    return head?.complete && head.block > block ? await this.#compare(question, head, options) : undefined
  }

  /** The state after the block of the answer; where there is none yet, that at the head of a node. */
  #askedAt({ chain, contract }: Asked, { block }: Completeness) {
    return { chain, toBlock: block < 0 ? undefined : block, about: [contract] }
  }
}

type Asked = Omit<TokenQuestion, 'limit' | 'after'>

function nameOf({ chain, contract }: Asked): string {
  return `${chain.id} ${contract}`
}

async function* withoutAmounts(batches: AsyncIterable<readonly OwnerRow[]>): AsyncGenerator<OwnerRow[]> {
  for await (const rows of batches) yield rows.map(({ owner }) => ({ owner, amount: undefined }))
}

/** Undefined where no node tells it: an answer without it is better than none. */
export async function told<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof AlmanacError) return undefined
    throw error
  }
}

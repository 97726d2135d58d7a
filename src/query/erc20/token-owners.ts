// The rules of who owns an ERC-20 token: sums of its transfers tell who may, and the token itself tells whether they
// are balances. No HTTP and no JSON.
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
  /** Undefined where the token or the node did not tell. */
  supply: bigint | undefined
}

export type OwnersAnswer = Completeness &
  Checked & {
    /** Undefined where the token does not say what the owner has. */
    rows: readonly { owner: Address; amount: bigint | undefined }[]
    next: Continuation<HolderKey> | undefined
  }

export type HolderCounts = Pick<HoldersAnswer, 'holders' | 'largest' | 'past'> & Completeness & Checked

export class TokenOwners {
  readonly #holdings: HoldingsQueries
  readonly #calls: TokenCalls
  readonly #store: Pick<CheckpointStore, 'checkpoint'>

  constructor(holdings: HoldingsQueries, calls: TokenCalls, store: Pick<CheckpointStore, 'checkpoint'>) {
    this.#holdings = holdings
    this.#calls = calls
    this.#store = store
  }

  async owners(question: TokenQuestion, options: HoldingsOptions): Promise<OwnersAnswer> {
    const found = await this.#holders(question, options)
    const { block, complete, evidence, next } = found
    const { balances, supply } = await this.#check(question, found, options)
    const answer = { block, complete, evidence, supply, next }
    if (balances !== 'read') return { ...answer, balances, rows: found.rows }
    const owners = found.rows.map(({ owner }) => owner)
    const asked = this.#askedAt(question, found)
    const pairs = owners.map(wallet => ({ token: question.contract, wallet }))
    const read = await told(this.#calls.balances(asked, pairs, options))
    if (read === undefined) return { ...answer, balances: 'unchecked', rows: found.rows }
    return { ...answer, balances, rows: owners.map((owner, at) => ({ owner, amount: read.values[at] })) }
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
    const found = await this.#holdings.holders({ ...question, chain: ledger }, options)
    if (!found.complete) await requireBegun(this.#store, { ledger, contract: question.contract }, options.key)
    return found
  }

  async #check(question: TokenQuestion, found: HoldersAnswer, options: HoldingsOptions): Promise<Checked> {
    const { complete, sum, impossible, sample } = found
    const wallets = sample.map(({ owner }) => owner)
    const asked = this.#askedAt(question, found)
    const said = await told(this.#calls.supplyAndBalances(asked, question.contract, wallets, options))
    if (said === undefined) return { balances: 'unchecked', supply: undefined }
    const isSame = sample.every(({ amount }, at) => said.balances[at] === amount)
    const isExact = complete && impossible === 0 && said.supply === sum && isSame
    return { balances: isExact ? 'exact' : 'read', supply: said.supply }
  }

  /** The state after the block of the answer; where there is none yet, that at the head of a node. */
  #askedAt({ chain, contract }: TokenQuestion, { block }: Completeness) {
    return { chain, toBlock: block < 0 ? undefined : block, about: [contract] }
  }
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

// The rules of the tokens of a wallet: those that it touched, by the index, or those that the client names, and what
// each of them says that the wallet has after one block. No HTTP and no JSON.
import type { ShownFacts } from '../../annotate/shown-facts.ts'
import type { Chain } from '../../chains.ts'
import { ledgerId } from '../../ledgers.ts'
import { type Address, zeroAddress } from '../../model.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import type { Claims } from '../claims.ts'
import type { HoldingsAdmission } from '../holdings/holdings-admission.ts'
import type { Completeness, HoldingsOptions } from '../holdings/questions.ts'
import { visitAll, walletTransfers } from '../index-places.ts'
import type { TokenCalls } from './token-calls.ts'
import type { TokenFacts } from './token-facts.ts'

/** Of one wallet: a node is asked for each. */
export const walletTokensMax = 2_000
/** What finding the tokens of a wallet takes: a set of them, and the records that are read at once. */
const findingBytes = 2 ** 20

export type WalletTokensQuestion = {
  chain: Chain
  wallet: Address
  toBlock: number | undefined
  /** Undefined: all that the wallet touched. */
  tokens: readonly Address[] | undefined
  excludeSpam: boolean
}

export type WalletToken = { token: Address; balance: bigint; facts: ShownFacts | undefined }

export type WalletTokensAnswer = Completeness & {
  rows: readonly WalletToken[]
  /** How many tokens were looked at, where the wallet touched more. */
  lookedAt: number | undefined
}

/** Tokens with what may be claimed of them: the newest touched come first. */
type Touched = Completeness & { tokens: readonly Address[]; isCut: boolean }

type Parts = {
  indexes: IndexReader
  claims: Claims
  calls: TokenCalls
  facts: TokenFacts
  admission: HoldingsAdmission
}

export class WalletTokens {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async answer(question: WalletTokensQuestion, options: HoldingsOptions): Promise<WalletTokensAnswer> {
    const { chain, wallet, toBlock, excludeSpam } = question
    const ledger = ledgerId(chain.id, 'erc20')
    for (const token of question.tokens ?? []) options.freshen?.asked?.(ledger, token)
    const touched = await this.#touched(question, options)
    const pairs = touched.tokens.map(token => ({ token, wallet }))
    const asked = { chain, toBlock, about: [wallet] }
    const { block, values } = await this.#parts.calls.balances(asked, pairs, options)
    const held = touched.tokens.flatMap((token, at) => (values[at] ? [{ token, balance: values[at] }] : []))
    const tokens = held.map(({ token }) => token)
    const facts = await this.#parts.facts.of(asked, tokens, options)
    return {
      ...{ block, complete: touched.complete, evidence: touched.evidence },
      rows: held
        .map(row => ({ ...row, facts: facts.get(row.token) }))
        .filter(row => !excludeSpam || row.facts?.possibleSpam !== true),
      lookedAt: touched.isCut ? touched.tokens.length : undefined,
    }
  }

  async #touched({ chain, wallet, toBlock, tokens }: WalletTokensQuestion, options: HoldingsOptions): Promise<Touched> {
    if (tokens !== undefined) return { block: -1, complete: true, evidence: undefined, tokens, isCut: false }
    const ledger = ledgerId(chain.id, 'erc20')
    const { claims, indexes, admission } = this.#parts
    const { state } = await claims.chain(ledger)
    const block = Math.min(toBlock ?? Number.POSITIVE_INFINITY, state?.head.number ?? -1)
    const claim = await claims.of(ledger, 'every', { from: 0, to: block }, 'by_wallet')
    if (block < 0) return { block, complete: claim.complete, evidence: undefined, tokens: [], isCut: false }
    const found = await admission.shared(`tokens of ${ledger} ${wallet} ${block}`, options, 'small', async work => {
      work.takes(findingBytes)
      const span = walletTransfers(ledger, wallet, { from: 0, to: block }, { direction: 'both', contracts: [] })
      const touched = new Set<Address>()
      const isWhole = await visitAll(
        indexes,
        span,
        (records, value) => {
          touched.add(span.contractOf(records, value))
          return touched.size > walletTokensMax
        },
        work.pace,
      )
      return { touched: [...touched], isWhole }
    })
    const isCut = found.touched.length > walletTokensMax || !found.isWhole
    // No index has the zero address, which gives and receives without being a wallet.
    const complete = claim.complete && !isCut && wallet !== zeroAddress
    const evidence = complete ? claim.evidence : undefined
    return { block, complete, evidence, tokens: found.touched.slice(0, walletTokensMax), isCut }
  }
}

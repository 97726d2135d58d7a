// The rules of the tokens of a wallet: those that it touched, by the index, or those that the client names, and what
// each of them says that the wallet has after one block. No HTTP and no JSON.
import type { ShownFacts } from '../../annotate/shown-facts.ts'
import type { Chain } from '../../chains.ts'
import { ledgerId } from '../../ledgers.ts'
import type { Address } from '../../model.ts'
import type { Completeness, HoldingsOptions } from '../holdings/questions.ts'
import type { AskedAt, TokenCalls } from './token-calls.ts'
import type { TokenFacts } from './token-facts.ts'
import type { Touched, TouchedTokens } from './touched-tokens.ts'

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

type Parts = { touched: TouchedTokens; calls: TokenCalls; facts: TokenFacts }

export class WalletTokens {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async answer(question: WalletTokensQuestion, options: HoldingsOptions): Promise<WalletTokensAnswer> {
    const { chain, wallet, toBlock, excludeSpam } = question
    const ledger = ledgerId(chain.id, 'erc20')
    for (const token of question.tokens ?? []) options.freshen?.asked?.(ledger, token)
    const asked = { chain, toBlock, about: [wallet] }
    const { touched, block, values } = await this.#balances(question, asked, options)
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

  /** Of tokens and balances after one block: where a head comes in between, what it touched is found too. */
  async #balances(question: WalletTokensQuestion, asked: AskedAt, options: HoldingsOptions) {
    for (let attempt = 1; ; attempt++) {
      const touched =
        question.tokens === undefined ? await this.#parts.touched.of(question, options) : named(question.tokens)
      const pairs = touched.tokens.map(token => ({ token, wallet: question.wallet }))
      const read = await this.#parts.calls.balances(asked, pairs, options)
      if (question.tokens !== undefined || read.block === touched.block) return { touched, ...read }
      if (attempt === attempts) return { touched: { ...touched, complete: false, evidence: undefined }, ...read }
    }
  }
}

const attempts = 3

/** They need no index. */
function named(tokens: readonly Address[]): Touched {
  return { block: -1, complete: true, evidence: undefined, tokens, isCut: false }
}

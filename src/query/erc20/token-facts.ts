// What answers show of ERC-20 tokens: from the index, and where it does not know a token yet, from the token itself. It
// alone reads names, symbols and decimals for requests.
import type { ShownFacts } from '../../annotate/shown-facts.ts'
import { ledgerId } from '../../ledgers.ts'
import type { Address } from '../../model.ts'
import type { FactsByContract, ShownContracts } from '../shown-contracts.ts'
import type { AskedAt, CallOptions, TokenCalls } from './token-calls.ts'
import { told } from './token-owners.ts'

/** Of one answer: the index reads the others soon after it has their transfers. */
const describedMax = 100

export class TokenFacts {
  readonly #contracts: ShownContracts
  readonly #calls: TokenCalls

  constructor(contracts: ShownContracts, calls: TokenCalls) {
    this.#contracts = contracts
    this.#calls = calls
  }

  /** Never fails: what no node tells is not known. */
  async of(
    asked: Omit<AskedAt, 'toBlock'>,
    tokens: readonly Address[],
    options: CallOptions,
  ): Promise<FactsByContract> {
    const known = await this.#contracts.of(ledgerId(asked.chain.id, 'erc20'), tokens)
    const unknown = tokens.filter(token => isUnread(known.get(token))).slice(0, describedMax)
    const described = unknown.length === 0 ? undefined : await told(this.#calls.describe(asked, unknown, options))
    return new Map(
      tokens.map(token => {
        const facts = known.get(token)
        const description = described?.get(token)
        return [token, description === undefined ? facts : { ...noMarks, ...facts, ...description }]
      }),
    )
  }
}

const noMarks = { possibleSpam: false, verifiedCollection: false }

function isUnread(facts: ShownFacts | undefined): boolean {
  return facts?.name === undefined && facts?.symbol === undefined && facts?.decimals === undefined
}

// What answers show of ERC-20 tokens: from the index, and where it does not know a token yet, from the token itself.
import type { ShownFacts } from '../../annotate/shown-facts.ts'
import type { Address } from '../../model.ts'
import type { FactsByContract } from '../shown-contracts.ts'
import type { AskedAt, CallOptions, TokenCalls } from './token-calls.ts'
import { told } from './token-owners.ts'

/** Of one answer: the index reads the others soon after it has their transfers. */
const describedMax = 100

/** Never fails: what no node tells is not known. */
export async function withDescriptions(
  calls: TokenCalls,
  asked: Omit<AskedAt, 'toBlock'>,
  tokens: readonly Address[],
  known: FactsByContract,
  options: CallOptions,
): Promise<FactsByContract> {
  const unknown = tokens.filter(token => isUnread(known.get(token))).slice(0, describedMax)
  const described = unknown.length === 0 ? undefined : await told(calls.describe(asked, unknown, options))
  return new Map(
    tokens.map(token => {
      const facts = known.get(token)
      const description = described?.get(token)
      return [token, description === undefined ? facts : { ...noMarks, ...facts, ...description }]
    }),
  )
}

const noMarks = { possibleSpam: false, verifiedCollection: false }

function isUnread(facts: ShownFacts | undefined): boolean {
  return facts?.name === undefined && facts?.symbol === undefined && facts?.decimals === undefined
}

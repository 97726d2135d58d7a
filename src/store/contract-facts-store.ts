// What was read of contracts and what the rules say of them. What others say of them are marks (`mark-store.ts`).
import type { Address, ChainId } from '../model.ts'

/** Enough to compare names with; a longer list would tell no more. */
export const verifiedNamesMax = 10_000

/** What is known of a contract by itself. What answers show, marks considered, is decided in `annotate/shown-facts.ts`. */
export type ContractFacts = {
  chain: ChainId
  contract: Address
  name: string | undefined
  symbol: string | undefined
  /** What the rules say. */
  possibleSpam: boolean
  /** Absent while the contract was never read. */
  reading?: ContractReading
  /** Absent while it was never judged. */
  verdict?: SpamVerdict
}

export const contractInterfaces = ['erc721', 'erc721-metadata', 'erc1155', 'erc2981'] as const
export type ContractInterface = (typeof contractInterfaces)[number]

/** What a contract said of itself and where it came from, beside its name. */
export type ContractReading = {
  /** Those that it declares by ERC-165. */
  interfaces: readonly ContractInterface[]
  /** Who sent the transaction that created it; absent where another contract created it, or nobody knows. */
  deployer?: Address
  createdBlock?: number
  readAtMs: number
}

/** What the rules of `annotate/spam-rules.ts` said of a contract, and on what. */
export type SpamVerdict = {
  rulesVersion: number
  score: number
  /** The rules that fired, with the numbers that made them. */
  reasons: readonly SpamReason[]
  /** The rows that it was judged on: their count and the newest one's place. Others need another verdict. */
  basis: string
  /** How many transfers there were; absent in verdicts that were kept before this was. */
  transfers?: number
  judgedAtMs: number
}

export type SpamReason = { rule: string; weight: number; numbers: Readonly<Record<string, number | string>> }

export interface ContractFactsStore {
  putContractFacts(facts: readonly ContractFacts[]): Promise<void>
  contractFacts(chain: ChainId, contract: Address): Promise<ContractFacts | undefined>
  /** What verified collections are called, by themselves or by their labels: what an imitation would imitate. */
  verifiedNames(): Promise<string[]>
}

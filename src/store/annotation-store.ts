// Everything that is said of addresses and contracts, and the exchange of all that one source says. No rule of an answer here.
import type { Address, ChainId } from '../model.ts'
import type { AddressRange, LabelChanges } from './label-changes.ts'

/** All that a source says, and a checkpoint that is kept with it. */
export type SourceContent = {
  source: string
  labels: readonly Omit<Label, 'source'>[]
  marks: readonly Omit<Mark, 'source'>[]
  checkpoint: { name: string; value: string }
}

export interface AnnotationStore extends LabelStore, MarkStore, ContractFactsStore {
  /** Makes what a source says exactly this, in one transaction. */
  replaceSource(content: SourceContent): Promise<void>
}

// Labels of addresses, from every source. Which one is shown where several are is part of the interface.

export type Label = {
  /** Undefined: on every chain. */
  chain: ChainId | undefined
  address: Address
  label: string
  source: string
  rank: AnnotationRank
  /** Unix milliseconds. */
  updatedAt: number
}

export type LabelKey = Pick<Label, 'chain' | 'address' | 'source'>

export type RankedLabel = Pick<Label, 'chain' | 'address' | 'label'>

export interface LabelStore {
  putLabels(labels: readonly Label[]): Promise<void>
  removeLabels(labels: readonly LabelKey[]): Promise<number>
  /** Another number after labels changed, by whichever process. Cheap enough to ask for on every request. */
  labelVersion(): number
  /** Where labels changed since there had been so many changes; everywhere where that is no longer known. */
  labelChanges(since: number | undefined): Promise<LabelChanges>
  /**
   * The labels of the first `addressesMax` addresses within the range that have any, in the order of addresses. Of one address the
   * stronger stand first: the first one for a chain, or for every chain, is what answers show there.
   */
  labelsWithin(range: AddressRange, addressesMax: number): Promise<RankedLabel[]>
  /** The winning label of each address that has one on this chain. */
  labelsOf(chain: ChainId, addresses: readonly Address[]): Promise<ReadonlyMap<Address, string>>
  /** Everything that labels an address on this chain; the first one is what answers show. */
  labelCandidates(chain: ChainId, address: Address): Promise<Label[]>
  /** Stored labels in the order of their addresses, from behind `after` on. */
  labels(filter: AnnotationFilter, after: LabelKey | undefined, limit: number): Promise<Label[]>
}

// What sources say of contracts: verified, spam. Which one wins is decided in `annotate/shown-facts.ts`.

/**
 * What one source says of a contract: a pin of the operator, a line of an imported list, or an entry of the built-in
 * pack. Undefined: it says nothing of that.
 */
export type Mark = {
  chain: ChainId
  contract: Address
  source: string
  rank: AnnotationRank
  verified: boolean | undefined
  spam: boolean | undefined
  /** Unix milliseconds. */
  updatedAt: number
}

export type MarkKey = Pick<Mark, 'chain' | 'contract' | 'source'>

export interface MarkStore {
  /** Adds marks; a flag left undefined keeps what the same source said of it before. */
  putMarks(marks: readonly Mark[]): Promise<void>
  removeMarks(marks: readonly MarkKey[]): Promise<number>
  /** Everything that was said of a contract: by rank, then the newer first. */
  marksOf(chain: ChainId, contract: Address): Promise<Mark[]>
  /** Stored marks in a fixed order, from behind `after` on. */
  marks(filter: AnnotationFilter, after: MarkKey | undefined, limit: number): Promise<Mark[]>
}

// What was read of contracts and what the rules say of them. What others say of them are marks (`mark-store.ts`).

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

// Who says something of an address or contract, and the choice among what was said. No label and no mark here.

/** Who says it, the strongest first: the operator wins over imported lists, and those over the built-in pack. */
export const annotationRanks = ['operator', 'imported', 'built-in'] as const
export type AnnotationRank = (typeof annotationRanks)[number]

/** Those of exactly this chain, source and rank; what is left out does not matter. */
export type AnnotationFilter = { chain?: ChainId; source?: string; rank?: AnnotationRank }

// What the engines keep of a contract as JSON text: its reading and its verdict. No rule of either here.

/** The parts of ContractFacts that were stored as text; absent where there is none. */
export function judgement(
  reading: string | null | undefined,
  verdict: string | null | undefined,
): Pick<ContractFacts, 'reading' | 'verdict'> {
  return {
    ...(reading == null ? {} : { reading: JSON.parse(reading) as ContractReading }),
    ...(verdict == null ? {} : { verdict: JSON.parse(verdict) as SpamVerdict }),
  }
}

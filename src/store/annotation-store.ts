// Labels, marks and facts of addresses and contracts, and what contracts say of tokens. Which of them answers show is
// decided in `annotate/shown-facts.ts`.
import type { Address, ChainId } from '../model.ts'
import type { AddressRange, LabelChanges } from './label-changes.ts'

/** What goes and what comes, in this order, and a checkpoint that is stored with it. */
export type AnnotationChange = {
  /** Everything that this source said goes. */
  replaces?: string
  removedLabels?: readonly LabelKey[]
  removedMarks?: readonly MarkKey[]
  labels?: readonly Label[]
  /** An undefined flag keeps what the same source said before. */
  marks?: readonly Mark[]
  facts?: readonly ContractFacts[]
  tokenUris?: { chain: ChainId; uris: readonly TokenUri[] }
  checkpoint?: { name: string; value: string }
}

export interface AnnotationStore extends LabelStore, MarkStore, ContractFactsStore, TokenUriStore, NameStore {
  /** Changes all of this in one transaction. Returns how many of the removed labels and marks there were. */
  annotate(change: AnnotationChange): Promise<number>
  annotationsOf(chain: ChainId, contract: Address): Promise<ContractAnnotations>
}

/** `marks`: by rank, then the newer first. */
export type ContractAnnotations = { facts: ContractFacts | undefined; marks: Mark[] }

// Labels of addresses, from every source. Which of several wins is part of the interface.

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
  /** Changes whenever labels change, by any process. Cheap enough for every request. */
  labelVersion(): number
  /** Where labels changed since this number of changes; every address if that is no longer known. */
  labelChanges(since: number | undefined): Promise<LabelChanges>
  /**
   * The labels of the first `addressesMax` labelled addresses of the range, in the order of addresses. Of one address
   * the stronger come first: answers show the first one for a chain, or for every chain.
   */
  labelsWithin(range: AddressRange, addressesMax: number): Promise<RankedLabel[]>
  /** The winning label of each address that has one on this chain. */
  labelsOf(chain: ChainId, addresses: readonly Address[]): Promise<ReadonlyMap<Address, string>>
  /** Every label of an address on this chain; answers show the first one. */
  labelCandidates(chain: ChainId, address: Address): Promise<Label[]>
  /** Stored labels after `after`, in the order of their addresses. */
  labels(filter: AnnotationFilter, after: LabelKey | undefined, limit: number): Promise<Label[]>
}

// What sources say of contracts: verified, spam.

/**
 * A pin of the operator, a line of an imported list, or an entry of the built-in pack. Undefined: the source does not
 * say.
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
  /** Stored marks after `after`, in a fixed order. */
  marks(filter: AnnotationFilter, after: MarkKey | undefined, limit: number): Promise<Mark[]>
}

// What contracts say of themselves and what the rules say of them.

/** Enough to compare names with; more would not help. */
export const verifiedNamesMax = 10_000

export type ContractFacts = {
  chain: ChainId
  contract: Address
  name: string | undefined
  symbol: string | undefined
  /** What the rules say. */
  possibleSpam: boolean
  /** Absent until the contract is read. */
  reading?: ContractReading
  /** Absent until it is judged. */
  verdict?: SpamVerdict
}

export const contractInterfaces = ['erc721', 'erc721-metadata', 'erc1155', 'erc2981'] as const
export type ContractInterface = (typeof contractInterfaces)[number]

/** What a contract says of itself and where it comes from, beside its name. */
export type ContractReading = {
  /** Declared by ERC-165. */
  interfaces: readonly ContractInterface[]
  /** Of an ERC-20 token that says so; absent where its number cannot be one of decimals. */
  decimals?: number
  /** The sender of the transaction that created it; absent where another contract did, or it is unknown. */
  deployer?: Address
  createdBlock?: number
  readAtMs: number
}

/** What the rules of `annotate/spam-rules.ts` say of a contract, and why. */
export type SpamVerdict = {
  rulesVersion: number
  score: number
  /** The rules that fired, with the numbers that made them. */
  reasons: readonly SpamReason[]
  /** The rows that were judged: their count and the newest one's place. Other rows need a new verdict. */
  basis: string
  /** The number of transfers; absent in older verdicts. */
  transfers?: number
  judgedAtMs: number
}

export type SpamReason = { rule: string; weight: number; numbers: Readonly<Record<string, number | string>> }

/** A contract with the number of transfers that its last verdict counted; 0 before the first one. */
export type RankedContract = Pick<ContractFacts, 'contract' | 'name' | 'symbol'> & { transfers: number }

export interface ContractFactsStore {
  /**
   * Contracts with facts, those with the most transfers first, after one of them. `symbol`: those with this one alone,
   * of which upper and lower case of ASCII letters are the same.
   */
  rankedContracts(
    chain: ChainId,
    after: Pick<RankedContract, 'contract' | 'transfers'> | undefined,
    limit: number,
    symbol?: string,
  ): Promise<RankedContract[]>
  /** The names of verified collections, their own and their labels: what an imitation would imitate. */
  verifiedNames(): Promise<string[]>
}

// What contracts say of single tokens: a copy of what nodes answered, which is read again where it is lost.

export type TokenKey = { contract: Address; tokenId: bigint }

/** Undefined: the contract gave none that can be shown. */
export type TokenUri = TokenKey & {
  uri: string | undefined
  readAtMs: number
  /** Only where the URI is longer than was asked for, and so left out. */
  uriBytes?: number
}

export interface TokenUriStore {
  /** Of those that were read, in any order. URIs of more bytes are left out. */
  tokenUris(chain: ChainId, tokens: readonly TokenKey[], uriBytesMax?: number): Promise<TokenUri[]>
  /** Of these contracts those of which a token was read. */
  contractsWithUris(chain: ChainId, contracts: readonly Address[]): Promise<ReadonlySet<Address>>
}

// Finding contracts by their names and addresses by their labels, for a search box.

export type NamedContract = Pick<ContractFacts, 'chain' | 'contract' | 'name' | 'symbol'>

export type NameQuestion = {
  /** Upper and lower case of ASCII letters are one. */
  text: string
  limit: number
  /** Texts within names are looked for where there are at most this many; where there are more, beginnings alone. */
  readMax: number
}

export type NameMatches = {
  /** Of which the name or symbol has the text. */
  contracts: NamedContract[]
  labels: RankedLabel[]
  /** Whether texts within names were looked for too. */
  anywhere: boolean
}

export interface NameStore {
  /** Contracts and labels that have the text: of each those that begin with it first. */
  named(question: NameQuestion): Promise<NameMatches>
}

/** The strongest first: the operator wins over imported lists, and these win over the built-in pack. */
export const annotationRanks = ['operator', 'imported', 'built-in'] as const
export type AnnotationRank = (typeof annotationRanks)[number]

/** What is left out is not filtered by. */
export type AnnotationFilter = { chain?: ChainId; source?: string; rank?: AnnotationRank }

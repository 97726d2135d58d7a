// The rules of contract metadata: what is known of an NFT contract as a whole, and when an address is not one. No HTTP
// and no JSON.
import { shownFacts } from '../annotate/shown-facts.ts'
import { isCovered } from '../coverage.ts'
import type { Address, ChainId, TokenStandard } from '../model.ts'
import type { ContractReading } from '../store/annotation-store.ts'
import type { TransferPage } from '../store/index-reader.ts'
import type { Store } from '../store/store.ts'
import { unpackTransfer } from '../store/transfer-payload.ts'
import { freshLook } from './claims.ts'
import type { FreshenOptions } from './freshen.ts'

export type ContractMetadata = {
  contract: Address
  name: string | undefined
  symbol: string | undefined
  standard: TokenStandard
  /** When the contract was asked for its names; undefined until then. */
  syncedAtMs: number | undefined
  possibleSpam: boolean
  verifiedCollection: boolean
}

export type ContractMetadataAnswer = {
  /** Undefined: no transfer of it is known, and it does not say that it is an NFT contract. */
  metadata: ContractMetadata | undefined
  /** Whether every block up to the head is indexed for the contract: if not, it may still turn out to be one. */
  indexComplete: boolean
}

/** Asking starts the indexing of a contract, as asking for its transfers does. */
export async function contractMetadata(
  store: Store,
  of: { chain: ChainId; contract: Address },
  options: FreshenOptions,
): Promise<ContractMetadataAnswer> {
  const isEnough = ({ indexComplete, metadata }: ContractMetadataAnswer): boolean =>
    indexComplete || metadata?.syncedAtMs !== undefined
  return await freshLook(() => look(store, of.chain, of.contract), isEnough, of, options)
}

async function look(store: Store, chain: ChainId, contract: Address): Promise<ContractMetadataAnswer> {
  // Coverage is read before rows: a commit in between can only make the answer claim less than it holds.
  const [state, coverage, { facts, marks }] = await Promise.all([
    store.chainState(chain),
    store.contractCoverage(chain, contract),
    store.annotationsOf(chain, contract),
  ])
  const newest = await store.transferPage({ chain, contract, order: 'desc', limit: 1 })
  const indexComplete = state !== undefined && isCovered(coverage, { from: 0, to: state.head.number })
  const standard = standardOf(newest) ?? declaredStandard(facts?.reading)
  if (standard === undefined) return { metadata: undefined, indexComplete }
  const { name, symbol, possibleSpam = false, verifiedCollection = false } = shownFacts(facts, marks) ?? {}
  const shown = { name, symbol, possibleSpam, verifiedCollection }
  return { metadata: { contract, standard, syncedAtMs: facts?.reading?.readAtMs, ...shown }, indexComplete }
}

/** Of the newest transfer, so that contracts from before the standards are named as their transfers are. */
function standardOf({ length, payloads }: TransferPage): TokenStandard | undefined {
  return length === 0 ? undefined : unpackTransfer(payloads).standard
}

function declaredStandard(reading: ContractReading | undefined): TokenStandard | undefined {
  if (reading?.interfaces.includes('erc721') === true) return 'ERC721'
  return reading?.interfaces.includes('erc1155') === true ? 'ERC1155' : undefined
}

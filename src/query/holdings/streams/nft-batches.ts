// What rows of whole lists show beside their sheet: the facts of contracts, mints, and what is stored of tokens. It
// never asks a node.
import type { Address, ChainId, ShownToken } from '../../../model.ts'
import type { Claims } from '../../claims.ts'
import type { TokenDetails } from '../../metadata/token-uris.ts'
import type { FactsByContract, ShownContracts } from '../../shown-contracts.ts'
import type { Mints, TokenMint } from '../mints.ts'
import type { RowBatch } from './row-batches.ts'

export type NftBatch = RowBatch & {
  /** The owner of all rows; undefined where each row of the sheet has its own. */
  wallet: Address | undefined
  /** The contract of all rows; undefined where each row of the sheet has its own. */
  contract: Address | undefined
  facts: FactsByContract
  /** In the order of rows; undefined where nothing is stored of any. */
  tokens: readonly (TokenDetails | undefined)[] | undefined
  /** Of a wallet, whose sheet does not tell them. */
  minted: readonly (TokenMint | undefined)[] | undefined
}

/** What is stored of tokens already. */
export type StoredTokens = {
  /** Of these contracts those with a stored token. */
  withStored(chain: ChainId, contracts: readonly Address[]): Promise<ReadonlySet<Address>>
  stored(chain: ChainId, tokens: readonly ShownToken[]): Promise<(TokenDetails | undefined)[]>
}

export type BatchReads = { mints: Mints; claims: Claims; contracts: ShownContracts; tokens: StoredTokens }

/** Of a contract's sheet. `hasStored`: something is stored of its tokens. */
export async function contractBatch(
  { contracts, tokens }: BatchReads,
  { chain, contract, hasStored }: { chain: ChainId; contract: Address; hasStored: boolean },
  batch: RowBatch,
): Promise<NftBatch> {
  const shown = hasStored ? Array.from({ length: batch.length }, (_, at) => tokenAt(batch, at, contract)) : []
  return {
    ...{ ...batch, contract, wallet: undefined, minted: undefined, facts: await contracts.of(chain, [contract]) },
    tokens: hasStored ? await tokens.stored(chain, shown) : undefined,
  }
}

/** Of a wallet's sheet. `withStored` knows the contracts that were checked. */
export async function walletBatch(
  { contracts, tokens, mints, claims }: BatchReads,
  { chain, wallet, withStored }: { chain: ChainId; wallet: Address; withStored: Map<Address, boolean> },
  batch: RowBatch,
): Promise<NftBatch> {
  const { sheet, rows, length } = batch
  const shown = Array.from({ length }, (_, at) =>
    tokenAt(batch, at, sheet.addresses.addressOf(sheet.columns.parties[rows[at]!]!)),
  )
  const unknown = [...new Set(shown.map(({ contract }) => contract))].filter(contract => !withStored.has(contract))
  if (unknown.length > 0) {
    const found = await tokens.withStored(chain, unknown)
    for (const contract of unknown) withStored.set(contract, found.has(contract))
  }
  const finalized = (await claims.chain(chain)).state?.finalized ?? -1
  return {
    ...{ ...batch, wallet, contract: undefined },
    facts: await contracts.of(
      chain,
      shown.map(({ contract }) => contract),
    ),
    minted: await mints.of(chain, shown, finalized),
    tokens: await storedOf(tokens, chain, shown, withStored),
  }
}

async function storedOf(
  tokens: StoredTokens,
  chain: ChainId,
  shown: readonly ShownToken[],
  withStored: ReadonlyMap<Address, boolean>,
): Promise<(TokenDetails | undefined)[] | undefined> {
  const places = shown.flatMap(({ contract }, at) => (withStored.get(contract) ? [at] : []))
  if (places.length === 0) return undefined
  const found = await tokens.stored(
    chain,
    places.map(at => shown[at]!),
  )
  const details: (TokenDetails | undefined)[] = new Array(shown.length)
  for (const [at, place] of places.entries()) details[place] = found[at]
  return details
}

/** As many as take about a millisecond to make. A URI may have 96 kB, and its metadata as much again. */
export function batchRows(hasStored: boolean): number {
  return hasStored ? 32 : 256
}

function tokenAt({ sheet, rows, withins }: RowBatch, at: number, contract: Address): ShownToken {
  const row = rows[at]!
  const tokenId = sheet.idOf(row) + BigInt(withins[at]!)
  return { contract, tokenId, standard: sheet.isErc721(row) ? 'ERC721' : 'ERC1155' }
}

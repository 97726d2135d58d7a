// What rows show beside their sheet: the facts of contracts, mints, and what tokens say of themselves.
import type { Address, ChainId, ShownToken } from '../../model.ts'
import type { Claims } from '../claims.ts'
import type { TokenDetails } from '../metadata/token-uris.ts'
import type { FactsByContract, ShownContracts } from '../shown-contracts.ts'
import { tokenHash } from './hash-order.ts'
import type { Mints, TokenMint } from './mints.ts'
import type { NftRow } from './questions.ts'
import { heldAt, type RowBatch } from './row-batches.ts'

export type NftBatch = RowBatch & {
  /** The owner of all rows; undefined where each row of the sheet has its own. */
  wallet: Address | undefined
  /** The contract of all rows; undefined where each row of the sheet has its own. */
  contract: Address | undefined
  facts: FactsByContract
  /** In the order of rows; undefined where nothing is known of any. */
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

export type BatchReads = { mints: Mints; claims: Claims; contracts: ShownContracts }
type TokensReader = (
  chain: ChainId,
  tokens: readonly ShownToken[],
) => Promise<readonly (TokenDetails | undefined)[] | undefined>
/** Absent: nothing is known of any token. */
type OfTokens = { readTokens?: TokensReader | undefined }

/** Of a contract's sheet. */
export async function contractBatch(
  { contracts }: BatchReads,
  { chain, contract, readTokens }: OfTokens & { chain: ChainId; contract: Address },
  batch: RowBatch,
): Promise<NftBatch> {
  const tokens = await readTokens?.(
    chain,
    shownTokens(batch, () => contract),
  )
  const facts = await contracts.of(chain, [contract])
  return { ...batch, contract, wallet: undefined, minted: undefined, facts, tokens }
}

/** Of a wallet's sheet, whose mints are read token by token. */
export async function walletBatch(
  { contracts, mints, claims }: BatchReads,
  { chain, wallet, readTokens }: OfTokens & { chain: ChainId; wallet: Address },
  batch: RowBatch,
): Promise<NftBatch> {
  const { addresses, columns } = batch.sheet
  const shown = shownTokens(batch, row => addresses.addressOf(columns.parties[row]!))
  const tokens = await readTokens?.(chain, shown)
  const facts = await contracts.of(
    chain,
    shown.map(({ contract }) => contract),
  )
  const minted = await mints.of(chain, shown, (await claims.chain(chain)).state?.finalized ?? -1)
  return { ...batch, wallet, contract: undefined, minted, facts, tokens }
}

/** Reads what is stored and never asks a node. Of each contract it is checked once whether anything is. */
export function storedReader(stored: StoredTokens): TokensReader {
  const withStored = new Map<Address, boolean>()
  return async (chain, tokens) => {
    const unknown = [...new Set(tokens.map(({ contract }) => contract))].filter(contract => !withStored.has(contract))
    const found = unknown.length === 0 ? undefined : await stored.withStored(chain, unknown)
    for (const contract of unknown) withStored.set(contract, found!.has(contract))
    const places = tokens.flatMap(({ contract }, at) => (withStored.get(contract) ? [at] : []))
    if (places.length === 0) return undefined
    const asked = places.map(at => tokens[at]!)
    const details: (TokenDetails | undefined)[] = new Array(tokens.length)
    for (const [at, told] of (await stored.stored(chain, asked)).entries()) details[places[at]!] = told
    return details
  }
}

/** The rows of a page as objects. */
export function nftRows(batch: NftBatch): NftRow[] {
  const { sheet, minted } = batch
  return Array.from({ length: batch.length }, (_, at) => {
    const { row, tokenId } = heldAt(batch, at)
    const party = sheet.addresses.addressOf(sheet.columns.parties[row]!)
    const contract = batch.contract ?? party
    const mint = minted === undefined ? sheet.mintOf(row) : minted[at]
    return {
      ...{ contract, tokenId, tokenHash: tokenHash(contract, tokenId) },
      ...{ standard: sheet.standardOf(row), owner: batch.wallet ?? party, amount: sheet.amountOf(row) },
      position: sheet.positionOf(row, batch.withins[at]!),
      blockMinted: mint?.block,
      minter: mint?.minter,
      facts: batch.facts.get(contract),
      token: batch.tokens?.[at],
    }
  })
}

function shownTokens(batch: RowBatch, contractOf: (row: number) => Address): ShownToken[] {
  return Array.from({ length: batch.length }, (_, at) => {
    const { row, tokenId } = heldAt(batch, at)
    return { contract: contractOf(row), tokenId, standard: batch.sheet.standardOf(row) }
  })
}

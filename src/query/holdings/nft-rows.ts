// Holdings as rows of answers: with the contract's facts, the mint and what the token says of itself.
import type { Address, ChainId, ShownToken, TokenStandard } from '../../model.ts'
import type { Claims } from '../claims.ts'
import type { ShownContracts } from '../shown-contracts.ts'
import { tokenHash } from './hash-order.ts'
import type { Holding } from './holding-page.ts'
import type { Mints } from './mints.ts'
import type { HoldingsOptions, NftRow } from './questions.ts'
import { rowFlags, type Sheet } from './sheet.ts'

export type RowReader = { mints: Mints; claims: Claims; contracts: ShownContracts }

/** Of a contract's sheet. */
export async function contractRows(
  { contracts }: RowReader,
  { sheet, chain, contract }: { sheet: Sheet; chain: ChainId; contract: Address },
  holdings: readonly Holding[],
  options: HoldingsOptions,
): Promise<NftRow[]> {
  const facts = await contracts.ofOne(chain, contract)
  const tokens = holdings.map(({ row, tokenId }) => ({ contract, tokenId, standard: standardOf(sheet, row) }))
  const told = await options.tokenFacts?.(chain, tokens)
  return holdings.map((holding, at) => ({
    ...heldOf(sheet, holding),
    contract,
    tokenHash: tokenHash(contract, holding.tokenId),
    owner: sheet.addresses.addressOf(sheet.columns.parties[holding.row]!),
    ...sheet.mintOf(holding.row),
    facts,
    token: told?.[at],
  }))
}

/** Of a wallet's sheet, whose mints are read token by token. */
export async function walletRows(
  { mints, claims, contracts }: RowReader,
  { sheet, chain, wallet }: { sheet: Sheet; chain: ChainId; wallet: Address },
  holdings: readonly Holding[],
  options: HoldingsOptions,
): Promise<NftRow[]> {
  const tokens = holdings.map(({ row, tokenId }): ShownToken => {
    const contract = sheet.addresses.addressOf(sheet.columns.parties[row]!)
    return { contract, tokenId, standard: standardOf(sheet, row) }
  })
  const told = await options.tokenFacts?.(chain, tokens)
  const facts = await contracts.of(
    chain,
    tokens.map(({ contract }) => contract),
  )
  const minted = await mints.of(chain, tokens, (await claims.chain(chain)).state?.finalized ?? -1)
  return holdings.map((holding, at) => {
    const { contract, tokenId } = tokens[at]!
    return {
      ...heldOf(sheet, holding),
      contract,
      tokenHash: tokenHash(contract, tokenId),
      owner: wallet,
      blockMinted: minted[at]?.block,
      minter: minted[at]?.minter,
      facts: facts.get(contract),
      token: told?.[at],
    }
  })
}

function standardOf(sheet: Sheet, row: number): TokenStandard {
  return sheet.columns.flags[row]! & rowFlags.erc1155 ? 'ERC1155' : 'ERC721'
}

function heldOf(sheet: Sheet, { row, tokenId }: Holding): Pick<NftRow, 'tokenId' | 'standard' | 'amount' | 'position'> {
  return {
    tokenId,
    standard: standardOf(sheet, row),
    amount: sheet.amountOf(row),
    position: sheet.positionOf(row, Number(tokenId - sheet.idOf(row))),
  }
}

// The rules of the portfolio operation: NFT or token, which amounts are shown, in which order. No HTTP and no JSON.
import { encodeKey } from '../base58.ts'
import { AlmanacError } from '../errors.ts'
import { exactAmount } from '../exact-amount.ts'
import type { SolanaNetwork } from '../model.ts'
import type { HoldingColumns } from '../store/solana-store.ts'
import type { Store } from '../store/store.ts'
import type { Freshen, IndexingKey } from './freshen.ts'

export type PortfolioAnswer = {
  lamports: bigint
  holdings: HoldingColumns
  /** Rows of `holdings`, in the order of their account keys. */
  nfts: readonly number[]
  tokens: readonly number[]
  /** Those of `tokens` whose mint the node does not know: shown in the smallest unit, and without names. */
  unknown: readonly number[]
  /** For each row of `holdings`: exact, in the main unit. */
  amounts: readonly string[]
  slot: number
  readAtMs: number
}

/**
 * Formats an amount in the main unit at `chainTime` (unix seconds by the chain's clock), for mints with an amount rule,
 * which the Solana layer reads.
 */
export type DisplayAmount = (
  amountRaw: bigint,
  mint: { decimals: number; amountRule: string },
  chainTime: number,
) => string

export type PortfolioOptions = { key: IndexingKey; freshen: Freshen | undefined; displayAmount: DisplayAmount }

export async function portfolioOf(
  store: Store,
  { network, owner }: { network: SolanaNetwork; owner: Uint8Array },
  { key, freshen, displayAmount }: PortfolioOptions,
): Promise<PortfolioAnswer> {
  const freshness = await freshen?.portfolio?.(network, owner, key)
  const found = await store.portfolioOf(network, owner)
  if (found === undefined) throw neverRead(network, owner, freshen)
  const { account, holdings } = found
  // While a subscription is live, the stored account is valid for a later moment than when it was read.
  const known = freshness ?? account
  const nfts: number[] = []
  const tokens: number[] = []
  const unknown: number[] = []
  const amounts: string[] = []
  for (let row = 0; row < holdings.length; row++) {
    const raw = holdings.amounts[row]!
    const decimals = holdings.decimals[row] ?? null
    const amountRule = holdings.amountRules[row] ?? null
    const isShown = raw !== '0'
    if (isShown && decimals === null) unknown.push(row)
    amounts.push(
      isShown && decimals !== null && amountRule !== null
        ? displayAmount(BigInt(raw), { decimals, amountRule }, known.chainTime)
        : exactAmount(raw, decimals ?? 0),
    )
    if (isShown) (isNft(holdings, row) ? nfts : tokens).push(row)
  }
  const { slot, readAtMs } = known
  return { lamports: account.lamports, holdings, nfts, tokens, unknown, amounts, slot, readAtMs }
}

/** Decimals decide first, then the token standard of the metadata, then the supply. */
export function isNft(
  { decimals, tokenStandards, supplies }: Pick<HoldingColumns, 'decimals' | 'tokenStandards' | 'supplies'>,
  row: number,
): boolean {
  if (decimals[row] !== 0) return false
  const standard = tokenStandards[row]
  // Metaplex: 0 non-fungible, 3 edition, 4 programmable, 5 programmable edition; 1 asset and 2 fungible are tokens.
  if (standard === 0 || standard === 3 || standard === 4 || standard === 5) return true
  if (standard === 1 || standard === 2) return false
  return supplies[row] === '1'
}

/** Without decimals, and by its metadata a token of which many are alike: listed with NFTs where asked for. */
export function isFungibleAsset(
  { decimals, tokenStandards }: Pick<HoldingColumns, 'decimals' | 'tokenStandards'>,
  row: number,
): boolean {
  return decimals[row] === 0 && tokenStandards[row] === 1
}

function neverRead(network: SolanaNetwork, owner: Uint8Array, freshen: Freshen | undefined): AlmanacError {
  if (freshen?.portfolio !== undefined) {
    return new AlmanacError('upstream_failed', `The account ${encodeKey(owner)} could not be read.`, {
      retryable: true,
    })
  }
  return noReader(network)
}

export function noReader(network: SolanaNetwork): AlmanacError {
  return new AlmanacError(
    'not_configured',
    `Nothing in this process reads accounts of Solana ${network}: that takes solana.${network}.rpc and a start without --only api.`,
  )
}

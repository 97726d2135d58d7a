// The rules of the portfolio operation: what is an NFT and what a token, which amounts are shown, in which order.
import { encodeKey } from '../base58.ts'
import { AlmanacError } from '../errors.ts'
import type { SolanaNetwork } from '../model.ts'
import type { HoldingWithMint, MintFacts, Store } from '../store/store.ts'
import type { Freshen } from './freshen.ts'

export type PortfolioEntry = {
  account: Uint8Array
  mint: Uint8Array
  name: string
  symbol: string
  /** In the main unit, exact. */
  amount: string
  /** In the smallest unit. */
  amountRaw: bigint
  decimals: number
}

export type PortfolioAnswer = {
  lamports: bigint
  nfts: readonly PortfolioEntry[]
  tokens: readonly PortfolioEntry[]
  slot: number
  readAtMs: number
}

/**
 * The text of an amount in the main unit when the chain's clock says `chainTime` (unix seconds). It differs from
 * `exactAmount` only for mints with an amount rule, which the Solana layer reads.
 */
export type DisplayAmount = (
  amountRaw: bigint,
  mint: { decimals: number; amountRule: string | undefined },
  chainTime: number,
) => string

export type PortfolioOptions = { freshen: Freshen | undefined; displayAmount: DisplayAmount }

export async function portfolioOf(
  store: Store,
  { network, owner }: { network: SolanaNetwork; owner: Uint8Array },
  { freshen, displayAmount }: PortfolioOptions,
): Promise<PortfolioAnswer> {
  const freshness = await freshen?.portfolio?.(network, owner)
  const found = await store.portfolioOf(network, owner)
  if (found === undefined) throw neverRead(network, owner, freshen)
  const { account, holdings } = found
  // While a subscription is live the stored reading stands for a later moment than the one it was made at.
  const known = freshness ?? account
  const nfts: PortfolioEntry[] = []
  const tokens: PortfolioEntry[] = []
  // Holdings come in the order of their account keys, which is the order of answers.
  for (const holding of holdings) {
    if (holding.amount === 0n) continue
    const mint = mintOf(holding)
    const list = isNft(mint) ? nfts : tokens
    list.push({
      account: holding.account,
      mint: holding.mint,
      name: mint.name,
      symbol: mint.symbol,
      amount: displayAmount(holding.amount, mint, known.chainTime),
      amountRaw: holding.amount,
      decimals: mint.decimals,
    })
  }
  return { lamports: account.lamports, nfts, tokens, slot: known.slot, readAtMs: known.readAtMs }
}

/** Decimals decide first, then the token standard that the metadata names, then the supply. */
export function isNft({ decimals, tokenStandard, supply }: MintFacts): boolean {
  if (decimals !== 0) return false
  // Metaplex: 0 non-fungible, 3 edition, 4 programmable, 5 programmable edition; 1 asset and 2 fungible are tokens.
  if (tokenStandard === 0 || tokenStandard === 3 || tokenStandard === 4 || tokenStandard === 5) return true
  if (tokenStandard === 1 || tokenStandard === 2) return false
  return supply === 1n
}

const zero = '0'.charCodeAt(0)

/** raw / 10^decimals, exactly, without trailing zeros. */
export function exactAmount(raw: bigint, decimals: number): string {
  const digits = raw.toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  let end = digits.length
  while (end > point && digits.charCodeAt(end - 1) === zero) end--
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
}

function mintOf({ mint, mintFacts }: HoldingWithMint): MintFacts {
  if (mintFacts !== undefined) return mintFacts
  // A holding without its mint cannot be told apart or shown: better no answer than one that leaves it out.
  throw new AlmanacError('upstream_failed', `The mint ${encodeKey(mint)} was not read yet.`, { retryable: true })
}

function neverRead(network: SolanaNetwork, owner: Uint8Array, freshen: Freshen | undefined): AlmanacError {
  if (freshen?.portfolio !== undefined) {
    return new AlmanacError('upstream_failed', `The account ${encodeKey(owner)} could not be read.`, {
      retryable: true,
    })
  }
  return new AlmanacError(
    'not_configured',
    `Nothing in this process reads accounts of Solana ${network}: that takes solana.${network}.rpc and a start without --only api.`,
  )
}

// An amount of an ERC-20 token as a row has room for it, exact on hover.
import { shownAmountText } from '../quantities.ts'

type Props = {
  /** In the smallest unit; null where the token does not say it. */
  amount: string | null
  /** Null where the token does not say them: then the amount stays in the smallest unit, which is said. */
  decimals: number | null
  /** Cut where it is long: any contract may take any. */
  symbol?: string | null
}

const symbolLengthMax = 12

export function TokenAmount({ amount, decimals, symbol }: Props) {
  if (amount === null) return <>–</>
  return (
    <span title={decimals === null ? `${amount} of the smallest unit: the token does not say its decimals` : amount}>
      {shownAmountText(amount, decimals)}
      {decimals === null && amount !== '0' && <small class="soft"> units</small>}
      {symbol && ` ${symbol.length > symbolLengthMax ? `${symbol.slice(0, symbolLengthMax)}…` : symbol}`}
    </span>
  )
}

// How a mint's displayed amount departs from raw / 10^decimals, and the text in which the store keeps it. No arithmetic.

/** Rates are basis points a year, moments unix seconds of the chain's clock. */
export type AmountRule =
  | { kind: 'interest'; initializedAt: bigint; averageRate: number; updatedAt: bigint; currentRate: number }
  | { kind: 'scaled'; multiplier: number; nextFrom: bigint; nextMultiplier: number }

/** `String` of a number is the shortest text that reads back as the same double, so nothing is lost. */
export function formatAmountRule(rule: AmountRule): string {
  return rule.kind === 'interest'
    ? `interest ${rule.initializedAt} ${rule.averageRate} ${rule.updatedAt} ${rule.currentRate}`
    : `scaled ${rule.multiplier} ${rule.nextFrom} ${rule.nextMultiplier}`
}

/** Undefined for a text that is no rule. */
export function parseAmountRule(text: string): AmountRule | undefined {
  const [kind, ...fields] = text.split(' ')
  if (kind === 'interest' && fields.length === 4 && fields.every(isInteger)) {
    const [initializedAt, averageRate, updatedAt, currentRate] = fields as [string, string, string, string]
    return {
      kind,
      initializedAt: BigInt(initializedAt),
      averageRate: Number(averageRate),
      updatedAt: BigInt(updatedAt),
      currentRate: Number(currentRate),
    }
  }
  if (kind === 'scaled' && fields.length === 3 && isInteger(fields[1]!)) {
    const [multiplier, nextFrom, nextMultiplier] = fields as [string, string, string]
    return { kind, multiplier: Number(multiplier), nextFrom: BigInt(nextFrom), nextMultiplier: Number(nextMultiplier) }
  }
  return undefined
}

function isInteger(text: string): boolean {
  return /^-?\d{1,20}$/.test(text)
}

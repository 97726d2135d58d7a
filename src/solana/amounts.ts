// Raw token amounts as the decimal text that the chain's own programs show. Pure: the caller brings the chain's clock.
// For interest-bearing and scaled mints the Token-2022 program computes in doubles, so these are its exact steps in its
// order, and digits beyond a double's precision are part of its answer.

import { LRUCache } from 'lru-cache'
import { exactAmount } from '../exact-amount.ts'
import { type AmountRule, parseAmountRule } from './amount-rule.ts'
import { exp } from './exp.ts'

const secondsPerYear = 31_556_736
const basisPoints = 10_000

export type DisplayedMint = { decimals: number; amountRule: string }

/** The text of `amount` units of a mint when the chain's clock says `chainTime` (unix seconds). */
export function displayAmount(amount: bigint, mint: DisplayedMint, chainTime: number): string {
  const rule = ruleOf(mint.amountRule)
  const value = rule === undefined ? undefined : ruledAmount(amount, mint.decimals, rule, chainTime)
  return value === undefined ? exactAmount(amount.toString(), mint.decimals) : trimmed(value, mint.decimals)
}

type Interest = Extract<AmountRule, { kind: 'interest' }>
type Scaled = Extract<AmountRule, { kind: 'scaled' }>

/** Undefined where the program refuses to answer, which leaves the plain amount as the only truth there is. */
function ruledAmount(amount: bigint, decimals: number, rule: AmountRule, chainTime: number): number | undefined {
  return rule.kind === 'interest'
    ? withInterest(amount, decimals, rule, chainTime)
    : scaled(amount, decimals, rule, chainTime)
}

function withInterest(amount: bigint, decimals: number, rule: Interest, chainTime: number): number | undefined {
  const before = growth(rule.averageRate, rule.updatedAt - rule.initializedAt)
  const since = growth(rule.currentRate, BigInt(chainTime) - rule.updatedAt)
  if (before === undefined || since === undefined) return undefined
  return Number(amount) * ((before * since) / powerOfTen(decimals))
}

/** A timespan beyond 64 bits has no answer. */
function growth(rate: number, timespan: bigint): number | undefined {
  if (BigInt.asIntN(64, timespan) !== timespan) return undefined
  return exp(Number(BigInt(rate) * timespan) / secondsPerYear / basisPoints)
}

function scaled(amount: bigint, decimals: number, rule: Scaled, chainTime: number): number {
  const multiplier = BigInt(chainTime) >= rule.nextFrom ? rule.nextMultiplier : rule.multiplier
  return Math.trunc(Number(amount) * multiplier) / powerOfTen(decimals)
}

/** By squaring, lowest bit first, as the compiler's runtime does: above 10^22 the order of roundings shows. */
function powerOfTen(exponent: number): number {
  let result = 1
  let base = 10
  for (let rest = exponent; ; base *= base) {
    if (rest & 1) result *= base
    rest >>= 1
    if (rest === 0) return result
  }
}

function trimmed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf'
  const text = fixedText(value, decimals)
  return decimals === 0 ? text : text.replace(/\.?0+$/, '')
}

const doubleView = new DataView(new ArrayBuffer(8))

/** The double's exact value with `decimals` places, ties to even. `toFixed` ends at 100 places and at 10^21. */
export function fixedText(value: number, decimals: number): string {
  doubleView.setFloat64(0, value)
  const bits = doubleView.getBigUint64(0)
  const exponentBits = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xf_ffff_ffff_ffffn
  const mantissa = exponentBits === 0 ? fraction : fraction | 0x10_0000_0000_0000n
  const exponent = (exponentBits === 0 ? 1 : exponentBits) - 1075
  const scaledUp = mantissa * 10n ** BigInt(decimals)
  const digits = (exponent >= 0 ? scaledUp << BigInt(exponent) : shiftedToEven(scaledUp, BigInt(-exponent))).toString()
  const sign = bits >> 63n === 1n ? '-' : ''
  if (decimals === 0) return sign + digits
  const padded = digits.padStart(decimals + 1, '0')
  return `${sign}${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`
}

function shiftedToEven(value: bigint, shift: bigint): bigint {
  const quotient = value >> shift
  const rest = value - (quotient << shift)
  const half = 1n << (shift - 1n)
  return rest > half || (rest === half && (quotient & 1n) === 1n) ? quotient + 1n : quotient
}

// A portfolio has many holdings and few rules: parsing each text once is enough.
const rules = new LRUCache<string, { rule: AmountRule | undefined }>({ max: 1_000 })

function ruleOf(text: string): AmountRule | undefined {
  const known = rules.get(text)
  if (known !== undefined) return known.rule
  const rule = parseAmountRule(text)
  rules.set(text, { rule })
  return rule
}

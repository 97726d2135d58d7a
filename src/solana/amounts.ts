// Raw token amounts as the decimal text that the chain's own programs show. Pure. For interest-bearing and scaled mints
// the Token-2022 program computes in doubles, so this follows its exact steps: digits beyond a double's precision are
// part of its answer.
import { LRUCache } from 'lru-cache'
import { exactAmount } from '../exact-amount.ts'

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

/** Undefined where the program refuses to answer: the plain amount is shown then. */
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

/** By squaring, lowest bit first, as the compiler's runtime does: above 10^22 the order of rounding shows. */
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

/** The double's exact value with `decimals` places, ties to even. `toFixed` stops at 100 places and at 10^21. */
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

// A portfolio has many holdings and few rules: each text is parsed once.
const rules = new LRUCache<string, { rule: AmountRule | undefined }>({ max: 1_000 })

function ruleOf(text: string): AmountRule | undefined {
  const known = rules.get(text)
  if (known !== undefined) return known.rule
  const rule = parseAmountRule(text)
  rules.set(text, { rule })
  return rule
}

/** How the shown amount departs from raw / 10^decimals. Rates are basis points a year, moments unix seconds. */
export type AmountRule =
  | { kind: 'interest'; initializedAt: bigint; averageRate: number; updatedAt: bigint; currentRate: number }
  | { kind: 'scaled'; multiplier: number; nextFrom: bigint; nextMultiplier: number }

/** The text that the store keeps. A number's shortest text reads back as the same double, so nothing is lost. */
export function formatAmountRule(rule: AmountRule): string {
  return rule.kind === 'interest'
    ? `interest ${rule.initializedAt} ${rule.averageRate} ${rule.updatedAt} ${rule.currentRate}`
    : `scaled ${rule.multiplier} ${rule.nextFrom} ${rule.nextMultiplier}`
}

/** Undefined for a text that is not a rule. */
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

// The exponential function as the token programs compute it: the algorithm of fdlibm with their runtime's order of
// additions. `Math.exp` sometimes differs in the last bit, and the shown amount would then differ in a digit.

const ln2High = 0.6931471803691238
const ln2Low = 1.9082149292705877e-10
const inverseLn2 = Math.LOG2E
// A Remez polynomial for x·(exp(x)+1)/(exp(x)−1) near zero.
const p1 = 0.16666666666666602
const p2 = -0.0027777777777015593
const p3 = 0.00006613756321437934
const p4 = -0.0000016533902205465252
const p5 = 4.1381367970572385e-8

const overflowsAbove = 709.782712893384
const vanishesBelow = -745.1332191019411

const view = new DataView(new ArrayBuffer(8))

export function exp(x: number): number {
  if (Number.isNaN(x)) return x
  if (x > overflowsAbove) return Number.POSITIVE_INFINITY
  if (x < vanishesBelow) return 0
  view.setFloat64(0, x)
  const magnitude = view.getUint32(0) & 0x7fff_ffff
  // Up to 2^-28 the first two terms are all that a double holds.
  if (magnitude <= 0x3e30_0000) return 1 + x
  let twos = 0
  let high = x
  let low = 0
  // Beyond half of ln 2: x = twos·ln 2 + rest.
  if (magnitude > 0x3fd6_2e42) {
    const sign = x < 0 ? -1 : 1
    twos = magnitude >= 0x3ff0_a2b2 ? Math.trunc(inverseLn2 * x + sign * 0.5) : sign
    high = x - twos * ln2High
    low = twos * ln2Low
  }
  const rest = high - low
  const square = rest * rest
  const c = rest - square * (p1 + square * (p2 + square * (p3 + square * (p4 + square * p5))))
  const y = 1 + ((rest * c) / (2 - c) - low + high)
  return timesPowerOfTwo(y, twos)
}

/** y · 2^twos, in two steps where the power alone is not a normal double. */
function timesPowerOfTwo(y: number, twos: number): number {
  if (twos > 1_023) return y * 2 ** 1_023 * 2 ** (twos - 1_023)
  if (twos < -1_022) return y * 2 ** -969 * 2 ** (twos + 969)
  return y * 2 ** twos
}

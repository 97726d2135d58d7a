// The exponential function as the token programs compute it: the algorithm of fdlibm with the order of additions that their runtime
// uses. `Math.exp` differs from it in the last bit now and then, and then the displayed amount would differ in a digit.

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
  return scaled(y, twos)
}

/** y · 2^twos; in two steps where the power alone is no normal double. */
function scaled(y: number, twos: number): number {
  if (twos > 1_023) return y * 2 ** 1_023 * 2 ** (twos - 1_023)
  if (twos < -1_022) return y * 2 ** -969 * 2 ** (twos + 969)
  return y * 2 ** twos
}

// How long an answer may take and how large it may be, by what is asked, and how slowly it may come. A bound holds
// before anything is parsed.
import type { RpcCall } from './batches.ts'

/** What a node that is well answers at once. */
const light = { timeoutMs: 4_000, perCallMs: 200, bytesMax: 2 ** 20 }
const heavy = { timeoutMs: 30_000, bytesMax: 64 * 2 ** 20 }

/** A light call that is silent for this long is sent again on another connection: its answer may be lost. */
export const silenceMs = 1_000

export type Bounds = { timeoutMs: number; bytesMax: number; isLight: boolean }

/** Of a batch. Each attempt gets twice the time of the one before, because a node may be slow and not silent. */
export function boundsOf(
  calls: readonly RpcCall[],
  isHeavy: (call: RpcCall) => boolean,
  { attempt = 0 }: { attempt?: number } = {},
): Bounds {
  const heavyCalls = calls.filter(isHeavy).length
  const lightBytes = (calls.length - heavyCalls) * light.bytesMax
  const bytesMax = Math.min(heavy.bytesMax, heavyCalls * heavy.bytesMax + lightBytes)
  if (heavyCalls > 0) return { timeoutMs: heavy.timeoutMs, bytesMax, isLight: false }
  const timeoutMs = (light.timeoutMs + (calls.length - 1) * light.perCallMs) * 2 ** attempt
  return { timeoutMs: Math.min(heavy.timeoutMs, timeoutMs), bytesMax, isLight: true }
}

/** Once an answer begins, it comes at least this fast. A server may think before it begins. */
export type SlowestRate = { windowMs: number; bytesMin: number }

export const slowestRate: SlowestRate = { windowMs: 10_000, bytesMin: 1_024 }

/** Calls back when fewer bytes than that came within a window. */
export function watchRate(
  { windowMs, bytesMin }: SlowestRate,
  received: () => number,
  onSlow: (message: string) => void,
): Disposable {
  let before = received()
  const timer = setInterval(() => {
    const bytes = received() - before
    if (bytes < bytesMin) onSlow(`the answer is too slow: ${bytes} bytes in ${windowMs} ms`)
    before += bytes
  }, windowMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

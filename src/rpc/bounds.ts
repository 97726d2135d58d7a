// How long an answer may take and how large it may be, by what is asked. A bound holds before anything is parsed.
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

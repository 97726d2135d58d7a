// How many different addresses a whole history has, judged from a few samples of it. Pure.
import type { Address } from '../../model.ts'

export type AddressSample = {
  addresses: Iterable<Address>
  /** How many times as many blocks the sample stands for as it has. */
  weight: number
}

/**
 * Between two errors: scaling up counts an address again wherever it comes back, and the repeats among samples (Chao's estimator for
 * incidence) overlook those that were active only between samples. The lower of both is the better guess.
 */
export function distinctAddresses(samples: readonly AddressSample[]): number {
  const seen = new Map<Address, number>()
  let scaled = 0
  for (const { addresses, weight } of samples) {
    let count = 0
    for (const address of new Set(addresses)) {
      seen.set(address, (seen.get(address) ?? 0) + 1)
      count++
    }
    scaled += count * weight
  }
  if (samples.every(({ weight }) => weight === 1)) return seen.size
  let once = 0
  let twice = 0
  for (const count of seen.values()) {
    if (count === 1) once++
    if (count === 2) twice++
  }
  const unseen = (once * (once - 1)) / (2 * (twice + 1))
  return Math.round(Math.max(seen.size, Math.min(scaled, seen.size + unseen)))
}

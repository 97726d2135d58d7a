// What an audit found to be different, counted in full and listed up to a bound.
import type { Address, Position } from '../../model.ts'

export const differenceKinds = ['missing', 'unexpected', 'altered', 'block', 'activity', 'evidence'] as const
export type DifferenceKind = (typeof differenceKinds)[number]

export type Difference = {
  kind: DifferenceKind
  /** The block, or the first one of several. */
  block: number
  contract?: Address
  /** The wallet, where its activity differs. */
  address?: Address
  /** Of a transfer. */
  position?: Omit<Position, 'block'>
  detail: string
}

export class DifferenceList {
  readonly #listMax: number
  readonly listed: Difference[] = []
  readonly counts = new Map<DifferenceKind, number>()

  constructor(listMax: number) {
    this.#listMax = listMax
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0)
  }

  add(difference: Difference): void {
    this.counts.set(difference.kind, (this.counts.get(difference.kind) ?? 0) + 1)
    if (this.listed.length < this.#listMax) this.listed.push(difference)
  }
}

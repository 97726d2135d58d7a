// Counts the sheets that whole lists are written from, or the parts of what has none: a slow reader keeps its sheet
// beside those that are kept for pages, so there is a bound for all of them.
import { AlmanacError } from '../../../errors.ts'

type Held = { byteLength: number }

const usualBytesMax = 1024 * 2 ** 20

export class HeldSheets {
  readonly #bytesMax: number
  /** How many lists are written from each. */
  readonly #lists = new Map<Held, number>()

  constructor(bytesMax = usualBytesMax) {
    this.#bytesMax = bytesMax
  }

  /** Returns how to let go of it. One sheet is always held, however large. */
  hold(sheet: Held): () => void {
    const lists = this.#lists.get(sheet) ?? 0
    const others = this.#lists.keys().reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (lists === 0 && others > 0 && others + sheet.byteLength > this.#bytesMax)
      throw new AlmanacError('overloaded', 'Other large lists are being sent', {
        retryable: true,
        retryAfterMs: 10_000,
      })
    this.#lists.set(sheet, lists + 1)
    return () => {
      const left = this.#lists.get(sheet)! - 1
      if (left === 0) this.#lists.delete(sheet)
      else this.#lists.set(sheet, left)
    }
  }
}

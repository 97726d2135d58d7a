// The lowest addresses after one, of those that hold anything in sheets that come one after the other: distinct owners
// of what is too large for one sheet, a stretch of addresses at a time. No reading.
import type { Pace } from '../../pace.ts'
import { AddressTable, isInStretch, type Stretch } from '../address-table.ts'
import type { Sheet } from '../sheet.ts'
import type { Part, PartWork } from './sheet-parts.ts'

/** For each byte of a part: a window of two million addresses beside parts of 32 MB. */
const addressesPerByte = 1 / 16

/** Windows of all owners, ascending: all parts are passed for each. */
export async function* ownerWindows(
  parts: () => AsyncIterable<Part>,
  { partBytes, pace }: PartWork,
): AsyncGenerator<AddressTable> {
  for (let after: Uint8Array | undefined; ; ) {
    const window = new OwnerWindow(after, Math.ceil(partBytes * addressesPerByte))
    for await (const { sheet } of parts()) await window.add(sheet, pace)
    yield window.addresses
    after = window.to
    if (after === undefined) return
  }
}

class OwnerWindow {
  readonly #max: number
  #stretch: Stretch<Uint8Array>
  #addresses = new AddressTable()

  constructor(after: Uint8Array | undefined, max: number) {
    this.#stretch = { after, to: undefined }
    this.#max = max
  }

  get addresses(): AddressTable {
    return this.#addresses
  }

  /** Where the next window begins; undefined where all owners after `after` are in this one. */
  get to(): Uint8Array | undefined {
    return this.#stretch.to
  }

  async add(sheet: Sheet, pace: Pace): Promise<void> {
    const { addresses } = sheet
    for (let party = 0; party < addresses.length; party++) {
      if (party % 4_096 === 0) await pace.rest()
      if (!sheet.holds(party)) continue
      const bytes = addresses.bytesOf(party)
      if (isInStretch(this.#stretch, bytes, 0)) this.#addresses.add(bytes, 0)
    }
    if (this.#addresses.length > this.#max) await this.#narrow()
  }

  async #narrow(): Promise<void> {
    const ascending = await this.#addresses.ascending(() => true)
    const kept = new AddressTable()
    for (const number of ascending.subarray(0, this.#max >>> 1)) kept.addFrom(this.#addresses, number)
    this.#addresses = kept
    this.#stretch = { ...this.#stretch, to: kept.bytesOf(kept.length - 1).slice() }
  }
}

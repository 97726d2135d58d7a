// Labels that were looked up, for as long as no label changes: the addresses of exchanges and marketplaces stand on every other
// page. It decides nothing: the store says who wins.
import type { Address, ChainId } from '../model.ts'
import { hexOf } from '../store/bytes.ts'
import type { LabelHint } from '../store/label-store.ts'
import type { Store } from '../store/store.ts'
import type { TransferPage } from '../store/transfer-store.ts'
import { LabelTable } from './label-table.ts'
import { type PageLabels, pageLabels } from './page-labels.ts'

/** Some 200,000 addresses on all chains. */
const bytesMax = 16 * 1024 * 1024

export class KnownLabels {
  readonly #store: Store
  readonly #revision: () => number
  #tables = new Map<ChainId, LabelTable>()
  #hint: LabelHint | undefined
  /** The revision that the hint was asked for at. */
  #at: number | undefined

  constructor(store: Store, revision: () => number) {
    this.#store = store
    this.#revision = revision
  }

  /** Undefined where no party of the page has a label. */
  async ofPage(chain: ChainId, page: TransferPage): Promise<PageLabels | undefined> {
    this.#keepUp()
    const hint = this.#hint
    // Of this moment: what is looked up for it is no longer reached from here once labels have changed.
    const table = this.#tableOf(chain)
    const { labels, unknown } = pageLabels(page, table, hint)
    if (unknown.length === 0) return labels
    const addresses = unknown.map(({ bytes, at }) => hexOf<Address>(bytes.subarray(at, at + 20)))
    const found = await this.#store.labelsOf(chain, [...new Set(addresses)])
    for (const [index, { bytes, at }] of unknown.entries()) table.add(bytes, at, found.get(addresses[index]!))
    if (this.#tables.values().reduce((sum, { bytes }) => sum + bytes, 0) > bytesMax) this.#tables.clear()
    return pageLabels(page, table, hint).labels
  }

  /**
   * The store gives the same hint for as long as no label has changed, whatever else is committed; without one every commit may
   * have changed labels.
   */
  #keepUp(): void {
    const revision = this.#revision()
    if (revision === this.#at && this.#hint !== undefined) return
    const hint = this.#store.labelHint()
    if (hint !== this.#hint || (hint === undefined && revision !== this.#at)) this.#tables.clear()
    this.#hint = hint
    this.#at = revision
  }

  #tableOf(chain: ChainId): LabelTable {
    const known = this.#tables.get(chain)
    if (known !== undefined) return known
    const table = new LabelTable()
    this.#tables.set(chain, table)
    return table
  }
}

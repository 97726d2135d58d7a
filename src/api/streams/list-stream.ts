// A whole list, as an operation hands it over to be sent as CSV or NDJSON. `list-sender.ts` sends it.
import type { Evidence } from '../../model.ts'
import type { LentBytes } from '../answer-memory.ts'

export type ListStream = {
  /** The list is of the state after this block; transfers are those up to it. */
  block: number
  /** Of the index, for that block. */
  complete: boolean
  evidence: Evidence | undefined
  /** What stands around the rows of a page. */
  headers?: Readonly<Record<string, string>>
  /**
   * The names of CSV, in the order of the wire: all fields of a record but the nested ones. A record may lack some of
   * them, and may have others, which are left out.
   */
  columns: readonly string[]
  /**
   * Asked for the next batch only once the client has taken the one before, so no read may stay open in between.
   * Nothing is read before the first is asked for. Ends where the list is whole and of one branch (`OneBranch`), and
   * fails with `stream_cut` where it is not.
   */
  batches: AsyncIterable<StreamBatch>
}

/** As many rows as take a millisecond or two to make: pages wait as long. */
export type StreamBatch = {
  rows: number
  /** One JSON record on each line, the last one with its line end too. CSV is made of it. */
  lines: LentBytes
}

/** Pages are read one by one, as they are asked for. None is empty. */
export async function* linesOf<Page extends { rows: { length: number } }>(
  pages: AsyncIterable<Page>,
  write: (page: Page) => LentBytes,
): AsyncGenerator<StreamBatch> {
  for await (const page of pages) yield { rows: page.rows.length, lines: write(page) }
}

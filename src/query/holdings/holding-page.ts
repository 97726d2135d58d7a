// A page of a sheet's holdings, newest change first, with ranges spread out only as far as the page reaches. No
// reading.
import { Pace } from '../pace.ts'
import type { HoldingKey } from './questions.ts'
import { rowFlags, type Sheet } from './sheet.ts'

/** One token of a row. */
export type Holding = { row: number; tokenId: bigint }

export type HoldingPage = { holdings: Holding[]; next: HoldingKey | undefined }

type Wanted = {
  after: HoldingKey | undefined
  limit: number
  /** Absent: all rows. */
  isShown?: ((party: number) => boolean | Promise<boolean>) | undefined
}

export async function holdingPage(sheet: Sheet, { after, limit, isShown }: Wanted): Promise<HoldingPage> {
  const holdings: Holding[] = []
  const pace = new Pace()
  for (let at = after === undefined ? 0 : sheet.seek(after); at < sheet.order.length; at++) {
    const row = sheet.order[at]!
    // Most rows of a large wallet may be of other contracts than those wanted.
    if (at % 256 === 0) await pace.rest()
    const shown = isShown?.(sheet.columns.parties[row]!) ?? true
    if (!(typeof shown === 'boolean' ? shown : await shown)) continue
    const first = sheet.idOf(row)
    let tokenId = first + BigInt(sheet.countOf(row) - 1)
    if (after !== undefined && sheet.columns.flags[row]! & rowFlags.range && isWithin(sheet, row, after))
      tokenId = after.tokenId - 1n < tokenId ? after.tokenId - 1n : tokenId
    for (; tokenId >= first; tokenId--) {
      // One more than the page holds shows that there is a next one.
      if (holdings.length === limit) return { holdings, next: keyOf(sheet, holdings.at(-1)) }
      holdings.push({ row, tokenId })
    }
  }
  return { holdings, next: undefined }
}

function isWithin(sheet: Sheet, row: number, after: HoldingKey): boolean {
  const { position } = sheet.keyOf(row, 0n)
  return (
    position.block === after.position.block &&
    position.transactionIndex === after.position.transactionIndex &&
    position.logIndex === after.position.logIndex &&
    position.batchIndex === after.position.batchIndex
  )
}

function keyOf(sheet: Sheet, last: Holding | undefined): HoldingKey | undefined {
  return last && sheet.keyOf(last.row, last.tokenId)
}

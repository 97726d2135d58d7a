// Makes one row of a token that takes several parts: its newest holder. No reading.
import { placeBytes } from '../../../store/runs/place-key.ts'
import type { ContractPart } from '../large/sheet-parts.ts'
import { comparePlaces, rowFlags, type Sheet } from '../sheet.ts'
import { SheetBuilder } from '../sheet-builder.ts'

export async function* newestOfToken(parts: AsyncIterable<ContractPart>): AsyncGenerator<Sheet> {
  let newest: Sheet | undefined
  for await (const { sheet, tokenId } of parts) {
    if (tokenId !== undefined) newest = await newer(newest, sheet)
    else {
      // Between two such tokens there is always a part, if an empty one.
      if (newest !== undefined) yield newest
      newest = undefined
      yield sheet
    }
  }
}

async function newer(known: Sheet | undefined, sheet: Sheet): Promise<Sheet | undefined> {
  if (sheet.order.length === 0) return known
  const row = sheet.order[0]!
  const { places, flags, ids, idWidth, parties, mintBlocks, minters } = sheet.columns
  if (known !== undefined) {
    const byPlace = comparePlaces(known.columns.places, 0, places, row * placeBytes)
    const byLeg = (known.columns.flags[0]! & rowFlags.giver) - (flags[row]! & rowFlags.giver)
    if ((byPlace || byLeg) < 0) return known
  }
  const builder = new SheetBuilder()
  const party = builder.addresses.addFrom(sheet.addresses, parties[row]!)
  const id = { id: ids, idFrom: row * idWidth, idTo: (row + 1) * idWidth }
  builder.append({ ...id, place: places, placeAt: row * placeBytes, flags: flags[row]!, party })
  builder.setAmount(0, sheet.amountOf(row))
  const minter = builder.addresses.addFrom(sheet.addresses, minters[row]!)
  builder.setMint(0, 1, { block: mintBlocks[row]!, minter })
  if (flags[row]! & rowFlags.range) builder.setRange(0, sheet.countOf(row), sheet.columns.offsets![row]!)
  return await builder.finish()
}

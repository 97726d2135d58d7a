// The collections of a wallet, from its sheet: made when they are first asked for, and kept with it. It reads nothing.
import type { Address } from '../../model.ts'
import { Pace } from '../pace.ts'
import type { CollectionRow } from './questions.ts'
import type { Sheet } from './sheet.ts'

/** `row`: its newest holding. */
export type Collection = Pick<CollectionRow, 'standard' | 'count'> & { row: number }

const kept = new WeakMap<Sheet, Promise<ReadonlyMap<number, Collection>>>()

/** By the number of the contract, descending by address; the standard is that of the newest holding. */
export function collectionsOf(sheet: Sheet): Promise<ReadonlyMap<number, Collection>> {
  let collections = kept.get(sheet)
  if (collections === undefined) {
    collections = makeCollections(sheet)
    kept.set(sheet, collections)
  }
  return collections
}

export async function collectionsByAddress(sheet: Sheet): Promise<Iterable<[Address, Collection]>> {
  const collections = await collectionsOf(sheet)
  return Iterator.from(collections).map(([party, collection]) => [sheet.addresses.addressOf(party), collection])
}

async function makeCollections(sheet: Sheet): Promise<ReadonlyMap<number, Collection>> {
  const { parties } = sheet.columns
  const counts = new Float64Array(sheet.addresses.length)
  const newest = new Uint32Array(counts.length)
  const pace = new Pace()
  for (let at = sheet.order.length - 1; at >= 0; at--) {
    if (at % 4_096 === 0) await pace.rest()
    const row = sheet.order[at]!
    counts[parties[row]!]! += sheet.countOf(row)
    newest[parties[row]!] = row
  }
  const descending = (await sheet.ascendingParties()).toReversed()
  return new Map(
    [...descending].map((party): [number, Collection] => {
      const row = newest[party]!
      return [party, { standard: sheet.standardOf(row), count: counts[party]!, row }]
    }),
  )
}

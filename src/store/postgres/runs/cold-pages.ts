// All cold records of a view in the order of their keys, from its table and its runs together, page by page: for checks
// and copies. No request reads so much.
import { compareKeys, PackReader, valueBytesMax } from '../../runs/pack.ts'
import type { View } from '../../runs/view.ts'
import { bytesOf } from '../arrays.ts'
import type { Database } from '../database.ts'
import { packsFrom } from './runs.ts'
import type { Slots } from './slots.ts'

/** Wallets have a record for each chain. Contracts are of one: their records have the chain 0. */
export type ColdRecord = { key: Uint8Array; chain: number; value: Uint8Array }
export type ColdPlace = Pick<ColdRecord, 'key' | 'chain'>

export type ColdSource = {
  database: Pick<Database, 'read'>
  slots: Slots
  view: View
  /** All chains where it is not given. */
  chain?: number | undefined
  /** The first records of the table after the place, in order. */
  inTable: (limit: number) => Promise<ColdRecord[]>
}

/** Of each run; more are read where they give few records of a page, up to a bound of memory. */
const packsAtFirst = 8
const packsGrowth = 4
const packsMost = 512

/** Up to `limit` records after a place, and at least one where there is any; `isLast` where none follows them. */
export async function coldPage(
  source: ColdSource,
  after: ColdPlace | undefined,
  limit: number,
): Promise<{ records: ColdRecord[]; isLast: boolean }> {
  const inTable = await source.inTable(limit)
  const lastInTable = inTable.length < limit ? undefined : inTable.at(-1)
  for (let packs = packsAtFirst; ; packs *= packsGrowth) {
    const { records: inRuns, until } = await recordsFrom(source, after?.key, packs)
    const following = after === undefined ? inRuns : inRuns.filter(record => comparePlaces(record, after) > 0)
    const all = joined(source.view, [...inTable, ...following])
    // What lies beyond one of these may be preceded by a record that was not read.
    const known = all.filter(
      record =>
        (until === undefined || compareKeys(record.key, until) < 0) &&
        (lastInTable === undefined || comparePlaces(record, lastInTable) <= 0),
    )
    const isWhole = until === undefined && lastInTable === undefined
    const isEnough = known.length >= limit / 4 || (known.length > 0 && packs >= packsMost)
    if (!isEnough && !isWhole) continue
    return { records: known.slice(0, limit), isLast: isWhole && known.length <= limit }
  }
}

function comparePlaces(a: ColdPlace, b: ColdPlace): number {
  return compareKeys(a.key, b.key) || a.chain - b.chain
}

/** The first packs of each run, from the one that may have the key: complete up to `until`, where that is given. */
async function recordsFrom(
  { database, slots, view, chain }: ColdSource,
  from: Uint8Array = new Uint8Array(view.keyBytes),
  packsMax: number,
): Promise<{ records: ColdRecord[]; until: Uint8Array | undefined }> {
  const ofChain = chain === undefined ? '' : 'AND chain = $5::int4'
  const find = `SELECT id, chain, key, bytes FROM runs CROSS JOIN LATERAL (SELECT key, bytes FROM packs
    WHERE packs.slot = $1::int4 AND run = id AND key >= ${packsFrom('id', '$1::int4', '$3::bytea')}
    ORDER BY key LIMIT $4) AS its_packs WHERE runs.slot = $1::int4 AND view = $2::int4 ${ofChain} ORDER BY id, key`
  let records: ColdRecord[] = []
  let until: Uint8Array | undefined
  for (const slot of slots) {
    const values = [slot, view.id, from, packsMax, ...(chain === undefined ? [] : [chain])]
    const rows = await database.read(find, ...values)
    for (const packs of Map.groupBy(rows, ([id]) => id).values()) {
      const lastKey = bytesOf(packs.at(-1)![2])
      if (packs.length === packsMax && (until === undefined || compareKeys(lastKey, until) < 0)) until = lastKey
    }
    for (const [, of, , bytes] of rows) addRecords(view, bytesOf(bytes), view.byContract ? 0 : Number(of), records)
    const end = until
    records = records.filter(
      ({ key }) => compareKeys(key, from) >= 0 && (end === undefined || compareKeys(key, end) < 0),
    )
  }
  return { records, until }
}

function addRecords(view: View, pack: Uint8Array, chain: number, records: ColdRecord[]): void {
  const reader = new PackReader(view.keyBytes)
  reader.open(pack)
  while (reader.next())
    records.push({ key: reader.key.slice(), chain, value: reader.value.slice(0, reader.valueLength) })
}

/** Sorted, and those of one place as one. */
function joined({ combine }: View, records: ColdRecord[]): ColdRecord[] {
  const target = new Uint8Array(valueBytesMax)
  const all: ColdRecord[] = []
  for (const record of records.sort(comparePlaces)) {
    const last = all.at(-1)
    if (last === undefined || comparePlaces(last, record) !== 0) all.push({ ...record })
    else last.value = target.slice(0, combine(target, last.value, last.value.length, record.value, record.value.length))
  }
  return all
}

// The transfers at given places, from tables and runs: one statement, on Citus one for each slot and one for hot rows.
import type { Address, Position } from '../../../model.ts'
import type { ContractPlace, MixedPage } from '../../index-reader.ts'
import { PackSearch } from '../../runs/pack-search.ts'
import { transferKey, transferView } from '../../runs/transfer-view.ts'
import { emptyPage } from '../../transfer-page.ts'
import { byteaArray, bytesOf, int4Array, int8Array } from '../arrays.ts'
import { coldEndSql } from '../blocks.ts'
import type { Row, Value } from '../database.ts'
import { fits, placeHigh, placeLow } from '../place.ts'
import { type LooksSql, lookedPacksSql, lookedRunsSql, wantedOf } from '../runs/pack-looks.ts'
import { slotOfContract } from '../runs/slots.ts'
import { hashOf, payloadAt, timestampOf } from '../runs/transfer-runs.ts'
import type { StoreDatabase } from '../store-database.ts'

/**
 * What the columns of a row are: the number of a place with its value as runs have it; a pack with the numbers of
 * places; or the last cold block.
 */
const kinds = { row: 0, pack: 1, coldEnd: 2 } as const

const given = `SELECT at, of_contract, of_block, (high::int8 << 32) | low AS of_place, look_key,
    of_block::int8 AS lowest, of_block::int8 AS highest
  FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::int8[], $5::bytea[])
    WITH ORDINALITY AS given (of_contract, of_block, high, low, look_key, at)`

const asRow = `SELECT ${kinds.row}, int4send(at::int4), int8send(timestamp) || hash || payload`

const tableSql = (table: string): string =>
  `${asRow} FROM given CROSS JOIN LATERAL (SELECT timestamp, hash, payload FROM ${table} WHERE contract = of_contract
     AND block = of_block AND place = of_place LIMIT 1) AS its_row`

/** On Citus a row of each cannot be looked for; the contracts are those of one shard. */
const spreadSql = `${asRow} FROM given JOIN transfers ON contract = of_contract AND block = of_block AND place = of_place
  WHERE contract = ANY($1::int4[])`

const looks: LooksSql = { view: transferView, given, slot: '$6::int4', chain: '$7::int4' }
const packsSql = `SELECT ${kinds.pack}, wanted, bytes FROM (${lookedPacksSql(looks)}) AS its_packs`
const allSql = `WITH ${lookedRunsSql(looks)} ${tableSql('hot_transfers')} UNION ALL ${tableSql('transfers')} UNION ALL ${packsSql}`
const coldSql = `WITH ${lookedRunsSql(looks)} ${spreadSql} UNION ALL ${packsSql}`
const hotSql = `WITH given AS (${given}) ${tableSql('hot_transfers')}
  UNION ALL SELECT ${kinds.coldEnd}, NULL, int8send(${coldEndSql('$6::int4')})`

type Place = Position & { address: Address; contract: number; key: Uint8Array }

export async function transfersAt(
  store: StoreDatabase,
  ordinal: number,
  places: readonly ContractPlace[],
): Promise<MixedPage> {
  if (places.length === 0) return { ...emptyPage, contracts: [] }
  const numbers = await store.dictionary.numbersOf(
    ordinal,
    places.map(({ contract }) => contract),
  )
  const known = places.flatMap(({ contract: address, ...position }): Place[] => {
    const contract = numbers.get(address)
    if (contract === undefined || !fits(position)) return []
    return [{ ...position, address, contract, key: transferKey(contract, position) }]
  })
  const values = store.distributed ? await readSpread(store, ordinal, known) : await readHere(store, ordinal, known)
  return pageOf(known, values)
}

function columnsOf(places: readonly Place[]): Value[] {
  return [
    int4Array(places.map(({ contract }) => contract)),
    int4Array(places.map(({ block }) => block)),
    int4Array(places.map(placeHigh)),
    int8Array(places.map(placeLow)),
    byteaArray(places.map(({ key }) => key)),
  ]
}

type Values = Map<Place, Uint8Array>

async function readHere(store: StoreDatabase, ordinal: number, places: readonly Place[]): Promise<Values> {
  const [slot = 0] = await store.slots()
  return valuesOf(places, await store.readHere(allSql, ...columnsOf(places), slot, ordinal))
}

async function readSpread(store: StoreDatabase, ordinal: number, places: readonly Place[]): Promise<Values> {
  const slots = await store.slots()
  const bySlot = Map.groupBy(places, ({ contract }) => slotOfContract(slots, contract))
  const readHot = async () => {
    const rows = await store.readHere(hotSql, ...columnsOf(places), ordinal)
    const coldEnd = rows.find(([kind]) => Number(kind) === kinds.coldEnd)
    return { rows: valuesOf(places, rows), coldEnd: Number(bytesOf(coldEnd?.[2]).readBigInt64BE()) }
  }
  const readCold = async (coldEnd: number) => {
    const values: Values = new Map()
    const readSlot = async (slot: number, all: readonly Place[]): Promise<void> => {
      const some = all.filter(({ block }) => block <= coldEnd)
      if (some.length === 0) return
      const rows = await store.readOf({ table: 'packs', value: slot }, coldSql, ...columnsOf(some), slot, ordinal)
      for (const [place, value] of valuesOf(some, rows)) values.set(place, value)
    }
    await Promise.all(Array.from(bySlot, ([slot, all]) => readSlot(slot, all)))
    return values
  }
  const { hot, cold } = await store.readHalves(ordinal, readHot, readCold)
  return new Map([...cold, ...hot])
}

function valuesOf(places: readonly Place[], rows: readonly Row[]): Values {
  const values: Values = new Map()
  const search = new PackSearch(transferView.keyBytes)
  for (const [kind, wanted, stored] of rows) {
    if (Number(kind) === kinds.coldEnd) continue
    const bytes = bytesOf(stored)
    for (const at of wantedOf(wanted)) {
      const place = places[at - 1]!
      if (Number(kind) === kinds.row) values.set(place, bytes)
      else if (search.lastUpTo(bytes, place.key) && search.isAlike()) values.set(place, search.value())
    }
  }
  return values
}

function pageOf(places: readonly Place[], values: Values): MixedPage {
  const found = places.flatMap(place => {
    const value = values.get(place)
    return value === undefined ? [] : [{ ...place, value }]
  })
  return {
    length: found.length,
    contracts: found.map(({ address }) => address),
    blocks: found.map(({ block }) => block),
    transactionIndexes: found.map(({ transactionIndex }) => transactionIndex),
    logIndexes: found.map(({ logIndex }) => logIndex),
    batchIndexes: found.map(({ batchIndex }) => batchIndex),
    timestamps: found.map(({ value }) => timestampOf(value)),
    blockHashes: Buffer.concat(found.map(({ value }) => hashOf(value))),
    payloads: Buffer.concat(found.map(({ value }) => value.subarray(payloadAt))),
  }
}

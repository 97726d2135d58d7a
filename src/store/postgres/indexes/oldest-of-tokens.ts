// The oldest records of tokens, and which contracts have ranges, from tables and runs: one statement, on Citus one for
// each slot and one for hot rows. It looks in few runs of each contract first, those of the lowest blocks, and again in
// all where that was not enough.
import type { Address } from '../../../model.ts'
import type { TokenKey, TokenRecordAt } from '../../index-reader.ts'
import { byToken, tokenKey, tokenKinds, withContract } from '../../indexes/by-token.ts'
import { PackSearch } from '../../runs/pack-search.ts'
import { blockOfPlace, newestOfBlock, oldestOfBlock, placeBytes } from '../../runs/place-key.ts'
import { byteaArray, bytesOf, int4Array } from '../arrays.ts'
import { coldEndSql } from '../blocks.ts'
import type { Row } from '../database.ts'
import { type LooksSql, lookedPacksSql, lookedRunsSql, wantedOf } from '../runs/pack-looks.ts'
import { blockEnd } from '../runs/runs.ts'
import { slotOfContract } from '../runs/slots.ts'
import type { StoreDatabase } from '../store-database.ts'
import { fromKept } from './kept-indexes.ts'

/**
 * What the columns of a row are: the number of a look with the place and the value of a record; a pack; a contract with
 * the first block of the runs that were not looked into; the last cold block; or that the index is kept.
 */
const kinds = { row: 0, pack: 1, kept: 2, beyond: 3, coldEnd: 4 } as const

const given = `SELECT at, of_contract, first_key, look_key, 0::int8 AS lowest, ${blockEnd}::int8 AS highest
  FROM unnest($1::int4[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS given (of_contract, first_key, look_key, at)`

const tableSql = (table: string, inSlot = ''): string =>
  `SELECT ${kinds.row}, int4send(at::int4), substring(key FROM ${byToken.placeAt + 1}) || value FROM given
   CROSS JOIN LATERAL (SELECT key, value FROM ${table} WHERE view = ${byToken.id} AND chain = $4::int4 ${inSlot}
     AND key BETWEEN first_key AND look_key ORDER BY key DESC LIMIT 1) AS its_row`

const looks: LooksSql = { view: byToken, given, slot: '$5::int4', chain: '$4::int4', runsMax: '$6::int8' }
const coldSql = `WITH ${lookedRunsSql(looks)} ${tableSql('view_records', 'AND slot = $5::int4')}
  UNION ALL SELECT ${kinds.pack}, wanted, bytes FROM (${lookedPacksSql(looks)}) AS its_packs
  UNION ALL SELECT ${kinds.beyond}, int4send(of_contract), int8send(min(from_block)) FROM its_runs WHERE rank > $6::int8
    GROUP BY of_contract`
const hotRows = tableSql('hot_view_records')
const isKept = `SELECT ${kinds.kept}, NULL::bytea, NULL::bytea ${fromKept(`${byToken.id}`, '$4::int4')}`
const allSql = `${coldSql} UNION ALL ${hotRows} UNION ALL ${isKept}`
const hotSql = `WITH given AS (${given}) ${hotRows} UNION ALL ${isKept}
  UNION ALL SELECT ${kinds.coldEnd}, NULL, int8send(${coldEndSql('$4::int4')})`

/** Of each contract. Most tokens are as old as their contract. */
const runsAtFirst = 3
const allRuns = 2 ** 31

/** A span of keys that begin with so many bytes alike, of which the last record is looked for. */
type Look = {
  contract: number
  first: Uint8Array
  last: Uint8Array
  alikeBytes: number
  found: TokenRecordAt | undefined
}

export async function oldestOfTokens(
  store: StoreDatabase,
  ordinal: number,
  tokens: readonly TokenKey[],
): Promise<(TokenRecordAt | undefined)[]> {
  const numbers = await store.dictionary.numbersOf(
    ordinal,
    tokens.map(({ contract }) => contract),
  )
  const looks = tokens.map(({ contract, tokenId }) => {
    const number = numbers.get(contract)
    return number === undefined ? undefined : newLook(number, tokenKinds.single, [tokenId, tokenId])
  })
  const known = looks.filter(look => look !== undefined)
  await find(store, ordinal, await find(store, ordinal, known, runsAtFirst), allRuns)
  return looks.map(look => look?.found)
}

export async function withRanges(
  store: StoreDatabase,
  ordinal: number,
  contracts: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const numbers = [...(await store.dictionary.numbersOf(ordinal, contracts))]
  const looks = numbers.map(([, number]) => newLook(number, tokenKinds.range, [0n, 2n ** 256n - 1n]))
  await find(store, ordinal, looks, allRuns)
  return new Set(numbers.filter((_, at) => looks[at]!.found !== undefined).map(([contract]) => contract))
}

function newLook(contract: number, kind: number, [lowest, highest]: readonly [bigint, bigint]): Look {
  const first = withContract(contract, tokenKey(kind, lowest, { ...newestOfBlock, block: Number.POSITIVE_INFINITY }))
  const last = withContract(contract, tokenKey(kind, highest, { ...oldestOfBlock, block: 0 }))
  const alikeBytes = first.findIndex((byte, at) => byte !== last[at])
  return { contract, first, last, alikeBytes, found: undefined }
}

/** Returns those of which runs that were not looked into may have an older record. */
async function find(
  store: StoreDatabase,
  ordinal: number,
  looks: readonly Look[],
  runsMax: number,
): Promise<readonly Look[]> {
  if (looks.length === 0) return []
  for (const look of looks) look.found = undefined
  const slots = await store.slots()
  const columns = (some: readonly Look[]) => [
    int4Array(some.map(({ contract }) => contract)),
    byteaArray(some.map(({ first }) => first)),
    byteaArray(some.map(({ last }) => last)),
    ordinal,
  ]
  if (!store.distributed) {
    const rows = await store.readHere(allSql, ...columns(looks), slots[0]!, runsMax)
    return isOfKept(rows) ? take(rows, looks) : []
  }
  const bySlot = Map.groupBy(looks, ({ contract }) => slotOfContract(slots, contract))
  const readHot = async () => {
    const rows = await store.readHere(hotSql, ...columns(looks))
    const end = rows.find(([kind]) => Number(kind) === kinds.coldEnd)
    return { rows: [{ rows, looks }], coldEnd: Number(bytesOf(end?.[2]).readBigInt64BE()) }
  }
  const readCold = async (coldEnd: number) =>
    await Promise.all(
      Array.from(coldEnd < 0 ? [] : bySlot, async ([slot, some]) => ({
        ...{ looks: some, highest: coldEnd },
        rows: await store.readOf({ table: 'packs', value: slot }, coldSql, ...columns(some), slot, runsMax),
      })),
    )
  const { hot, cold } = await store.readHalves<Found[]>(ordinal, readHot, readCold)
  if (!isOfKept(hot[0]!.rows)) return []
  return [...hot, ...cold].flatMap(({ rows, looks: some, highest }) => take(rows, some, highest))
}

/** `highest`: later ones are among hot rows. */
type Found = { rows: readonly Row[]; looks: readonly Look[]; highest?: number }

function isOfKept(rows: readonly Row[]): boolean {
  return rows.some(([kind]) => Number(kind) === kinds.kept)
}

function take(rows: readonly Row[], looks: readonly Look[], highest = blockEnd): readonly Look[] {
  const beyond = new Map<number, number>()
  const search = new PackSearch(byToken.keyBytes)
  for (const [kind, wanted, bytes] of rows)
    switch (Number(kind)) {
      case kinds.row: {
        const stored = bytesOf(bytes)
        const record = { place: stored.subarray(0, placeBytes), value: stored.subarray(placeBytes) }
        takeOlder(looks[wantedOf(wanted)[0]! - 1]!, record, highest)
        break
      }
      case kinds.pack: {
        const pack = bytesOf(bytes)
        for (const at of wantedOf(wanted)) takeFromPack(looks[at - 1]!, search, pack, highest)
        break
      }
      case kinds.beyond:
        beyond.set(wantedOf(wanted)[0]!, Number(bytesOf(bytes).readBigInt64BE()))
    }
  return looks.filter(({ contract, found }) => {
    const from = beyond.get(contract)
    return from !== undefined && (found === undefined || blockOfPlace(found.place, 0) >= from)
  })
}

function takeFromPack(look: Look, search: PackSearch, pack: Uint8Array, highest: number): void {
  if (search.lastUpTo(pack, look.last) && search.isAlike(look.alikeBytes))
    takeOlder(look, { place: search.keyFrom(byToken.placeAt), value: search.value() }, highest)
}

function takeOlder(look: Look, record: TokenRecordAt, highest: number): void {
  if (blockOfPlace(record.place, 0) > highest) return
  if (look.found === undefined || Buffer.compare(record.place, look.found.place) > 0) look.found = record
}

// Labels of addresses, and which one wins.

import { bytesOfHex } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import type { Label, LabelKey, LabelStore, RankedLabel } from '../annotation-store.ts'
import { type AnnotationFilter, annotationRanks } from '../annotation-store.ts'
import { type AddressRange, changesSince, type LabelChanges } from '../label-changes.ts'
import { byteaArray, bytesOf, hexTextOf, int4Array, int8Array, textArray, textOf } from './arrays.ts'
import type { Database, Row, Transaction, Value } from './database.ts'
import type { Ordinals, WalkOrdinals } from './dictionary.ts'
import type { StoreDatabase } from './store-database.ts'
import { labelRevisionRow } from './tables.ts'

const everyChain = 0

export function labelStore(store: StoreDatabase): LabelStore {
  const { database, dictionary } = store
  const addOrdinals = (labels: readonly LabelKey[]) =>
    dictionary.addOrdinals(labels.flatMap(({ chain }) => chain ?? []))
  return {
    putLabels: async labels => {
      const ordinals = await addOrdinals(labels)
      await store.writingLabels(async transaction => {
        await putLabels(transaction, ordinals, labels)
        return { result: undefined, changed: labels }
      })
    },
    removeLabels: async labels => {
      const ordinals = await addOrdinals(labels)
      return await store.writingLabels(async transaction => ({
        result: await removeLabels(transaction, ordinals, labels),
        changed: labels,
      }))
    },
    labelVersion: () => store.watch.labels,
    labelChanges: since => labelChanges(database, since),
    labelsWithin: (range, addressesMax) => labelsWithin(database, range, addressesMax),
    labelsOf: async (chain, addresses) => await labelsOf(database, await dictionary.ordinalOf(chain), addresses),
    labelCandidates: async (chain, address) =>
      await labelCandidates(database, await dictionary.ordinalOf(chain), address),
    labels: async (chosen, after, limit) => {
      const ordinals = await dictionary.ordinalsOf({ filter: chosen.chain, after: after?.chain })
      return await labelsAfter(database, chosen, ordinals, after, limit)
    },
  }
}

function ordinalOf(chain: ChainId | undefined, ordinals: Ordinals): number | undefined {
  return chain === undefined ? everyChain : ordinals.get(chain)
}

/** The last label of each address, chain and source wins: one statement cannot write a row twice. */
export async function putLabels(transaction: Transaction, ordinals: Ordinals, labels: readonly Label[]): Promise<void> {
  const byKey = new Map(labels.map(label => [`${label.address} ${label.chain} ${label.source}`, label]))
  const sorted = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, label]) => label)
  await transaction.run(
    `INSERT INTO labels (address, chain, source, rank, label, updated_at)
     SELECT * FROM unnest($1::bytea[], $2::int4[], $3::text[], $4::int4[], $5::bytea[], $6::int8[])
     ON CONFLICT (address, chain, source) DO UPDATE SET rank = excluded.rank, label = excluded.label,
       updated_at = excluded.updated_at`,
    byteaArray(sorted.map(label => bytesOfHex(label.address))),
    int4Array(sorted.map(label => ordinalOf(label.chain, ordinals) as number)),
    textArray(sorted.map(label => label.source)),
    int4Array(sorted.map(label => annotationRanks.indexOf(label.rank))),
    byteaArray(sorted.map(label => Buffer.from(label.label))),
    int8Array(sorted.map(label => label.updatedAt)),
  )
}

async function removeLabels(
  transaction: Transaction,
  ordinals: Ordinals,
  labels: readonly LabelKey[],
): Promise<number> {
  const known = labels.filter(label => ordinalOf(label.chain, ordinals) !== undefined)
  return await transaction.run(
    `DELETE FROM labels WHERE (address, chain, source) IN (SELECT * FROM unnest($1::bytea[], $2::int4[], $3::text[]))`,
    byteaArray(known.map(label => bytesOfHex(label.address))),
    int4Array(known.map(label => ordinalOf(label.chain, ordinals) as number)),
    textArray(known.map(label => label.source)),
  )
}

/** The better rank wins, then a label of the chain itself, then the newer one. */
const strongestFirst = 'rank, chain DESC, updated_at DESC, source'

async function labelsOf(
  database: Database,
  ordinal: number | undefined,
  addresses: readonly Address[],
): Promise<Map<Address, string>> {
  const rows = await database.read(
    `SELECT DISTINCT ON (address) address, label FROM labels WHERE address = ANY($1::bytea[]) AND chain IN (${everyChain}, $2)
     ORDER BY address, ${strongestFirst}`,
    byteaArray([...new Set(addresses)].map(bytesOfHex)),
    ordinal ?? everyChain,
  )
  return new Map(rows.map(([address, label]) => [hexTextOf<Address>(address), textOf(label) as string]))
}

const columns = 'address, chains.id, source, rank, label, updated_at FROM labels LEFT JOIN chains ON ordinal = chain'

async function labelCandidates(database: Database, ordinal: number | undefined, address: Address): Promise<Label[]> {
  const sql = `SELECT ${columns} WHERE address = $1 AND chain IN (${everyChain}, $2) ORDER BY ${strongestFirst}`
  return (await database.read(sql, bytesOfHex(address), ordinal ?? everyChain)).map(labelOf)
}

async function labelsAfter(
  database: Database,
  filter: AnnotationFilter,
  ordinals: WalkOrdinals,
  after: LabelKey | undefined,
  limit: number,
): Promise<Label[]> {
  const { conditions, values } = filterConditions(filter, ordinals.filter)
  if (after !== undefined)
    conditions.push(
      `(address, chain, source) > ($${values.push(bytesOfHex(after.address))}, $${values.push(ordinals.after ?? everyChain)}, $${values.push(after.source)})`,
    )
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const sql = `SELECT ${columns} ${where} ORDER BY address, chain, source LIMIT $${values.push(limit)}`
  return (await database.read(sql, ...values)).map(labelOf)
}

function labelOf([address, chain, source, rank, label, updatedAt]: Row): Label {
  return {
    chain: chain === null ? undefined : (Number(chain) as ChainId),
    address: hexTextOf<Address>(address),
    label: textOf(label) as string,
    source: source as string,
    rank: annotationRanks[Number(rank)]!,
    updatedAt: Number(updatedAt),
  }
}

async function labelChanges(database: Database, since: number | undefined): Promise<LabelChanges> {
  const rows = await database.read(
    `SELECT value, ranges FROM revisions LEFT JOIN label_changes ON count > $1 AND count <= value WHERE id = $2 ORDER BY count`,
    since ?? Number.MAX_SAFE_INTEGER,
    labelRevisionRow,
  )
  const kept = rows.flatMap(([, ranges]) => (ranges === null ? [] : [bytesOf(ranges)]))
  return changesSince(since, Number(rows[0]![0]), kept)
}

async function labelsWithin(
  database: Database,
  { first, last }: AddressRange,
  addressesMax: number,
): Promise<RankedLabel[]> {
  const rows = await database.read(
    `SELECT address, chains.id, label FROM labels LEFT JOIN chains ON ordinal = chain
     WHERE address >= $1 AND address <= coalesce((SELECT DISTINCT address FROM labels WHERE address >= $1 AND address <= $2
       ORDER BY address LIMIT 1 OFFSET $3), $2)
     ORDER BY address, ${strongestFirst}`,
    bytesOfHex(first),
    bytesOfHex(last),
    addressesMax - 1,
  )
  return rows.map(([address, chain, label]) => ({
    chain: chain === null ? undefined : (Number(chain) as ChainId),
    address: hexTextOf<Address>(address),
    label: textOf(label) as string,
  }))
}

/** Returns the addresses that had a label. */
export async function forgetLabels(transaction: Transaction, source: string): Promise<Pick<Label, 'address'>[]> {
  const rows = await transaction.write('DELETE FROM labels WHERE source = $1 RETURNING address', source)
  return rows.map(([address]) => ({ address: hexTextOf<Address>(address) }))
}

/** The conditions for labels and marks of a filter. No chain has the ordinal -1. */
export function filterConditions(
  { chain, source, rank }: AnnotationFilter,
  ordinal: number | undefined,
): { conditions: string[]; values: Value[] } {
  const filters: [string, Value | undefined][] = [
    ['chain', chain === undefined ? undefined : (ordinal ?? -1)],
    ['source', source],
    ['rank', rank === undefined ? undefined : annotationRanks.indexOf(rank)],
  ]
  const given = filters.filter(([, value]) => value !== undefined)
  return {
    conditions: given.map(([column], index) => `${column} = $${index + 1}`),
    values: given.map(([, value]) => value as Value),
  }
}

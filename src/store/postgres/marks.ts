// Marks: what the operator, imported lists and the built-in pack say of contracts.

import { bytesOfHex } from '../../hex.ts'
import type { Address } from '../../model.ts'
import type { AnnotationFilter, Mark, MarkKey, MarkStore } from '../annotation-store.ts'
import { annotationRanks, markOf, storedFlag } from '../annotation-store.ts'
import { byteaArray, hexTextOf, int4Array, int8Array, textArray } from './arrays.ts'
import type { Database, Transaction } from './database.ts'
import type { Ordinals, WalkOrdinals } from './dictionary.ts'
import { filterConditions } from './labels.ts'
import type { StoreDatabase } from './store-database.ts'

export function markStore(store: StoreDatabase): MarkStore {
  const { database, dictionary } = store
  const addOrdinals = (marks: readonly MarkKey[]) => dictionary.addOrdinals(marks.map(({ chain }) => chain))
  return {
    putMarks: async marks => {
      const ordinals = await addOrdinals(marks)
      await store.writing(transaction => putMarks(transaction, ordinals, marks))
    },
    removeMarks: async marks => {
      const ordinals = await addOrdinals(marks)
      return await store.writing(transaction => removeMarks(transaction, ordinals, marks))
    },
    marksOf: (chain, contract) => store.ofChain(chain, [], ordinal => marksOf(database, ordinal, contract)),
    marks: async (filter, after, limit) => {
      const ordinals = await dictionary.ordinalsOf({ filter: filter.chain, after: after?.chain })
      return await marksAfter(database, filter, ordinals, after, limit)
    },
  }
}

/** Joins the marks of one contract by one source first: one statement cannot write one row twice. */
export async function putMarks(transaction: Transaction, ordinals: Ordinals, marks: readonly Mark[]): Promise<void> {
  const byKey = new Map<string, Mark>()
  for (const mark of marks) {
    const key = `${mark.chain} ${mark.contract} ${mark.source}`
    const before = byKey.get(key)
    byKey.set(key, {
      ...mark,
      verified: mark.verified ?? before?.verified,
      spam: mark.spam ?? before?.spam,
    })
  }
  const sorted = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, mark]) => mark)
  await transaction.run(
    `INSERT INTO contract_marks AS stored (chain, contract, source, rank, verified, spam, updated_at)
     SELECT chain, contract, source, rank, verified = 1, spam = 1, updated_at
     FROM unnest($1::int4[], $2::bytea[], $3::text[], $4::int4[], $5::int8[], $6::int8[], $7::int8[])
       AS given (chain, contract, source, rank, verified, spam, updated_at)
     ON CONFLICT (chain, contract, source) DO UPDATE SET rank = excluded.rank, updated_at = excluded.updated_at,
       verified = coalesce(excluded.verified, stored.verified), spam = coalesce(excluded.spam, stored.spam)`,
    int4Array(sorted.map(mark => ordinals.get(mark.chain) as number)),
    byteaArray(sorted.map(mark => bytesOfHex(mark.contract))),
    textArray(sorted.map(mark => mark.source)),
    int4Array(sorted.map(mark => annotationRanks.indexOf(mark.rank))),
    int8Array(sorted.map(mark => storedFlag(mark.verified))),
    int8Array(sorted.map(mark => storedFlag(mark.spam))),
    int8Array(sorted.map(mark => mark.updatedAt)),
  )
}

async function removeMarks(transaction: Transaction, ordinals: Ordinals, marks: readonly MarkKey[]): Promise<number> {
  return await transaction.run(
    `DELETE FROM contract_marks
     WHERE (chain, contract, source) IN (SELECT * FROM unnest($1::int4[], $2::bytea[], $3::text[]))`,
    int4Array(marks.map(mark => ordinals.get(mark.chain) as number)),
    byteaArray(marks.map(mark => bytesOfHex(mark.contract))),
    textArray(marks.map(mark => mark.source)),
  )
}

export async function forgetMarks(transaction: Transaction, source: string): Promise<void> {
  await transaction.run('DELETE FROM contract_marks WHERE source = $1', source)
}

const columns =
  'chains.id, contract, source, rank, verified, spam, updated_at FROM contract_marks JOIN chains ON ordinal = chain'

async function marksOf(database: Database, ordinal: number, contract: Address): Promise<Mark[]> {
  const sql = `SELECT ${columns} WHERE chain = $1 AND contract = $2 ORDER BY rank, updated_at DESC, source`
  return (await database.read(sql, ordinal, bytesOfHex(contract))).map(row => markOf(row, contract))
}

async function marksAfter(
  database: Database,
  filter: AnnotationFilter,
  ordinals: WalkOrdinals,
  after: MarkKey | undefined,
  limit: number,
): Promise<Mark[]> {
  const { conditions, values } = filterConditions(filter, ordinals.filter)
  if (after !== undefined)
    conditions.push(
      `(chain, contract, source) > ($${values.push(ordinals.after ?? -1)}, $${values.push(bytesOfHex(after.contract))}, $${values.push(after.source)})`,
    )
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const sql = `SELECT ${columns} ${where} ORDER BY chain, contract, source LIMIT $${values.push(limit)}`
  return (await database.read(sql, ...values)).map(row => markOf(row, hexTextOf<Address>(row[1])))
}

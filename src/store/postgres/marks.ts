// What the operator, imported lists and the built-in pack say of contracts.
import type { Address, ChainId } from '../../model.ts'
import { bytesOfHex } from '../bytes.ts'
import { annotationRanks, type Mark, type MarkKey } from '../store.ts'
import type { Ordinals } from './annotations.ts'
import { byteaArray, int4Array, int8Array, textArray } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'

/** One statement cannot write one row twice: what is said of one contract by one source is joined first, as it would be row by row. */
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
    int8Array(sorted.map(mark => givenFlag(mark.verified))),
    int8Array(sorted.map(mark => givenFlag(mark.spam))),
    int8Array(sorted.map(mark => mark.updatedAt)),
  )
}

export async function removeMarks(
  transaction: Transaction,
  ordinals: Ordinals,
  marks: readonly MarkKey[],
): Promise<number> {
  return await transaction.run(
    `DELETE FROM contract_marks
     WHERE (chain, contract, source) IN (SELECT * FROM unnest($1::int4[], $2::bytea[], $3::text[]))`,
    int4Array(marks.map(mark => ordinals.get(mark.chain) as number)),
    byteaArray(marks.map(mark => bytesOfHex(mark.contract))),
    textArray(marks.map(mark => mark.source)),
  )
}

export async function marksOf(database: Database, ordinal: number, chain: ChainId, contract: Address): Promise<Mark[]> {
  const rows = await database.read(
    `SELECT source, rank, verified, spam, updated_at FROM contract_marks WHERE chain = $1 AND contract = $2
     ORDER BY rank, updated_at DESC, source`,
    ordinal,
    bytesOfHex(contract),
  )
  return rows.map(row => markOf(chain, contract, row))
}

function markOf(chain: ChainId, contract: Address, [source, rank, verified, spam, updatedAt]: Row): Mark {
  return {
    chain,
    contract,
    source: source as string,
    rank: annotationRanks[Number(rank)]!,
    verified: shownFlag(verified),
    spam: shownFlag(spam),
    updatedAt: Number(updatedAt),
  }
}

function givenFlag(flag: boolean | undefined): number | null {
  return flag === undefined ? null : Number(flag)
}

function shownFlag(stored: string | null | undefined): boolean | undefined {
  return stored === null ? undefined : stored === 't'
}

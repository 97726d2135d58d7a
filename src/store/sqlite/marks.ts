// Marks: what the operator, imported lists and the built-in pack say of contracts. Functions that take a connection run
// in their caller's transaction.

import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Address } from '../../model.ts'
import type { AnnotationFilter, Mark, MarkKey, MarkStore } from '../annotation-store.ts'
import { annotationRanks, markOf, storedFlag } from '../annotation-store.ts'
import type { Connection } from './connection.ts'
import type { Dictionary } from './dictionary.ts'
import { filterConditions } from './labels.ts'
import type { StoreFile } from './store-file.ts'

export function markStore(file: StoreFile): MarkStore {
  return {
    putMarks: marks => file.writing(({ connection, dictionary }) => putMarks(connection, dictionary, marks)),
    removeMarks: marks => file.writing(({ connection, dictionary }) => removeMarks(connection, dictionary, marks)),
    marksOf: async (chain, contract) => file.ofChain(chain, [], (read, ordinal) => marksOf(read, ordinal, contract)),
    marks: async (filter, after, limit) =>
      file.reading(read => marksAfter(read, file.dictionary, filter, after, limit)),
  }
}

export function putMarks(connection: Connection, dictionary: Dictionary, marks: readonly Mark[]): void {
  const put = connection.prepare(
    `INSERT INTO contract_marks (chain, contract, source, rank, verified, spam, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET rank = excluded.rank, verified = coalesce(excluded.verified, verified),
       spam = coalesce(excluded.spam, spam), updated_at = excluded.updated_at`,
  )
  for (const { chain, contract, source, rank, verified, spam, updatedAt } of marks)
    put.run(
      dictionary.addOrdinal(chain),
      bytesOfHex(contract),
      source,
      annotationRanks.indexOf(rank),
      storedFlag(verified),
      storedFlag(spam),
      updatedAt,
    )
}

function removeMarks(connection: Connection, dictionary: Dictionary, marks: readonly MarkKey[]): number {
  let removed = 0
  for (const { chain, contract, source } of marks) {
    const ordinal = dictionary.ordinalOf(chain)
    if (ordinal === undefined) continue
    removed += connection.run(
      'DELETE FROM contract_marks WHERE chain = ? AND contract = ? AND source = ?',
      ordinal,
      bytesOfHex(contract),
      source,
    )
  }
  return removed
}

export function forgetMarks(connection: Connection, source: string): void {
  connection.run('DELETE FROM contract_marks WHERE source = ?', source)
}

const columns =
  'chains.id, contract, source, rank, verified, spam, updated_at FROM contract_marks JOIN chains ON ordinal = chain'

function marksOf(connection: Connection, ordinal: number, contract: Address): Mark[] {
  const sql = `SELECT ${columns} WHERE chain = ? AND contract = ? ORDER BY rank, updated_at DESC, source`
  return connection.all(sql, ordinal, bytesOfHex(contract)).map(row => markOf(row, contract))
}

function marksAfter(
  connection: Connection,
  dictionary: Dictionary,
  filter: AnnotationFilter,
  after: MarkKey | undefined,
  limit: number,
): Mark[] {
  const { conditions, values } = filterConditions(dictionary, filter)
  if (after !== undefined) {
    conditions.push('(chain, contract, source) > (?, ?, ?)')
    values.push(dictionary.ordinalOf(after.chain) ?? -1, bytesOfHex(after.contract), after.source)
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const sql = `SELECT ${columns} ${where} ORDER BY chain, contract, source LIMIT ?`
  return connection.all(sql, ...values, limit).map(row => markOf(row, hexOf<Address>(row[1] as Uint8Array)))
}

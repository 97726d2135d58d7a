// What the operator, imported lists and the built-in pack say of contracts. Callers hold the transaction.
import type { Address, ChainId } from '../../model.ts'
import { bytesOfHex } from '../bytes.ts'
import { annotationRanks, type Mark, type MarkKey } from '../store.ts'
import type { Connection, Row } from './connection.ts'
import type { Dictionary } from './dictionary.ts'

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

export function removeMarks(connection: Connection, dictionary: Dictionary, marks: readonly MarkKey[]): number {
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

export function marksOf(connection: Connection, ordinal: number, chain: ChainId, contract: Address): Mark[] {
  const rows = connection.all(
    `SELECT source, rank, verified, spam, updated_at FROM contract_marks WHERE chain = ? AND contract = ?
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
    rank: annotationRanks[rank as number]!,
    verified: shownFlag(verified),
    spam: shownFlag(spam),
    updatedAt: updatedAt as number,
  }
}

function storedFlag(flag: boolean | undefined): number | null {
  return flag === undefined ? null : Number(flag)
}

function shownFlag(stored: Row[number] | undefined): boolean | undefined {
  return stored === null ? undefined : stored === 1
}

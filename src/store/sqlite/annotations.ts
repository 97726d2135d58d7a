// Labels of addresses and facts of contracts. Callers hold the transaction.
import type { SQLInputValue } from 'node:sqlite'
import type { Address, ChainId } from '../../model.ts'
import { type AnnotationFilter, annotationRanks } from '../annotation-rank.ts'
import { bytesOfHex, hexOf } from '../bytes.ts'
import type { ContractFacts } from '../contract-facts-store.ts'
import { judgement } from '../judgement.ts'
import type { LabelAddresses } from '../label-filter.ts'
import type { Label, LabelKey } from '../label-store.ts'
import type { Connection, Row } from './connection.ts'
import type { Dictionary } from './dictionary.ts'

const everyChain = 0

export function putLabels(connection: Connection, dictionary: Dictionary, labels: readonly Label[]): void {
  const put = connection.prepare(
    `INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       rank = excluded.rank, label = excluded.label, updated_at = excluded.updated_at`,
  )
  for (const { chain, address, label, source, rank, updatedAt } of labels) {
    const ordinal = chain === undefined ? everyChain : dictionary.addOrdinal(chain)
    put.run(bytesOfHex(address), ordinal, source, annotationRanks.indexOf(rank), label, updatedAt)
  }
  connection.run('UPDATE revision SET labels = labels + 1')
}

export function removeLabels(connection: Connection, dictionary: Dictionary, labels: readonly LabelKey[]): number {
  let removed = 0
  for (const { chain, address, source } of labels) {
    const ordinal = chain === undefined ? everyChain : dictionary.ordinalOf(chain)
    if (ordinal === undefined) continue
    removed += connection.run(
      'DELETE FROM labels WHERE address = ? AND chain = ? AND source = ?',
      bytesOfHex(address),
      ordinal,
      source,
    )
  }
  if (removed > 0) connection.run('UPDATE revision SET labels = labels + 1')
  return removed
}

/** The better rank wins, then a label of this very chain, then the newer one. */
const strongestFirst = 'ORDER BY rank, chain DESC, updated_at DESC, source'

export function labelsOf(
  connection: Connection,
  dictionary: Dictionary,
  chain: ChainId,
  addresses: readonly Address[],
): Map<Address, string> {
  const ordinal = dictionary.ordinalOf(chain) ?? everyChain
  const winner = connection.prepare(
    `SELECT label FROM labels WHERE address = ? AND chain IN (0, ?) ${strongestFirst} LIMIT 1`,
  )
  const found = new Map<Address, string>()
  for (const address of addresses) {
    const row = winner.get(bytesOfHex(address), ordinal) as unknown as [string] | undefined
    if (row !== undefined) found.set(address, row[0])
  }
  return found
}

const columns = 'address, chains.id, source, rank, label, updated_at FROM labels LEFT JOIN chains ON ordinal = chain'

export function labelCandidates(
  connection: Connection,
  dictionary: Dictionary,
  chain: ChainId,
  address: Address,
): Label[] {
  const ordinal = dictionary.ordinalOf(chain) ?? everyChain
  const sql = `SELECT ${columns} WHERE address = ? AND chain IN (0, ?) ${strongestFirst}`
  return connection.all(sql, bytesOfHex(address), ordinal).map(labelOf)
}

export function labelsAfter(
  connection: Connection,
  dictionary: Dictionary,
  filter: AnnotationFilter,
  after: LabelKey | undefined,
  limit: number,
): Label[] {
  const { conditions, values } = filterConditions(dictionary, filter)
  if (after !== undefined) {
    conditions.push('(address, chain, source) > (?, ?, ?)')
    const ordinal = after.chain === undefined ? everyChain : (dictionary.ordinalOf(after.chain) ?? everyChain)
    values.push(bytesOfHex(after.address), ordinal, after.source)
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const sql = `SELECT ${columns} ${where} ORDER BY address, chain, source LIMIT ?`
  return connection.all(sql, ...values, limit).map(labelOf)
}

/** No chain has the ordinal -1. */
export function filterConditions(
  dictionary: Dictionary,
  { chain, source, rank }: AnnotationFilter,
): { conditions: string[]; values: SQLInputValue[] } {
  const filters: [string, SQLInputValue | undefined][] = [
    ['chain = ?', chain === undefined ? undefined : (dictionary.ordinalOf(chain) ?? -1)],
    ['source = ?', source],
    ['rank = ?', rank === undefined ? undefined : annotationRanks.indexOf(rank)],
  ]
  const given = filters.filter(([, value]) => value !== undefined)
  return { conditions: given.map(([condition]) => condition), values: given.map(([, value]) => value as SQLInputValue) }
}

function labelOf([address, chain, source, rank, label, updatedAt]: Row): Label {
  return {
    chain: (chain ?? undefined) as ChainId | undefined,
    address: hexOf<Address>(address as Uint8Array),
    label: label as string,
    source: source as string,
    rank: annotationRanks[rank as number]!,
    updatedAt: updatedAt as number,
  }
}

export function labelAddresses(connection: Connection): LabelAddresses {
  return {
    version: () => (connection.get('SELECT labels FROM revision') as Row)[0] as number,
    after: (after, limit) => {
      const row = connection.get(
        `SELECT CAST(group_concat(address, '') AS BLOB) FROM
           (SELECT address FROM labels WHERE address > ? GROUP BY address ORDER BY address LIMIT ?)`,
        after,
        limit,
      ) as Row
      return row[0] === null ? undefined : Buffer.from(row[0] as Uint8Array)
    },
    isOpen: () => connection.database.isOpen,
  }
}

export function forgetSource(connection: Connection, source: string): void {
  connection.run('DELETE FROM labels WHERE source = ?', source)
  connection.run('DELETE FROM contract_marks WHERE source = ?', source)
}

export function putContractFacts(
  connection: Connection,
  dictionary: Dictionary,
  facts: readonly ContractFacts[],
): void {
  for (const { chain, contract, name, symbol, possibleSpam, reading, verdict } of facts)
    connection.run(
      `INSERT OR REPLACE INTO contract_facts (chain, contract, name, symbol, possible_spam, reading, verdict)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      dictionary.addOrdinal(chain),
      bytesOfHex(contract),
      name ?? null,
      symbol ?? null,
      possibleSpam ? 1 : 0,
      reading === undefined ? null : JSON.stringify(reading),
      verdict === undefined ? null : JSON.stringify(verdict),
    )
}

export function contractFacts(
  connection: Connection,
  dictionary: Dictionary,
  chain: ChainId,
  contract: Address,
): ContractFacts | undefined {
  const ordinal = dictionary.ordinalOf(chain)
  if (ordinal === undefined) return undefined
  const row = connection.get(
    'SELECT name, symbol, possible_spam, reading, verdict FROM contract_facts WHERE chain = ? AND contract = ?',
    ordinal,
    bytesOfHex(contract),
  )
  if (row === undefined) return undefined
  return {
    chain,
    contract,
    name: (row[0] as string | null) ?? undefined,
    symbol: (row[1] as string | null) ?? undefined,
    possibleSpam: row[2] === 1,
    ...judgement(row[3] as string | null, row[4] as string | null),
  }
}

const verifiedNamesMax = 10_000

export function verifiedNames(connection: Connection): string[] {
  return connection
    .all(
      `SELECT name FROM contract_facts JOIN contract_marks USING (chain, contract) WHERE verified = 1 AND name IS NOT NULL
       UNION SELECT label FROM contract_marks AS marks CROSS JOIN labels ON labels.address = marks.contract
       WHERE verified = 1 AND labels.chain IN (0, marks.chain) LIMIT ${verifiedNamesMax}`,
    )
    .map(([name]) => name as string)
}

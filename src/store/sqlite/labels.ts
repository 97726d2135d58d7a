// Labels of addresses, and which one wins. Functions that take a connection run
// in their caller's transaction.
import type { Address, ChainId } from '../../model.ts'
import { type AnnotationFilter, annotationRanks } from '../annotation-rank.ts'
import { bytesOfHex, hexOf } from '../bytes.ts'
import { type LabelAddresses, LabelFilter } from '../label-filter.ts'
import type { Label, LabelKey, LabelStore } from '../label-store.ts'
import { filterConditions } from './annotation-filter.ts'
import type { Connection, Row } from './connection.ts'
import type { Dictionary } from './dictionary.ts'
import type { StoreFile } from './store-file.ts'

export function labelStore(file: StoreFile): LabelStore {
  const filter = file.reading(read => new LabelFilter(labelAddresses(read)))
  return {
    putLabels: labels => file.writing(({ connection, dictionary }) => putLabels(connection, dictionary, labels)),
    removeLabels: labels => file.writing(({ connection, dictionary }) => removeLabels(connection, dictionary, labels)),
    labelHint: () => file.reading(() => filter.hint()),
    labelsOf: async (chain, addresses) => file.reading(read => labelsOf(read, file.dictionary, chain, addresses)),
    labelCandidates: async (chain, address) =>
      file.reading(read => labelCandidates(read, file.dictionary, chain, address)),
    labels: async (chosen, after, limit) =>
      file.reading(read => labelsAfter(read, file.dictionary, chosen, after, limit)),
  }
}

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

function removeLabels(connection: Connection, dictionary: Dictionary, labels: readonly LabelKey[]): number {
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

function labelsOf(
  connection: Connection,
  dictionary: Dictionary,
  chain: ChainId,
  addresses: readonly Address[],
): Map<Address, string> {
  const ordinal = dictionary.ordinalOf(chain) ?? everyChain
  // The plus keeps the chain out of the search: an address has a few rows side by side, and a search for each chain takes 7 µs more.
  const winner = connection.prepare(
    `SELECT label FROM labels WHERE address = ? AND +chain IN (0, ?) ${strongestFirst} LIMIT 1`,
  )
  const found = new Map<Address, string>()
  for (const address of addresses) {
    const row = winner.get(bytesOfHex(address), ordinal) as unknown as [string] | undefined
    if (row !== undefined) found.set(address, row[0])
  }
  return found
}

const columns = 'address, chains.id, source, rank, label, updated_at FROM labels LEFT JOIN chains ON ordinal = chain'

function labelCandidates(connection: Connection, dictionary: Dictionary, chain: ChainId, address: Address): Label[] {
  const ordinal = dictionary.ordinalOf(chain) ?? everyChain
  const sql = `SELECT ${columns} WHERE address = ? AND chain IN (0, ?) ${strongestFirst}`
  return connection.all(sql, bytesOfHex(address), ordinal).map(labelOf)
}

function labelsAfter(
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

function labelAddresses(connection: Connection): LabelAddresses {
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

/** Labels that are put afterwards, in the same transaction, tell that they changed. */
export function forgetLabels(connection: Connection, source: string): void {
  connection.run('DELETE FROM labels WHERE source = ?', source)
}

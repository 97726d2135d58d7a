// Labels of addresses, and which one wins. Functions that take a connection run in their caller's transaction.

import type { SQLInputValue } from 'node:sqlite'
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import type { Label, LabelKey, LabelStore, RankedLabel } from '../annotation-store.ts'
import { type AnnotationFilter, annotationRanks } from '../annotation-store.ts'
import { type AddressRange, changesKept, changesSince, type LabelChanges, packRanges } from '../label-changes.ts'
import type { Connection, Row } from './connection.ts'
import type { Dictionary } from './dictionary.ts'
import type { StoreFile } from './store-file.ts'

export function labelStore(file: StoreFile): LabelStore {
  return {
    putLabels: labels =>
      file.writing(({ connection, dictionary }) => {
        putLabels(connection, dictionary, labels)
        noteLabels(connection, labels)
      }),
    removeLabels: labels => file.writing(({ connection, dictionary }) => removeLabels(connection, dictionary, labels)),
    labelVersion: () => file.reading(read => (read.get('SELECT labels FROM revision') as Row)[0] as number),
    labelChanges: async since => file.reading(read => labelChanges(read, since)),
    labelsWithin: async (range, addressesMax) => file.reading(read => labelsWithin(read, range, addressesMax)),
    labelsOf: async (chain, addresses) => file.reading(read => labelsOf(read, file.dictionary, chain, addresses)),
    labelCandidates: async (chain, address) =>
      file.reading(read => labelCandidates(read, file.dictionary, chain, address)),
    labels: async (chosen, after, limit) =>
      file.reading(read => labelsAfter(read, file.dictionary, chosen, after, limit)),
  }
}

const everyChain = 0

/** Records that labels changed, and where. Call once at the end of a transaction. */
export function noteLabels(connection: Connection, changed: readonly Pick<Label, 'address'>[]): void {
  if (changed.length === 0) return
  const [count] = connection.get('UPDATE revision SET labels = labels + 1 RETURNING labels') as Row
  connection.run(
    'INSERT INTO label_changes VALUES (?, ?)',
    count as number,
    packRanges(changed.map(({ address }) => address)),
  )
  connection.run('DELETE FROM label_changes WHERE count <= ?', (count as number) - changesKept)
}

export function putLabels(connection: Connection, dictionary: Dictionary, labels: readonly Label[]): void {
  const put = connection.prepare(
    `INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       rank = excluded.rank, label = excluded.label, updated_at = excluded.updated_at`,
  )
  for (const { chain, address, label, source, rank, updatedAt } of labels) {
    const ordinal = chain === undefined ? everyChain : dictionary.addOrdinal(chain)
    put.run(bytesOfHex(address), ordinal, source, annotationRanks.indexOf(rank), label, updatedAt)
  }
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
  if (removed > 0) noteLabels(connection, labels)
  return removed
}

/** The better rank wins, then a label of the chain itself, then the newer one. */
const strongestFirst = 'rank, chain DESC, updated_at DESC, source'

function labelsOf(
  connection: Connection,
  dictionary: Dictionary,
  chain: ChainId,
  addresses: readonly Address[],
): Map<Address, string> {
  const ordinal = dictionary.ordinalOf(chain) ?? everyChain
  // The plus keeps the chain out of the search: an address has a few adjacent rows, and searching each chain takes 7 µs
  // more.
  const winner = connection.prepare(
    `SELECT label FROM labels WHERE address = ? AND +chain IN (0, ?) ORDER BY ${strongestFirst} LIMIT 1`,
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
  const sql = `SELECT ${columns} WHERE address = ? AND chain IN (0, ?) ORDER BY ${strongestFirst}`
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

function labelChanges(connection: Connection, since: number | undefined): LabelChanges {
  const rows = connection.all(
    'SELECT labels, ranges FROM revision LEFT JOIN label_changes ON count > ? ORDER BY count',
    since ?? Number.MAX_SAFE_INTEGER,
  )
  const kept = rows.flatMap(([, ranges]) => (ranges === null ? [] : [ranges as Uint8Array]))
  return changesSince(since, rows[0]![0] as number, kept)
}

function labelsWithin(connection: Connection, range: AddressRange, addressesMax: number): RankedLabel[] {
  const select = `SELECT '0x' || lower(hex(address)), chains.id, label FROM labels LEFT JOIN chains ON ordinal = chain
    WHERE address BETWEEN ?1 AND coalesce((SELECT DISTINCT address FROM labels WHERE address BETWEEN ?1 AND ?2
      ORDER BY address LIMIT 1 OFFSET ?3), ?2) ORDER BY address`
  const values = [bytesOfHex(range.first), bytesOfHex(range.last), addressesMax - 1]
  // Most addresses have one label, and sorting takes almost as long as reading.
  const rows = connection.all(select, ...values)
  const isSorted = rows.every(([address], index) => address !== rows[index - 1]?.[0])
  const sorted = isSorted ? rows : connection.all(`${select}, ${strongestFirst}`, ...values)
  return sorted.map(([address, chain, label]) => ({
    chain: (chain ?? undefined) as ChainId | undefined,
    address: address as Address,
    label: label as string,
  }))
}

/** Returns the addresses that had a label. */
export function forgetLabels(connection: Connection, source: string): Pick<Label, 'address'>[] {
  const rows = connection.all('DELETE FROM labels WHERE source = ? RETURNING address', source)
  return rows.map(([address]) => ({ address: hexOf<Address>(address as Uint8Array) }))
}

/** The conditions for labels and marks of a filter. No chain has the ordinal -1. */
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

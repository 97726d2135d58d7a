// Finds contracts by name or symbol and addresses by label. Beginnings come from an index; texts within names only
// where there are few names, because the thread waits for the reading.
import { hexOf } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import type { NamedContract, NameQuestion, NameStore, NamesFound, RankedLabel } from '../annotation-store.ts'
import type { Connection, Row } from './connection.ts'
import type { StoreFile } from './store-file.ts'

export function nameStore(file: StoreFile): NameStore {
  return {
    contractsNamed: async question => file.reading(read => find(read, contracts, question)),
    labelsNamed: async question => file.reading(read => find(read, labels, question)),
  }
}

type Named<Found> = {
  table: string
  /** Those that have an index. */
  columns: readonly string[]
  select: string
  foundOf: (row: Row) => Found
}

const contracts: Named<NamedContract> = {
  table: 'contract_facts',
  columns: ['name', 'symbol'],
  select: 'chains.id, contract, name, symbol',
  foundOf: ([chain, contract, name, symbol]) => ({
    ...{ chain: chain as ChainId, contract: hexOf<Address>(contract as Uint8Array) },
    ...{ name: (name ?? undefined) as string | undefined, symbol: (symbol ?? undefined) as string | undefined },
  }),
}

const labels: Named<RankedLabel> = {
  table: 'labels',
  columns: ['label'],
  select: 'chains.id, address, label',
  foundOf: ([chain, address, label]) => ({
    ...{ chain: (chain ?? undefined) as ChainId | undefined, address: hexOf<Address>(address as Uint8Array) },
    label: label as string,
  }),
}

function find<Found>(read: Connection, named: Named<Found>, { text, limit, readMax }: NameQuestion): NamesFound<Found> {
  const { table, columns, select, foundOf } = named
  const joined = (rows: string) => `SELECT ${select} FROM (${rows}) LEFT JOIN chains ON ordinal = chain`
  const begins = columns.flatMap(column => {
    const within = `${column} COLLATE NOCASE >= ?1 AND ${column} COLLATE NOCASE < ?1 || char(0x10ffff)`
    return read.all(
      joined(`SELECT * FROM ${table} WHERE ${within} ORDER BY ${column} COLLATE NOCASE LIMIT ?2`),
      text,
      limit,
    )
  })
  const some = `SELECT chain, ${table === 'labels' ? 'address' : 'contract'}, ${columns} FROM ${table} LIMIT ?1`
  const [count] = read.get(`SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT ?1)`, readMax + 1) as Row
  const anywhere = (count as number) <= readMax
  const has = columns.map(column => `instr(lower(${column}), lower(?2)) > 0`).join(' OR ')
  const contained = anywhere
    ? read.all(joined(`SELECT * FROM (${some}) WHERE ${has} LIMIT ?3`), readMax, text, limit)
    : []
  return { found: [...begins, ...contained].map(foundOf), anywhere }
}

// Finds contracts by name or symbol and addresses by label. Beginnings come from an index; texts within names only
// where there are few names.
import type { Address, ChainId } from '../../model.ts'
import type { NamedContract, NameQuestion, NameStore, NamesFound, RankedLabel } from '../annotation-store.ts'
import { hexTextOf, textOf } from './arrays.ts'
import type { Database, Row } from './database.ts'
import type { StoreDatabase } from './store-database.ts'

export function nameStore({ database }: StoreDatabase): NameStore {
  return {
    contractsNamed: question => find(database, contracts, question),
    labelsNamed: question => find(database, labels, question),
  }
}

type Named<Found> = {
  table: string
  /** Those that have an index. */
  columns: readonly string[]
  select: string
  foundOf: (row: Row) => Found
}

const chainOf = (id: unknown) => (id === null ? undefined : (Number(id) as ChainId))

const contracts: Named<NamedContract> = {
  table: 'contract_facts',
  columns: ['name', 'symbol'],
  select: 'chains.id, contract, name, symbol',
  foundOf: ([chain, contract, name, symbol]) => ({
    ...{ chain: chainOf(chain)!, contract: hexTextOf<Address>(contract) },
    ...{ name: textOf(name), symbol: textOf(symbol) },
  }),
}

const labels: Named<RankedLabel> = {
  table: 'labels',
  columns: ['label'],
  select: 'chains.id, address, label',
  foundOf: ([chain, address, label]) => ({
    ...{ chain: chainOf(chain), address: hexTextOf<Address>(address), label: textOf(label)! },
  }),
}

/** As the indexes of `migrations.ts` have it: the same text, or they are not used. */
const folded = (bytes: string) => `lower(encode(${bytes}, 'escape') COLLATE "C")`
const begin = (bytes: string) => `left(${folded(bytes)}, 64)`

async function find<Found>(
  database: Database,
  { table, columns, select, foundOf }: Named<Found>,
  { text, limit, readMax }: NameQuestion,
): Promise<NamesFound<Found>> {
  const joined = (rows: string) => `SELECT ${select} FROM (${rows}) AS found LEFT JOIN chains ON ordinal = chain`
  const bytes = Buffer.from(text)
  // `encode` writes nothing above the tilde, which is below 127.
  const begins = columns.map(column => {
    const within = `${begin(column)} >= ${begin('$1::bytea')} AND ${begin(column)} < ${begin('$1::bytea')} || chr(127)`
    const rows = `SELECT * FROM ${table} WHERE ${within} ORDER BY ${begin(column)} LIMIT $2`
    return database.read(joined(rows), bytes, limit)
  })
  const counting = database.read(`SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT $1) AS counted`, readMax + 1)
  const [counted, ...beginning] = await Promise.all([counting, ...begins])
  const anywhere = Number(counted[0]![0]) <= readMax
  const has = columns.map(column => `position(${folded('$1::bytea')} in ${folded(column)}) > 0`).join(' OR ')
  const contained = anywhere
    ? await database.read(joined(`SELECT * FROM ${table} WHERE ${has} LIMIT $2`), bytes, limit)
    : []
  return { found: [...beginning.flat(), ...contained].map(foundOf), anywhere }
}

// The rows of this engine's tables as plain parts, for copying a store. It reads and writes in bulk and keeps the
// counts of transfers.
import type { Block } from '../../model.ts'
import {
  columnsOfPart,
  copyCheckpointName,
  type PartName,
  type PartPage,
  type PartRow,
  type PartValue,
  type PlaceRow,
  partColumns,
  partKeys,
  type ReadableName,
  type StoreParts,
} from '../parts.ts'
import { bulkRows } from '../runs/levels.ts'
import { transferView } from '../runs/transfer-view.ts'
import { byteaArray, bytesOf, float8Array, int8Array, textArray, textOf } from './arrays.ts'
import { findBlocks } from './blocks.ts'
import { visibleEverywhere } from './citus/commits.ts'
import { hasCitus } from './citus/place-tables.ts'
import { createTables, requireStore } from './create-tables.ts'
import { Database, type Row, type Transaction } from './database.ts'
import { addHotRecords, addRecords } from './indexes/add-records.ts'
import { batchIndexOf, logIndexOf, placeHigh, placeLow, requireFits, transactionIndexOf } from './place.ts'
import { type ColdRecord, coldPage } from './runs/cold-pages.ts'
import { isInRuns, type PartInRuns, partsInRuns } from './runs/part-records.ts'
import { KnownSlots, type Slots } from './runs/slots.ts'
import { databaseOptions } from './store-database.ts'
import { type StoredRow, transferOf } from './stored-rows.ts'
import { wholeBucket } from './tables.ts'
import { insertCold, insertHot } from './transfer-rows.ts'

/** How a column is stored: `utf8` is text kept as bytes, `uint` a numeric that other engines keep as decimal text. */
type Kind = 'int' | 'bytes' | 'text' | 'utf8' | 'uint' | 'flag' | 'float'

const columnsByKind: Partial<Record<Kind, string>> = {
  text: `value name scope evidence program amount_rule day key_id operation source scopes keys.id keys.hash replaces
    reading verdict`,
  bytes: `secrets.value head_hash hash address payload first last owner account mint watched_contracts.contract
    contract_facts.contract contract_marks.contract`,
  utf8: `solana_mints.name symbol metadata_name metadata_symbol label contract_facts.name`,
  uint: `lamports amount write_version supply`,
  flag: `possible_spam verified spam`,
  float: `rate_per_second`,
}
const kinds = new Map(
  Object.entries(columnsByKind).flatMap(([kind, columns]) =>
    columns.split(/\s+/).map((column): [string, Kind] => [column, kind as Kind]),
  ),
)

/** By the part's own entry, or the column's; any other is an integer. */
function kindOf(part: ReadableName, column: string): Kind {
  return kinds.get(`${part}.${column}`) ?? kinds.get(column) ?? 'int'
}

const placeKey = ['contract', 'block', 'place']
const keys = { ...partKeys, transfers: placeKey, hot_transfers: placeKey }
/**
 * Walked by one value of the first column after the other, downwards within: a row comparison cannot follow both
 * directions.
 */
const downwards: ReadonlySet<ReadableName> = new Set(['blocks', 'transfers'])

/** Transfers are stored with one place for three columns. */
function storedColumnsOf(part: ReadableName): readonly string[] {
  return part === 'transfers' || part === 'hot_transfers'
    ? ['contract', 'block', 'place', 'payload']
    : columnsOfPart(part)
}

const conditions: Partial<Record<ReadableName, string>> = {
  checkpoints: `name <> '${copyCheckpointName}'`,
  transfer_counts: 'bucket >= 0',
  chain_indexes: 'kept',
}

export async function openPostgresParts(url: string, { mustExist = false } = {}): Promise<StoreParts> {
  const database = new Database(databaseOptions(url))
  try {
    if (mustExist) await requireStore(database)
    await createTables(database)
    database.distributed = await hasCitus(database)
    return new PostgresParts(database)
  } catch (error) {
    await database.close()
    throw error
  }
}

class PostgresParts implements StoreParts {
  readonly location: string
  readonly #database: Database
  readonly #slots: KnownSlots

  constructor(database: Database) {
    this.location = database.location
    this.#database = database
    this.#slots = new KnownSlots(database)
  }

  async readPart(part: ReadableName, cursor: string | undefined, limit: number): Promise<PartPage> {
    const after = cursor === undefined ? undefined : (JSON.parse(cursor) as string[])
    if (isInRuns(part)) return await this.#readWithRuns(part, after, limit)
    const read = downwards.has(part) ? this.#walkDown(part, after, limit) : this.#walk(part, after, limit)
    const rows = await read
    const last = rows.at(-1)
    const next =
      rows.length < limit || last === undefined ? undefined : JSON.stringify(last.slice(0, keys[part].length))
    return { rows: rows.map(row => partRow(part, row.slice(keys[part].length))), next }
  }

  /** Rows of the table and of runs together. */
  async #readWithRuns(part: PartInRuns, after: readonly string[] | undefined, limit: number): Promise<PartPage> {
    const { view, placeOf, recordOf, rowOf, keyOf } = partsInRuns[part]
    const inTable = async (rowsMax: number): Promise<ColdRecord[]> => {
      const walk = downwards.has(part) ? this.#walkDown(part, after, rowsMax) : this.#walk(part, after, rowsMax)
      return (await walk).map(row => recordOf(partRow(part, row.slice(keys[part].length))))
    }
    const source = { database: this.#database, slots: await this.#slots.all(), view, inTable }
    const { records, isLast } = await coldPage(source, after && placeOf(after), limit)
    const last = records.at(-1)
    const next = isLast || last === undefined ? undefined : JSON.stringify(keyOf(last))
    return { rows: records.flatMap(record => rowOf(record) ?? []), next }
  }

  /** Rows begin with their key, as text. */
  #walk(part: ReadableName, after: readonly string[] | undefined, limit: number): Promise<Row[]> {
    const key = keys[part]
    const names = key.map(column => `${part}.${column}`)
    const beyond =
      after && `(${names.join()}) > (${names.map((_, index) => `$${index + 2}${castOf(part, key[index])}`).join()})`
    const where = [conditions[part], beyond].filter(condition => condition !== undefined)
    return this.#database.read(
      `SELECT ${selected(part)} FROM ${part}
       ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY ${names.join()} LIMIT $1`,
      limit,
      ...(after ?? []),
    )
  }

  async #walkDown(part: ReadableName, after: readonly string[] | undefined, limit: number): Promise<Row[]> {
    const [first, ...rest] = keys[part] as [string, ...string[]]
    const order = rest.map(column => `${part}.${column} DESC`).join()
    const select = `SELECT ${selected(part)} FROM ${part}`
    const rows: Row[] = []
    let group: string | null | undefined
    if (after !== undefined) {
      group = after[0]
      const beyond = `(${rest.join()}) < (${rest.map((_, index) => `$${index + 3}::int8`).join()})`
      const sql = `${select} WHERE ${first} = $2 AND ${beyond} ORDER BY ${order} LIMIT $1`
      rows.push(...(await this.#database.read(sql, limit, ...after)))
    }
    while (rows.length < limit) {
      const [found] = await this.#database.read(`SELECT min(${first}) FROM ${part} WHERE ${first} > $1`, group ?? -1)
      group = found?.[0]
      if (group === null || group === undefined) break
      const sql = `${select} WHERE ${first} = $2 ORDER BY ${order} LIMIT $1`
      rows.push(...(await this.#database.read(sql, limit - rows.length, group)))
    }
    return rows
  }

  async writePart(part: PartName, rows: readonly PartRow[], checkpoint: string): Promise<void> {
    await this.#database.transaction(async transaction => {
      if (part === 'transfers' || part === 'hot_transfers')
        await writeTransfers(transaction, await this.#slots.all(), part, rows)
      else if (rows.length > 0) await writeRows(transaction, part, rows)
      if (part === 'chains' || part === 'contracts') await keepNumbers(transaction)
      await transaction.run(
        'INSERT INTO checkpoints VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        copyCheckpointName,
        checkpoint,
      )
    })
    // The next part reads this one.
    if (this.#database.distributed) await visibleEverywhere(this.#database)
  }

  async transferRows(): Promise<number> {
    const [row] = await this.#database.read('SELECT sum(stored) FROM transfer_counts WHERE bucket = $1', wholeBucket)
    const [inRuns] = await this.#database.read('SELECT sum(records) FROM runs WHERE view = $1', transferView.id)
    return Number(row?.[0] ?? 0) + Number(inRuns?.[0] ?? 0)
  }

  async copyCheckpoint(): Promise<string | undefined> {
    const [row] = await this.#database.read('SELECT value FROM checkpoints WHERE name = $1', copyCheckpointName)
    return row?.[0] ?? undefined
  }

  async endCopy(): Promise<void> {
    await this.#database.transaction(async transaction => {
      await transaction.run('DELETE FROM checkpoints WHERE name = $1', copyCheckpointName)
      await transaction.script('UPDATE revisions SET value = value + 1')
    })
  }

  close(): Promise<void> {
    return this.#database.close()
  }
}

/** The key as text, then the columns. Names of the key keep apart on Citus what two columns of one name would mix. */
function selected(part: ReadableName): string {
  const ofKey = keys[part].map((column, index) => `${part}.${column}::text AS key_${index}`)
  return [...ofKey, ...storedColumnsOf(part)].join()
}

function castOf(part: ReadableName, column: string | undefined): string {
  const kind = column === 'place' ? 'int' : kindOf(part, column as string)
  return kind === 'int' ? '::text::int8' : kind === 'bytes' ? '::text::bytea' : ''
}

function partRow(part: ReadableName, row: Row): PartRow {
  if (part === 'transfers' || part === 'hot_transfers') {
    const [contract, block, stored, payload] = row
    const place = BigInt(stored as string)
    const [high, low] = [Number(place >> 32n), Number(place & 0xffffffffn)]
    const position = [transactionIndexOf(high), logIndexOf(high, low), batchIndexOf(low)]
    return [Number(contract), Number(block), ...position, bytesOf(payload)]
  }
  return columnsOfPart(part).map((column, index) => partValue(kindOf(part, column), row[index] ?? null))
}

function partValue(kind: Kind, stored: string | null): PartValue {
  if (stored === null) return null
  switch (kind) {
    case 'int':
    case 'float':
      return Number(stored)
    case 'bytes':
      return bytesOf(stored)
    case 'utf8':
      return textOf(stored) as string
    case 'flag':
      return stored === 't' ? 1 : 0
    default:
      return stored
  }
}

type Parameter = { type: string; column?: (name: string) => string; array: (values: PartValue[]) => Buffer }
const numbers = { type: 'int8[]', array: (values: PartValue[]) => int8Array(values as (number | null)[]) }
const texts = { type: 'text[]', array: (values: PartValue[]) => textArray(values.map(v => (v as string) ?? undefined)) }
const parameterOf: Record<Kind, Parameter> = {
  int: numbers,
  flag: { ...numbers, column: name => `${name} = 1` },
  float: { type: 'float8[]', array: values => float8Array(values as (number | null)[]) },
  text: texts,
  uint: { ...texts, column: name => `${name}::numeric` },
  bytes: { type: 'bytea[]', array: values => byteaArray(values.map(v => (v as Uint8Array) ?? undefined)) },
  utf8: {
    type: 'bytea[]',
    array: values => byteaArray(values.map(v => (v === null ? undefined : Buffer.from(v as string)))),
  },
}

async function writeRows(transaction: Transaction, part: PartName, rows: readonly PartRow[]): Promise<void> {
  const columns = partColumns[part]
  const parameters = columns.map(column => parameterOf[kindOf(part, column)])
  const given = parameters.map(({ type }, index) => `$${index + 1}::${type}`).join()
  const values = parameters.map(({ array }, index) => array(rows.map(row => row[index] ?? null)))
  // The secret of a new store gives way: cursors of the copied one stay valid.
  const onConflict = part === 'secrets' ? '(name) DO UPDATE SET value = excluded.value' : 'DO NOTHING'
  await transaction.run(
    `INSERT INTO ${part} (${columns.join()}) SELECT ${columns.map((column, index) => parameters[index]?.column?.(column) ?? column).join()}
     FROM unnest(${given}) AS given (${columns.join()}) ON CONFLICT ${onConflict}`,
    ...values,
  )
}

/** New chains and contracts get numbers above the copied ones. */
async function keepNumbers(transaction: Transaction): Promise<void> {
  // Read first: in one statement Citus would look for the sequences on a worker.
  const [[ordinal] = []] = await transaction.query('SELECT max(ordinal) FROM chains')
  const [[contract] = []] = await transaction.query('SELECT max(id) FROM contracts')
  await transaction.query("SELECT setval('chain_ordinals', $1)::text", Number(ordinal ?? 1))
  await transaction.query("SELECT setval('contract_numbers', $1)::text", Number(contract ?? 1))
}

async function writeTransfers(
  transaction: Transaction,
  slots: Slots,
  part: 'transfers' | 'hot_transfers',
  rows: readonly PartRow[],
): Promise<void> {
  const chains = new Map<number, number>()
  const contracts = [...new Set(rows.map(row => row[0] as number))]
  const found = await transaction.query(
    'SELECT id, chain FROM contracts WHERE id = ANY($1::int8[])',
    int8Array(contracts),
  )
  for (const [id, chain] of found) chains.set(Number(id), Number(chain))
  for (const [ordinal, ofChain] of Map.groupBy(rows, row => chains.get(row[0] as number) as number)) {
    const numbers = [...new Set(ofChain.map(row => row[1] as number))]
    const blocks = new Map((await findBlocks(transaction, ordinal, numbers)).map(block => [block.number, block]))
    const stored = ofChain.map(row => storedRow(row, blocks))
    if (part === 'transfers') {
      const added = await insertCold(transaction, stored)
      await addRecords(transaction, { chain: ordinal, slots, bulkRows }, added.map(transferOf))
    } else await addHotRecords(transaction, ordinal, (await insertHot(transaction, ordinal, stored)).map(transferOf))
  }
}

function storedRow(row: PartRow, blocks: ReadonlyMap<number, Block>): StoredRow {
  const [contract, number, transactionIndex, logIndex, batchIndex] = row as PlaceRow
  const position = { block: number, transactionIndex, logIndex, batchIndex }
  requireFits(position)
  const block = blocks.get(number) as Block
  return {
    contract,
    block: number,
    placeHigh: placeHigh(position),
    placeLow: placeLow(position),
    timestamp: block.timestamp,
    hash: Buffer.from(block.hash.slice(2), 'hex'),
    payload: row[5] as Uint8Array,
  }
}

// The rows of this engine's tables as plain parts, for copying a store. It reads and writes in bulk and keeps the
// counts of transfers.
import type { SQLInputValue } from 'node:sqlite'
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
import { Connection } from './connection.ts'
import { storeFailure } from './failures.ts'
import { Ownership, ownerWriteOptions, prepareFile, requireStoreFile } from './open-file.ts'
import { addRow, type RowsByContract } from './placed-rows.ts'
import { coldActivityAfter } from './runs/cold-activity.ts'
import { coldTransfersAfter, keptCountsAfter } from './runs/cold-transfers.ts'
import { mergeStep } from './runs/merges.ts'
import { runsOf } from './runs/runs.ts'
import { versionBytes } from './solana-holdings.ts'
import { blockKeySpan } from './tables.ts'
import { insertCold, insertHot } from './transfer-rows.ts'

/** How a part is stored in its table: what to select, the key to walk by, and what an inserted row needs. */
type Layout = {
  table?: string
  /** Expressions in the order of the part's columns; without them the columns themselves. */
  select?: readonly string[]
  where?: string
  key?: readonly string[]
  insert?: { columns: readonly string[]; values: (row: PartRow) => PartValue[] }
}

const blockLayout: Layout = {
  select: [`key / ${blockKeySpan}`, `${blockKeySpan - 1} - key % ${blockKeySpan}`, 'hash', 'timestamp'],
  key: ['key'],
  insert: {
    columns: ['key', 'hash', 'timestamp'],
    values: ([chain, number, hash, timestamp]) => [
      (chain as number) * blockKeySpan + (blockKeySpan - 1 - (number as number)),
      hash ?? null,
      timestamp ?? null,
    ],
  },
}

const solanaKey = ['network', 'account']

/** Of the parts that are not stored as `parts.ts` lists them. */
const layouts: Partial<Record<ReadableName, Layout>> = {
  blocks: blockLayout,
  hot_blocks: blockLayout,
  // A scope is text, or the bytes of a contract.
  coverage: {
    select: [
      ...[
        'chain',
        "iif(typeof(scope) = 'text', scope, '0x' || lower(hex(scope)))",
        'from_block',
        'to_block',
        'evidence',
      ],
    ],
    insert: {
      columns: partColumns.coverage,
      values: ([chain, scope, ...rest]) => [
        chain ?? null,
        (scope as string).startsWith('0x') ? Buffer.from((scope as string).slice(2), 'hex') : (scope as string),
        ...rest,
      ],
    },
  },
  // A copy is filled while transfers are written.
  chain_indexes: { where: 'kept = 1' },
  solana_accounts: { key: ['network', 'owner'] },
  // One table holds open and closed accounts; versions are 8 bytes.
  solana_holdings: {
    where: 'owner IS NOT NULL',
    key: solanaKey,
    insert: {
      columns: partColumns.solana_holdings,
      values: row => [...row.slice(0, 7), versionBytes(BigInt(row[7] as string))],
    },
  },
  solana_closed: {
    table: 'solana_holdings',
    where: 'owner IS NULL',
    key: solanaKey,
    insert: {
      columns: partColumns.solana_closed,
      values: row => [...row.slice(0, 3), versionBytes(BigInt(row[3] as string)), row[4] ?? null],
    },
  },
  solana_mints: { key: ['network', 'mint'] },
  checkpoints: { where: `name <> '${copyCheckpointName}'` },
}

function layoutOf(part: ReadableName): Layout & { key: readonly string[] } {
  return { key: partKeys[part], ...layouts[part] }
}

/** The process owns the file meanwhile: no other may index into a store that is copied. */
export async function openSqliteParts(path: string, { mustExist = false } = {}): Promise<StoreParts> {
  let ownership: Ownership | undefined
  try {
    if (mustExist) requireStoreFile(path)
    await prepareFile(path)
    ownership = new Ownership(path)
    return new SqliteParts(path, new Connection(path, ownerWriteOptions), ownership)
  } catch (error) {
    ownership?.release()
    throw storeFailure(error, `file:${path}`)
  }
}

/** Up to four records of indexes, each at some levels. */
const mergedPerTransfer = 16

class SqliteParts implements StoreParts {
  readonly location: string
  readonly #connection: Connection
  readonly #ownership: Ownership

  constructor(path: string, connection: Connection, ownership: Ownership) {
    this.location = `file:${path}`
    this.#connection = connection
    this.#ownership = ownership
  }

  async readPart(part: ReadableName, cursor: string | undefined, limit: number): Promise<PartPage> {
    const after = cursor === undefined ? undefined : (JSON.parse(cursor) as KeyText[]).map(keyOfText)
    const rows = this.#rowsAfter(part, after, limit)
    const keyLength = layoutOf(part).key.length
    const last = rows.at(-1)
    const next =
      rows.length < limit || last === undefined ? undefined : JSON.stringify(last.slice(0, keyLength).map(textOfKey))
    return { rows: rows.map(row => partRow(part, row.slice(keyLength))), next }
  }

  /** Rows begin with their key. */
  #rowsAfter(part: ReadableName, after: SQLInputValue[] | undefined, limit: number): PartValue[][] {
    if (part === 'transfers') return this.#walkTransfers(after as number[] | undefined, limit)
    if (part === 'transfer_counts') return this.#walkCounts(after as number[] | undefined, limit)
    if (part === 'activity') return this.#walkActivity(after, limit)
    return this.#walk(part, after, limit)
  }

  #walk(part: ReadableName, after: SQLInputValue[] | undefined, limit: number): PartValue[][] {
    const { table = part, select = columnsOfPart(part), where, key } = layoutOf(part)
    const beyond = after && `(${key.join()}) > (${key.map(() => '?').join()})`
    const conditions = [where, beyond].filter(condition => condition !== undefined)
    return this.#connection.all(
      `SELECT ${[...key, ...select].join()} FROM ${table}
       ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''} ORDER BY ${key.join()} LIMIT ?`,
      ...(after ?? []),
      limit,
    ) as PartValue[][]
  }

  /** Of the table and of runs. */
  #walkActivity(after: SQLInputValue[] | undefined, limit: number): PartValue[][] {
    const [address, afterOrdinal] = (after ?? [new Uint8Array(0), -1]) as [Uint8Array, number]
    const found = coldActivityAfter(this.#connection, { address, afterOrdinal }).take(limit)
    return Array.from(found, ({ address: wallet, ordinal, first, last }) => [
      ...[wallet, ordinal],
      ...[wallet, ordinal, first, last],
    ])
  }

  #walkTransfers(after: number[] | undefined, limit: number): PartValue[][] {
    const [contract = 0, block = 0, transactionIndex = 0, logIndex = 0, batchIndex = 0] = after ?? []
    const place = after && { contract, block, transactionIndex, logIndex, batchIndex }
    return Array.from(coldTransfersAfter(this.#connection, place).take(limit), row => {
      const key = [row.contract, row.block, row.transactionIndex, row.logIndex, row.batchIndex]
      return [...key, ...key, row.payload]
    })
  }

  #walkCounts(after: number[] | undefined, limit: number): PartValue[][] {
    const place = after && { contract: after[0]!, bucket: after[1]! }
    const counts = keptCountsAfter(this.#connection, place).filter(({ bucket }) => bucket >= 0)
    return Array.from(counts.take(limit), ({ contract, bucket, transfers }) => [
      ...[contract, bucket],
      ...[contract, bucket, transfers],
    ])
  }

  async writePart(part: PartName, rows: readonly PartRow[], checkpoint: string): Promise<void> {
    this.#writing(() => {
      if (part === 'transfers' || part === 'hot_transfers') this.#writeTransfers(part, rows)
      else this.#writeRows(part, rows)
      this.#connection.run('INSERT OR REPLACE INTO checkpoints VALUES (?, ?)', copyCheckpointName, checkpoint)
    })
  }

  #writeRows(part: PartName, rows: readonly PartRow[]): void {
    const { table = part, insert } = layoutOf(part)
    const columns = insert?.columns ?? partColumns[part]
    const statement = this.#connection.prepare(
      `INSERT OR REPLACE INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`,
    )
    for (const row of rows) statement.run(...((insert?.values(row) ?? row) as SQLInputValue[]))
  }

  #writeTransfers(part: 'transfers' | 'hot_transfers', rows: readonly PartRow[]): void {
    const byChain = new Map<number, RowsByContract>()
    for (const row of rows) {
      const [contract, block, transactionIndex, logIndex, batchIndex] = row as PlaceRow
      const [chain] = this.#connection.get('SELECT chain FROM contracts WHERE id = ?', contract) ?? []
      const ofChain = byChain.get(chain as number) ?? new Map()
      byChain.set(chain as number, ofChain)
      addRow(ofChain, contract, { block, transactionIndex, logIndex, batchIndex, payload: row[5] as Uint8Array })
    }
    const context = { connection: this.#connection, bulkRows }
    for (const [chain, ofChain] of byChain)
      if (part === 'transfers') insertCold(context, chain, ofChain)
      else insertHot(context, chain, ofChain)
    this.#merge(mergedPerTransfer * rows.length)
  }

  /** Records of indexes come as runs. */
  #merge(records: number): void {
    for (let left = records; left > 0; ) {
      const merged = mergeStep(this.#connection, left)
      if (merged === 0) return
      left -= merged
    }
  }

  async transferRows(): Promise<number> {
    const inRuns = runsOf(this.#connection, transferView).reduce((sum, { records }) => sum + records, 0)
    return (this.#connection.get('SELECT count(*) FROM transfers')?.[0] as number) + inRuns
  }

  async copyCheckpoint(): Promise<string | undefined> {
    const row = this.#connection.get('SELECT value FROM checkpoints WHERE name = ?', copyCheckpointName)
    return row?.[0] as string | undefined
  }

  async endCopy(): Promise<void> {
    this.#writing(() => {
      this.#connection.run('DELETE FROM checkpoints WHERE name = ?', copyCheckpointName)
      this.#connection.run('UPDATE revision SET value = value + 1')
    })
  }

  #writing(work: () => void): void {
    try {
      this.#connection.run('BEGIN IMMEDIATE')
      work()
      this.#connection.run('COMMIT')
    } catch (error) {
      if (this.#connection.database.isTransaction) this.#connection.run('ROLLBACK')
      throw storeFailure(error, this.location)
    }
  }

  async close(): Promise<void> {
    this.#connection.close()
    this.#ownership.release()
  }
}

function partRow(part: ReadableName, row: PartValue[]): PartRow {
  const at = part === 'solana_holdings' ? 7 : part === 'solana_closed' ? 3 : undefined
  return at === undefined ? row : row.with(at, versionText(row[at] as Uint8Array))
}

function versionText(bytes: Uint8Array): string {
  return Buffer.from(bytes).readBigUInt64BE().toString()
}

/** Keys of bytes as JSON: `{ "hex": … }`. */
type KeyText = string | number | { hex: string }

function textOfKey(value: PartValue): KeyText {
  return value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : (value as string | number)
}

function keyOfText(text: KeyText): SQLInputValue {
  return typeof text === 'object' ? Buffer.from(text.hex, 'hex') : text
}

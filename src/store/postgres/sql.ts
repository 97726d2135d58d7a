// How this engine runs the statements of ../tables/: their words in its own SQL, and in which transaction. It knows no
// table.
import { runAwaiting } from '../core/work.ts'
import type { Cell, GivenColumn, Numbers, Row, Sql, Statement, Tables } from '../tables/sql.ts'
import { byteaArray, int4Array, int8Array, textArray } from './arrays.ts'
import type { Text, Transaction, Value } from './database.ts'
import { labelRevisionRow } from './revision.ts'
import type { StoreDatabase } from './store-database.ts'

export function postgresTables(store: StoreDatabase, numbers: Numbers): Tables {
  const { database } = store
  const reading: Tables['reading'] = work =>
    runAwaiting(work(), async statement => (await database.read(...textOf(statement))) as Row[])
  return {
    ordinalOf: async chain => (chain === undefined ? undefined : await numbers.ordinalOf(chain)),
    reading,
    readingOf: (key, work) =>
      runAwaiting(work(), async statement => (await store.readOf(key, ...textOf(statement))) as Row[]),
    writingSpread: work => store.writingSpread(transaction => runSql(transaction, work())),
    async writing(work, adding = []) {
      const ordinals = await numbers.addOrdinals(adding)
      return await store.writing(transaction => runSql(transaction, work(ordinals)))
    },
    writingUnseen: work => store.writingUnseen(transaction => runSql(transaction, work())),
    shared: {
      reading,
      writing: work => store.writingUnseen(transaction => runSql(transaction, work())),
      stating: work =>
        runAwaiting(work(), async statement => {
          const { rows, count } = await database.write(...textOf(statement))
          return statement.does === 'run' ? [[count]] : (rows as Row[])
        }),
    },
    labelCount: {
      version: () => store.watch.labels,
      read: `SELECT value FROM revisions WHERE id = ${labelRevisionRow}`,
      up: `UPDATE revisions SET value = value + 1 WHERE id = ${labelRevisionRow} RETURNING value`,
      committed: count => store.watch.labelsCommitted(count),
    },
    names: {
      // `encode` writes nothing above the tilde, which is below 127.
      begins: column =>
        `${begin(column)} >= ${begin('$1::bytea')} AND ${begin(column)} < ${begin('$1::bytea')} || chr(127)`,
      has: column => `position(${folded('$1::bytea')} in ${folded(column)}) > 0`,
      order: begin,
      text: text => Buffer.from(text),
    },
  }
}

/** As the indexes of `tables.ts` have it: the same text, or they are not used. */
const folded = (bytes: string): string => `lower(encode(${bytes}, 'escape') COLLATE "C")`
const begin = (bytes: string): string => `left(${folded(bytes)}, 64)`

/** Runs statements in the caller's transaction. */
export function runSql<T>(transaction: Transaction, work: Sql<T>): Promise<T> {
  return runAwaiting(work, async statement => {
    if (statement.does === 'lock')
      return (await transaction.query(lockSql, textArray(statement.values as string[]))) as Row[]
    const text = textOf(statement)
    if (statement.does === 'run') return [[await transaction.run(...text)]]
    return (await (statement.does === 'read' ? transaction.query(...text) : transaction.write(...text))) as Row[]
  })
}

const lockSql = 'SELECT pg_advisory_xact_lock(hashtextextended(name, 0))::text FROM unnest($1::text[]) AS name'

const texts = new Map<string, Text>()

function textOf({ sql, values, given }: Statement): [Text, ...Value[]] {
  let text = texts.get(sql)
  if (text === undefined) {
    const arrays = given?.columns.map(({ type }, index) => `$${values.length + index + 1}::${arrayOf[type].type}[]`)
    const names = given?.columns.map(({ name }) => name)
    text = {
      typed: sql
        .replaceAll('IN given', () => `= ANY(${arrays?.[0]})`)
        .replace(/(?<=(FROM|JOIN) )given\b/g, () => `unnest(${arrays}) AS given (${names})`)
        .replace(/\bitems\(([^)]*)\)/g, '(SELECT json_array_elements_text($1::json) AS value)')
        .replace(/\blisted\(/g, 'json_agg(')
        .replace(/\bjoined\(([^)]*)\)/g, `string_agg($1, ''::bytea)`)
        .replace(/\btexts\(([^)]*)\)/g, `string_agg($1, '\\xff'::bytea)`)
        .replace(/\bby_key\(([^)]*)\)/g, 'ORDER BY $1')
        .replace(/\bhex\(([^)]*)\)/g, `encode($1, 'hex')`)
        .replaceAll('now_ms()', '(extract(epoch FROM clock_timestamp()) * 1000)::int8')
        .replaceAll('today()', `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`),
    }
    texts.set(sql, text)
  }
  if (given === undefined) return [text, ...values]
  const columns = given.columns.map(({ type }, index) => arrayOf[type].of(given.rows.map(row => row[index] ?? null)))
  return [text, ...values, ...columns]
}

/** Columns of int4 are never NULL. */
const arrayOf: Record<GivenColumn['type'], { type: string; of: (column: Cell[]) => Buffer }> = {
  int4: { type: 'int4', of: column => int4Array(column as number[]) },
  int8: { type: 'int8', of: column => int8Array(column as (number | null)[]) },
  text: { type: 'text', of: column => textArray(column as (string | null)[]) },
  utf8: {
    type: 'bytea',
    of: column => byteaArray(column.map(text => (text === null ? null : Buffer.from(text as string)))),
  },
  bytea: { type: 'bytea', of: column => byteaArray(column as (Uint8Array | null)[]) },
}

// How this engine runs the statements of ../tables/: their words in its own SQL, and on which file. It knows no table.
import type { SQLInputValue } from 'node:sqlite'
import { runNow } from '../core/work.ts'
import type { Numbers, Row, Sql, Statement, Tables } from '../tables/sql.ts'
import type { Connection } from './connection.ts'
import type { SharedFile } from './shared-file.ts'
import type { StoreFile } from './store-file.ts'

export function sqliteTables(file: StoreFile, shared: SharedFile, numbers: Numbers): Tables {
  return {
    ordinalOf: async chain => (chain === undefined ? undefined : await numbers.ordinalOf(chain)),
    reading: async work => file.reading(read => runSql(read, work())),
    readingOf: async (_, work) => file.reading(read => runSql(read, work())),
    writingSpread: work => file.writing(connection => runSql(connection, work())),
    async writing(work, adding = []) {
      const ordinals = await numbers.addOrdinals(adding)
      return await file.writing(connection => runSql(connection, work(ordinals)))
    },
    writingUnseen: work => file.writingUnseen(connection => runSql(connection, work())),
    shared: {
      reading: async work => shared.reading(read => runSql(read, work())),
      writing: work => shared.writing(connection => runSql(connection, work())),
      stating: work => shared.stating(connection => runSql(connection, work())),
    },
    labelCount: {
      version: () => file.reading(read => read.get(labelCount)?.[0] as number),
      read: labelCount,
      up: 'UPDATE revision SET labels = labels + 1 RETURNING labels',
      committed: () => {},
    },
    names: {
      begins: column => `${column} COLLATE NOCASE >= $1 AND ${column} COLLATE NOCASE < $1 || char(0x10ffff)`,
      has: column => `instr(lower(${column}), lower($1)) > 0`,
      order: column => `${column} COLLATE NOCASE`,
      text: text => text,
    },
  }
}

const labelCount = 'SELECT labels FROM revision'

/** Runs statements to their end, in the caller's transaction where there is one. */
export function runSql<T>(connection: Connection, work: Sql<T>): T {
  return runNow(work, statement => answer(connection, statement))
}

function answer(connection: Connection, { does, sql, values, given }: Statement): Row[] {
  if (does === 'lock') return []
  const { text, times } = textOf(sql, values.length, given)
  const statement = connection.prepare(text)
  const fixed = (times.length > 0 ? [...values, ...times.map(time => time())] : values) as SQLInputValue[]
  const run = (row: Row): number => Number(statement.run(...fixed, ...row).changes)
  const all = (row: Row): Row[] => statement.all(...fixed, ...row) as unknown as Row[]
  if (does === 'run') return [[given === undefined ? run([]) : given.rows.reduce((sum, row) => sum + run(row), 0)]]
  if (given === undefined) return all([])
  return connection.database.isTransaction
    ? given.rows.flatMap(all)
    : connection.snapshot(() => given.rows.flatMap(all))
}

const known = { dayNumber: 0, day: '1970-01-01' }

function today(): string {
  const now = Date.now()
  const dayNumber = Math.floor(now / 86_400_000)
  if (dayNumber !== known.dayNumber) Object.assign(known, { dayNumber, day: new Date(now).toISOString().slice(0, 10) })
  return known.day
}

type Time = () => number | string
const timeWords: readonly [string, Time][] = [
  ['now_ms()', () => Date.now()],
  ['today()', today],
]

type Text = { text: string; times: readonly Time[] }
const texts = new Map<string, Text>()

/** Times follow the values, and then come those of a row of `given`: its rows come one at a time. */
function textOf(sql: string, values: number, given: Statement['given']): Text {
  const made = texts.get(sql)
  if (made !== undefined) return made
  const times = timeWords.filter(([word]) => sql.includes(word))
  const cells = new Map(given?.columns.map(({ name }, index) => [name, `?${values + times.length + index + 1}`]))
  const [first] = cells.values()
  const columns = [...cells].map(([name, cell]) => `${cell} AS ${name}`)
  let text = sql
    .replace('SELECT * FROM given WHERE true', `VALUES (${[...cells.values()]})`)
    .replace(/SELECT ([$\w(), ]+) FROM given WHERE true/, (_, names: string) => {
      return `VALUES (${names.split(/, ?/).map(name => cells.get(name) ?? name)})`
    })
    .replaceAll('IN given', `= ${first}`)
    .replace(/(?<=(FROM|JOIN) )given\b/g, `(SELECT ${columns}) AS given`)
    .replace(/\bitems\(([^)]*)\)/g, '(SELECT value FROM json_each($1))')
    .replace(/\blisted\(/g, 'json_group_array(')
    .replace(/\bjoined\(([^)]*)\)/g, `CAST(group_concat($1, '') AS BLOB)`)
    .replace(/\btexts\(([^)]*)\)/g, `CAST(group_concat($1, x'ff') AS BLOB)`)
    .replace(/\bby_key\([^)]*\)/g, '')
    .replace(/\$(\d+)/g, '?$1')
    .replace(/\bgreatest\(/g, 'max(')
    .replace(/\bleast\(/g, 'min(')
    .replace(/ FOR (SHARE|UPDATE SKIP LOCKED)\b/g, '')
  for (const [index, [word]] of times.entries()) text = text.replaceAll(word, `?${values + index + 1}`)
  texts.set(sql, { text, times: times.map(([, time]) => time) })
  return texts.get(sql)!
}

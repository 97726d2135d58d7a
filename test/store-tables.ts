// Looks into the tables of a store behind its back, whichever engine it is: what no read of the store itself would show.
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

/** Runs one statement that gives one number; `?` stands for the parameter. */
export async function countIn(url: string, sql: string, parameter?: number): Promise<number> {
  return Number((await valuesIn(url, sql, parameter))[0])
}

/** Runs one statement and gives the first value of each row. */
export async function valuesIn(url: string, sql: string, parameter?: number): Promise<unknown[]> {
  const values = parameter === undefined ? [] : [parameter]
  if (url.startsWith('file:')) {
    const database = new DatabaseSync(url.slice('file:'.length), { readOnly: true })
    try {
      return database
        .prepare(sql)
        .all(...values)
        .map(row => Object.values(row)[0])
    } finally {
      database.close()
    }
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<[string]>({ text: sql.replace('?', '$1::int8'), values, rowMode: 'array' })
    return rows.map(([value]) => value)
  } finally {
    await client.end()
  }
}

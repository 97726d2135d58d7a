// An empty schema on a Citus cluster for one test, and the cluster's servers. Needs a coordinator with its workers at
// ALMANAC_TEST_CITUS_URL, as `scripts/citus-cluster.sh up` prints it.
import { randomBytes } from 'node:crypto'
import pg from 'pg'

export const citusUrl = process.env.ALMANAC_TEST_CITUS_URL

export async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  // A server that is killed ends the connection between two statements: the next one fails.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export function onCitus<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  return onServer(citusUrl as string, work)
}

export async function createSchema(): Promise<{ url: string; drop: () => Promise<unknown> }> {
  const schema = `almanac_${randomBytes(6).toString('hex')}`
  await onCitus(client => client.query(`CREATE SCHEMA ${schema}`))
  const url = new URL(citusUrl as string)
  url.searchParams.set('options', `-c search_path=${schema},public`)
  return { url: url.href, drop: () => onCitus(client => client.query(`DROP SCHEMA ${schema} CASCADE`)) }
}

/** The database of the suite on another server of the cluster, or of a copy of it; with the schema of `url`. */
export function atPort(port: number, url = citusUrl as string): string {
  const other = new URL(url)
  other.port = String(port)
  return other.href
}

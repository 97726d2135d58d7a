// What the address of a database says beyond where it is: two settings of ours, taken out before the driver reads the rest.
import { AlmanacError } from '../../errors.ts'
import { redactStore } from '../../redact-url.ts'
import type { DatabaseOptions } from './database.ts'

const connectionsDefault = 10
const connectionsMax = 200

/** `postgres://user@host/name?pool=10&prepare=false`, and everything that the driver knows, such as sslmode. */
export function databaseOptions(address: string): DatabaseOptions {
  const url = URL.parse(address)
  if (url === null || url.pathname.length < 2)
    throw new AlmanacError('config_invalid', `The store ${redactStore(address)} names no database.`, {
      hint: 'set store to postgres://user:password@host:5432/database.',
    })
  const pool = Number(url.searchParams.get('pool') ?? connectionsDefault)
  const prepare = url.searchParams.get('prepare') ?? 'true'
  if (!Number.isInteger(pool) || pool < 1 || pool > connectionsMax || !/^(true|false)$/.test(prepare))
    throw new AlmanacError('config_invalid', `The store ${redactStore(address)} has a parameter that is not valid.`, {
      hint: `pool is a number from 1 to ${connectionsMax}; prepare is true or false.`,
    })
  url.searchParams.delete('pool')
  url.searchParams.delete('prepare')
  return {
    connectionString: url.href,
    location: redactStore(address),
    connectionsMax: pool,
    namedStatements: prepare === 'true',
  }
}

// Numbers of chains and contracts where what was just written is not seen by other connections yet, as on a cluster.
import { expect, test, vi } from 'vitest'
import { sharedPostgres } from '../../../test/postgres-server.ts'
import type { Address, ChainId } from '../../model.ts'
import { Database } from '../postgres/database.ts'
import { PostgresEngine } from '../postgres/postgres-engine.ts'
import { watchRevision } from '../postgres/revision.ts'
import { databaseOptions, StoreDatabase } from '../postgres/store-database.ts'
import { createTables } from '../postgres/tables.ts'
import { Dictionary } from './dictionary.ts'

const contract = `0x${'c'.repeat(40)}` as Address

test('what a process has written it reads from where it wrote it', async () => {
  const server = await sharedPostgres()
  const options = databaseOptions(await server.createDatabase())
  const database = new Database(options)
  await createTables(database)
  const store = new StoreDatabase({ database, watch: watchRevision(options.connectionString, database) })
  const engine = new PostgresEngine(store)
  const unseen = vi.spyOn(database, 'read').mockResolvedValue([])
  const dictionary = new Dictionary(engine)
  const ordinal = await dictionary.addOrdinal(1 as ChainId)
  const numbers = await dictionary.addContracts(ordinal, [contract])
  unseen.mockRestore()
  const fresh = new Dictionary(engine)
  expect(await engine.read(() => fresh.ordinalOf(1 as ChainId))).toBe(ordinal)
  expect(numbers).toEqual(new Map([[contract, await engine.read(() => fresh.contractOf(ordinal, contract))]]))
  await store.close()
  await server.stop()
})

// Numbers of chains and contracts where what was just written is not seen by other connections yet, as on Citus.
import { expect, test, vi } from 'vitest'
import { sharedPostgres } from '../../../test/postgres-server.ts'
import type { Address, Block, ChainId, Hash } from '../../model.ts'
import { createTables } from './create-tables.ts'
import { Database } from './database.ts'
import { Dictionary } from './dictionary.ts'
import { databaseOptions } from './store-database.ts'
import { storedRows } from './stored-rows.ts'

const contract = `0x${'c'.repeat(40)}` as Address
const block: Block = { number: 7, hash: `0x${'1'.repeat(64)}` as Hash, timestamp: 84 }

test('a row whose contract has no number is refused and not written under 0', () => {
  const row = { block: 7, transactionIndex: 0, logIndex: 0, batchIndex: 0, contract, payload: new Uint8Array(40) }
  const blocks = new Map([[7, block]])
  expect(() => storedRows([row], new Map(), blocks)).toThrow(
    expect.objectContaining({ code: 'store_failed', retryable: true, message: expect.stringContaining(contract) }),
  )
  expect(storedRows([row], new Map([[contract, 3]]), blocks)[0]).toMatchObject({ contract: 3 })
})

test('what a process has written it reads from where it wrote it', async () => {
  const server = await sharedPostgres()
  const database = new Database(databaseOptions(await server.createDatabase()))
  await createTables(database)
  const unseen = vi.spyOn(database, 'read').mockResolvedValue([])
  const dictionary = new Dictionary(database)
  const ordinal = await dictionary.addOrdinal(1 as ChainId)
  const numbers = await dictionary.addContracts(ordinal, [contract])
  unseen.mockRestore()
  const fresh = new Dictionary(database)
  expect(await fresh.ordinalOf(1 as ChainId)).toBe(ordinal)
  expect(numbers).toEqual(new Map([[contract, await fresh.contractOf(ordinal, contract)]]))
  await database.close()
  await server.stop()
})

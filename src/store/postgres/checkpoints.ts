// Small named texts that must survive a restart. No answer shows them.
import type { CheckpointStore } from '../checkpoint-store.ts'
import type { Database, Transaction } from './database.ts'
import type { StoreDatabase } from './store-database.ts'

export function checkpointStore(store: StoreDatabase): CheckpointStore {
  return {
    checkpoint: name => checkpoint(store.database, name),
    putCheckpoint: (name, value) => store.writingUnseen(transaction => putCheckpoint(transaction, name, value)),
  }
}

async function checkpoint(database: Database, name: string): Promise<string | undefined> {
  const [row] = await database.read('SELECT value FROM checkpoints WHERE name = $1', name)
  return row?.[0] ?? undefined
}

export async function putCheckpoint(transaction: Transaction, name: string, value: string): Promise<void> {
  await transaction.run(
    'INSERT INTO checkpoints VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    name,
    value,
  )
}

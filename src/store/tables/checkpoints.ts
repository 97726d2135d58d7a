// Small named texts that must survive a restart. No answer shows them.
import type { CheckpointStore } from '../store.ts'
import { row, run, type Sql, type Tables } from './sql.ts'

/** Without `noteAsked`, which is about watched contracts. */
export function checkpointStore(tables: Tables): Omit<CheckpointStore, 'noteAsked'> {
  return {
    checkpoint: async name =>
      (await tables.reading(() => row<[string]>('SELECT value FROM checkpoints WHERE name = $1', name)))?.[0],
    putCheckpoint: (name, value) => tables.writingUnseen(() => putCheckpoint(name, value)),
  }
}

const put = `INSERT INTO checkpoints (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

export function* putCheckpoint(name: string, value: string): Sql<void> {
  yield* run(put, name, value)
}

// Small named texts that must survive a restart. No answer shows them.
import type { CheckpointStore } from '../checkpoint-store.ts'
import type { Connection } from './connection.ts'
import type { StoreFile } from './store-file.ts'

export function checkpointStore(file: StoreFile): CheckpointStore {
  return {
    checkpoint: async name =>
      file.reading(read => read.get('SELECT value FROM checkpoints WHERE name = ?', name)?.[0] as string | undefined),
    putCheckpoint: (name, value) => file.writingUnseen(connection => putCheckpoint(connection, name, value)),
  }
}

export function putCheckpoint(connection: Connection, name: string, value: string): void {
  connection.run('INSERT OR REPLACE INTO checkpoints VALUES (?, ?)', name, value)
}

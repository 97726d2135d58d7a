// The verdict of the last check of a store file for damage: a checkpoint that goes with the file, so that every process
// on it knows it. It checks nothing itself.
import type { CheckpointStore } from './store.ts'

export const checkName = 'store/check'

/** `ok`, or what SQLite found first. */
export type FileCheck = { atMs: number; verdict: string }

export function parseCheck(text: string | undefined): FileCheck | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as FileCheck)
}

export function isSound({ verdict }: FileCheck): boolean {
  return verdict === 'ok'
}

export async function lastCheck(store: Pick<CheckpointStore, 'checkpoint'>): Promise<FileCheck | undefined> {
  return parseCheck(await store.checkpoint(checkName))
}

// The engines that a suite runs on, each with fresh and empty stores: a file, and a database of a throwaway server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

export type EngineName = 'sqlite' | 'postgres'
export const engineNames: readonly EngineName[] = ['sqlite', 'postgres']

/** Where new stores of one engine come from. `close` removes all of them. */
export type Engine = {
  newStore(): Promise<string>
  /** Of PostgreSQL only. */
  server: PostgresServer | undefined
  close(): Promise<void>
}

export async function startEngine(name: EngineName): Promise<Engine> {
  if (name === 'postgres') {
    const server = await startPostgres()
    return { newStore: () => server.createDatabase(), server, close: () => server.stop() }
  }
  const folder = mkdtempSync(join(tmpdir(), 'almanac-engine-'))
  let stores = 0
  return {
    newStore: async () => `file:${join(folder, `almanac-${++stores}.db`)}`,
    server: undefined,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

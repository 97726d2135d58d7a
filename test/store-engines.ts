// The engines that a suite runs on, each with fresh and empty stores: a file, and a database of the run's server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sharedPostgres } from './postgres-server.ts'
import { isRelease } from './release-runs.ts'

export type EngineName = 'sqlite' | 'postgres'
export const engineNames: readonly EngineName[] = ['sqlite', 'postgres']

/**
 * For a suite of what lies above the store, whose contract is tested on each engine: the one that it runs on, and before
 * a release both.
 */
export function engineAbove(name: EngineName): readonly EngineName[] {
  return isRelease ? engineNames : [name]
}

/** Where new stores of one engine come from. `close` removes all of them. */
export type Engine = {
  newStore(): Promise<string>
  close(): Promise<void>
}

export async function startEngine(name: EngineName): Promise<Engine> {
  if (name === 'postgres') {
    const server = await sharedPostgres()
    return { newStore: () => server.createStore(), close: () => server.stop() }
  }
  const folder = mkdtempSync(join(tmpdir(), 'almanac-engine-'))
  let stores = 0
  return {
    newStore: async () => `file:${join(folder, `almanac-${++stores}.db`)}`,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

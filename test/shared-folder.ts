// Makes what the suites of one run share, and removes it after the last of them: a folder, and the service in one bundle.
// Vitest calls both, in a process whose environment those of the suites inherit.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleService } from './bundled-service.ts'

const made: string[] = []

export async function setup(): Promise<void> {
  const service = await bundleService()
  const shared = mkdtempSync(join(tmpdir(), 'almanac-shared-'))
  made.push(service, shared)
  Object.assign(process.env, { ALMANAC_TESTS_SERVICE: service, ALMANAC_TESTS_SHARED: shared })
}

export function teardown(): void {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
}

// Makes what the suites of one run share, and removes it after the last of them: a folder, and the service in one bundle.
// Vitest calls both for each of its projects, in a process whose environment those of the suites inherit.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleService } from './bundled-service.ts'

export async function setup(): Promise<void> {
  if (process.env.ALMANAC_TESTS_SHARED !== undefined) return
  process.env.ALMANAC_TESTS_SHARED = mkdtempSync(join(tmpdir(), 'almanac-shared-'))
  process.env.ALMANAC_TESTS_SERVICE = await bundleService()
}

export function teardown(): void {
  const { ALMANAC_TESTS_SHARED, ALMANAC_TESTS_SERVICE } = process.env
  for (const folder of [ALMANAC_TESTS_SHARED!, ALMANAC_TESTS_SERVICE!]) rmSync(folder, { recursive: true, force: true })
}

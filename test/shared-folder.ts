// Makes a folder for what the suites of one run share, and removes it after the last of them. Vitest calls both, in a
// process whose environment those of the suites inherit.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function setup(): void {
  process.env.ALMANAC_TESTS_SHARED = mkdtempSync(join(tmpdir(), 'almanac-shared-'))
}

export function teardown(): void {
  rmSync(process.env.ALMANAC_TESTS_SHARED!, { recursive: true, force: true })
}

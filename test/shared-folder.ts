// Makes what the suites of one run share, and removes it after the last of them: a folder, the service in one bundle, and
// a PostgreSQL once a suite asks for it. Vitest calls both, in a process whose environment those of the suites inherit.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleService } from './bundled-service.ts'
import { offerSharedPostgres } from './postgres-server.ts'
import { processorSeconds } from './processor-seconds.ts'
import { offerBrowser } from './shared-browser.ts'
import type { SuiteTimes } from './suite-times.ts'

let remove = async () => {}

/** For the first project of the run; others find what it has made. */
export async function setup(): Promise<void> {
  if (process.env.ALMANAC_TESTS_SHARED !== undefined) return
  const service = await bundleService()
  const shared = mkdtempSync(join(tmpdir(), 'almanac-shared-'))
  Object.assign(process.env, { ALMANAC_TESTS_SERVICE: service, ALMANAC_TESTS_SHARED: shared })
  const removeFolders = () => {
    for (const folder of [service, shared]) rmSync(folder, { recursive: true, force: true })
  }
  // A run that is interrupted ends without the teardown.
  process.once('exit', removeFolders)
  const postgres = await offerSharedPostgres()
  const endBrowser = await offerBrowser(shared, async () => await (await import('./browser.ts')).launchBrowserServer())
  remove = async () => {
    const { ALMANAC_TESTS_TIMES: times } = process.env
    const server = postgres.processId()
    if (times !== undefined && server !== undefined) {
      const told: SuiteTimes = { suite: 'PostgreSQL', seconds: 0, cpuSeconds: processorSeconds(server), started: {} }
      writeFileSync(join(times, 'postgres.json'), JSON.stringify(told))
    }
    await endBrowser()
    await postgres.close()
    removeFolders()
  }
}

export async function teardown(): Promise<void> {
  await remove()
}

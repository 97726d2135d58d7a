// Makes what the suites of one run share, and removes it after the last of them: a folder, the service in one bundle, and
// a PostgreSQL, a browser and the built pages once a suite asks for them. Vitest calls both, in a process whose environment those of the suites inherit.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleService } from './bundled-service.ts'
import { offer, socketIn } from './offered.ts'
import { startSharedPostgres } from './postgres-server.ts'
import { processorSeconds } from './processor-seconds.ts'
import type { SuiteTimes } from './suite-times.ts'

let remove = async () => {}

/** For the first project of the run; others find what it has made. */
export async function setup(): Promise<void> {
  if (process.env.ALMANAC_TESTS_SHARED !== undefined) return
  const service = await bundleService()
  const shared = mkdtempSync(join(tmpdir(), 'almanac-shared-'))
  Object.assign(process.env, { ALMANAC_TESTS_SERVICE: service, ALMANAC_TESTS_SHARED: shared })
  const removeFolders = () => {
    const notes = process.env.ALMANAC_TESTS_CONNECTIONS
    for (const each of [service, shared, ...(notes === undefined ? [] : [notes])])
      rmSync(each, { recursive: true, force: true })
  }
  // A run that is interrupted ends without the teardown.
  process.once('exit', removeFolders)
  const takePostgres = await offer(socketIn(shared, 'postgres'), startSharedPostgres, server => server.url(''))
  // The library that drives the browser is loaded with it.
  const launch = async () => await (await import('./browser.ts')).launchBrowserServer()
  const takeBrowser = await offer(socketIn(shared, 'browser'), launch, browser => browser.wsEndpoint())
  const build = async () => await (await import('./built-pages.ts')).buildPages()
  const takePages = await offer(socketIn(shared, 'pages'), build, () => 'built')
  remove = async () => {
    await takePages()
    await (await takeBrowser())?.close()
    const postgres = await takePostgres()
    const { ALMANAC_TESTS_TIMES: times } = process.env
    const server = postgres?.processId()
    if (times !== undefined && server !== undefined) {
      const told: SuiteTimes = { suite: 'PostgreSQL', seconds: 0, cpuSeconds: processorSeconds(server), started: {} }
      writeFileSync(join(times, 'postgres.json'), JSON.stringify(told))
    }
    await postgres?.stop()
    removeFolders()
  }
}

export async function teardown(): Promise<void> {
  await remove()
}

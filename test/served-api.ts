// The app on a real socket over a real store in a folder of its own, with a real key. Everything ends with `close`.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../src/api/app.ts'
import { type ApiSettings, type AppDependencies, defaultApiSettings } from '../src/api/context.ts'
import { ApiWatch } from '../src/api/live-api.ts'
import { LiveFeed } from '../src/api/live-feed.ts'
import { RequestMeter } from '../src/api/request-figures.ts'
import { type ServeOptions, serveApp } from '../src/api/serve.ts'
import { ChainTable } from '../src/chains.ts'
import { StoreGatekeeper } from '../src/keys/gatekeeper.ts'
import { issueKey, scopes } from '../src/keys/keys.ts'
import { createLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'

export type ServedApi = {
  url: string
  store: Store
  /** A key with every scope and no limit. */
  key: string
  /** What the service has logged. */
  logged: string[]
  /** Sends a request with the key; a header of `undefined` is left out. */
  get(target: string, headers?: Record<string, string | undefined>, method?: string): Promise<Response>
  close(): Promise<void>
}

export type ServedApiOptions = {
  fill?: (store: Store) => Promise<void>
  /** Served instead of a new one; it stays open. */
  store?: Store
  /** What the app reads and writes instead of the store. */
  wrap?: (store: Store) => Store
  settings?: Partial<ApiSettings>
  serve?: Partial<ServeOptions>
  parts?: Partial<AppDependencies>
}

export async function serveApi({
  fill,
  wrap,
  settings,
  serve,
  parts,
  ...given
}: ServedApiOptions = {}): Promise<ServedApi> {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-api-'))
  const store = given.store ?? (await openStore(`file:${join(folder, 'store.db')}`, { role: 'owner' }))
  await fill?.(store)
  const { secret: key } = await issueKey(store, { name: 'test', scopes })
  const gatekeeper = await StoreGatekeeper.open(store)
  const logged: string[] = []
  const status = parts?.status ?? (async () => ({ chains: {}, solana: {} }))
  const version = '0.0.0-test'
  const meter = new RequestMeter()
  const api = new ApiWatch(meter, store)
  const live = new LiveFeed({ status, store, api, version, lookEveryMs: 20, sampleEveryMs: 100 })
  const app = createApp({
    store: wrap?.(store) ?? store,
    chains: new ChainTable(),
    settings: { ...defaultApiSettings, ...settings },
    gatekeeper,
    log: createLog({ level: 'info', format: 'json', write: line => logged.push(line) }),
    metrics: createMetrics(),
    version,
    status,
    live,
    meter,
    ...parts,
  })
  const served = await serveApp(app, { host: '127.0.0.1', port: 0, ...serve })
  return {
    url: served.url,
    store,
    key,
    logged,
    get(target, headers = {}, method = 'GET') {
      const all = Object.entries({ 'x-api-key': key, ...headers }).filter(([, value]) => value !== undefined)
      return fetch(served.url + target, { method, headers: all as [string, string][] })
    },
    async close() {
      live.close()
      await served.close()
      await gatekeeper.close()
      if (given.store === undefined) await store.close()
      await rm(folder, { recursive: true })
    },
  }
}

// Runs the service: the one place where configuration becomes a store, indexers, an app and listeners.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pc from 'picocolors'
import { loadPack } from '../annotate/pack.ts'
import { createApp } from '../api/app.ts'
import { apiSettingsOf } from '../api/context.ts'
import { LiveFeed } from '../api/live-feed.ts'
import { type ServedApp, serveApp } from '../api/serve.ts'
import type { StaticFile, StaticFiles } from '../api/static-files.ts'
import { parseListen } from '../config/listen-address.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Config } from '../config/settings.ts'
import { AlmanacError } from '../errors.ts'
import { StoreGatekeeper } from '../keys/gatekeeper.ts'
import { issueKey, registerOperatorKey, scopes } from '../keys/keys.ts'
import { createLog, type Log, type LogOptions, LogThrottle } from '../log.ts'
import { createMetrics, type Metrics } from '../metrics.ts'
import type { StatusReport } from '../model.ts'
import { Reports } from '../processes/heartbeat.ts'
import { remoteFreshen } from '../processes/remote-freshen.ts'
import { displayAmount } from '../solana/amounts.ts'
import type { KeyStore } from '../store/key-store.ts'
import { openReplica, openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { transactionAsker } from './ask-transaction.ts'
import { showProgress, tinted } from './chain-progress.ts'
import { commandLine, endOnDefect, firstSignal, packageVersion } from './process.ts'
import { type Indexers, startIndexers } from './start-indexers.ts'
import { printNote, Screen, stderrColours } from './terminal.ts'

export type Role = 'api' | 'index'

export type StartOptions = {
  only?: Role | undefined
  /** Registered in place of the operator's. */
  key?: string | undefined
  /** Called once with what the running service is reached by; `say` writes lines for people beside the log. */
  whenListening?: (service: Listening) => Promise<void>
}

export type Listening = {
  url: string
  log: Log
  say: (text: string) => void
  status: () => Promise<StatusReport>
}

export async function start(loaded: LoadedConfig, { only, key, whenListening }: StartOptions): Promise<void> {
  const { config } = loaded
  const hasChains = Object.keys(config.chains).length + Object.keys(config.solana).length > 0
  if (only === 'index' && !hasChains) {
    throw new AlmanacError('not_configured', 'There is nothing to index: no chain is configured.', {
      hint: 'add a chain under chains in the configuration, or start without --only index.',
    })
  }
  const screen =
    hasChains && only !== 'api' && isForPeople(config) && process.stderr.isTTY ? colouredScreen() : undefined
  const write = screen === undefined ? undefined : (text: string) => screen.write(text)
  const log = openLog(config, write)
  endOnDefect(log)
  for (const warning of loaded.warnings) log.warn(warning)
  const signal = firstSignal()

  // Everything that is opened here is closed in the opposite order, also when a later step fails.
  await using opened = new AsyncDisposableStack()
  const metrics = createMetrics({ ofProcess: true })
  const { store, indexers } =
    only === 'api'
      ? await openForServing(config.store, opened)
      : await startIndexers({ loaded, log, logOptions: logOptionsOf(config), metrics, write, opened })

  if (only !== 'api') await providePack(store, log)
  if (only !== 'index') {
    await registerKnownKey(store, log, key)
    const pages = readConsole()
    const servers = await serve({ loaded, store, indexers, console: pages, log, metrics, opened })
    for (const server of servers) log.info(`Listening on ${server.url}`)
    const consoleUrl = pages === undefined ? undefined : `${servers[0]!.url}/`
    await provideFirstKey(store, consoleUrl)
    // Whoever has more to say names the console there.
    if (consoleUrl !== undefined && whenListening === undefined)
      log.info(`The console is at ${consoleUrl} and asks for a key with the scope ops.`)
    const say = write ?? ((text: string) => process.stderr.write(text))
    const listening = { url: servers[0]!.url, log, say, status: indexers.status }
    whenListening?.(listening).catch(error => log.warn({ err: error }, 'What follows the start failed.'))
  }
  // Beside a process that indexes, one that only answers needs no chain of its own.
  if (!hasChains && only !== 'api') sayNothingIsIndexed(log)
  if (hasChains && only !== 'api') opened.defer(showProgress({ status: indexers.status, screen, log }))

  log.info({ signal: await signal }, 'Stopping: running requests may finish. A second signal stops at once.')
}

function colouredScreen(): Screen {
  const { green, red } = pc.createColors(stderrColours)
  return new Screen(process.stderr, line => tinted(line, { live: green, stalled: red }))
}

/** The service works without it: what is wrong with the store shows elsewhere too. */
async function providePack(store: Store, log: Log): Promise<void> {
  try {
    if (await loadPack(store)) log.info('The built-in labels and verified collections are in the store.')
  } catch (error) {
    log.warn({ err: error }, 'Cannot write the built-in labels; the next start tries again.')
  }
}

async function openForServing(
  url: string,
  opened: AsyncDisposableStack,
): Promise<{ store: Store; indexers: Indexers }> {
  const store = await openStore(url, { role: 'reader' })
  opened.defer(() => store.close())
  const reports = new Reports(store)
  const remote = { freshen: remoteFreshen(store, reports), status: () => reports.status() }
  return { store, indexers: { ...remote, metrics: async () => '' } }
}

type Parts = {
  loaded: LoadedConfig
  store: Store
  /** Of this process, or of others on the same store. */
  indexers: Indexers
  console: StaticFiles | undefined
  log: Log
  metrics: Metrics
  opened: AsyncDisposableStack
}

async function serve({ loaded, store, indexers, console, log, metrics, opened }: Parts): Promise<ServedApp[]> {
  const { config, chains } = loaded
  const throttle = new LogThrottle()
  const gatekeeper = await StoreGatekeeper.open(store, {
    onFlushError: error =>
      throttle.say('uses', repeated =>
        log.warn({ err: error, repeated }, 'Cannot write the use of keys; it is tried again.'),
      ),
  })
  opened.defer(() => gatekeeper.close())
  const { limits } = config
  const { status } = indexers
  const version = packageVersion()
  const live = new LiveFeed({ status, store, version })
  const replica =
    config.store_read === undefined ? undefined : await openReplica(store, config.store_read, limits.replicaLagMaxMs)
  if (replica !== undefined) opened.defer(() => replica.close())
  const app = createApp({
    store,
    replica,
    chains,
    gatekeeper,
    log,
    metrics,
    displayAmount,
    status,
    live,
    console,
    freshen: indexers.freshen,
    // A process that only answers has nodes of its own to ask, if any.
    askTransaction: indexers.askTransaction ?? transactionAsker(loaded, opened),
    threadMetrics: indexers.metrics,
    version,
    settings: apiSettingsOf(config),
  })
  const servers: ServedApp[] = []
  opened.defer(async () => void (await Promise.all(servers.map(server => server.close()))))
  // Before the servers: a stream that nobody ends would keep them waiting.
  opened.defer(() => live.close())
  for (const place of [config.listen, config.solana_listen]) {
    if (place !== undefined) servers.push(await serveApp(app, { ...limits, ...parseListen(place)! }))
  }
  return servers
}

function openLog(config: Config, write: ((line: string) => void) | undefined): Log {
  const hidden = [process.env.ALMANAC_KEY ?? '']
  return createLog({ ...logOptionsOf(config), hidden, ...(write === undefined ? {} : { write }) })
}

function logOptionsOf(config: Config): Pick<LogOptions, 'level' | 'format' | 'colours'> {
  return { level: config.log.level, format: isForPeople(config) ? 'text' : 'json', colours: stderrColours }
}

function isForPeople({ log: { format } }: Config): boolean {
  return format === 'text' || (format === 'auto' && process.stderr.isTTY === true)
}

function sayNothingIsIndexed(log: Log): void {
  log.warn('Nothing is indexed: no chain is configured. Requests are answered from what the store holds.')
  log.warn('Add a chain to almanac.yaml, such as `chains: { eth: { rpc: http://node:8545 } }`; see docs/settings.md.')
}

// Sees to it that a starting service has a key: the operator's own from ALMANAC_KEY, or one made for an empty store.

const lengthAdvised = 16

/** `known` is a key that nobody needs to be told of: the sandbox's. */
export async function registerKnownKey(store: KeyStore, log: Log, known?: string): Promise<void> {
  const secret = known ?? process.env.ALMANAC_KEY ?? ''
  if (secret === '') return
  await registerOperatorKey(store, secret)
  if (known === undefined && secret.length < lengthAdvised)
    log.warn(`ALMANAC_KEY is shorter than ${lengthAdvised} characters: it can be guessed.`)
}

/** Only once the service listens: a start that fails would have shown a key that nobody looks for, and no start shows it again. */
export async function provideFirstKey(store: KeyStore, consoleUrl: string | undefined): Promise<void> {
  if ((await store.keys()).length > 0) return
  const { secret } = await issueKey(store, { name: 'first', scopes })
  const console = consoleUrl === undefined ? '' : `\n  Console:  ${consoleUrl}#key=${encodeURIComponent(secret)}\n`
  // Past the log on purpose: logs are kept and shipped, and the secret must exist in one place only.
  printNote(`
  The store is new, so a key with every scope was made. It is shown only now:

      ${secret}
${console}
  Send it as the header X-API-Key; the console asks for it too. More keys: ${commandLine} keys create --help
`)
}

// Reads the built console into memory: from beside the built program, or, in a checkout, from where `web/build.ts` puts it.

const folder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../web/dist' : '../console', import.meta.url),
)

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** By path; undefined where the console was not built. */
export function readConsole(): StaticFiles | undefined {
  if (!existsSync(join(folder, 'index.html'))) return undefined
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => extname(name) in types)
  return new Map(names.map(name => [name === 'index.html' ? '/' : `/${name}`, readStatic(name)]))
}

function readStatic(name: string): StaticFile {
  const path = join(folder, name)
  const plain = readFileSync(path)
  return {
    type: types[extname(name)]!,
    tag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    // Vite puts a hash of the content into the names of these.
    immutable: name.startsWith('assets'),
    plain,
    br: readIfThere(`${path}.br`),
    gzip: readIfThere(`${path}.gz`),
  }
}

function readIfThere(path: string): Buffer<ArrayBuffer> | undefined {
  return existsSync(path) ? readFileSync(path) : undefined
}

// Runs the service: the one place that turns a configuration into a store, indexers, an app and listeners. It also
// registers the first keys.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { realClock } from '../../abort.ts'
import { loadPack } from '../../annotate/pack.ts'
import { createApp } from '../../api/app.ts'
import { apiSettingsOf } from '../../api/context.ts'
import { webhookStatusOf } from '../../api/evm/webhooks/shown-webhook.ts'
import { ApiWatch } from '../../api/live-api.ts'
import { LiveFeed } from '../../api/live-feed.ts'
import { WebReader } from '../../api/media/web-reader.ts'
import { coverageOfChain } from '../../api/operator-routes.ts'
import { RequestMeter } from '../../api/request-figures.ts'
import { type ServedApp, serveApp } from '../../api/serve.ts'
import type { LazyStaticFiles, StaticFiles } from '../../api/static-files.ts'
import type { LoadedConfig } from '../../config/load.ts'
import type { Config } from '../../config/settings.ts'
import { parseListen } from '../../config/settings.ts'
import { AlmanacError } from '../../errors.ts'
import { StoreGatekeeper } from '../../keys/gatekeeper.ts'
import { IndexingLimits } from '../../keys/indexing-limits.ts'
import { issueKey, registerOperatorKey, scopes } from '../../keys/keys.ts'
import { createLog, type Log, type LogOptions, LogThrottle } from '../../log.ts'
import { createMetrics, type Metrics } from '../../metrics.ts'
import { keptFor } from '../../once.ts'
import { Reports } from '../../processes/heartbeat.ts'
import { remoteFreshen } from '../../processes/remote-freshen.ts'
import { askAnyProcess } from '../../processes/remote-transaction.ts'
import { transfersOfBlock } from '../../query/lookups/block-transfers.ts'
import { findProblems } from '../../query/problems.ts'
import { redactStore } from '../../redact.ts'
import { BudgetKeeper, DailyBudget } from '../../rpc/daily-budget.ts'
import { displayAmount } from '../../solana/amounts.ts'
import type { StatusReport } from '../../status.ts'
import { keptAndFilled } from '../../store/index-reader.ts'
import type { KeyStore } from '../../store/key-store.ts'
import { openReplica, openStore, storeFile } from '../../store/open.ts'
import type { StoreRoom } from '../../store/room.ts'
import type { Store } from '../../store/store.ts'
import { showProgress } from '../chain-progress.ts'
import { commandLine, exitOnUncaught, firstSignal, packageVersion } from '../current-process.ts'
import { transactionAsker } from '../open-chain.ts'
import { announceServer, urlHere } from '../running-server.ts'
import { bannerText, pagesAt } from '../screen/banner.ts'
import { isForPeople, stderrColours } from '../terminal.ts'
import { readConsole, readDocs } from './built-pages.ts'
import { namingPort, requirePlace } from './listen-place.ts'
import { onHangup, Reloader } from './reload.ts'
import { ServiceScreen } from './service-screen.ts'
import { type Indexers, startIndexers, watchRoom } from './start-indexers.ts'
import { StoreWatch } from './store-watch.ts'
import { WebhookSupervisor } from './webhook-thread.ts'

export type Role = 'api' | 'index'

export type StartOptions = {
  only?: Role | undefined
  /** Registered instead of the operator's. */
  key?: string | undefined
  /** Reads the configuration again, as for this start; absent where there is none to read. */
  load?: (() => LoadedConfig) | undefined
  /** Called once the service listens; `say` writes lines for people beside the log. */
  whenListening?: (service: Listening) => Promise<void>
}

export type Listening = {
  url: string
  log: Log
  say: (text: string) => void
  status: () => Promise<StatusReport>
}

export async function start(loaded: LoadedConfig, { only, key, load, whenListening }: StartOptions): Promise<void> {
  const { config } = loaded
  const hangup = load === undefined ? undefined : onHangup()
  const hasChains = Object.keys(config.chains).length + Object.keys(config.solana).length > 0
  if (only === 'index' && !hasChains) {
    throw new AlmanacError('not_configured', 'No chain is configured, so there is nothing to index.', {
      hint: 'add a chain under chains in the configuration, or start without --only index.',
    })
  }
  // Everything opened here is closed in reverse order, also when a later step fails.
  await using opened = new AsyncDisposableStack()
  const shown =
    hasChains && only !== 'api' && isForPeople(config) && process.stderr.isTTY ? new ServiceScreen() : undefined
  if (shown !== undefined) opened.defer(() => shown.close())
  const write = shown === undefined ? undefined : (text: string) => shown.screen.write(text)
  const hidden = [process.env.ALMANAC_KEY ?? '']
  const log = createLog({ ...logOptionsOf(config), hidden, ...(write === undefined ? {} : { write }) })
  exitOnUncaught(log)
  const named = [...Object.keys(config.chains), ...Object.keys(config.solana).map(network => `solana ${network}`)]
  const facts = { version: packageVersion(), store: redactStore(config.store), chains: named }
  log.info({ ...facts, told: `Almanac ${facts.version} opens ${facts.store}` }, 'Service starting')
  for (const { event, facts } of loaded.warnings) log.warn(facts, event)
  const signal = firstSignal()
  let stoppingAtMs: number | undefined
  // The last to be closed, so everything else is.
  opened.defer(() => {
    if (stoppingAtMs !== undefined && shown === undefined)
      log.info({ seconds: Math.round(performance.now() - stoppingAtMs) / 1_000 }, 'Shutdown complete')
  })

  // Before anything is created.
  if (only !== 'index' && !existsSync(storeFile(config.store) ?? '/')) await requirePlace(config.listen)
  const metrics = createMetrics({ ofProcess: true })
  const { store, room, indexers } =
    only === 'api'
      ? await openForServing({ loaded, load, log, opened })
      : await startIndexers({ loaded, load, log, logOptions: logOptionsOf(config), metrics, write, opened })

  // What went wrong is in the log.
  shown?.show({ metrics, indexers }, undefined)
  hangup?.ready(() => void indexers.reloader?.reload().catch(() => {}))
  const watch = new StoreWatch({ store, room, url: config.store, log, metrics, checks: only !== 'api' })
  opened.defer(() => watch.close())
  if (only !== 'api') await providePack(store, log)
  const isSandbox = key !== undefined
  const webhooks = only === 'api' ? undefined : sendWebhooks({ loaded, store, isSandbox, log, write })
  opened.defer(() => webhooks?.close())
  if (only !== 'index') {
    const operatorKeyId = await registerKnownKey(store, log, key)
    await reportAdministrators(store, log)
    const pages = readConsole()
    const built = { console: pages, docs: readDocs() }
    // A sandbox may be given the operator's own.
    const sandboxKey = key === process.env.ALMANAC_KEY ? undefined : key
    const keys = { operatorKeyId, sandboxKey, isSandbox, webhooks }
    const servers = await serve({ loaded, store, room, ...keys, indexers, ...built, log, metrics, opened })
    for (const server of servers) log.info({ url: server.url }, 'Server listening')
    opened.defer(announceServer(config.store, servers[0]!.url))
    const url = urlHere(servers[0]!.url.slice('http://'.length))
    const consoleUrl = pages === undefined ? undefined : `${url}/`
    // Other users of the machine may see how the browser is called: only a public key goes with it.
    const fragment = key === undefined ? '' : `#key=${encodeURIComponent(key)}`
    shown?.show({ metrics, indexers }, consoleUrl && `${consoleUrl}${fragment}`)
    const secret = await provideFirstKey(store, log, loaded.file)
    // `whenListening` prints the address of the console itself.
    if (whenListening === undefined) {
      const isSeen = isForPeople(config) && process.stderr.isTTY === true
      if (isSeen || secret !== undefined) showBanner({ loaded, url, consoleUrl, secret })
      if (consoleUrl !== undefined)
        log[isSeen ? 'debug' : 'info']({ url: consoleUrl, scope: 'ops' }, 'Console available to keys with this scope')
    }
    const say = write ?? ((text: string) => process.stderr.write(text))
    const listening = { url, log, say, status: indexers.status }
    whenListening?.(listening).catch(error => log.warn({ err: error }, 'Post-start step failed'))
  }
  // A process that only serves needs no chain: another one may index.
  if (!hasChains && only !== 'api')
    log.warn(
      { hint: 'add a chain under chains; /docs/settings.html lists every setting' },
      'Indexing idle: no chain is configured',
    )
  if (hasChains && only !== 'api') opened.defer(showProgress({ status: indexers.status, screen: shown, log }))

  const told = 'Stopping… Running requests finish; Ctrl-C again stops at once.'
  const name = await signal
  stoppingAtMs = performance.now()
  log.info({ signal: name, told }, 'Shutdown started; running requests finish, a second signal stops at once')
}

type SendingParts = Pick<Parts, 'loaded' | 'store' | 'isSandbox' | 'log'> & {
  write: ((text: string) => void) | undefined
}

function sendWebhooks({ loaded: { config, chains }, store, isSandbox, log, write }: SendingParts): WebhookSupervisor {
  const data = {
    ...{ store: config.store, addedChains: [...chains.added], dialect: config.dialect ?? 'live' },
    settings: { ...config.webhooks, loopback: isSandbox },
    log: logOptionsOf(config),
  }
  return new WebhookSupervisor({ store, data, log, write })
}

/** The service works without the pack; what is wrong with the store shows elsewhere too. */
async function providePack(store: Store, log: Log): Promise<void> {
  try {
    if (await loadPack(store)) log.info('Built-in labels and verified collections written')
  } catch (error) {
    log.warn({ err: error }, 'Built-in labels not written; the next start tries again')
  }
}

type ServingParts = Pick<Parts, 'loaded' | 'log' | 'opened'> & Pick<StartOptions, 'load'>

async function openForServing({
  loaded,
  load,
  log,
  opened,
}: ServingParts): Promise<{ store: Store; room: StoreRoom; indexers: Indexers }> {
  const { config } = loaded
  const plain = await openStore(config.store, { role: 'reader' })
  opened.defer(() => plain.close())
  const { room, store } = await watchRoom(plain, { config, opened, log })
  const reports = new Reports(store)
  const remote = { freshen: remoteFreshen(store, reports, new IndexingLimits(store)), status: () => reports.status() }
  const reloader = load && new Reloader({ loaded, load, log })
  return { store, room, indexers: { ...remote, metrics: async () => '', reloader } }
}

type Parts = {
  loaded: LoadedConfig
  store: Store
  room: StoreRoom
  operatorKeyId: string | undefined
  sandboxKey: string | undefined
  isSandbox: boolean
  /** Absent where other processes send them. */
  webhooks: WebhookSupervisor | undefined
  /** In this process, or in others on the same store. */
  indexers: Indexers
  console: StaticFiles | undefined
  docs: LazyStaticFiles | undefined
  log: Log
  metrics: Metrics
  opened: AsyncDisposableStack
}

/** Each look reads all of them. */
const webhookStatusMs = 2_000

async function serve({ loaded, store, room, indexers, log, metrics, opened, ...parts }: Parts): Promise<ServedApp[]> {
  const { config, chains } = loaded
  const { operatorKeyId, sandboxKey, isSandbox, webhooks, console, docs } = parts
  const throttle = new LogThrottle()
  const gatekeeper = await StoreGatekeeper.open(store, {
    onFlushError: error =>
      throttle.say('uses', repeated => log.warn({ err: error, repeated }, 'Use of keys not written; trying again')),
  })
  opened.defer(() => gatekeeper.close())
  const { limits } = config
  const webhookStatus = keptFor(webhookStatusMs, () => webhookStatusOf(store, chains))
  const status = async (): Promise<StatusReport> => {
    const [report, webhooks] = await Promise.all([indexers.status(), webhookStatus().catch(() => undefined)])
    return webhooks === undefined ? report : { ...report, webhooks }
  }
  const version = packageVersion()
  const contractsOf = (name: string, intervalsMax: number) => coverageOfChain({ store, chains }, name, intervalsMax)
  const hotBlocksOf = async (name: string) => {
    const chain = chains.parse(name)
    return chain === undefined ? [] : await store.hotBlocks(chain.id)
  }
  const transfersIn = async (name: string, block: number) => {
    const id = chains.parse(name)?.id
    if (id === undefined) return undefined
    const { indexes } = await store.indexes.rowState(id)
    if (!keptAndFilled(indexes).kept.has('by_block')) return undefined
    return await transfersOfBlock(store, id, block)
  }
  const meter = new RequestMeter()
  const reports = new Reports(store)
  const problemsOf = (report: StatusReport) =>
    findProblems({ store, chains, status: async () => report, lagMaxSeconds: limits.lagMaxSeconds })
  const live = new LiveFeed({
    ...{ status, store, contractsOf, hotBlocksOf, transfersIn, problemsOf, version, sandbox: isSandbox },
    api: new ApiWatch(meter, store),
  })
  const replica =
    config.storeRead === undefined ? undefined : await openReplica(store, config.storeRead, limits.replicaLagMaxMs)
  if (replica !== undefined) opened.defer(() => replica.close())
  const stopping = new AbortController()
  const web = webReader({ config, store, room, log, opened })
  const app = createApp({
    ...{
      store,
      replica,
      chains,
      gatekeeper,
      operatorKeyId,
      sandboxKey,
      log,
      metrics,
      displayAmount,
      status,
      live,
      meter,
      console,
      docs,
      version,
    },
    freshen: indexers.freshen,
    web,
    stopping: stopping.signal,
    reportedChains: () => reports.chains(),
    headAgeMaxOf: chain => config.chains[chain]?.headAgeMaxSeconds,
    // A process that only serves asks its own nodes, if it has any.
    askTransaction: askAnyProcess({ store, chains, own: indexers.askTransaction ?? transactionAsker(loaded, opened) }),
    threadMetrics: async () => (await indexers.metrics()) + ((await webhooks?.metrics()) ?? ''),
    settings: apiSettingsOf(config, isSandbox),
  })
  const servers: ServedApp[] = []
  opened.defer(async () => void (await Promise.all(servers.map(server => server.close()))))
  // Before the servers: an open stream would keep them waiting.
  opened.defer(() => live.close())
  opened.defer(() => stopping.abort())
  for (const place of [config.listen, config.solanaListen]) {
    if (place === undefined) continue
    const listening = serveApp(app, { ...limits, ...parseListen(place)! })
    servers.push(await (place === config.listen ? namingPort(place, listening) : listening))
  }
  return servers
}

/** Undefined where the operator permits no host: then nothing leaves the machine. */
function webReader({ config, store, room, log, opened }: Omit<WebParts, 'loaded'> & { config: Config }) {
  const { metadata } = config
  if ([metadata.ipfs, metadata.ipns, metadata.ar, metadata.https].every(list => list.length === 0)) return undefined
  const budget = new DailyBudget(metadata.bytesPerDay, realClock, 'metadata.bytes_per_day')
  const keeper = new BudgetKeeper(budget, store)
  const reader = new WebReader({ settings: metadata, store, hasRoom: () => room.full === undefined, budget, log })
  opened.defer(async () => {
    await reader.close()
    await keeper.close()
  })
  return reader
}

type WebParts = Pick<Parts, 'loaded' | 'store' | 'room' | 'log' | 'opened'>

function logOptionsOf(config: Config): Pick<LogOptions, 'level' | 'format' | 'colours'> {
  return { level: config.log.level, format: isForPeople(config) ? 'text' : 'json', colours: stderrColours }
}

const lengthAdvised = 16

/** Registers the operator's key, or `known`: the sandbox's, which is public. Returns its id; undefined without one. */
async function registerKnownKey(store: KeyStore, log: Log, known?: string): Promise<string | undefined> {
  const secret = known ?? process.env.ALMANAC_KEY ?? ''
  if (secret === '') return undefined
  const { id, revokedAt } = await registerOperatorKey(store, secret)
  const facts = { variable: 'ALMANAC_KEY', key_id: id }
  if (revokedAt !== undefined)
    log.warn(
      { ...facts, hint: 'set ALMANAC_KEY to another secret, or unset it' },
      'Operator key revoked; it is refused',
    )
  if (known === undefined && secret.length < lengthAdvised)
    log.warn({ ...facts, characters_advised: lengthAdvised }, 'Operator key short enough to be guessed')
  return id
}

/** Keys with the scope `ops` could administer keys before there was a scope for it. */
async function reportAdministrators(store: KeyStore, log: Log): Promise<void> {
  const now = Date.now()
  const active = (await store.keys()).filter(
    ({ revokedAt, expiresAt }) => revokedAt === undefined && (expiresAt === undefined || expiresAt > now),
  )
  const looking = active.filter(({ scopes }) => scopes.includes('ops') && !scopes.includes('keys'))
  if (looking.length === 0) return
  const facts = { keys: looking.length, hint: `${commandLine} keys create --name admin --scopes ops,keys` }
  const level = active.some(({ scopes }) => scopes.includes('keys')) ? 'info' : 'warn'
  log[level](facts, 'Keys with the scope ops cannot administer keys without the scope keys')
}

/**
 * Creates a key for an empty store, where a person will see it, and returns its secret. Elsewhere stderr is kept and
 * shipped as the log, where no secret belongs: that says how to create one. Call it once the service listens: no later
 * start shows the key again.
 */
async function provideFirstKey(store: KeyStore, log: Log, file: string | undefined): Promise<string | undefined> {
  if ((await store.keys()).length > 0) return undefined
  if (!process.stderr.isTTY) {
    const config = file === undefined || resolve(file) === resolve('almanac.yaml') ? '' : ` --config ${file}`
    const command = `${commandLine} keys create --name admin --scopes all${config}`
    const hint = `set ALMANAC_KEY and start again, or create one beside the store: ${command}`
    log.warn({ hint }, 'Keys missing; every request is refused')
    return undefined
  }
  return (await issueKey(store, { name: 'first', scopes })).secret
}

const knownWallet = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045'

type BannerParts = { loaded: LoadedConfig; url: string; consoleUrl: string | undefined; secret: string | undefined }

/** Where a person looks: what the sandbox shows too. A key is shown by the start that created it alone. */
function showBanner({ loaded, url, consoleUrl, secret }: BannerParts): void {
  const contracts = Object.entries(loaded.config.chains).flatMap(([name, chain]) =>
    chain.contracts.map(contract => `/api/v2.2/nft/${contract}/transfers?chain=${name}&limit=2`),
  )
  // A wallet that is active on most chains: an answer whatever is indexed.
  const wallets = Object.keys(loaded.config.chains).map(
    name => `/api/v2.2/wallets/${knownWallet}/chains?chains=${name}`,
  )
  const isNew = secret !== undefined
  const fragment = isNew ? `#key=${encodeURIComponent(secret)}` : ''
  const text = bannerText({
    paragraphs: isNew ? ['The store is new, so a key with every scope was created. It is not shown again.'] : [],
    consoleUrl: consoleUrl && `${consoleUrl}${fragment}`,
    ...(consoleUrl === undefined ? {} : { pages: pagesAt(url) }),
    trial: isNew ? { key: secret, url: `${url}${contracts[0] ?? wallets[0] ?? '/status'}` } : undefined,
    next: isNew ? `more keys, with ${commandLine} keys create --help` : undefined,
    ...{ width: process.stderr.columns || 80, colours: stderrColours },
  })
  process.stderr.write(text)
}

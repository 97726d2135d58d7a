// Shows the progress of a running server: it reads /status over HTTP, or what the store says where that needs a key and
// none is given, or where another service has the port. It writes nothing.

import { Command } from 'commander'
import { z } from 'zod'
import type { LoadedConfig } from '../config/load.ts'
import { durationText } from '../duration-text.ts'
import { AlmanacError } from '../errors.ts'
import { ledgerName } from '../ledgers.ts'
import type { ChainStatus, Finding, SolanaStatus, Verdict } from '../status.ts'
import { storeIdOf } from '../store/store.ts'
import { coveredBlocks, heldText, transfersText } from './chain-progress.ts'
import { commandLine } from './current-process.ts'
import { openTool } from './open-store.ts'
import { addConfigOptions, loadConfigFor, printWarnings } from './options.ts'
import { sandboxAt, serverMeant, withSandboxElsewhere } from './running-server.ts'
import { nextPort } from './service/listen-place.ts'
import { stoppedState, storedStatus, storeIdAt } from './stored-status.ts'
import {
  barText,
  type Column,
  countOf,
  countText,
  fitted,
  fittedTable,
  paint,
  percentText,
  printable,
  printData,
  printJson,
  printNote,
  rateText,
  whileWaiting,
} from './terminal.ts'

const answerTimeoutMs = 10_000

/** As a server of any version tells it, and the store of a chain that no process reports on: fields may be absent. */
type ShownChain = Omit<Partial<ChainStatus>, 'state'> & { state?: string }
type ShownNetwork = Omit<Partial<SolanaStatus>, 'state'> & { state?: string }
type ShownStatus = {
  version?: string
  store?: { location?: string; full_in_seconds?: number | null }
  chains?: Record<string, ShownChain>
  solana?: Record<string, ShownNetwork>
  verdict?: Verdict
  findings?: readonly Finding[]
}

type StatusOptions = { url?: string; key?: string; listen?: string; json?: true }

export function statusCommand(): Command {
  const command = new Command('status')
    .description('Show the progress of a running server.')
    .option(
      '--url <url>',
      'URL of the server. Default: the one that runs on the store here, else the setting listen. (ALMANAC_URL)',
    )
    .option('--key <secret>', 'A key with the scope ops. (ALMANAC_KEY)')
    .option('--json', 'Print the answer as JSON.')
  const listen = 'Address that the server listens on.'
  addConfigOptions(command, ['listen', 'store'], { listen }).action(async (options: StatusOptions) => {
    // An empty variable counts as unset.
    const url = options.url ?? (process.env.ALMANAC_URL || undefined)
    const key = options.key ?? (process.env.ALMANAC_KEY || undefined)
    if (url !== undefined) return print(options, url, await askStatus(url, key))
    const loaded = loadConfigFor(command)
    printWarnings(loaded)
    const { url: base, key: meant } = serverMeant(loaded, options.listen !== undefined)
    // Asked before a key is sent there.
    const stored = meant === undefined ? await statusBesideStranger(loaded, base) : undefined
    const asked = async () =>
      await askStatus(base, key ?? meant).catch((error: unknown) => {
        const lacksKey = error instanceof AlmanacError && error.code === 'unauthorized' && key === undefined
        if (lacksKey) return statusInStore(loaded, error)
        throw withSandboxElsewhere(error, loaded)
      })
    print(options, base, stored ?? (await asked()))
  })
  return command
}

function print({ json }: StatusOptions, base: string, text: string): void {
  const [status, description] = readStatus(base, text)
  if (json) printJson(status)
  else printData(description)
}

/** A user who can open the store could make a key for it, so this shows nothing that needs one. */
async function statusInStore(loaded: LoadedConfig, refused: AlmanacError): Promise<string> {
  await using opened = new AsyncDisposableStack()
  const store = await openTool(loaded.config.store, opened).catch(() => {
    throw withSandboxElsewhere(refused, loaded)
  })
  printNote('Without a key: the last report in the store. For live figures pass --key.')
  return await storedStatus(store, loaded)
}

/** Undefined where the service is the one of this store, or where that is unknown: no store, or no answer. */
async function statusBesideStranger(loaded: LoadedConfig, base: string): Promise<string | undefined> {
  const answering = await storeIdAt(base)
  if (answering === undefined) return undefined
  await using opened = new AsyncDisposableStack()
  const store = await openTool(loaded.config.store, opened).catch((error: unknown) => {
    const isMissing = error instanceof AlmanacError && error.code === 'not_found'
    if (isMissing && !loaded.unconfigured) throw strangerAlone(loaded, base, error.message)
    return undefined
  })
  if (store === undefined || answering === storeIdOf(store)) return undefined
  printNote(`${base} is ${calledAt(base)}, not the one of this store. This is what the store says.`)
  printNote('Try:   if the service of this store runs elsewhere, pass its URL with --url.')
  return await storedStatus(store, loaded)
}

/** A store that is not there yet has no service: whatever answers has another one, and a key would not help. */
function strangerAlone({ file }: LoadedConfig, base: string, problem: string): AlmanacError {
  const whose = file === undefined ? 'the service here' : `the service of ${file}`
  return new AlmanacError('conflict', `${base} is ${calledAt(base)}, not ${whose}, which has not started yet.`, {
    cause: problem.replace(/\.$/, ''),
    hint: `start it on another port: ${commandLine} start --listen ${nextPort(new URL(base).host)}\nif it runs elsewhere, pass its URL with --url.`,
  })
}

function calledAt(base: string): string {
  const sandbox = sandboxAt(base)
  return sandbox === undefined ? 'another service' : `the sandbox of ${sandbox.directory}`
}

async function askStatus(base: string, key: string | undefined): Promise<string> {
  const url = URL.parse('/status', base)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const hint = 'pass a URL such as http://127.0.0.1:8080 with --url.'
    throw new AlmanacError('bad_request', `${JSON.stringify(base)} is not the URL of a server.`, { hint })
  }
  const headers = key === undefined ? {} : { 'x-api-key': key }
  let answer: Response
  let text: string
  try {
    const asked = fetch(url, { headers, signal: AbortSignal.timeout(answerTimeoutMs) })
    answer = await whileWaiting(`Waiting for ${base}`, asked)
    text = await answer.text()
  } catch (error) {
    const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error
    throw new AlmanacError('upstream_failed', `No server answers at ${base}.`, {
      cause,
      retryable: true,
      hint: 'start the server, or pass its URL with --url.',
    })
  }
  if (answer.ok) return text
  const keyProblem = answer.status === 401 || answer.status === 403
  throw new AlmanacError(
    keyProblem ? 'unauthorized' : 'upstream_failed',
    `${base} answered ${answer.status} to /status.`,
    {
      cause: printable(messageIn(text).slice(0, 200)),
      retryable: answer.status >= 500 || answer.status === 429,
      hint: keyProblem
        ? `pass a key with the scope ops with --key or ALMANAC_KEY.\nwhere the store is, make one: ${commandLine} keys create --name status --scopes ops`
        : 'read the log of the server.',
    },
  )
}

/** The message of an error of this service, or else the whole text. */
function messageIn(text: string): string {
  try {
    return z.looseObject({ message: z.string() }).parse(JSON.parse(text)).message
  } catch {
    return text
  }
}

/** The answer, and the same in words. An answer that cannot be put into words is not a status. */
function readStatus(base: string, text: string): [status: unknown, description: string] {
  try {
    const status = z.looseObject({}).parse(JSON.parse(text))
    return [status, describeStatus(status)]
  } catch (cause) {
    throw new AlmanacError('upstream_invalid', `The server at ${base} is not Almanac.`, { cause })
  }
}

function describeStatus(status: ShownStatus): string {
  const { location = '-', full_in_seconds } = status.store ?? {}
  const forecast =
    full_in_seconds == null ? '' : full_in_seconds === 0 ? ', full' : `, full in ${durationText(full_in_seconds)}`
  const heading = `Almanac ${printable(status.version ?? '')}, store ${printable(location)}${forecast}`
  const rows = [
    ...Object.entries(status.chains ?? {}).map(([name, chain]) => chainRow(name, chain)),
    ...Object.entries(status.solana ?? {}).map(([name, network]) => solanaRow(`solana ${name}`, network)),
  ]
  if (rows.length === 0) return `${heading}\nNothing is indexed.`
  return [paint.bold(heading), fittedTable(columns, rows), ...remarks(status).map(inRoom)].join('\n')
}

function inRoom(remark: string): string {
  return fitted(remark, { output: process.stdout, indent: '  ' })
}

/** An old head and an endpoint that fails are among the findings below, whatever is left out. */
const columns: readonly Column[] = [
  ...[{ title: 'CHAIN' }, { title: 'STATE' }, { title: 'HEAD' }, { title: 'AGE', drop: 4 }, { title: 'LAG' }],
  ...[
    { title: 'COVERED', drop: 1 },
    { title: 'RATE', drop: 5 },
    { title: 'ETA', drop: 2 },
  ],
  { title: 'ENDPOINTS', drop: 3 },
]

function chainRow(name: string, chain: ShownChain): string[] {
  const { head, rates, eta_seconds } = chain
  // A finished chain has no rate and no time left.
  const isDone = eta_seconds === 0
  const rate = rates == null || isDone ? undefined : rateText(rates.blocks_per_second)
  const left = eta_seconds == null || isDone ? undefined : durationText(eta_seconds)
  return rowOf(name, chain, head, [coverageText(chain), rate, left])
}

/** Without a WebSocket nothing is asked before the first request. */
function solanaRow(name: string, network: ShownNetwork): string[] {
  const isIdle = network.state === 'live' && network.slot === 0
  return isIdle ? rowOf(name, { ...network, state: 'idle' }, undefined, []) : rowOf(name, network, network.slot, [])
}

type Shown = Pick<ShownChain, 'state' | 'lag_seconds' | 'rpc' | 'head_age_seconds'>
type Figures = readonly [covered?: string, rate?: string | undefined, left?: string | undefined]

function rowOf(name: string, shown: Shown, height: number | null | undefined, figures: Figures): string[] {
  const { state = '-', lag_seconds, head_age_seconds, rpc = [] } = shown
  const [covered = '-', rate = '-', left = '-'] = figures
  const isKnown = height != null && height >= 0
  const head = isKnown ? countText(height) : '-'
  const behind = isKnown && lag_seconds != null ? durationText(lag_seconds) : '-'
  const age = head_age_seconds == null ? '-' : durationText(head_age_seconds)
  const isUnknown = state === stoppedState
  const healthy = isUnknown
    ? '-'
    : rpc.length === 0
      ? 'none'
      : `${rpc.filter(each => each.healthy).length} of ${rpc.length} healthy`
  return [printable(name), printable(state), head, age, behind, covered, rate, left, healthy]
}

function coverageText(chain: ShownChain): string {
  const { from, index, views, covered = [] } = chain
  const facts = { head: chain.head ?? -1, from, index, views, covered }
  if (index === 'on-demand') return countOf(chain.contracts ?? 0, 'contract')
  const blocks = coveredBlocks(facts)
  // Wallets are then looked up when they are asked for.
  const only = views?.includes('activity') === false ? ' transfers' : ''
  if (blocks === undefined) return '-'
  const transfers = transfersText(blocks)
  const also = transfers === '' ? only : `, ${transfers}`
  return `${barText(blocks.done, blocks.total, { width: 12 })} ${percentText(blocks.done, blocks.total)}${also}`
}

/** The verdict and what is wrong, as the server words them, and what chains do besides. */
function remarks({ verdict, findings = [], chains = {} }: ShownStatus): string[] {
  const isWell = findings.length === 0 && verdict !== undefined
  const told = (isWell ? [verdict] : findings).map(({ text, detail }) =>
    // What begins a sentence follows one.
    detail === undefined ? text : `${text}${/^\p{Lu}/u.test(detail) ? '.' : ':'} ${detail}`,
  )
  const ofChains = Object.entries(chains).flatMap(([name, chain]) => {
    const { state, backfill, as_of, views_filling = [], sources = [], erc20 } = chain
    const held = heldText({ state: state === 'backfilling' ? state : 'live', backfill })
    return [
      ...(as_of === undefined ? [] : [`${name} answers ${as_of}`]),
      ...(held === '' ? [] : [`${name} history ${held}`]),
      ...views_filling.map(
        ({ view, contracts, of }) => `${name} fills ${view}: ${countText(contracts)} of ${countOf(of, 'contract')}`,
      ),
      ...(erc20 === undefined ? [] : tokensText(name, erc20)),
      ...sources.flatMap(({ name: source, state, reason }) =>
        state === 'waiting' && reason !== undefined ? [`${name} source ${source} waits: ${reason}`] : [],
      ),
    ]
  })
  return [...told, ...ofChains].map(printable)
}

/** Nothing of a chain that keeps every token and does so: its row says that it is live. */
function tokensText(chain: string, { state, reason, contracts, queue }: NonNullable<ShownChain['erc20']>): string[] {
  const waiting = queue === undefined ? 0 : queue.running + queue.waiting
  if (state === 'live' && contracts === undefined && waiting === 0) return []
  const indexed = contracts === undefined ? '' : `, ${countOf(contracts, 'token')} indexed`
  const left = waiting === 0 ? '' : `, ${countText(waiting)} of them under way`
  return [`${ledgerName(chain, 'erc20')} ${state}${reason === undefined ? '' : ` (${reason})`}${indexed}${left}`]
}

// Runs the sandbox: starts local chains, writes a configuration for them, and runs the service with it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Sandbox, SandboxChain } from 'almanac-sandbox'
import { Command } from 'commander'
import pc from 'picocolors'
import { stringify } from 'yaml'
import { operatorSource } from '../annotate/shown-facts.ts'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import type { Address, ChainId } from '../model.ts'
import type { Label, Mark } from '../store/annotation-store.ts'
import { openStore } from '../store/open.ts'
import { viewNames } from '../views.ts'
import { beforeCommand, commandLine, exitCodes } from './current-process.ts'
import { addConfigOptions, loadConfigFor } from './options.ts'
import { announceSandbox, sandboxHere, urlHere } from './running-server.ts'
import { bannerText, pagesAt } from './screen/banner.ts'
import { Steps } from './screen/steps.ts'
import { requirePlace } from './service/listen-place.ts'
import type { Listening, start } from './service/service.ts'
import { fitted, isForPeople, printEnd, stderrColours } from './terminal.ts'

type Start = typeof start

export type DemoFlags = { seed?: string }

/** `unconfigured`: the user asked for the service, which has nothing to serve. */
export type DemoOptions = DemoFlags & { unconfigured?: boolean }

export function demoCommand(): Command {
  const command = new Command('demo')
    .description(
      'Run the sandbox: local chains with generated collections and traffic, indexed and served like real ones. Nothing is kept after it stops. Needs the package almanac-sandbox.',
    )
    .option('--seed <text>', 'Seed for the generated collections and wallets.')
  addConfigOptions(command, ['listen', 'dialect', 'log.level', 'log.format']).action(async (flags: DemoFlags) => {
    await demo(file => loadConfigFor(command, file), flags)
  })
  return command
}

const defaultSeed = 'almanac'
/** Public: the sandbox holds nothing worth hiding. */
const sandboxKey = 'sandbox'
/** Blocks after which a block is final: more than the sandbox ever reverts. */
const finality = 12
const network = 'devnet'
const indexedWithinMs = 15_000
const accountsWithinMs = 5_000

export async function demo(load: (file: string) => LoadedConfig, options: DemoOptions): Promise<void> {
  const { seed = defaultSeed, unconfigured = false } = options
  requireSandbox(unconfigured)
  const directory = mkdtempSync(join(tmpdir(), 'almanac-sandbox-'))
  try {
    const file = join(directory, 'almanac.yaml')
    writeFileSync(file, '{}')
    const { config } = load(file)
    await requirePort(config.listen)
    // Elsewhere stderr is the log: programs read it, and text between its lines would stop them.
    const output = isForPeople(config) && process.stderr.isTTY ? process.stderr : process.stdout
    const say = (text: string): void => void output.write(`${fitted(text, { output })}\n`)
    const title = 'Almanac sandbox: starting local chains. Nothing leaves this machine.'
    say(title)
    const { sandbox, start } = await startWithSteps({ seed, directory, output })
    try {
      if (sandbox.chains.length === 0 && sandbox.solana === undefined) {
        for (const reason of sandbox.missing) say(`Missing: ${reason}`)
        throw new AlmanacError('not_configured', 'The sandbox could not start any local chain.', {
          hint: `configure your own nodes: ${commandLine} init.`,
        })
      }
      await serve(sandbox, { directory, file, load, output, start })
    } finally {
      await sandbox.stop()
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  printEnd()
}

type StepsParts = { seed: string; directory: string; output: NodeJS.WriteStream }

/** The program and the chains start at once: both take seconds. */
async function startWithSteps({ seed, directory, output }: StepsParts): Promise<{ sandbox: Sandbox; start: Start }> {
  const { green: ready, yellow: late, dim: soft } = pc.createColors(output === process.stderr && stderrColours)
  const steps = new Steps({ output, paint: { ready, late, soft } })
  // The chains end with this process; what is left is the directory, and a terminal without a cursor.
  const stop = (): never => {
    steps.close({ isStopped: true })
    rmSync(directory, { recursive: true, force: true })
    process.exit(exitCodes.interrupted)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    steps.take('service', 'loading')
    const { startSandbox } = await import('almanac-sandbox')
    const loading = import('./service/service.ts').then(({ start }) => {
      steps.take('service', 'ready')
      return start
    })
    const [sandbox, start] = await Promise.all([
      startSandbox({ seed, step: (...news) => steps.take(...news) }),
      loading,
    ])
    return { sandbox, start }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    steps.close()
  }
}

/** Building the sandbox takes a while: a port in use is reported first. */
async function requirePort(listen: string): Promise<void> {
  const running = sandboxHere()
  const isOwn = running?.url === urlHere(listen)
  await requirePlace(listen, isOwn ? `open the sandbox that runs there: ${consoleAt(running)}` : undefined)
}

/** A package of its own, so that a production install has no blockchain node in it. */
function requireSandbox(unconfigured: boolean): void {
  try {
    import.meta.resolve('almanac-sandbox')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes("'almanac-sandbox'")) throw error
    const install = `npm install ${commandLine === 'almanac' ? '-g ' : ''}almanac-sandbox`
    const problem = unconfigured ? 'Nothing is configured, and the sandbox' : 'The sandbox'
    const instead = unconfigured ? `configure your own chains with ${commandLine} init, or ` : ''
    throw new AlmanacError('not_configured', `${problem} is not installed.`, {
      hint: `${instead}get the sandbox: ${install}, or the image tag sandbox.`,
    })
  }
}

type ServeParts = {
  directory: string
  file: string
  load: (file: string) => LoadedConfig
  output: NodeJS.WriteStream
  start: Start
}

async function serve(sandbox: Sandbox, { directory, file, load, output, start }: ServeParts): Promise<void> {
  let announced = (): void => {}
  try {
    writeFileSync(file, stringify(configurationOf(sandbox, join(directory, 'almanac.db'))))
    const key = process.env.ALMANAC_KEY || sandboxKey
    const loaded = load(file)
    const whenListening = async (service: Listening): Promise<void> => {
      await annotateSandbox(sandbox, loaded.config.store)
      sandbox.begin(({ event, ...facts }) => service.log.warn(facts, `Sandbox ${event}`))
      announced = announceSandbox({ config: file, store: loaded.config.store, url: service.url, key })
      await indexed(service)
      await readAccounts(sandbox, { url: service.url, key })
      const place = { url: service.url, key, directory, width: output.columns || 80 }
      const text = guide(sandbox, { ...place, colours: output === process.stderr && stderrColours })
      if (output === process.stderr) service.say(text)
      else output.write(text)
    }
    await start(loaded, { key, whenListening })
  } finally {
    announced()
  }
}

function configurationOf({ chains, solana }: Sandbox, storeFile: string): object {
  // Full chains keep every token, so that a wallet's are listed before anybody asks for the token.
  const entries = chains.map(({ name, id, url, index }) => {
    const views = index === 'full' ? { views: viewNames } : {}
    return [name, { id, rpc: [url], index, finality, ...views }]
  })
  return {
    store: `file:${storeFile}`,
    chains: Object.fromEntries(entries),
    ...(solana === undefined ? {} : { solana: { [network]: { rpc: [solana.rpcUrl], ws: solana.wsUrl } } }),
  }
}

/** Waits for the index, so that the printed examples answer at once. */
async function indexed({ status }: Listening): Promise<void> {
  const deadline = performance.now() + indexedWithinMs
  while (performance.now() < deadline) {
    const { chains } = await status()
    if (Object.values(chains).every(({ state, complete }) => state === 'live' && complete)) return
    await delay(200, undefined, { ref: false })
  }
}

/** Examples are of accounts that were read, and a new store has none. All, because NFTs go from one to another. */
async function readAccounts({ solana }: Sandbox, { url, key }: { url: string; key: string }): Promise<void> {
  const signal = AbortSignal.timeout(accountsWithinMs)
  const read = async (wallet: string): Promise<void> => {
    const target = `${url}/account/${network}/${wallet}/portfolio`
    const response = await fetch(target, { headers: { 'x-api-key': key }, signal })
    await response.arrayBuffer()
  }
  await Promise.allSettled((solana?.wallets ?? []).map(read))
}

function consoleAt({ url, key }: { url: string; key: string }): string {
  return `${url}/#key=${encodeURIComponent(key)}`
}

type Place = { url: string; key: string; directory: string; width: number; colours?: boolean }

/** One line to try: the others are in the README and the console. Nodes, for those who have none of their own. */
export function guide({ chains, wallets, solana, missing }: Sandbox, place: Place): string {
  const { url, key, directory, width, colours = false } = place
  const first = chains[0]
  const path =
    first !== undefined
      ? `/api/v2.2/nft/${first.collections[0]!.address}/transfers?chain=${first.name}&limit=2`
      : solana !== undefined
        ? `/account/${network}/${solana.wallets[0]}/portfolio`
        : `/api/v2.2/wallets/${wallets[0]}/chains`
  const nodes = [
    ...chains.map(({ name, url }) => [name, url] as const),
    ...(solana === undefined ? [] : [[`solana ${network}`, solana.rpcUrl] as const]),
  ]
  const networks = nodes.map(([name]) => name)
  const are = networks.length === 1 ? 'is a local chain' : 'are local chains'
  return bannerText({
    ...{ width, colours, consoleUrl: consoleAt({ url, key }), pages: pagesAt(url), trial: { key, url: url + path } },
    paragraphs: [
      `This is a sandbox: ${networks.join(', ')} here ${are} with generated collections, tokens, wallets and traffic, and an occasional reorg. The store is ${join(directory, 'almanac.db')}, which is deleted at the end.`,
      ...missing.map(reason => `Missing: ${reason}`),
    ],
    nodes,
    next: 'your own chains; paste this into a terminal in another folder',
    nextLine: beforeCommand === '' ? `${commandLine} init` : `${beforeCommand}almanac init`,
  })
}

const names = ['Sandbox: deployer', 'Ada', 'Ben', 'Cleo', 'Dora', 'Emil']

const own = { source: operatorSource, rank: 'operator', updatedAt: Date.now() } as const

async function annotateSandbox({ chains, wallets }: Sandbox, storeUrl: string): Promise<void> {
  const store = await openStore(storeUrl, { role: 'tool' })
  try {
    await store.annotate({
      labels: [
        ...names.flatMap((label, at) =>
          wallets[at] === undefined ? [] : [{ ...own, chain: undefined, address: wallets[at] as Address, label }],
        ),
        ...chains.flatMap(labelsToTry),
      ],
    })
    await store.annotate({ marks: chains.flatMap(chain => chain.collections.flatMap((_, at) => markOf(chain, at))) })
  } finally {
    await store.close()
  }
}

/** What is indexed on demand is unknown until it is asked for: the console suggests what is marked and labelled. */
function labelsToTry({ id, index, collections: [first] }: SandboxChain): Label[] {
  if (index === 'full' || first === undefined) return []
  return [{ ...own, chain: id as ChainId, address: first.address as Address, label: first.name }]
}

function markOf({ id, index, collections }: SandboxChain, at: number): Mark[] {
  const { kind, address } = collections[at]!
  const isVerified = kind === 'ERC721' || (index === 'on-demand' && at === 0)
  const isSpam = kind === 'airdrop'
  if (!isVerified && !isSpam) return []
  const contract = address as Address
  return [{ ...own, chain: id as ChainId, contract, verified: isVerified || undefined, spam: isSpam || undefined }]
}

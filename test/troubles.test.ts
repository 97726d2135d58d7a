// Six troubles, each made with a real service: what the terminal, the console, `/ready`, metrics and alerts say of it, held
// against the tables of docs/troubleshooting.md. Alerts are judged by a small reader of their rules; no Prometheus runs.
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { serviceRows } from '../src/cli/screen/chain-rows.ts'
import type { StatusReport } from '../src/status.ts'
import { type FiringAlert, firingAlerts, type Scrape } from './alert-rules.ts'
import { CommandPlace, type CommandRun } from './command-run.ts'
import { type SimNode, startSimNode } from './sim/node.ts'

const patience = { timeout: 60_000, interval: 50 }
const operatorKey = 'the-key-of-the-operator'

type Column = 'terminal' | 'console' | 'ready' | 'metrics'
type Seen = Record<Column, string>
type Problem = { problem: string; chain?: string; reason: string }
type LiveStatus = { problems: Problem[]; chains: Record<string, { state: string }>; solana: object }

/** Of the console what decides on its words. Its own types are those of a browser. */
type Console = {
  startLive(): void
  signIn(secret: string, options: { remember: boolean }): void
  signOut(): void
  status: { value: LiveStatus | undefined }
  connection: { value: { state: string; problem?: { message: string } } }
  refusal: { value: string | undefined }
  verdictOf(status: LiveStatus): { text: string; detail: string; others: { text: string }[] }
}

const seen: Record<string, Seen> = {}
const place = new CommandPlace()
const cleanups: (() => unknown)[] = [() => place.dispose()]
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

const blocks = 60

async function startNode(chainId: number, { ageSeconds = 0, from = blocks } = {}): Promise<SimNode> {
  const blockTimeSeconds = 2
  const genesisTime = Math.floor(Date.now() / 1_000) - blocks * blockTimeSeconds - ageSeconds
  const light = { transactionsPerBlock: 1, contracts: 4, erc20Contracts: 1 }
  const clock = { blockTimeSeconds, genesisTime }
  const chain = { chainId, height: from, hashes: 'real', finalityDepth: 20, ...clock, ...light } as const
  const node = await startSimNode({ chain })
  cleanups.push(() => node.close())
  return node
}

/** Two nodes of one chain that went apart long ago. */
async function startParted(chainId: number): Promise<[SimNode, SimNode]> {
  const [one, other] = await Promise.all([startNode(chainId, { from: 10 }), startNode(chainId, { from: 10 })])
  other.reorg({ depth: 5, length: 5 })
  for (const node of [one, other]) node.mine(50)
  return [one, other]
}

const disk = join(place.directory, 'disk')
mkdirSync(disk)
/** A disk of its own takes the rights of root. */
const hasDisk = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]).status === 0
if (hasDisk) cleanups.push(() => spawnSync('umount', [disk]))

let service: CommandRun
let url = ''

/** The console's own modules, with the service in the place of the page's address. */
async function openConsole(secret: string): Promise<Console> {
  const kept = new Map<string, string>()
  const storage = {
    ...{ getItem: (name: string) => kept.get(name) ?? null, removeItem: (name: string) => kept.delete(name) },
    setItem: (name: string, value: string) => void kept.set(name, value),
  }
  const { fetch } = globalThis
  vi.stubGlobal('localStorage', storage)
  vi.stubGlobal('sessionStorage', storage)
  vi.stubGlobal('location', new URL(url))
  vi.stubGlobal('fetch', (path: string, init?: RequestInit) => fetch(new URL(path, url), init))
  cleanups.push(() => vi.unstubAllGlobals())
  const parts = ['state/live.ts', 'state/session.ts', 'overview/verdict.ts'].map(
    path => import(new URL(`../web/src/${path}`, import.meta.url).pathname),
  )
  const console: Console = Object.assign({}, ...(await Promise.all(parts)))
  console.signIn(secret, { remember: false })
  console.startLive()
  return console
}

async function scrape(): Promise<Scrape> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${operatorKey}` } }).catch(
    () => null,
  )
  return { atMs: Date.now(), text: answer?.ok === true ? `${await answer.text()}up 1\n` : 'up 0\n' }
}

async function ready(): Promise<{ status: number; text: string; problems: Problem[] }> {
  const answer = await fetch(`${url}/ready`)
  const text = await answer.text()
  return { status: answer.status, text, problems: JSON.parse(text).problems ?? [] }
}

async function problems(): Promise<string[]> {
  return (await ready()).problems.map(({ problem, chain = '' }) => `${problem} ${chain}`.trim())
}

async function statusCommand(key = operatorKey): Promise<string> {
  const { stdout, stderr } = await place.runHere(['status', '--url', url, '--key', key])
  return stdout + stderr
}

/** The rows of a terminal on which the service would run, and what the command prints. */
async function shownStatus(): Promise<string> {
  const answer = await fetch(`${url}/status`, { headers: { 'x-api-key': operatorKey } })
  const rows = serviceRows((await answer.json()) as StatusReport, { width: 120 })
  return `${rows.join('\n')}\n${await statusCommand()}`
}

function logged(pattern: RegExp): string {
  return service.stderr
    .split('\n')
    .filter(line => pattern.test(line))
    .join('\n')
}

function alertText({ alert, for: lasting, summary, action }: FiringAlert): string {
  return `${alert} for ${lasting}: ${summary} ${action}`
}

/** What there is to see of one chain, as if it were the only one. */
async function seeChain(chain: string, first: Scrape, console: Console): Promise<Seen> {
  const last = await scrape()
  const told = console.status.value!
  const verdict = console.verdictOf({
    ...told,
    chains: { [chain]: told.chains[chain]! },
    problems: told.problems.filter(problem => problem.chain === chain),
  })
  const { status, problems } = await ready()
  const isOfChain = (line: string): boolean => line.includes(`chain="${chain}"`)
  // A node that just failed is asked more often than it will be: that says nothing of ten minutes.
  const alerts = firingAlerts(first, last).filter(({ labels, isRate }) => labels.chain === chain && !isRate)
  return {
    terminal: `${logged(new RegExp(`"chain":"${chain}"`))}\n${await shownStatus()}`,
    console: [verdict.text, verdict.detail, ...verdict.others.map(({ text }) => text)].join('\n'),
    ready: `${status}\n${JSON.stringify(problems.filter(problem => problem.chain === chain))}`,
    metrics: [...last.text.split('\n').filter(isOfChain), ...alerts.map(alertText)].join('\n'),
  }
}

beforeAll(async () => {
  const [stuck, polygonNode, [one, other]] = await Promise.all([
    startNode(1, { ageSeconds: 700 }),
    startNode(137),
    startParted(43_114),
  ])
  const full = { index: 'full' }
  const chains = {
    eth: { rpc: stuck.url, ...full },
    base: { rpc: polygonNode.url, ...full },
    avalanche: { rpc: [one.url, other.url], ...full },
    polygon: { rpc: [polygonNode.url, stuck.url], ...full },
  }
  place.configure(chains, `file:${disk}/almanac.db`)
  service = place.begin(['start', '--listen', '127.0.0.1:0', '--log-format', 'json'], { ALMANAC_KEY: operatorKey })
  cleanups.push(() => service.kill())
  url = await service.listening()
  const made = await place.runHere(['keys', 'create', '--name', 'shop', '--scopes', 'ops', '--json'])
  const { id, secret } = JSON.parse(made.stdout) as { id: string; secret: string }
  const console = await openConsole(secret)
  const first = await scrape()

  const ofChains = ['head_old eth', 'wrong_chain base', 'chain_disputed avalanche', 'wrong_chain polygon']
  await vi.waitFor(async () => expect((await problems()).sort()).toEqual(ofChains.toSorted()), patience)
  const lines = ['Chain head old', 'Chain stalled', 'Chain disputed', 'Endpoint serves another chain']
  for (const line of lines) await service.until(() => service.stderr.includes(`"msg":"${line}`), line)
  await vi.waitFor(() => expect(console.status.value?.problems).toHaveLength(ofChains.length), patience)
  seen['a stuck node'] = await seeChain('eth', first, console)
  seen['a wrong node'] = await seeChain('base', first, console)
  seen['a wrong node beside a right one'] = await seeChain('polygon', first, console)
  seen['a disputed chain'] = await seeChain('avalanche', first, console)
  if (hasDisk) seen['a full disk'] = await fillDisk(first, console, stuck)
  seen['a revoked key'] = await revoke({ id, secret }, first, console)
  seen['a stopped service'] = await stopService(first, console)
})

/** New blocks come meanwhile, and the other troubles go on. */
async function fillDisk(first: Scrape, console: Console, node: SimNode): Promise<Seen> {
  node.mine(3)
  await vi.waitFor(async () => {
    // Again where the service made room: it takes in its log first.
    const { bavail, bsize } = statfsSync(disk)
    appendFileSync(join(disk, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - 2 ** 18)))
    expect(await problems()).toContain('store_full')
  }, patience)
  expect(await problems()).toEqual(expect.arrayContaining(['chain_disputed avalanche', 'wrong_chain base']))
  // The thread that indexes looks for itself, and stops the chains.
  await service.until(() => service.stderr.includes('"msg":"Store full'), 'the pause')
  const states = () => Object.values(console.status.value!.chains).map(({ state }) => state)
  await vi.waitFor(() => expect(new Set(states())).toEqual(new Set(['store_full'])), patience)
  const last = await scrape()
  const { status, text } = await ready()
  const verdict = console.verdictOf(console.status.value!)
  // The forecast is written every ten seconds, and `AlmanacStoreFillsUp` may say the same already.
  const alerts = firingAlerts(first, last).filter(({ alert }) => alert === 'AlmanacStoreFull')
  const shown = await shownStatus()
  rmSync(join(disk, 'ballast'))
  await vi.waitFor(async () => expect(await problems()).not.toContain('store_full'), patience)
  return {
    terminal: `${logged(/Store full/)}\n${shown}`,
    console: `${verdict.text}\n${verdict.detail}`,
    ready: `${status}\n${text}`,
    metrics: `${last.text}\n${alerts.map(alertText).join('\n')}`,
  }
}

async function revoke(key: { id: string; secret: string }, first: Scrape, console: Console): Promise<Seen> {
  const { stderr } = await place.runHere(['keys', 'revoke', key.id])
  await vi.waitFor(() => expect(console.refusal.value).toBeDefined(), patience)
  const refused = await statusCommand(key.secret)
  for (let asked = 0; asked < 20; asked++) await fetch(`${url}/status`, { headers: { 'x-api-key': key.secret } })
  const last = await scrape()
  const { status, text } = await ready()
  // What the process did before shows in others of its alerts.
  const alerts = firingAlerts(first, last).filter(({ alert }) => alert === 'AlmanacKeysRefused')
  return {
    terminal: `${stderr}\n${refused}\n${(await place.runHere(['keys', 'list'])).stdout}`,
    console: console.refusal.value!,
    ready: `${status}\n${text}`,
    metrics: `${last.text}\n${alerts.map(alertText).join('\n')}`,
  }
}

async function stopService(first: Scrape, console: Console): Promise<Seen> {
  console.signIn(operatorKey, { remember: false })
  await vi.waitFor(() => expect(console.connection.value.state).toBe('live'), patience)
  service.child.kill('SIGTERM')
  const { code } = await service.ended()
  await vi.waitFor(() => expect(console.connection.value.problem?.message).toMatch(/does not answer/), patience)
  const why = console.connection.value.problem?.message
  // The address that the console reconnects to may belong to another program soon.
  console.signOut()
  const last = await scrape()
  const failure = await ready().catch((error: Error) => error)
  return {
    terminal: `${logged(/Shutdown/)}\nexit code ${code}\n${await statusCommand()}`,
    console: String(why),
    ready: failure instanceof Error ? 'no answer' : JSON.stringify(failure),
    metrics: `${last.text}\n${firingAlerts(first, last).map(alertText).join('\n')}`,
  }
}

const page = readFileSync(new URL('../docs/troubleshooting.md', import.meta.url), 'utf8')
const columns: readonly Column[] = ['terminal', 'console', 'ready', 'metrics']
/** The sections that begin with a table of where a trouble is seen. */
const rows = [...page.matchAll(/^##+ (.+)\n\n\| where \| what you see \|\n\|---\|---\|\n((?:\|.*\n)+)/gm)].map(
  ([, heading, table]) => {
    const lines = table!.trim().split('\n')
    const parts = lines.map(line => /^\| (.+?) \| (.+) \|$/.exec(line)!)
    return {
      ...{ trouble: heading!.toLowerCase(), places: parts.map(([, where]) => where!) },
      cells: parts.map(([, , what]) => what!),
    }
  },
)

test('the page has a section for every trouble, with all places', () => {
  expect(rows.map(({ trouble }) => trouble)).toEqual([
    ...['a stuck node', 'a wrong node', 'a wrong node beside a right one', 'a disputed chain'],
    ...['a revoked key', 'a full disk', 'a stopped service'],
  ])
  expect(page.match(/^\| where /gm)).toHaveLength(rows.length)
  for (const { places } of rows) expect(places).toEqual(['terminal', 'console', '`/ready`', 'metrics, alert'])
})

/** The texts in code spans, where `…` stands for anything on the line. */
function messagesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, message]) => message!)
}

function isSaid(message: string, text: string): boolean {
  const parts = message.split('…').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(parts.join('.*')).test(text)
}

test.each(rows)('of $trouble the page quotes what was seen', ({ trouble, cells }) => {
  const found = seen[trouble]
  if (found === undefined) return expect([trouble, hasDisk]).toEqual(['a full disk', false])
  for (const [at, column] of columns.entries()) {
    const messages = messagesIn(cells[at]!)
    if (column !== 'ready') expect(messages.length, column).toBeGreaterThan(0)
    for (const message of messages)
      expect(isSaid(message, found[column]), `${message} in:\n${found[column]}`).toBe(true)
  }
})

test('the alerts of each trouble, and no others of its chain', () => {
  const alerts = (trouble: string): string[] =>
    [...(seen[trouble]?.metrics ?? '').matchAll(/^(Almanac\w+) for (\w+): /gm)].map(([, ...parts]) => parts.join(' '))
  expect(Object.fromEntries(Object.keys(seen).map(trouble => [trouble, alerts(trouble)]))).toEqual({
    'a stuck node': ['AlmanacHeadOld 2m'],
    'a wrong node': ['AlmanacWrongChain 1m'],
    'a wrong node beside a right one': ['AlmanacWrongChain 1m'],
    'a disputed chain': ['AlmanacChainDisputed 5m'],
    ...(hasDisk ? { 'a full disk': ['AlmanacStoreFull 0s'] } : {}),
    'a revoked key': ['AlmanacKeysRefused 10m'],
    'a stopped service': ['AlmanacDown 1m'],
  })
})

test('each names its chain everywhere', () => {
  for (const [trouble, chain] of [
    ['a stuck node', 'eth'],
    ['a wrong node', 'base'],
    ['a disputed chain', 'avalanche'],
  ] as const)
    for (const column of columns) expect(seen[trouble]![column], column).toContain(chain)
})

test('a dispute is logged once', () => {
  expect(service.stderr.match(/"msg":"Finality disputed/g)).toHaveLength(1)
})

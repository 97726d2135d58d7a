// What must not alarm anybody, made with a real service: chains that make blocks on demand, a reorg, a first block that
// comes late. Beside them a node that has stopped, which must.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { firingAlerts, type Scrape } from './alert-rules.ts'
import { CommandPlace, type CommandRun } from './command-run.ts'
import { type SimNode, startSimNode } from './sim/node.ts'

const patience = { timeout: 90_000, interval: 100 }
const key = 'the-key-of-the-operator'
const headers = { 'x-api-key': key }
const blocks = 60

type Chain = { state: string; reason?: string; head_old: boolean; following_seconds: number }
type Look = { chains: Record<string, Chain>; problems: string[] }

const place = new CommandPlace()
const cleanups: (() => unknown)[] = [() => place.dispose()]
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

let service: CommandRun
let url = ''
let nodes: Record<'dev' | 'stuck' | 'late' | 'lively', SimNode>
const looks: Look[] = []

async function startNode(chainId: number, ageSeconds = 0): Promise<SimNode> {
  const blockTimeSeconds = 2
  const genesisTime = Math.floor(Date.now() / 1_000) - blocks * blockTimeSeconds - ageSeconds
  const light = { transactionsPerBlock: 1, contracts: 4, erc20Contracts: 1 }
  const clock = { blockTimeSeconds, genesisTime }
  const node = await startSimNode({
    chain: { chainId, height: blocks, hashes: 'real', finalityDepth: 20, ...clock, ...light },
  })
  cleanups.push(() => node.close())
  return node
}

/** A machine that is too busy for the nodes is a reason. */
const isBusy = (reason = ''): boolean => /in time/.test(reason)

async function look(): Promise<Look> {
  const [status, ready] = await Promise.all([fetch(`${url}/status`, { headers }), fetch(`${url}/ready`)])
  const { chains } = (await status.json()) as { chains: Look['chains'] }
  const { problems = [] } = (await ready.json()) as { problems?: { problem: string; chain?: string }[] }
  // A busy machine may be behind after the minute that a start has, or miss the answers of the nodes.
  const isExcused = (chain = ''): boolean => isBusy(chains[chain]?.reason) || chains[chain]!.following_seconds >= 60
  const told = problems.filter(({ problem, chain }) => problem !== 'chain_behind' || !isExcused(chain))
  const seen = { chains, problems: told.map(({ problem, chain }) => `${problem} ${chain}`) }
  looks.push(seen)
  return seen
}

async function scrape(): Promise<Scrape> {
  return { atMs: Date.now(), text: await (await fetch(`${url}/metrics`, { headers })).text() }
}

/** The states that a chain had, each once in a row. */
function statesOf(chain: string): string[] {
  const states = looks.map(({ chains }) => chains[chain]?.state ?? 'missing')
  return states.filter((state, at) => state !== states[at - 1])
}

beforeAll(async () => {
  const [dev, stuck, late, lively] = await Promise.all([
    startNode(31_337, 86_400),
    startNode(1, 700),
    startNode(10, 700),
    startNode(137),
  ])
  nodes = { dev, stuck, late, lively }
  const full = { index: 'full' }
  place.configure(
    {
      dev: { id: 31_337, rpc: dev.url, ...full },
      eth: { rpc: stuck.url, ...full },
      optimism: { rpc: late.url, ...full },
      polygon: { rpc: lively.url, ...full },
      gnosis: { id: 100, rpc: (await startNode(100, 86_400)).url, head_age_max_seconds: 0, ...full },
    },
    'file:./almanac.db',
  )
  service = place.begin(['start', '--listen', '127.0.0.1:0', '--log-format', 'json'], { ALMANAC_KEY: key })
  cleanups.push(() => service.kill())
  // The blocks of some minutes come at once, as from a node that was started with the service: before its head is due.
  late.mine(350)
  url = await service.listening()
})

test('at a start nothing alarms before a block is due, and then the node that has stopped does', {
  timeout: 120_000,
}, async () => {
  const first = await scrape()
  await vi.waitFor(async () => expect((await look()).problems).toContain('head_old eth'), patience)
  expect(new Set(looks.flatMap(({ problems }) => problems))).toEqual(new Set(['head_old eth']))
  const early = looks.filter(({ chains }) => chains.eth!.head_old && chains.eth!.following_seconds < 12)
  expect(early).toEqual([])
  // Whether a chain may be behind was looked at above.
  const alerts = firingAlerts(first, await scrape()).filter(
    ({ isRate, alert }) => !isRate && alert !== 'AlmanacChainBehind',
  )
  expect(alerts.map(({ alert, labels }) => [alert, labels.chain])).toEqual([['AlmanacHeadOld', 'eth']])
  expect(alerts[0]!.action).toContain('set chains.eth.head_age_max_seconds to 0')
  await service.until(() => service.stderr.includes('"msg":"Chain head old'), 'the line')
})

test('a reorg, and a node that goes back for a moment, leave a chain live', {
  timeout: 120_000,
}, async () => {
  await vi.waitFor(async () => expect((await look()).chains.polygon!.state).toBe('live'), patience)
  looks.length = 0
  for (const depth of [1, 3, 8]) {
    nodes.lively.reorg({ depth, length: 1 })
    for (let at = 0; at < 8; at++, await delay(100)) await look()
    nodes.lively.mine(depth)
    for (let at = 0; at < 8; at++, await delay(100)) await look()
  }
  expect(statesOf('polygon')).toEqual(['live'])
})

test('nothing else was logged at the level warn', () => {
  const lines = service.stderr.split('\n').filter(line => /"level":"(warn|error|fatal)"/.test(line))
  const said = lines.map(line => JSON.parse(line) as Record<'chain' | 'msg' | 'reason', string | undefined>)
  expect(
    said.filter(({ reason }) => !isBusy(reason)).map(({ chain, msg, reason = '' }) => [chain, msg, reason]),
  ).toEqual([['eth', 'Chain head old; its node may have stopped importing blocks', '']])
})

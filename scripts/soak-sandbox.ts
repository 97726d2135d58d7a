// Keeps a whole sandbox under its own traffic and under requests, longer than a test can:
//
//   npm run soak:sandbox -- --minutes 5 --busy 2
//
// Ends with exit code 1 where a request failed, a chain or the Solana network stood still for half a minute, or a node
// had to be started again. With `--alarms` also at any alarm, since nothing is wrong with a sandbox: a problem of
// `/ready`, a chain that is stalled or was live and is not, a line of the log at the level warn or above. `--busy`: so
// many loops compete for the processors meanwhile.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    busy: { type: 'string', default: '0' },
    alarms: { type: 'boolean', default: false },
  },
})
const soakMs = Number(options.minutes) * 60_000
const startedWithinMs = 150_000
const stillMsMax = 30_000
const portfoliosEachRound = 10
const headers = { 'x-api-key': 'sandbox' }
/** Of the first wallets of the usual seed, as in the README. */
const portfolio = '/account/devnet/8auSoPVSFzyyEV6svsGAF37kGcZ5e2gZq98bevt5GNF5/portfolio'
const chainsPath = '/api/v2/wallets/0x70997970c51812dc3a010c7d01b50e0d17dc79c8/chains'

const folder = await mkdtemp(join(tmpdir(), 'almanac-soak-'))
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const loops = Array.from({ length: Number(options.busy) }, () => spawn(process.execPath, ['--eval', 'for (;;);']))
const sandbox = spawn(process.execPath, [main, 'demo', '--listen', '127.0.0.1:0', '--log-format', 'json'], {
  cwd: folder,
  env: { ...process.env, TMPDIR: folder },
  stdio: ['ignore', 'pipe', 'pipe'],
})
let printed = ''
for (const stream of [sandbox.stdout, sandbox.stderr])
  stream.setEncoding('utf8').on('data', text => {
    printed += text
  })
const failures: string[] = []
const alarms = new Map<string, number>()
const wereLive = new Set<string>()
try {
  void lookForAlarms()
  await started()
  const printedPaths = [...printed.matchAll(/^curl .*'http:\/\/[^/]+(\/[^']*)'$/gm)].map(([, path]) => path!)
  const paths = [...printedPaths, chainsPath, portfolio]
  const base = /Console: +(http:\/\/[^/]+)/.exec(printed)![1]!
  const heights = new Map<string, { height: number; movedAtMs: number }>()
  let requests = 0
  const begunMs = performance.now()
  for (let saidMs = begunMs; performance.now() - begunMs < soakMs && failures.length === 0; await delay(500)) {
    const asked = [...paths, ...Array(portfoliosEachRound).fill(portfolio)]
    for (const path of asked) {
      const { status } = await fetch(base + path, { headers })
      requests++
      if (status !== 200) failures.push(`${path} answered ${status}`)
    }
    for (const [name, height] of await heightsAt(base)) {
      const before = heights.get(name)
      if (before === undefined || height > before.height) heights.set(name, { height, movedAtMs: performance.now() })
      else if (performance.now() - before.movedAtMs > stillMsMax) failures.push(`${name} stands still at ${height}`)
    }
    if (performance.now() - saidMs < 30_000) continue
    saidMs = performance.now()
    say(`${Math.round((saidMs - begunMs) / 1_000)} s, ${requests} requests, ${heightsText(heights)}`)
  }
  failures.push(...(printed.match(/.*Sandbox (traffic|node) .*/g) ?? []))
  if (options.alarms) {
    failures.push(...(printed.match(/.*"level":"(warn|error|fatal)".*/g) ?? []))
    failures.push(...[...alarms].map(([alarm, times]) => `${alarm}, seen ${times} times`))
  }
  say(`${requests} requests in ${Math.round((performance.now() - begunMs) / 1_000)} s, ${heightsText(heights)}`)
  for (const failure of failures) say(`failed: ${failure}`)
} finally {
  for (const loop of loops) loop.kill()
  sandbox.kill('SIGTERM')
  await new Promise(ended => (sandbox.exitCode === null ? sandbox.once('exit', ended) : ended(undefined)))
  await rm(folder, { recursive: true, force: true })
}
process.exitCode = failures.length > 0 ? 1 : 0

async function started(): Promise<void> {
  const deadline = performance.now() + startedWithinMs
  while (!printed.includes('Next:  ')) {
    if (sandbox.exitCode !== null || performance.now() > deadline)
      throw new Error(`The sandbox did not start:\n${printed}`)
    await delay(100)
  }
}

/** From the first moment on: those of a start are over soon. */
async function lookForAlarms(): Promise<void> {
  for (; sandbox.exitCode === null && !sandbox.killed; await delay(200)) {
    const url = /"url":"([^"]+)","msg":"Server listening"/.exec(printed)?.[1]
    if (url === undefined) continue
    try {
      const { problems = [] } = (await (await fetch(`${url}/ready`)).json()) as { problems?: Record<string, string>[] }
      const { chains, solana } = (await (await fetch(`${url}/status`, { headers })).json()) as Status
      const states = [
        ...Object.entries(chains),
        ...Object.entries(solana).map(([name, network]) => [`solana ${name}`, network] as const),
      ]
      const seen = [
        ...problems.map(({ problem, chain = '', reason }) => `${problem} ${chain}: ${reason}`.replaceAll(/\d+/g, 'N')),
        ...states.flatMap(([name, { state, reason = '' }]) => {
          if (state === 'live') wereLive.add(name)
          const isFirst = state === 'backfilling' && !wereLive.has(name)
          return state === 'live' || isFirst ? [] : [`${name} is ${state} ${reason}`]
        }),
      ]
      for (const alarm of seen) alarms.set(alarm, (alarms.get(alarm) ?? 0) + 1)
    } catch (error) {
      if (!sandbox.killed) alarms.set(`No answer: ${error}`, 1)
    }
  }
}

type Status = {
  chains: Record<string, { state: string; reason?: string; head: number }>
  solana: Record<string, { state: string; reason?: string; slot: number }>
}

async function heightsAt(base: string): Promise<[name: string, height: number][]> {
  const answer = await fetch(`${base}/status`, { headers })
  const { chains, solana } = (await answer.json()) as Status
  return [
    ...Object.entries(chains).map(([name, { head }]): [string, number] => [name, head]),
    ...Object.entries(solana).map(([name, { slot }]): [string, number] => [`solana ${name}`, slot]),
  ]
}

function heightsText(heights: ReadonlyMap<string, { height: number }>): string {
  return [...heights].map(([name, { height }]) => `${name} ${height}`).join(', ')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

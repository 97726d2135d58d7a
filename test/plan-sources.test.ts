// `plan` of chains whose history comes from files, a portal and nodes: which blocks come from where, what is missing and
// what each part takes.
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { topics as events } from '../src/evm/decode/token-events.ts'
import type { Interval } from '../src/model.ts'
import { chainId, cleanups, place, placeEachTest, simulate } from './chain-commands.ts'
import { exportChain } from './sim/export-files.ts'
import type { SimNode } from './sim/node.ts'
import { startSimPortal } from './sim/portal.ts'
import { expectedTransfers } from './sim/truth.ts'

placeEachTest()

const signed = { signed: true, transactionsPerBlock: 2, height: 364 } as const

function exported(node: SimNode, ...intervals: { from: number; to: number }[]) {
  const folder = join(place.directory, 'files')
  return intervals.flatMap(interval => exportChain(node.chain, interval, { folder, format: 'ere', blocksPerFile: 50 }))
}

async function planned() {
  const { code, stdout, stderr } = await place.runHere(['plan', '--json'])
  // On a busy machine it says how far it is.
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^(Sampling sim: .*\n)*$/) })
  return JSON.parse(stdout).chains.sim
}

test('files come before pruned nodes, and what neither has is named', async () => {
  const node = await simulate({
    chain: signed,
    endpoints: [{ faults: [{ kind: 'pruned', below: 120, answer: 'geth' }] }],
  })
  exported(node, { from: 1, to: 99 }, { from: 150, to: 199 })
  place.configure({ sim: { id: chainId, rpc: node.url, index: 'full', history: './files' } })
  const { parts, missing, sources } = await planned()
  const files = [
    { from: 1, to: 99 },
    { from: 150, to: 199 },
  ]
  const nodes = [
    { from: 120, to: 149 },
    { from: 200, to: 300 },
  ]
  const transfersOf = (intervals: typeof files) => intervals.flatMap(each => expectedTransfers(node.chain, each)).length
  expect(parts).toMatchObject([
    { source: 'nodes', intervals: nodes, blocks: 131, transfers: transfersOf(nodes), senders_seconds: 0 },
    {
      ...{ source: 'files', source_name: './files', intervals: files, blocks: 149, from: 1, to: 199 },
      ...{ calls: 0, transfers: transfersOf(files), limited_by: 'machine' },
    },
  ])
  expect(parts[1].bytes).toBeGreaterThan(50_000)
  const transactions = files.reduce((sum, { from, to }) => {
    for (let number = from; number <= to; number++) sum += node.chain.block(number).transactions.length
    return sum
  }, 0)
  expect(parts[1].senders).toMatchObject({ transactions, bytes: parts[1].bytes })
  expect(missing).toEqual([
    { from: 0, to: 0 },
    { from: 100, to: 119 },
  ])
  expect(sources).toMatchObject([{ kind: 'files', blocks: 149, state: 'ready', refused: [] }])
  const { stdout } = await place.runHere(['plan'])
  expect(stdout).toMatch(/\nsim +everything +files +149 +0 /)
  expect(stdout).toContain('\nsim: blocks 120 to 149, 200 to 300 (131 in all) come from nodes.\n')
  expect(stdout).toContain('\nsim: blocks 1 to 99, 150 to 199 (149 in all) come from files (./files).\n')
  expect(stdout).toContain('\nsim: no source has blocks 0, 100 to 119 (21 in all): they stay missing.\n')
  expect(stdout).toMatch(/\nsim: wallets fill after all transfers are there, in a pass of \d+ s: [\d,]+ senders /)
  const { assumptions } = JSON.parse((await place.runHere(['plan', '--json'])).stdout)
  expect(assumptions.join('\n')).toMatch(/\nfiles: .*\nsenders: each core recovers [\d,]+ a second \(measured\)/)
})

test('the tokens of a chain that keeps erc20 are a part of their own, for each source', async () => {
  const node = await simulate({ chain: { ...signed, height: 214 } })
  exported(node, { from: 1, to: 99 })
  const settings = { id: chainId, rpc: node.url, index: 'full', history: './files' }
  place.configure({ sim: settings })
  const without = await planned()
  place.configure({ sim: { ...settings, views: ['transfers', 'erc20'] } })
  const { parts } = await planned()
  expect(parts.map(({ ledger, source }: { ledger?: string; source: string }) => [ledger, source])).toEqual([
    ...[
      [undefined, 'nodes'],
      [undefined, 'files'],
    ],
    ...[
      ['erc20', 'nodes'],
      ['erc20', 'files'],
    ],
  ])
  for (const [at, part] of without.parts.entries()) {
    const { intervals, blocks, calls, transfers } = part
    expect(parts[at]).toMatchObject({ intervals, blocks, transfers })
    expect(parts[2 + at]).toMatchObject({ intervals, blocks, calls })
    expect(parts[2 + at].transfers).toBe(tokenTransfers(node, intervals))
    expect(parts[2 + at].disk_bytes).toBeGreaterThan(0)
  }
  const { stdout } = await place.runHere(['plan'])
  expect(stdout).toMatch(/\nsim +ERC-20 tokens +nodes /)
})

function tokenTransfers({ chain }: SimNode, intervals: readonly Interval[]): number {
  const numbers = intervals.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at))
  const logs = numbers.flatMap(number => chain.block(number).transactions.flatMap(({ logs }) => logs))
  return logs.filter(({ topics }) => topics[0] === events.transfer && topics.length === 3).length
}

test('an archive ends with its files, and says which of them it does not use', async () => {
  const node = await simulate({ chain: signed })
  const files = exported(node, { from: 1, to: 149 })
  truncateSync(files[1]!.path, 2_000)
  place.configure({ sim: { id: chainId, index: 'full', views: ['transfers'], history: './files' } })
  const { parts, missing, sources } = await planned()
  const held = [
    { from: 1, to: 49 },
    { from: 100, to: 149 },
  ]
  expect(parts).toMatchObject([{ source: 'files', intervals: held, blocks: 99, calls: 0, addresses: 0 }])
  expect(parts[0]).not.toHaveProperty('senders')
  expect(missing).toEqual([
    { from: 0, to: 0 },
    { from: 50, to: 99 },
  ])
  expect(sources[0].refused).toMatchObject([{ name: files[1]!.name }])
  const { stdout } = await place.runHere(['plan'])
  expect(stdout).toContain('\nsim: no node is configured: the head is the highest block of its sources.\n')
  expect(stdout).toContain(`\nsim: not used: ${files[1]!.name}: does not end with an index of blocks`)
  expect(stdout).not.toContain('senders:')
  expect([...node.endpoints[0]!.calls.keys()]).toEqual([])
})

test('a portal gives what files do not have, and one without the dataset is named', async () => {
  const node = await simulate({ chain: signed })
  exported(node, { from: 200, to: 249 })
  const portal = await startSimPortal({ chain: node.chain, start: 100 })
  const settings = { id: chainId, rpc: node.url, index: 'full', history: './files', portal: portal.url }
  place.configure({ sim: settings })
  cleanups.push(() => portal.close())
  const { parts, missing } = await planned()
  expect(parts.map(({ source, intervals }: { source: string; intervals: object[] }) => [source, intervals])).toEqual([
    [
      'portal',
      [
        { from: 100, to: 199 },
        { from: 250, to: 300 },
      ],
    ],
    ['files', [{ from: 200, to: 249 }]],
    ['nodes', [{ from: 0, to: 99 }]],
  ])
  expect(missing).toEqual([])
  expect(parts[0]).toMatchObject({ calls: 0, blocks_sampled: 151, source_name: expect.stringContaining('127.0.0.1') })
  expect(parts[0].senders.transactions).toBeGreaterThan(200)
  place.configure({ sim: { ...settings, history: undefined, portal: `${portal.url}-of-another` } })
  const { stdout } = await place.runHere(['plan'])
  expect(stdout).toMatch(/\nsim +everything +nodes +301 /)
  expect(stdout).toMatch(/\nsim: portal \(127\.0\.0\.1:\d+\): it answered with the status 404.*\.\n/)
})

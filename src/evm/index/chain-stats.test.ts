// Rates are of all that is stored, the time that is left of the history alone. What lasts is a stall.
import { expect, onTestFinished, test, vi } from 'vitest'
import { createLog } from '../../log.ts'
import { createEvmMetrics } from '../../metrics.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { ChainStats } from './chain-stats.ts'
import type { FollowStep } from './follow.ts'

const range = (transfers: number): DecodedRange =>
  ({ transfers: Array.from({ length: transfers }), logs: transfers, malformed: {} }) as unknown as DecodedRange

function newStats(): ChainStats {
  return new ChainStats('eth', { metrics: createEvmMetrics(), log: createLog({ level: 'error', format: 'text' }) })
}

test('a chain at its head has rates', () => {
  const chain = newStats()
  chain.stepped({ kind: 'advanced', blocks: 1, caughtUp: true }, { head: 1, lagSeconds: 0 })
  chain.stored([range(3)])
  expect(chain.pace.rates()?.rows_per_second).toBeGreaterThan(0)
  expect(chain.progress.rates()).toBeUndefined()
})

test('endpoints that lag are no failure for a moment, and the reason of a stall if they stay so', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => now.mockRestore())
  const chain = newStats()
  const facts = { head: 20, lagSeconds: 0 }
  const behind = { kind: 'behind', head: 20, stored: 32 } as const
  for (let step = 0; step < 20; step++) chain.stepped(behind, facts)
  expect(chain.failures.stalledBy).toBeUndefined()
  // Blocks are being replaced, by a node that is slow at it.
  now.mockReturnValue(39_000)
  expect(chain.failures.stalledBy).toBeUndefined()
  now.mockReturnValue(40_000)
  expect(chain.failures.stalledBy).toBe('eth endpoints lag: their newest block is 20, block 32 is stored.')
  chain.stepped({ kind: 'idle' }, facts)
  expect(chain.failures.stalledBy).toBeUndefined()
})

test('a failure during a wait has the patience of a failure', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => now.mockRestore())
  const chain = newStats()
  chain.stepped({ kind: 'idle' }, { head: 20, lagSeconds: 0 })
  chain.stepped({ kind: 'behind', head: 20, stored: 32 }, { head: 20, lagSeconds: 0 })
  now.mockReturnValue(20_000)
  chain.failed('head', 'timeout')
  now.mockReturnValue(29_000)
  chain.stepped({ kind: 'behind', head: 20, stored: 32 }, { head: 20, lagSeconds: 0 })
  expect(chain.failures.stalledBy).toBeUndefined()
  now.mockReturnValue(30_000)
  expect(chain.failures.stalledBy).toContain('endpoints lag')
})

test('a reorganisation is told to people in a sentence, and to programs in fields', () => {
  const written = (format: 'json' | 'text'): string[] => {
    const lines: string[] = []
    const log = createLog({ level: 'info', format, write: line => lines.push(line) })
    const stats = new ChainStats('polygon', { metrics: createEvmMetrics(), log })
    for (const depth of [3, 1])
      stats.stepped({ kind: 'reorganised', ancestor: 604, depth, caughtUp: true }, { head: 606, lagSeconds: 0 })
    return lines
  }
  const [three, one] = written('text')
  expect(three!.slice(9)).toBe('info  polygon: 3 blocks replaced above 604 (reorg)\n')
  expect(one!.slice(9)).toBe('info  polygon: 1 block replaced above 604 (reorg)\n')
  const { time: _, ...facts } = JSON.parse(written('json')[0]!)
  expect(facts).toEqual({
    ...{ level: 'info', chain: 'polygon', ancestor: 604, depth: 3, repeated: 0 },
    msg: 'Chain reorganised; switched to the new branch',
  })
})

test('the time left does not swing with a merge that holds commits up, and follows what lasts', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => now.mockRestore())
  const chain = newStats()
  let atMs = 0
  const fill = (seconds: number, blocks: number): void => {
    // Five commits a second: their number must not shorten the time that is looked at.
    for (let commit = 0; commit < seconds * 5; commit++) {
      atMs += 200
      now.mockReturnValue(atMs)
      chain.filled({ blocks: blocks / 5, rows: 0, logs: 0, bytes: 0, ranges: [] })
    }
  }
  fill(600, 1_000)
  expect(chain.progress.secondsFor(1_000_000)).toBeCloseTo(1_000, -2)
  atMs += 50_000
  now.mockReturnValue(atMs)
  expect(chain.progress.secondsFor(1_000_000)).toBeLessThan(1_200)
  fill(600, 100)
  expect(chain.progress.secondsFor(1_000_000)).toBeGreaterThan(9_000)
})

test('reorganisations of one size are logged once in a while', () => {
  const said: { level: string; depth: number }[] = []
  const log = createLog({ level: 'debug', format: 'json', write: line => said.push(JSON.parse(line)) })
  const chain = new ChainStats('eth', { metrics: createEvmMetrics(), log })
  for (const depth of [1, 2, 1, 2, 30])
    chain.stepped({ kind: 'reorganised', ancestor: 100, depth } as FollowStep, { head: 101, lagSeconds: 0 })
  expect(said.filter(({ level }) => level === 'info').map(({ depth }) => depth)).toEqual([1, 30])
  expect(said.filter(({ level }) => level === 'debug')).toHaveLength(5)
})

test('rows of the history are counted once', () => {
  const chain = newStats()
  const filled = { blocks: 10, rows: 3, logs: 3, bytes: 0, ranges: [range(3)] }
  chain.filled(filled)
  chain.filled(filled)
  const { blocks_per_second, rows_per_second } = chain.pace.rates()!
  expect(rows_per_second / blocks_per_second).toBeCloseTo(0.3, 2)
})

test('refusals of a source are counted one by one, also where its list of them gets no longer', async () => {
  const metrics = createEvmMetrics()
  const chain = new ChainStats('eth', { metrics, log: createLog({ level: 'error', format: 'text' }) })
  const portal = { kind: 'portal', refusals: 1 } as const
  chain.refused([portal])
  // One expired, and another came: each source counts for itself, also one that takes the place of another.
  Object.assign(portal, { refusals: 2 })
  chain.refused([portal])
  chain.refused([portal])
  chain.refused([{ kind: 'portal', refusals: 1 }])
  expect(await metrics.registry.metrics()).toContain('almanac_source_refusals_total{chain="eth",source="portal"} 3\n')
})

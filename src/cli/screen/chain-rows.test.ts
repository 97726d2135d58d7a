import { expect, test } from 'vitest'
import type { ChainStatus, StatusReport } from '../../status.ts'
import { serviceRows, tinted } from './chain-rows.ts'

const whole = { from: 0, to: 999, evidence: 'receipts-root', scope: 'full' } as const
const live: ChainStatus = {
  ...{ state: 'live', index: 'full', from: 0, head: 999, finalized: 990, lag_seconds: 0.4, covered: [whole] },
  ...{ complete: true, eta_seconds: 0, rpc: [] },
}
const filling: ChainStatus = {
  ...{ ...live, state: 'backfilling', covered: [{ ...whole, from: 500 }], complete: false, eta_seconds: 241 },
  rates: { blocks_per_second: 10.01, rows_per_second: 1.25, bytes_per_second: 0 },
}
const walletsLater: ChainStatus = {
  ...{
    ...filling,
    covered: [
      { ...whole, from: 900 },
      { ...whole, from: 750, scope: 'transfers' },
    ],
  },
}
const onDemand: ChainStatus = { ...live, index: 'on-demand', covered: [], lag_seconds: 75, contracts: 1 }
const stalled: ChainStatus = { ...live, state: 'stalled', reason: 'it is down. Try: start it.\u001b[2J' }
const report: StatusReport = {
  chains: { eth: live, polygon: filling, gnosis: walletsLater, base: onDemand, bsc: stalled },
  solana: { devnet: { state: 'live', slot: 1_234, lag_seconds: 0.027, rpc: [] } },
}
const served = { requests: 1_204, requestsPerSecond: 3.21, transfers: 1 }

test('every chain has a row with its figures in the same places, and what this run did comes last', () => {
  const rows = serviceRows(report, { width: 149, unicode: false, served, keys: 'Press q to quit.' })
  expect(rows).toEqual([
    'eth            [========================]    100%  live         head 999    lag 0 s',
    'polygon        [===========>            ]   50.0%  backfilling  head 999    lag 0 s         500 of 1,000 blocks  4 min 1 s left  10 blocks/s',
    'gnosis         [=>                      ]   10.0%  backfilling  head 999    lag 0 s         100 of 1,000 blocks  4 min 1 s left  10 blocks/s',
    'base           on demand                           live         head 999    lag 1 min 15 s  1 contract',
    'bsc            stalled: it is down.',
    '               Try: start it.�[2J',
    'solana devnet                                      live         slot 1,234  lag 0 s',
    'this run       1,204 requests served (3.2/s)  1 transfer stored',
    'Press q to quit.',
  ])
})

test('with Unicode the bar is a line', () => {
  const [eth, polygon] = serviceRows(report, { width: 200, unicode: true })
  expect(eth).toContain('  ━━━━━━━━━━━━━━━━━━━━━━━━    100%  live')
  expect(polygon).toContain('  ━━━━━━━━━━━╸────────────   50.0%  backfilling')
})

test.each([200, 149, 119, 99, 79, 60, 49])('at %s columns state, head and lag stay, and the bar goes first', width => {
  const rows = serviceRows(report, { width, unicode: false, served })
  expect(rows.filter(row => row.length > width)).toEqual([])
  const [eth, polygon] = rows
  expect(eth).toMatch(/^eth .* live +head 999 +lag 0 s/)
  expect(polygon).toMatch(/^polygon .* backfilling +head 999 +lag 0 s/)
  expect(polygon!.includes('[')).toBe(width >= 119)
  expect(polygon!.includes('of 1,000 blocks')).toBe(width >= 99)
})

test('a chain whose node has not said a word is stalled from the start, as everywhere else', () => {
  const silent = [{ endpoint: 'node', healthy: false, reason: 'it is down' }]
  const reason = 'eth endpoint node failed: ECONNREFUSED. Try: start it.'
  const eth: ChainStatus = { ...live, state: 'stalled', reason, head: -1, covered: [], lag_seconds: 1, rpc: silent }
  const devnet = { state: 'stalled', reason: 'No endpoint answers.', slot: 0, lag_seconds: 0, rpc: silent } as const
  const rows = (chains: StatusReport['chains']) =>
    serviceRows({ chains, solana: { devnet } }, { width: 120, unicode: false })
  expect(rows({ eth }).map(row => row.slice(15))).toEqual([
    'stalled: eth endpoint node failed: ECONNREFUSED.',
    'Try: start it.',
    'stalled: No endpoint answers.',
  ])
  const { reason: _, ...unasked } = eth
  expect(rows({ eth: { ...unasked, state: 'backfilling' } })[0]).toMatch(/^eth +backfilling {2}no head yet {2}lag 1 s$/)
})

test('a Solana network that was not heard of is not called live', () => {
  const devnet = { state: 'live', slot: 0, lag_seconds: 0, rpc: [{ endpoint: 'node', healthy: true }] } as const
  const [row] = serviceRows({ chains: {}, solana: { devnet } }, { width: 80, unicode: false })
  expect(row).toMatch(/^solana devnet +idle {2}no slot yet {2}lag 0 s$/)
})

test('states are coloured once a line is cut', () => {
  const paint = {
    live: (text: string) => `<${text}>`,
    stalled: (text: string) => `!${text}`,
    soft: (text: string) => `~${text}`,
  }
  expect(tinted('eth  [==]  100%  live  head 9', paint)).toBe('eth  [==]  100%  <live>  head 9')
  expect(tinted('eth  stalled: alive and well', paint)).toBe('!eth  stalled: alive and well')
  expect(tinted('eth  live  head 9, 12 min old  lag 0 s', paint)).toBe('!eth  live  head 9, 12 min old  lag 0 s')
  expect(tinted('eth  backfilling', paint)).toBe('eth  backfilling')
  expect(tinted('this run  12 requests served', paint)).toBe('~this run  12 requests served')
})

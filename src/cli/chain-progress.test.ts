import { expect, test } from 'vitest'
import type { Log } from '../log.ts'
import type { ChainStatus } from '../model.ts'
import { logChain, progressLines, progressText, tinted } from './chain-progress.ts'

const whole = { from: 0, to: 999, evidence: 'receipts-root', scope: 'full' } as const
const live: ChainStatus = {
  ...{ state: 'live', index: 'full', from: 0, head: 999, finalized: 990, lag_seconds: 0.4, covered: [whole] },
  ...{ complete: true, eta_seconds: 0, rpc: [] },
}
const filling: ChainStatus = {
  ...{ ...live, state: 'backfilling', covered: [{ ...whole, from: 500 }], complete: false, eta_seconds: 50 },
  rates: { blocks_per_second: 10.012345678901234, rows_per_second: 1.25, bytes_per_second: 0 },
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
const onDemand: ChainStatus = { ...live, index: 'on-demand', covered: [], lag_seconds: 75 }
const stalled: ChainStatus = { ...live, state: 'stalled', reason: 'it is down. Try: start it.\u001b[2J' }

test('every chain has a line, with its figures in the same places', () => {
  const solana = { devnet: { state: 'live' as const, slot: 1_234, lag_seconds: 0.027, rpc: [] } }
  expect(
    progressLines({
      chains: { eth: live, polygon: filling, gnosis: walletsLater, base: onDemand, bsc: stalled },
      solana,
    }),
  ).toEqual([
    'eth            [========================]    100%  live  head 999  0 s behind',
    'polygon        [===========>            ]   50.0%  500 of 1,000 blocks  10 blocks/s  50 s left',
    'gnosis         [=>                      ]   10.0%  100 of 1,000 blocks  transfers 25.0%  10 blocks/s  50 s left',
    'base           on demand                           live  head 999  1 min 15 s behind  0 contracts',
    'bsc            stalled: it is down.',
    '               Try: start it.�[2J',
    'solana devnet                                      live  slot 1,234  0 s behind',
  ])
})

test('the log names the state, and has the figures as fields', () => {
  const lines: unknown[] = []
  const write = (level: string) => (fields: object, message: string) => lines.push([level, message, fields])
  const log = { info: write('info'), warn: write('warn') } as unknown as Log
  for (const [name, status] of Object.entries({ eth: live, polygon: filling, bsc: stalled }))
    logChain(log, name, status)
  expect(lines).toEqual([
    ['info', 'Chain live', { chain: 'eth', head: 999, lag_seconds: 0.4 }],
    [
      'info',
      'Chain backfilling',
      {
        ...{ chain: 'polygon', head: 999, done: 500, total: 1_000, eta_seconds: 50 },
        ...{ blocks_per_second: 10, rows_per_second: 1.3, bytes_per_second: 0 },
      },
    ],
    ['warn', 'Chain stalled', { chain: 'bsc', reason: stalled.reason }],
  ])
})

test('states are coloured once a line is cut', () => {
  const paint = { live: (text: string) => `<${text}>`, stalled: (text: string) => `!${text}` }
  expect(tinted('eth  [==]  100%  live  head 9', paint)).toBe('eth  [==]  100%  <live>  head 9')
  expect(tinted('eth  stalled: alive and well', paint)).toBe('!eth  stalled: alive and well')
  expect(tinted('eth  backfilling', paint)).toBe('eth  backfilling')
})

test('a line of progress has a bar on a terminal, and leaves out what is not known', () => {
  const facts = { label: 'eth', done: 50, total: 200, blocksPerSecond: 25, secondsLeft: 6 }
  expect(progressText(facts, { bar: true })).toBe(
    'eth  [=====>                  ]   25.0%  50 of 200 blocks  25 blocks/s  6 s left',
  )
  expect(progressText({ ...facts, blocksPerSecond: undefined, secondsLeft: undefined }, { bar: false })).toBe(
    'eth   25.0%  50 of 200 blocks',
  )
})

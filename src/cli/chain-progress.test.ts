import { expect, test, vi } from 'vitest'
import type { Log } from '../log.ts'
import type { ChainStatus, StatusReport } from '../status.ts'
import { logChain, progressText, showProgress } from './chain-progress.ts'
import { barText } from './terminal.ts'

const whole = { from: 0, to: 999, evidence: 'receipts-root', scope: 'full' } as const
const live: ChainStatus = {
  ...{ state: 'live', index: 'full', from: 0, head: 999, finalized: 990, lag_seconds: 0.4, covered: [whole] },
  ...{ complete: true, eta_seconds: 0, rpc: [] },
}
const filling: ChainStatus = {
  ...{ ...live, state: 'backfilling', covered: [{ ...whole, from: 500 }], complete: false, eta_seconds: 50 },
  rates: { blocks_per_second: 10.012345678901234, rows_per_second: 1.25, bytes_per_second: 0 },
}
const stalled: ChainStatus = { ...live, state: 'stalled', reason: 'it is down. Try: start it.\u001b[2J' }

test('the log names the state, and has the figures as fields', () => {
  const lines: unknown[] = []
  const write = (level: string) => (fields: object, message: string) => lines.push([level, message, fields])
  const log = { info: write('info'), warn: write('warn') } as unknown as Log
  for (const [name, status] of Object.entries({ eth: live, polygon: filling, bsc: stalled }))
    logChain(log, name, status)
  expect(lines).toEqual([
    ['info', 'Chain live', { chain: 'eth', state: 'live', head: 999, lag_seconds: 0.4 }],
    [
      'info',
      'Chain backfilling',
      {
        ...{
          chain: 'polygon',
          state: 'backfilling',
          lag_seconds: 0.4,
          head: 999,
          done: 500,
          total: 1_000,
          eta_seconds: 50,
        },
        ...{ blocks_per_second: 10, rows_per_second: 1.3, bytes_per_second: 0 },
      },
    ],
    ['warn', 'Chain stalled', { chain: 'bsc', state: 'stalled', head: 999, lag_seconds: 0.4, reason: stalled.reason }],
  ])
})

test('a chain of Solana is logged as others are, once for each state', async () => {
  const lines: unknown[] = []
  const write = (level: string) => (fields: object, message: string) => lines.push([level, message, fields])
  const log = { info: write('info'), warn: write('warn'), debug: write('debug') } as unknown as Log
  const network = { state: 'live' as const, slot: 1_234, lag_seconds: 0, rpc: [] }
  let solana: StatusReport['solana'] = { devnet: network }
  vi.useFakeTimers()
  const stop = showProgress({ status: async () => ({ chains: { eth: live }, solana }), screen: undefined, log })
  await vi.advanceTimersByTimeAsync(6_000)
  solana = { devnet: { ...network, state: 'stalled', reason: 'No endpoint answers.' } }
  await vi.advanceTimersByTimeAsync(6_000)
  stop()
  vi.useRealTimers()
  expect(lines).toEqual([
    ['info', 'Solana network live', { network: 'devnet', state: 'live', slot: 1_234, lag_seconds: 0 }],
    ['info', 'Chain live', { chain: 'eth', state: 'live', head: 999, lag_seconds: 0.4 }],
    [
      'warn',
      'Solana network stalled',
      { network: 'devnet', state: 'stalled', slot: 1_234, lag_seconds: 0, reason: 'No endpoint answers.' },
    ],
  ])
})

test('what stays wrong is logged every ten minutes, another reason after half a minute', async () => {
  const lines: string[] = []
  const write = ({ reason }: { reason?: string }, message: string) => lines.push(`${message} ${reason ?? ''}`.trim())
  const warn = (fields: object, message: string) => write(fields, `${message}!`)
  const log = { info: write, warn, debug: write } as unknown as Log
  let report: StatusReport = { chains: { bsc: { ...stalled, reason: 'down for 1 s' } }, solana: {} }
  vi.useFakeTimers()
  const stop = showProgress({ status: async () => report, screen: undefined, log })
  const told = async (chain: Partial<ChainStatus>, ms: number, indexer?: StatusReport['indexer']) => {
    report = { chains: { bsc: { ...stalled, ...chain } as ChainStatus }, solana: {}, ...(indexer && { indexer }) }
    await vi.advanceTimersByTimeAsync(ms)
    return lines.splice(0)
  }
  expect(await told({ reason: 'down for 1 s' }, 4_000)).toEqual(['Chain stalled! down for 1 s'])
  expect(await told({ reason: 'down for 90 s' }, 590_000)).toEqual([])
  expect(await told({ reason: 'down for 600 s' }, 10_000)).toEqual(['Chain stalled! down for 600 s'])
  expect(await told({ reason: 'no such host' }, 20_000)).toEqual([])
  expect(await told({ reason: 'no such host' }, 20_000)).toEqual(['Chain stalled! no such host'])
  expect(await told(live, 4_000)).toEqual(['Chain live'])
  const old = 'Chain head old; its node may have stopped importing blocks!'
  expect(await told({ ...filling, head_old: true }, 4_000)).toEqual(['Chain backfilling', old])
  expect(await told({ ...live, head_old: true }, 4_000)).toEqual(['Chain live'])
  expect(await told({ ...live, head_old: false }, 4_000)).toEqual(['Chain live'])
  expect(await told({ ...live, head_old: true }, 4_000)).toEqual(['Chain live', old])
  expect(await told({ ...live, head_old: true }, 590_000)).toEqual([])
  expect(await told({ ...live, head_old: true }, 10_000)).toEqual(['Chain live', old])
  const disputed = { state: 'disputed', reason: 'two sides', head_old: false } as const
  // Where it is found, it has its own warning.
  expect(await told(disputed, 4_000)).toEqual(['Chain disputed two sides'])
  expect(await told(disputed, 600_000)).toEqual(['Chain disputed! two sides'])
  // The thread that ended is logged where it is watched.
  expect(await told({ reason: 'it ended' }, 4_000, { answers: false, restarts: 1 })).toEqual([])
  stop()
  vi.useRealTimers()
})

test('a line of progress has a bar on a terminal, and leaves out what is not known', () => {
  const facts = { label: 'eth', done: 50, total: 200, blocksPerSecond: 25, secondsLeft: 6 }
  expect(progressText(facts, { bar: true })).toBe(
    `eth  ${barText(50, 200)}   25.0%  50 of 200 blocks  25 blocks/s  6 s left`,
  )
  expect(progressText({ ...facts, blocksPerSecond: undefined, secondsLeft: undefined }, { bar: false })).toBe(
    'eth   25.0%  50 of 200 blocks',
  )
})

import { expect, test } from 'vitest'
import { createLog } from '../../log.ts'
import { createEvmMetrics } from '../../metrics.ts'
import type { ChainId } from '../../model.ts'
import { orderBackfill } from '../../store/backfill-order.ts'
import { BackfillControl, type BackfillSettings } from './backfill-control.ts'

const chain = { id: 1 as ChainId, name: 'eth' }

function controlled(settings?: BackfillSettings) {
  const kept = new Map<string, string>()
  const store = {
    checkpoint: async (name: string) => kept.get(name),
    putCheckpoint: async (name: string, value: string) => void kept.set(name, value),
  }
  const said: string[] = []
  const log = createLog({ level: 'info', format: 'json', write: line => said.push(JSON.parse(line).msg) })
  const clock = { nowMs: Date.parse('2026-11-17T23:00:00Z') }
  const metrics = createEvmMetrics()
  let restarts = 0
  const control = new BackfillControl({
    ...{ chain, store, log, metrics, settings },
    measuredRate: () => 100,
    onChange: () => restarts++,
    nowMs: () => clock.nowMs,
  })
  const held = async () =>
    (await metrics.backfillHeld.get()).values.flatMap(({ value, labels }) => (value === 1 ? [labels.reason] : []))
  return { control, store, said, clock, held, restarts: () => restarts }
}

test('an order holds work that is under way, says who gave it, and no time left is made up', async () => {
  const { control, store, said, held } = controlled()
  await control.look()
  const stopping = new AbortController().signal
  const running = control.run(
    signal => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut off')))),
    stopping,
  )
  const paused = { by: 'key console', at: '2026-11-17T22:59:00.000Z' }
  await orderBackfill(store, chain.id, { paused })
  await control.look()
  // What failed because it was told to end is no failure.
  expect(await running).toBe(false)
  expect(control.status()).toEqual({ state: 'paused', paused })
  expect([control.secondsFor(1_000), control.secondsFor(0), await held()]).toEqual([null, 0, ['paused']])
  await control.look()
  await orderBackfill(store, chain.id, { paused: null })
  await control.look()
  expect([control.isHeld, await held(), said]).toEqual([false, [], ['History paused', 'History goes on']])
  await expect(control.run(async () => Promise.reject(new Error('a node')), stopping)).rejects.toThrow('a node')
})

test('outside of its hours history waits, and the time left counts the hours alone', async () => {
  const { control, clock, held } = controlled({ paused: false, hours: '22:00-00:00' })
  await control.look()
  expect(control.status()).toEqual({ state: 'open', hours: '22:00-00:00' })
  // Three hours of work, of which one fits into today.
  expect(control.secondsFor(3 * 3_600 * 100)).toBe(25 * 3_600)
  clock.nowMs += 3_600_000
  await control.look()
  expect(control.status()).toEqual({
    state: 'outside_hours',
    hours: '22:00-00:00',
    opens_at: '2026-11-18T22:00:00.000Z',
  })
  // At the rate of when it was open.
  expect([control.secondsFor(3_600 * 100), await held()]).toEqual([23 * 3_600, ['hours']])
  control.configure({ paused: false })
  expect(control.status()).toEqual({ state: 'open' })
})

test('a throttle goes before the settings and bounds the time left', async () => {
  const { control, store, restarts } = controlled({ paused: false, blocksPerSecond: 40, hours: '01:00-02:00' })
  const ordered = { by: 'ada (command)', at: '2026-11-17T22:59:00.000Z' }
  await orderBackfill(store, chain.id, { throttle: { blocks_per_second: 10, hours: '22:00-02:00', ...ordered } })
  await control.look()
  expect(control.status()).toEqual({ state: 'open', blocks_per_second: 10, hours: '22:00-02:00' })
  expect([control.rate.perSecond, control.secondsFor(1_000), restarts()]).toEqual([10, 100, 2])
  await orderBackfill(store, chain.id, { throttle: null })
  await control.look()
  expect([control.rate.perSecond, control.status().state]).toEqual([40, 'outside_hours'])
})

test('a pause of the settings is not ended by an order', async () => {
  const { control, store } = controlled({ paused: true })
  await orderBackfill(store, chain.id, { paused: null })
  await control.look()
  expect(control.status()).toEqual({ state: 'paused', paused: { by: 'settings' } })
})

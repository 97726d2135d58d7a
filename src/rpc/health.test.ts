// What is remembered of an endpoint, with time moved by hand.
import { expect, test } from 'vitest'
import { ManualClock } from '../../test/sim/manual-clock.ts'
import { EndpointHealth } from './health.ts'

function started() {
  const clock = new ManualClock()
  return { clock, health: new EndpointHealth(clock) }
}

test('three failures in a row and it rests, longer each time, until it answers', async () => {
  const { clock, health } = started()
  health.failed('no route')
  health.failed('no route')
  expect(health.healthy).toBe(true)
  health.failed('no route')
  expect([health.healthy, health.restsForMs, health.reason]).toEqual([false, 1_000, 'no route'])
  await clock.advance(1_000)
  expect(health.healthy).toBe(true)
  health.failed('no route')
  expect(health.restsForMs).toBe(2_000)
  health.succeeded()
  expect([health.healthy, health.reason, health.errors]).toEqual([true, undefined, 4])
})

test('wrong answers make it rest at once, whatever it answers besides', async () => {
  const { clock, health } = started()
  health.distrusted('its bloom differs')
  health.succeeded()
  expect([health.healthy, health.reason]).toEqual([false, 'its bloom differs'])
  await clock.advance(1_000)
  expect([health.healthy, health.reason]).toEqual([true, undefined])
  health.distrusted('its bloom differs')
  expect(health.restsForMs).toBe(2_000)
  await clock.advance(11 * 60_000)
  health.distrusted('its bloom differs')
  expect(health.restsForMs).toBe(1_000)
})

test('the tail of a method is known once enough was seen of it', () => {
  const { health } = started()
  for (let at = 1; at <= 7; at++) health.answered('eth_getLogs', at)
  expect(health.tailMs('eth_getLogs')).toBeUndefined()
  for (let at = 8; at <= 24; at++) health.answered('eth_getLogs', at)
  expect(health.tailMs('eth_getLogs')).toBe(23)
  expect(health.tailMs('eth_call')).toBeUndefined()
})

test('failures and slowness make it the worse choice, and fade', async () => {
  const { clock, health } = started()
  health.answered('eth_call', 100)
  const fresh = health.expectedMs
  health.overtaken('eth_call', 1_000)
  const slow = health.expectedMs
  expect(slow).toBeGreaterThan(fresh * 5)
  await clock.advance(5 * 60_000)
  expect(health.expectedMs).toBeLessThan(slow / 30)
})

test('a method that is missing is missing for a while', async () => {
  const { clock, health } = started()
  health.lacks('eth_getBlockReceipts')
  expect([health.hasMethod('eth_getBlockReceipts'), health.hasMethod('eth_getLogs')]).toEqual([false, true])
  await clock.advance(10 * 60_000)
  expect(health.hasMethod('eth_getBlockReceipts')).toBe(true)
})

import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { inTurns, Places } from './places.ts'

const max = { all: 4, ofKey: 3, bytes: 1_000, patienceMs: 20 }

test('a key has so many places, and those of others stay free', () => {
  const places = new Places(max)
  const taken = Array.from({ length: 4 }, () => places.take('a', () => {}))
  expect(taken.map(place => place !== undefined)).toEqual([true, true, true, false])
  expect(places.take('b', () => {})).toBeDefined()
  expect(places.take('b', () => {})).toBeUndefined()
  taken[0]!.free()
  // Given back once.
  taken[0]!.free()
  expect([places.taken, places.countOf('a')]).toEqual([3, 2])
  expect(places.take('a', () => {})).toBeDefined()
})

test('where all are taken, what takes longest is cut, of the key itself if it has all of its own', async () => {
  const places = new Places(max)
  const cut: string[] = []
  for (const name of ['a1', 'a2', 'b1', 'b2']) places.take(name[0]!, () => cut.push(name))
  places.take('c', () => {})
  expect(cut).toEqual([])
  await delay(max.patienceMs + 5)
  places.take('c', () => {})
  expect(cut).toEqual(['a1'])
  const own = new Places(max)
  for (const name of ['b1', 'a1', 'a2', 'a3']) own.take(name[0]!, () => cut.push(name))
  await delay(max.patienceMs + 5)
  own.take('a', () => {})
  expect(cut).toEqual(['a1', 'a1'])
})

test('bodies have a bound in all', () => {
  const places = new Places(max)
  const place = places.take('a', () => {})!
  place.holds(1_000)
  expect(places.take('b', () => {})).toBeUndefined()
  place.free()
  expect(places.take('b', () => {})).toBeDefined()
})

test('keys take turns, the one with least under way first', () => {
  const places = new Places(max)
  places.take('a', () => {})
  expect(inTurns(['a1', 'a2', 'a3', 'b1', 'b2'], name => name[0]!, places)).toEqual(['b1', 'a1', 'b2', 'a2', 'a3'])
})

import { expect, test, vi } from 'vitest'
import { Flights, keptFor, once, oneFlight } from './once.ts'

test('what is made once is kept, unless making it failed', () => {
  const make = vi.fn<() => undefined>()
  make.mockImplementationOnce(() => {
    throw new Error('not yet')
  })
  const made = once(make)
  expect(made).toThrow('not yet')
  expect([made(), made()]).toEqual([undefined, undefined])
  expect(make).toHaveBeenCalledTimes(2)
})

test('what is kept for a time is read again after it', async () => {
  vi.useFakeTimers()
  try {
    let reads = 0
    const read = keptFor(100, async () => ++reads)
    expect(await Promise.all([read(), read()])).toEqual([1, 1])
    vi.advanceTimersByTime(99)
    expect(await read()).toBe(1)
    vi.advanceTimersByTime(1)
    expect(await read()).toBe(2)
  } finally {
    vi.useRealTimers()
  }
})

/** Work that ends when the test says so. */
function startable() {
  const started: PromiseWithResolvers<number>[] = []
  const fly = (): Promise<number> => {
    const flight = Promise.withResolvers<number>()
    started.push(flight)
    return flight.promise
  }
  return { started, fly }
}

test('those who ask for the same meanwhile get one answer, and one failure', async () => {
  const { started, fly } = startable()
  const flights = new Flights<string, number>()
  const [first, second, other] = [flights.join('a', fly), flights.join('a', fly), flights.join('b', fly)]
  expect([started.length, flights.of('a') === first, flights.of('c')]).toEqual([2, true, undefined])
  const settled = flights.settled()
  started[0]!.resolve(1)
  expect(await Promise.all([first, second])).toEqual([1, 1])
  started[1]!.reject(new Error('b fails'))
  await expect(other).rejects.toThrow('b fails')
  await expect(settled).rejects.toThrow('b fails')
  // Neither is kept.
  expect([flights.of('a'), flights.of('b')]).toEqual([undefined, undefined])
  void flights.join('a', fly)
  expect(started).toHaveLength(3)
})

test('a bound refuses others, and lets those who join through', async () => {
  const { started, fly } = startable()
  const flights = new Flights<string, number>({ max: 1, what: 'mints' })
  const [first, joined] = [flights.join('a', fly), flights.join('a', fly)]
  const refused = { code: 'overloaded', message: 'More than 1 mints are being read at once.', retryAfterMs: 1_000 }
  await expect(flights.join('b', fly)).rejects.toMatchObject(refused)
  started[0]!.resolve(1)
  expect(await Promise.all([first, joined])).toEqual([1, 1])
  void flights.join('b', fly)
  expect(started).toHaveLength(2)
})

test('one flight takes the arguments of whoever began it', async () => {
  const asked: string[] = []
  const fly = oneFlight(async (name: string) => {
    asked.push(name)
    return name
  })
  expect(await Promise.all([fly('a'), fly('b')])).toEqual(['a', 'a'])
  expect(await fly('c')).toBe('c')
  expect(asked).toEqual(['a', 'c'])
})

import { setTimeout as delay } from 'node:timers/promises'
import { expect, expectTypeOf, test } from 'vitest'
import type { ChainSettings } from '../../config/settings.ts'
import type { EvmChainSettings } from '../../evm/create-evm.ts'
import { staleWhileRevalidate } from './start-indexers.ts'

const always = { staleAfterMs: 1e9, expiredAfterMs: 1e9 }

/** Answers 1, 2, 3 … when it is told to. */
function slowSource() {
  const waiting: PromiseWithResolvers<number>[] = []
  let asked = 0
  return {
    ask: (): Promise<number> => {
      asked++
      const question = Promise.withResolvers<number>()
      waiting.push(question)
      return question.promise
    },
    answer: async (value: number): Promise<void> => {
      waiting.shift()?.resolve(value)
      await delay(0)
    },
    fail: async (): Promise<void> => {
      waiting.shift()?.reject(new Error('no'))
      await delay(0)
    },
    get asked() {
      return asked
    },
  }
}

test('the first answer is waited for, by all at once', async () => {
  const source = slowSource()
  const ask = staleWhileRevalidate(always, source.ask)
  const both = Promise.all([ask(), ask()])
  await source.answer(1)
  expect([await both, await ask(), source.asked]).toEqual([[1, 1], 1, 1])
})

test('a stale answer is given at once, and asked for again only once meanwhile', async () => {
  const source = slowSource()
  const ask = staleWhileRevalidate({ staleAfterMs: -1, expiredAfterMs: 1e9 }, source.ask)
  const first = ask()
  await source.answer(1)
  expect([await first, await ask(), await ask(), source.asked]).toEqual([1, 1, 1, 2])
  await source.answer(2)
  expect(await ask()).toBe(2)
})

test('a forgotten answer is waited for', async () => {
  const source = slowSource()
  const ask = staleWhileRevalidate({ staleAfterMs: -1, expiredAfterMs: -1 }, source.ask)
  const first = ask()
  await source.answer(1)
  const second = ask()
  await source.answer(2)
  expect([await first, await second]).toEqual([1, 2])
})

test('a failure is told to who waited, and the known answer stays', async () => {
  const source = slowSource()
  const ask = staleWhileRevalidate({ staleAfterMs: -1, expiredAfterMs: 1e9 }, source.ask)
  const failed = expect(ask()).rejects.toThrow('no')
  await source.fail()
  await failed
  const first = ask()
  await source.answer(1)
  await first
  expect(await ask()).toBe(1)
  await source.fail()
  expect(await ask()).toBe(1)
})

test('every setting of a chain reaches its indexer', () => {
  // `tsc` checks this. The id alone goes into the chain table.
  expectTypeOf<Exclude<keyof ChainSettings, keyof EvmChainSettings>>().toEqualTypeOf<'id'>()
})

import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { chain, contract, rowOf, storeOf } from '../../../test/ten-final-blocks.ts'
import { AlmanacError } from '../../errors.ts'
import type { Address } from '../../model.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import { Holdings } from './holdings.ts'
import { HoldingsAdmission, type HoldingsAsker, type Work } from './holdings-admission.ts'
import type { HoldingsOptions } from './questions.ts'

const asker = (id: string, signal?: AbortSignal): HoldingsAsker => ({ key: { id }, signal })
const optionsOf = (id: string, signal?: AbortSignal): HoldingsOptions => ({
  ...{ key: { id } as HoldingsOptions['key'], freshen: undefined, freshenWaitMs: 0, signal },
})
const walletOf = (number: number) => `0x${number.toString(16).padStart(40, '3')}` as Address

/** Many tokens in each of ten blocks, whose records are read a few at a time. */
function manyTokens(perBlock: number, onRead: () => unknown = () => undefined) {
  const rows = Array.from({ length: 9 }, (_, block) =>
    Array.from({ length: perBlock }, (_, at) => ({
      ...rowOf(block, { tokenId: BigInt(block * perBlock + at), to: walletOf(at) }),
      logIndex: at,
    })),
  ).flat()
  const reads = storeOf(rows).reads()
  const indexRecords: IndexReader['indexRecords'] = async query => {
    await onRead()
    return await reads.indexes.indexRecords({ ...query, limit: query.limit })
  }
  return { reads, indexes: { ...reads.indexes, indexRecords } }
}

test('what is held and made stays within the bound while many ask for another block each', async () => {
  const { reads, indexes } = manyTokens(150)
  const admission = new HoldingsAdmission({ bytesMax: 400_000 })
  const holdings = new Holdings({ ...reads, indexes }, { admission })
  let most = 0
  const watch = setInterval(() => {
    const { heldBytes, makingBytes } = admission.figures
    most = Math.max(most, heldBytes + makingBytes)
  })
  const page = { chain, contract, tokenId: undefined, after: undefined, limit: 1, countTotal: true }
  const ask = async (at: number) => {
    const answer = await holdings.owners({ ...page, atBlock: at % 9 }, optionsOf(`key ${at % 5}`)).catch(error => error)
    const { heldBytes, makingBytes } = admission.figures
    most = Math.max(most, heldBytes + makingBytes)
    return answer
  }
  const answers = await Promise.all(Array.from({ length: 90 }, (_, at) => ask(at)))
  clearInterval(watch)
  expect(most).toBeGreaterThan(100_000)
  expect(most).toBeLessThanOrEqual(admission.bytesMax)
  const wrong = answers.filter((answer, at) =>
    answer instanceof AlmanacError ? answer.code !== 'overloaded' : answer.total !== ((at % 9) + 1) * 150,
  )
  expect(wrong).toEqual([])
  expect(answers.some(answer => !(answer instanceof AlmanacError))).toBe(true)
  await setImmediate()
  expect(admission.figures).toMatchObject({ makingBytes: 0, working: 0, waiting: 0 })
})

test('a list that needs more than the whole bound is refused as too large, and takes nothing afterwards', async () => {
  const { reads, indexes } = manyTokens(150)
  const admission = new HoldingsAdmission({ bytesMax: 40_000 })
  const holdings = new Holdings({ ...reads, indexes }, { admission })
  const page = { chain, contract, tokenId: undefined, after: undefined, limit: 1, countTotal: true }
  await expect(holdings.owners({ ...page, atBlock: 8 }, optionsOf('key'))).rejects.toMatchObject({
    code: 'list_too_large',
  })
  await setImmediate()
  expect(admission.figures).toMatchObject({ heldBytes: 0, makingBytes: 0, working: 0 })
})

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { work: () => promise, end: resolve }
}

test('a key with many pieces of large work delays the first one of another by one piece at most', async () => {
  const admission = new HoldingsAdmission()
  const begun: string[] = []
  const ends: (() => void)[] = []
  const ask = (key: string, at: number) =>
    admission.shared(`${key} ${at}`, asker(key), 'large', async () => {
      begun.push(`${key} ${at}`)
      await new Promise<void>(resolve => ends.push(resolve))
    })
  const all = [...Array.from({ length: 16 }, (_, at) => ask('busy', at)), ask('other', 0), ask('third', 0)]
  await setImmediate()
  expect(begun).toEqual(['busy 0', 'other 0'])
  ends.shift()!()
  await setImmediate()
  expect(begun).toEqual(['busy 0', 'other 0', 'busy 1'])
  ends.shift()!()
  await setImmediate()
  expect(begun).toEqual(['busy 0', 'other 0', 'busy 1', 'third 0'])
  while (begun.length < all.length || ends.length > 0) {
    ends.shift()?.()
    await setImmediate()
  }
  await Promise.all(all)
})

test('a key that waits for too much is refused; others fill the queue for it only twice over', async () => {
  const admission = new HoldingsAdmission()
  const { work, end } = held()
  const all: Promise<void>[] = []
  const ask = (key: string, at: number) => admission.shared(`${key} ${at}`, asker(key), 'large', work)
  for (let at = 0; at < 17; at++) all.push(ask('busy', at))
  await expect(ask('busy', 17)).rejects.toMatchObject({ code: 'rate_limited', retryable: true, retryAfterMs: 5_000 })
  // Joining what waits already is not refused.
  all.push(ask('busy', 16))
  for (let key = 0; all.length < 2 + 64 + 1; key++) all.push(ask(`key ${key}`, 0))
  await expect(ask('key 1', 1)).rejects.toMatchObject({ code: 'overloaded', retryable: true, retryAfterMs: 5_000 })
  // The first piece of a key finds a place, up to a bound.
  for (let key = 100; all.length < 2 + 128 + 1; key++) all.push(ask(`key ${key}`, 0))
  await expect(ask('late', 0)).rejects.toMatchObject({ code: 'overloaded', retryable: true, retryAfterMs: 5_000 })
  end()
  await Promise.all(all)
})

test('work for several requests goes on until the last of them leaves', async () => {
  const admission = new HoldingsAdmission()
  let steps = 0
  let ended: unknown
  const make = async ({ pace }: Work) => {
    try {
      for (; ; steps++) {
        await setImmediate()
        await pace.rest()
      }
    } catch (error) {
      ended = error
      throw error
    }
  }
  const [first, second] = [new AbortController(), new AbortController()]
  const gone = new AlmanacError('interrupted', 'gone')
  const asked = [first, second].map(({ signal }) => admission.shared('one', asker('key', signal), 'small', make))
  first.abort(gone)
  await expect(asked[0]).rejects.toBe(gone)
  const before = steps
  while (steps < before + 10) await setImmediate()
  expect(ended).toBeUndefined()
  second.abort(gone)
  await expect(asked[1]).rejects.toBe(gone)
  while (ended === undefined) await setImmediate()
  expect(ended).toMatchObject({ code: 'interrupted' })
  await setImmediate()
  expect(admission.figures).toMatchObject({ working: 0, waiting: 0, makingBytes: 0 })
})

test('a fold ends in the middle once its client has left, and reads no more', async () => {
  const leaving = new AbortController()
  let reads = 0
  const world = manyTokens(1_200, () => {
    if (++reads === 2) leaving.abort(new AlmanacError('interrupted', 'gone'))
  })
  const admission = new HoldingsAdmission()
  const holdings = new Holdings({ ...world.reads, indexes: world.indexes }, { admission })
  const page = { chain, contract, tokenId: undefined, after: undefined, limit: 1, countTotal: true }
  const asked = holdings.owners({ ...page, atBlock: 8 }, optionsOf('key', leaving.signal))
  await expect(asked).rejects.toMatchObject({ code: 'interrupted' })
  while (admission.figures.working > 0) await setImmediate()
  expect(reads).toBe(2)
  // Whole for the next one.
  expect(await holdings.owners({ ...page, atBlock: 8 }, optionsOf('key'))).toMatchObject({ total: 10_800 })
})

test('a fold that has begun outlasts its request where that timed out, for the one that asks again', async () => {
  const late = new AbortController()
  let reads = 0
  const world = manyTokens(1_200, () => {
    if (++reads === 2) late.abort(new AlmanacError('timeout', 'late'))
  })
  const holdings = new Holdings({ ...world.reads, indexes: world.indexes })
  const page = { chain, contract, tokenId: undefined, after: undefined, limit: 1, countTotal: true }
  await expect(holdings.owners({ ...page, atBlock: 8 }, optionsOf('key', late.signal))).rejects.toMatchObject({
    code: 'timeout',
  })
  expect(await holdings.owners({ ...page, atBlock: 8 }, optionsOf('key'))).toMatchObject({ total: 10_800 })
  expect(reads).toBeLessThan(6)
})

test('of two pieces of work that do not fit side by side, the one that takes more ends', async () => {
  const admission = new HoldingsAdmission({ bytesMax: 800 })
  const { work: wait, end } = held()
  const greedy = admission.shared('greedy', asker('one'), 'large', async work => {
    work.takes(600)
    await wait()
    await work.pace.rest()
  })
  const modest = admission.shared('modest', asker('two'), 'large', async work => {
    work.takes(300)
    return 'made'
  })
  expect(await modest).toBe('made')
  end()
  await expect(greedy).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 5_000 })
})

test('sheets that a list or a request holds count once, and until the last lets go of them', () => {
  const admission = new HoldingsAdmission({ bytesMax: 1_000 })
  const sheet = { byteLength: 300 }
  const request = admission.request(asker('one'))
  request.hold(sheet)
  const list = admission.listRequest(asker('two'))
  list.hold(sheet)
  expect(admission.figures.heldBytes).toBe(300)
  request[Symbol.dispose]()
  expect(admission.figures.heldBytes).toBe(300)
  // A key's lists hold half of all at most, and those of all keys three quarters.
  expect(() => list.hold({ byteLength: 201 })).toThrow('one key may use')
  admission.listRequest(asker('three')).hold({ byteLength: 450 })
  expect(() => admission.listRequest(asker('four')).hold({ byteLength: 1 })).toThrow('ask again later')
  list[Symbol.dispose]()
  expect(admission.figures.heldBytes).toBe(450)
})

test('what a request is given after it is over is not held', () => {
  const admission = new HoldingsAdmission({ bytesMax: 1_000 })
  const requests = [admission.request(asker('one')), admission.listRequest(asker('one'))]
  for (const request of requests) {
    request[Symbol.dispose]()
    request.hold({ byteLength: 300 })
    request.holdBase({ byteLength: 300 })
  }
  expect(admission.figures.heldBytes).toBe(0)
})

test('a key whose pieces wait has its turn between keys that ask for one piece at a time', async () => {
  const admission = new HoldingsAdmission()
  const { work, end } = held()
  const blocker = admission.shared('blocker', asker('blocker'), 'large', work)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const ask = (key: string) =>
    admission.shared(`${key} ${begun.length} ${ends.length}`, asker(key), 'large', async () => {
      begun.push(key)
      await new Promise<void>(resolve => ends.push(resolve))
    })
  const all = Array.from({ length: 4 }, (_, at) =>
    admission.shared(`queue ${at}`, asker('queue'), 'large', async () => {
      begun.push('queue')
      await new Promise<void>(resolve => ends.push(resolve))
    }),
  )
  all.push(ask('first'), ask('second'))
  for (let step = 0; step < 8; step++) {
    await setImmediate()
    ends.shift()!()
    const ended = begun.at(-1)!
    // Its next one, only after the one before it has ended.
    await setImmediate()
    if (ended !== 'queue') all.push(ask(ended))
  }
  expect(begun.slice(0, 8).filter(key => key === 'queue').length).toBeGreaterThanOrEqual(3)
  const rest = setInterval(() => ends.shift()?.())
  end()
  await Promise.all([...all, blocker]).finally(() => clearInterval(rest))
})

/** Lets a key have so many pieces of large work that wait. */
function waitingOf(admission: HoldingsAdmission, key: string, count: number, work: () => Promise<void>) {
  return Array.from({ length: count }, (_, at) => admission.shared(`${key} waits ${at}`, asker(key), 'large', work))
}

test('work that turns out to be large has the turn of any key that waits for it', async () => {
  const admission = new HoldingsAdmission()
  const { work, end } = held()
  const { work: until, end: turnLarge } = held()
  const begun: string[] = []
  const make = async (work: Work) => {
    await until()
    await work.becomeLarge()
    begun.push('shared')
  }
  const [blocked, ends] = [held(), held()]
  const others = [
    admission.shared('blocker', asker('blocker'), 'large', work),
    admission.shared('holder', asker('holder'), 'large', blocked.work),
    // As many as may wait, and one fewer than would be refused.
    ...waitingOf(admission, 'busy', 15, async () => {
      begun.push('busy')
      await ends.work()
    }),
  ]
  const shared = ['busy', 'other'].map(key => admission.shared('shared', asker(key), 'small', make))
  await setImmediate()
  turnLarge()
  await setImmediate()
  // The first turn is the busy key's, the second one the other's.
  blocked.end()
  await setImmediate()
  end()
  await setImmediate()
  expect(begun).toEqual(['busy', 'shared'])
  ends.end()
  await Promise.all([...others, ...shared])
})

test('the limit of a key refuses work that turns out to be large only where no other key waits for it', async () => {
  const admission = new HoldingsAdmission()
  const { work, end } = held()
  const { work: until, end: turnLarge } = held()
  const make = async (work: Work) => {
    await until()
    await work.becomeLarge()
    return 'made'
  }
  const others = waitingOf(admission, 'busy', 17, work)
  const ask = (name: string, key: string) => admission.shared(name, asker(key), 'small', make).catch(error => error)
  const alone = ask('alone', 'busy')
  const shared = [ask('shared', 'busy'), ask('shared', 'other')]
  await setImmediate()
  turnLarge()
  expect(await alone).toMatchObject({ code: 'rate_limited' })
  end()
  expect(await Promise.all(shared)).toEqual(['made', 'made'])
  await Promise.all(others)
})

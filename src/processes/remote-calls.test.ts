// Calls of contracts that another process makes, through a store: in parts, of one block, and told apart by their keys.
import { afterEach, expect, test } from 'vitest'
import { openTestStore } from '../../test/solana-store.ts'
import { createLog } from '../log.ts'
import type { Address, AskedCalls, ChainId, Hash } from '../model.ts'
import type { IndexingLimits } from '../query/freshen.ts'
import type { Reports } from './heartbeat.ts'
import { remoteFreshen } from './remote-freshen.ts'
import { nodesTopic, type Work, WorkClaimer } from './remote-work.ts'

const chain = 1 as ChainId
const key = { id: 'a key', indexPerDay: 500, indexWaiting: undefined }
const [hash, other] = ['ab', 'cd'].map(byte => `0x${byte.repeat(32)}`) as [Hash, Hash]
const addressOf = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as Address
const word = (index: number) => index.toString(16).padStart(64, '0')

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

type Calls = Extract<Work, { kind: 'calls' }>

/** A process that asks, and one that has a node at block 77: each call answers its address and its data. */
async function processes(hashOf: (part: number) => Hash = () => hash) {
  const { store, remove } = await openTestStore()
  cleanups.push(remove)
  const done: Calls[] = []
  const perform = async (work: Work) => {
    const { block = 77, calls } = work as Calls
    done.push(work as Calls)
    const results = calls.map(({ to, data }) => (data.endsWith('00') ? null : `${to}${data.slice(2)}`))
    return { calls: { block, hash: hashOf(done.length), results } }
  }
  const log = createLog({ level: 'silent', format: 'json' })
  const claimer = new WorkClaimer({ store, log, topics: async () => [nodesTopic(chain)], perform })
  cleanups.push(() => claimer.close())
  const counted: (readonly Address[])[] = []
  const limits = { balances: async (_, { wallets }) => void counted.push(wallets) } as Partial<IndexingLimits>
  const freshen = remoteFreshen(store, { serves: async () => true } as unknown as Reports, limits as IndexingLimits)
  return { freshen, done, counted }
}

const asked = (count: number, block?: number): AskedCalls => ({
  ...{ chain, block, about: [addressOf(9)] },
  calls: Array.from({ length: count }, (_, at) => ({ to: addressOf(at), data: `0xdd62ed3e${word(1)}${word(at)}` })),
})

test('many calls are asked for in parts whose names a database can index, at the block of the first', async () => {
  const { freshen, done, counted } = await processes()
  const question = asked(40)
  const { block, hash: said, results } = await freshen.calls(question, key)
  expect([block, said]).toEqual([77, hash])
  expect(results).toEqual(question.calls.map(({ to, data }) => (data.endsWith('00') ? null : `${to}${data.slice(2)}`)))
  expect(done.map(({ calls }) => calls.length)).toEqual([14, 14, 12])
  expect(done.map(each => each.block)).toEqual([undefined, 77, 77])
  expect(done.every(({ asker }) => asker?.id === key.id)).toBe(true)
  expect(counted).toEqual([[addressOf(9)]])
  // An entry of an index of PostgreSQL holds 2.7 kB.
  const named = done.map(({ calls }) => calls.map(({ to, data }) => `${to}:${data}`).join().length)
  expect(Math.max(...named)).toBeLessThan(2_600)
})

test('none asks for the block alone, and parts of different blocks are no answer', async () => {
  const { freshen } = await processes()
  expect(await freshen.calls(asked(0, 5), key)).toEqual({ block: 5, hash, results: [] })
  const split = await processes(part => (part === 1 ? hash : other))
  await expect(split.freshen.calls(asked(20, 5), key)).rejects.toMatchObject({
    ...{ code: 'upstream_failed', retryable: true },
  })
})

// Questions to the nodes of a chain by many keys at once: their parts, their turns, and what stays of those that end.
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { defineChain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Address, AskedCalls, Hash, NodeCalls } from '../../model.ts'
import { type CallOptions, TokenCalls } from './token-calls.ts'

const chain = defineChain({ name: 'sim', id: 31_337 })
const [ours, theirs] = ['a', 'b'].map(digit => `0x${digit.repeat(64)}`) as [Hash, Hash]
const head = { number: 5, hash: ours, timestamp: 50 }
const addressOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as Address
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

/** A node that answers when it is told to. */
class Node {
  readonly asked: { key: string; calls: number; answer: () => void; fail: () => void }[] = []
  branch = ours

  options(key: string, signal?: AbortSignal): CallOptions {
    const calls = ({ calls: wanted }: AskedCalls) =>
      new Promise<NodeCalls>((resolve, reject) => {
        const results = wanted.map(({ to }) => word(Number(to)))
        const answer = () => resolve({ block: 5, hash: this.branch, results })
        const fail = () => reject(new AlmanacError('upstream_failed', 'away'))
        this.asked.push({ key, calls: wanted.length, answer, fail })
      })
    return { key: { id: key } as CallOptions['key'], freshen: { calls }, signal }
  }

  /** What was asked and is not answered yet. */
  async waiting(): Promise<[key: string, calls: number][]> {
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    return this.asked.map(({ key, calls }) => [key, calls])
  }

  answerNext(): void {
    this.asked.shift()!.answer()
  }
}

/** Of tokens from a number on. */
function balancesOf(calls: TokenCalls, options: CallOptions, count: number, first = 1) {
  const wallet = addressOf(2 ** 30)
  const pairs = Array.from({ length: count }, (_, at) => ({ token: addressOf(first + at), wallet }))
  return calls.balances({ chain, toBlock: undefined, about: [wallet] }, pairs, options)
}

const newCalls = () => new TokenCalls({ chainState: async () => ({ head, finalized: 1 }) })

test('wallets with many tokens are read in parts, and another key has its turn between them', async () => {
  const [calls, node] = [newCalls(), new Node()]
  const large = [0, 1, 2].map(at => balancesOf(calls, node.options('greedy'), 1_000, 1 + at * 1_000))
  // A key has no more under way, however many requests it sends.
  expect(await node.waiting()).toEqual(Array(2).fill(['greedy', 400]))
  const small = balancesOf(calls, node.options('modest'), 1, 9_000)
  expect(await node.waiting()).toContainEqual(['modest', 1])
  node.asked.pop()!.answer()
  expect((await small).values).toEqual([9_000n])
  const sizes: number[] = []
  for (let left = await node.waiting(); left.length > 0; left = await node.waiting()) {
    sizes.push(left[0]![1])
    node.answerNext()
  }
  expect(sizes.toSorted()).toEqual([...Array(3).fill(200), ...Array(6).fill(400)])
  for (const [at, answer] of (await Promise.all(large)).entries())
    expect(answer.values).toEqual(Array.from({ length: 1_000 }, (_, token) => BigInt(1 + at * 1_000 + token)))
})

test('a client that leaves has no more read, neither under way nor in the queue', async () => {
  const [calls, node] = [newCalls(), new Node()]
  const leaving = new AbortController()
  const answers = [0, 1, 2].map(at => balancesOf(calls, node.options('k', leaving.signal), 1_000, 1 + at * 1_000))
  expect(await node.waiting()).toHaveLength(2)
  leaving.abort(new AlmanacError('interrupted', 'The client has left'))
  for (const { answer } of node.asked.splice(0)) answer()
  for (const answer of answers) await expect(answer).rejects.toMatchObject({ code: 'interrupted' })
  expect(await node.waiting()).toEqual([])
  // Its places are free again.
  void balancesOf(calls, node.options('k'), 1, 9_000)
  void balancesOf(calls, node.options('k'), 1, 9_001)
  expect(await node.waiting()).toHaveLength(2)
})

test('what was read before the node failed is not read again, nor what another request of the key has read', async () => {
  const [calls, node] = [newCalls(), new Node()]
  const failing = balancesOf(calls, node.options('k'), 1_000)
  await node.waiting()
  node.answerNext()
  await node.waiting()
  node.asked.shift()!.fail()
  await expect(failing).rejects.toMatchObject({ code: 'upstream_failed' })
  const several = [1, 2, 3, 4].map(() => balancesOf(calls, node.options('k'), 1_000))
  const asked: number[] = []
  for (let left = await node.waiting(); left.length > 0; left = await node.waiting()) {
    asked.push(left[0]![1])
    node.answerNext()
  }
  for (const answer of several) expect((await answer).values).toHaveLength(1_000)
  // Two at once at most read the same.
  expect(asked.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(2 * 600)
})

test('parts of two branches are no answer', async () => {
  const [calls, node] = [newCalls(), new Node()]
  const answer = balancesOf(calls, node.options('k'), 500)
  await node.waiting()
  node.answerNext()
  await node.waiting()
  node.branch = theirs
  node.answerNext()
  await expect(answer).rejects.toMatchObject({ code: 'upstream_failed', retryable: true })
})

test('no tokens are an answer at once, also where the index has no head yet', async () => {
  const node = new Node()
  expect(await balancesOf(newCalls(), node.options('k'), 0)).toEqual({ block: 5, values: [] })
  const early = balancesOf(new TokenCalls({ chainState: async () => undefined }), node.options('k'), 0)
  expect(await node.waiting()).toEqual([['k', 0]])
  node.answerNext()
  expect(await early).toEqual({ block: 5, values: [] })
})

import { expect, test } from 'vitest'
import type { SolanaStore, SolanaUpdates } from '../store/solana-store.ts'
import type { SolanaRpc } from './rpc.ts'
import { UpdateQueue, WorkLoop } from './update-queue.ts'

// The store only counts, because what is tested is the order of microtasks after its last answer.
test.each(Array.from({ length: 12 }, (_, depth) => depth))(
  'writes what is added %s microtasks after the last write',
  async depth => {
    const written: bigint[] = []
    let added = (): void => {}
    const secondAdded = new Promise<void>(resolve => {
      added = resolve
    })
    const addSecond = async () => {
      for (let passed = 0; passed < depth; passed++) await undefined
      queue.add(lamports(2n))
      added()
    }
    const store = {
      async updateAccounts(_: string, { owners = [] }: SolanaUpdates) {
        for (const { lamports } of owners) {
          written.push(lamports)
          if (lamports === 1n) void addSecond()
        }
      },
    }
    const queue = new UpdateQueue({
      rpc: { network: 'devnet' } as SolanaRpc,
      store: store as unknown as SolanaStore,
      onLost: reason => expect.fail(reason),
    })
    queue.add(lamports(1n))
    await secondAdded
    await queue.drained()
    expect(written).toEqual([1n, 2n])
  },
)

function lamports(amount: bigint) {
  const account = { owner: new Uint8Array(32), lamports: amount, slot: 1, chainTime: 0, readAtMs: 0 }
  return { kind: 'lamports', account } as const
}

test.each(Array.from({ length: 8 }, (_, depth) => depth))(
  'a work loop does what comes %s microtasks after the last work, and one at a time',
  async depth => {
    const waiting = ['first']
    const done: string[] = []
    let atOnce = 0
    const loop = new WorkLoop({
      hasWork: () => waiting.length > 0,
      async work() {
        expect(++atOnce).toBe(1)
        const next = waiting.shift()
        await undefined
        if (next === 'first') void later()
        if (next !== undefined) done.push(next)
        atOnce--
      },
    })
    let woken = (): void => {}
    const wasWoken = new Promise<void>(resolve => {
      woken = resolve
    })
    const later = async () => {
      for (let passed = 0; passed < depth; passed++) await undefined
      waiting.push('second')
      loop.wake()
      woken()
    }
    loop.wake()
    loop.wake()
    await wasWoken
    await loop.idle()
    expect(done).toEqual(['first', 'second'])
  },
)

test('a work loop is idle where it was woken for nothing, and runs when there is something', async () => {
  let work = 0
  const loop = new WorkLoop({ hasWork: () => work > 0, work: async () => void work-- })
  loop.wake()
  await loop.idle()
  work = 3
  loop.wake()
  await loop.idle()
  expect(work).toBe(0)
})

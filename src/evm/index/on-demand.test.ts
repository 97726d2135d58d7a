import { expect, test } from 'vitest'
import { JobQueue } from './on-demand.ts'

test('never more at once than there are places, each in turn, and a refusal when the queue is full', async () => {
  const queue = new JobQueue({ runningMax: 2, waitingMax: 3 })
  let running = 0
  let most = 0
  const order: number[] = []
  const work = (id: number) => async () => {
    order.push(id)
    running++
    most = Math.max(most, running)
    await new Promise(resolve => setImmediate(resolve))
    running--
    if (id === 1) throw new Error('failed')
  }
  const first = [0, 1, 2, 3, 4].map(id => queue.run('wallets', work(id)))
  await expect(queue.run('wallets', work(5))).rejects.toMatchObject({ code: 'overloaded', retryable: true })
  const results = await Promise.allSettled(first)
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  expect(order).toEqual([0, 1, 2, 3, 4])
  expect(most).toBe(2)
  await queue.run('wallets', work(6))
  expect(running).toBe(0)
})

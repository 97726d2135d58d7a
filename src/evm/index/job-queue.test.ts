import { expect, test } from 'vitest'
import { type Asker, JobQueue, operator } from './job-queue.ts'

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
    return true
  }
  const first = [0, 1, 2, 3, 4].map(id => queue.run('wallets', operator, work(id)))
  await expect(queue.run('wallets', operator, work(5))).rejects.toMatchObject({ code: 'overloaded', retryable: true })
  const results = await Promise.allSettled(first)
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  expect(order).toEqual([0, 1, 2, 3, 4])
  expect(most).toBe(2)
  await queue.run('wallets', operator, work(6))
  expect(running).toBe(0)
})

/** A job that ends when it is told to. */
function job(queue: JobQueue, asker: Asker, order: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const ended = queue.run('contracts', asker, async turn => {
    order.push(name)
    const isOver = new Promise<boolean>(over => turn.addEventListener('abort', () => over(false), { once: true }))
    return await Promise.race([promise.then(() => true), isOver])
  })
  return { end: resolve, ended }
}

const tick = () => new Promise(resolve => setTimeout(resolve, 1))

test('keys take turns: one that asked for much waits for one that asked for little', async () => {
  const queue = new JobQueue({ runningMax: 1, waitingMax: 100 })
  const order: string[] = []
  const [flood, honest] = ['flood', 'honest'].map(id => ({ id, indexWaiting: 20 })) as [Asker, Asker]
  const jobs = Array.from({ length: 6 }, (_, at) => job(queue, flood, order, `flood ${at}`))
  jobs.push(...[0, 1].map(at => job(queue, honest, order, `honest ${at}`)))
  for (const { end } of jobs) end()
  await Promise.all(jobs.map(({ ended }) => ended))
  expect(order.slice(0, 5)).toEqual(['flood 0', 'flood 1', 'honest 0', 'flood 2', 'honest 1'])
})

test('a long job gives its place to another key when its turn is over, and ends later', async () => {
  const queue = new JobQueue({ runningMax: 1, waitingMax: 100, turnMs: 5 })
  const order: string[] = []
  const long = job(queue, { id: 'a', indexWaiting: 20 }, order, 'long')
  const other = job(queue, { id: 'b', indexWaiting: 20 }, order, 'other')
  other.end()
  await other.ended
  expect(order.slice(0, 2)).toEqual(['long', 'other'])
  long.end()
  await long.ended
  // Alone, it is not interrupted.
  const alone = job(queue, { id: 'a', indexWaiting: 20 }, order, 'alone')
  await new Promise(resolve => setTimeout(resolve, 20))
  alone.end()
  await alone.ended
  expect(order.filter(name => name === 'alone')).toEqual(['alone'])
})

test('a key has at most so many waiting, and a full queue makes room for a key with fewer', async () => {
  const queue = new JobQueue({ runningMax: 1, waitingMax: 4 })
  const order: string[] = []
  const free = { id: 'free', indexWaiting: undefined }
  const bound = { id: 'bound', indexWaiting: 1 }
  const jobs = Array.from({ length: 5 }, (_, at) => job(queue, free, order, `free ${at}`))
  const evicted = expect(jobs[4]!.ended).rejects.toMatchObject({ code: 'overloaded' })
  const first = job(queue, bound, order, 'bound')
  await evicted
  await expect(job(queue, bound, order, 'more').ended).rejects.toMatchObject({ code: 'rate_limited' })
  await expect(job(queue, free, order, 'more').ended).rejects.toMatchObject({ code: 'overloaded' })
  await tick()
  for (const { end } of [...jobs, first]) end()
  await Promise.all([...jobs.slice(0, 4), first].map(({ ended }) => ended))
  expect(order).toEqual(['free 0', 'free 1', 'bound', 'free 2', 'free 3'])
})

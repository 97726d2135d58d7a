import { expect, test } from 'vitest'
import { WorkLoop } from './update-queue.ts'

test.each(Array.from({ length: 8 }, (_, depth) => depth))(
  'does what comes %s microtasks after the last work, and one at a time',
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

test('is idle where it was woken for nothing, and runs when there is something', async () => {
  let work = 0
  const loop = new WorkLoop({ hasWork: () => work > 0, work: async () => void work-- })
  loop.wake()
  await loop.idle()
  work = 3
  loop.wake()
  await loop.idle()
  expect(work).toBe(0)
})

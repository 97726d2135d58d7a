import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { refusal, type TrialThread } from '../test/trial-thread.ts'
import { AlmanacError } from './errors.ts'
import { createLog } from './log.ts'
import { moving, threadsByCores } from './threads.ts'
import { SupervisedThread, type ThreadOptions, WorkerThread } from './worker-thread.ts'

const options: ThreadOptions = { name: 'The trial', module: new URL('../test/trial-thread.ts', import.meta.url) }
const small = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 }

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
})

function start(more: Partial<ThreadOptions> = {}): WorkerThread<TrialThread> {
  const thread = new WorkerThread<TrialThread>({ ...options, ...more })
  undo.push(() => thread.end(new AlmanacError('interrupted', 'The test is over.')))
  return thread
}

describe('a thread', () => {
  test('answers calls, and its errors keep every field', async () => {
    const { far } = start()
    expect(await Promise.all([far.add(1, 2), far.add(3, 4)])).toEqual([3, 7])
    const expected = { code: 'store_full', message: 'No room.', ...refusal, cause: new Error('SQLITE_FULL') }
    await expect(far.refuse()).rejects.toMatchObject(expected)
  })

  test('fails a call whose answer a message cannot carry, instead of leaving it waiting', async () => {
    const { far } = start()
    await expect(far.odd()).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('cloned') })
    await expect(far.oddly()).rejects.toMatchObject({ code: 'internal' })
    expect(await far.add(1, 2)).toBe(3)
  })

  test('takes bytes without a copy, and gives them back', async () => {
    const { far } = start()
    const bytes = new Uint8Array(1_000_000).fill(7)
    const moved = far.echo(moving(bytes, [bytes]))
    expect(bytes.length).toBe(0)
    expect((await moved).bytes).toEqual(new Uint8Array(1_000_000).fill(7))
  })

  test('that cannot start says why', async () => {
    await expect(start({ data: { fails: true } }).ready).rejects.toMatchObject({ code: 'store_locked' })
  })

  test('that hangs is ended; what waits and what is asked later fails with the reason', async () => {
    const thread = start({ silentMsMax: 500 })
    await thread.ready
    const startedMs = performance.now()
    const [waiting, hanging] = [thread.far.never(), thread.far.hang()]
    await expect(hanging).rejects.toMatchObject({ message: 'The trial has stopped.', retryable: true })
    await expect(waiting).rejects.toMatchObject({ cause: new Error('no answer within 0.5 s') })
    await expect(thread.far.add(1, 1)).rejects.toThrow('The trial has stopped.')
    await thread.gone
    expect(performance.now() - startedMs).toBeLessThan(20_000)
  })

  test('that has long work but turns its event loop is left alone', async () => {
    const thread = start({ silentMsMax: 300 })
    await thread.ready
    void thread.far.never().catch(() => {})
    await new Promise(resolve => setTimeout(resolve, 1_500))
    expect(await thread.far.add(1, 1)).toBe(2)
  })

  test('that runs out of memory ends with that reason, and the process stays', async () => {
    const thread = start({ memory: small })
    await expect(thread.far.fill()).rejects.toMatchObject({ cause: { message: expect.stringContaining('memory') } })
    await thread.gone
  })
})

describe('a supervised thread', () => {
  const diaryFolder = mkdtempSync(join(tmpdir(), 'almanac-threads-'))
  const diary = join(diaryFolder, 'diary')
  const starts = () => readFileSync(diary, 'utf8').split('\n').length - 1
  afterEach(() => rmSync(diary, { force: true }))

  async function supervise(more: Partial<ThreadOptions> & { steadyMs?: number }, giveUp = vi.fn()) {
    const thread = await SupervisedThread.start<TrialThread>({
      ...{ ...options, log: createLog({ level: 'silent', format: 'text' }), giveUp, silentMsMax: 400 },
      ...{ ...more, data: { diary, ...(more.data as object | undefined) } },
    })
    undo.push(() => thread.close(async () => {}))
    return { thread, giveUp }
  }

  test.each([
    ['hang', 400, 'no answer within 0.4 s'],
    ['fill', 10_000, expect.stringContaining('memory')],
  ] as const)('is started again after a %s', async (how, silentMsMax, reason) => {
    const { thread, giveUp } = await supervise({ memory: small, silentMsMax })
    await expect(thread.far[how]()).rejects.toThrow('The trial has stopped.')
    await vi.waitFor(async () => expect(await thread.far.add(2, 2)).toBe(4), 5_000)
    expect([thread.restarts, starts(), thread.reason]).toEqual([1, 2, reason])
    expect(giveUp).not.toHaveBeenCalled()
  })

  test('that ends three times in a row is given up', async () => {
    const { giveUp } = await supervise({ data: { hangs: true } })
    await vi.waitFor(() => expect(giveUp).toHaveBeenCalledOnce(), 10_000)
    expect(starts()).toBe(3)
  })

  test('that ends now and then is started again each time', async () => {
    const { thread, giveUp } = await supervise({ memory: small, steadyMs: 1, silentMsMax: 10_000 })
    for (let end = 1; end <= 3; end++) {
      await expect(thread.far.fill()).rejects.toThrow('The trial has stopped.')
      await vi.waitFor(async () => expect(await thread.far.add(end, 0)).toBe(end), 5_000)
    }
    expect({ restarts: thread.restarts, given: giveUp.mock.calls.length }).toEqual({ restarts: 3, given: 0 })
  })
})

test('threads follow from the cores', () => {
  expect([1, 2, 3, 4, 6, 64].map(threadsByCores)).toEqual([1, 2, 2, 3, 5, 8])
})

test.runIf(process.platform === 'linux').each([
  [5, 15],
  [15, 19],
])('a service started at niceness %i has an indexing thread of %i', async (own, expected) => {
  const file = new URL('./worker-thread.ts', import.meta.url).href
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--eval',
    `import { getPriority, setPriority } from 'node:os'
     import { WorkerThread } from '${file}'
     setPriority(${own})
     const module = new URL('${options.module.href}')
     const thread = new WorkerThread({ name: 'The trial', module, data: { yields: true } })
     console.log(JSON.stringify([await thread.far.niceness(), getPriority()]))
     process.exit()`,
  ])
  expect(JSON.parse(stdout)).toEqual([expected, own])
})

// A thread for tests of threads: it answers, fails, hangs, runs out of memory and reads bytes, as it is told.
import { appendFileSync, readlinkSync } from 'node:fs'
import { getPriority } from 'node:os'
import { AlmanacError } from '../src/errors.ts'
import { moving, yieldToServing } from '../src/threads.ts'

export type TrialThread = ReturnType<typeof startThread>

/** `diary` gets a line at each start; `fails` and `hangs` are what happens at the start or right after it. */
type TrialData = { diary?: string; fails?: boolean; hangs?: boolean; yields?: boolean } | undefined

export const refusal = { hint: 'free some space.', retryable: true, retryAfterMs: 10_000, details: { free: 0 } }

export function startThread(data: TrialData) {
  if (data?.diary !== undefined) appendFileSync(data.diary, 'started\n')
  if (data?.fails === true) throw new AlmanacError('store_locked', 'Locked.')
  if (data?.hangs === true) setTimeout(standStill, 50, Number.POSITIVE_INFINITY)
  if (data?.yields === true) yieldToServing()
  return {
    add: (a: number, b: number) => a + b,
    refuse: (): void => {
      throw new AlmanacError('store_full', 'No room.', { ...refusal, cause: new Error('SQLITE_FULL') })
    },
    niceness: () => getPriority(Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0])),
    odd: () => () => 1,
    oddly: (): void => {
      throw Object.create(null)
    },
    never: () => new Promise<void>(() => {}),
    hang,
    fill,
    /** Answers with the same bytes. */
    echo: (bytes: Uint8Array) => moving({ bytes }, [bytes]),
    /** Does what the first body says; answers with the length of all. */
    read({ bodies }: { bodies: readonly Uint8Array[] }): number {
      const text = Buffer.from(bodies[0] ?? []).toString()
      if (text.startsWith('hang')) standStill(Number.POSITIVE_INFINITY)
      if (text.startsWith('fill')) fill()
      return bodies.reduce((sum, body) => sum + body.length, 0)
    },
  }
}

/** The thread that calls it does nothing else for so long, and takes no processor from the others. */
export function standStill(forMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs)
}

function hang(): void {
  for (;;);
}

function fill(): void {
  const lists: number[][] = []
  // Few large lists: collecting many small ones takes long on a busy machine.
  for (;;) lists.push(new Array<number>(1_000_000).fill(lists.length))
}

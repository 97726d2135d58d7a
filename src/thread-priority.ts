// Lowers the priority of the thread that calls and of those that it starts from then on, so that answering goes before indexing
// where cores are few. Linux gives each thread a priority of its own; elsewhere nothing happens.
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Of 20 below the usual one: on a busy core a tenth of the time, on an idle one all of it. */
const niceness = 10

export function yieldToServing(): void {
  try {
    const thread = Number(/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1])
    if (Number.isSafeInteger(thread)) setPriority(thread, niceness)
  } catch {
    // No such file, or no permission: the scheduler decides alone.
  }
}

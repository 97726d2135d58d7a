// What threads that index may take from the one that answers: memory and processor time. Linux gives each thread a priority of
// its own; elsewhere that part does nothing.
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { ResourceLimits } from 'node:worker_threads'

/**
 * Three halves of 8 MB for young objects: V8's own choice, four times as much, makes parsing no faster and takes 100 MB more. The
 * old ones are what an answer or a commit holds; more than this would be a leak.
 */
export const indexingMemory: ResourceLimits = { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 512 }

/** Of 20 below the usual one: on a busy core a tenth of the time, on an idle one all of it. */
export const indexingNiceness = 10

/** For the thread that calls and those that it starts from then on. */
export function yieldToServing(): void {
  try {
    const thread = Number(/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1])
    if (Number.isSafeInteger(thread)) setPriority(thread, indexingNiceness)
  } catch {
    // No such file, or no permission: the scheduler decides alone.
  }
}

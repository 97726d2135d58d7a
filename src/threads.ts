// What a thread is made of, as its own side sees it: the calls it answers (plain data, bytes that are moved, errors
// with every field), its limits, and the compile cache. It starts no thread: `worker-thread.ts` does.
import { readlinkSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { availableParallelism, getPriority, homedir, setPriority } from 'node:os'
import { join } from 'node:path'
import type { MessagePort, ResourceLimits } from 'node:worker_threads'
import { AlmanacError, type PlainError, toPlain } from './errors.ts'

/** What a thread can be asked. Its module exports `startThread`, which gives these. */
export type Methods = Record<string, (...parameters: never[]) => unknown>
export type StartThread = (data: never) => Methods | Promise<Methods>

/** What a thread is started with. */
export type ThreadData = { module: string; data: unknown }

/** What the parent sends. A ping is answered from the thread's event loop, which shows that it turns. */
export type ToThread = 'ping' | { call: number; method: string; parameters: unknown[] }
/** What the thread sends: `ready` or `failed` once, then replies. */
export type FromThread =
  | 'ready'
  | 'pong'
  | { failed: PlainError }
  | { reply: number; value: unknown }
  | { reply: number; error: PlainError }

/** The body of `thread-entry.ts`. */
export async function runThread(port: MessagePort, { module, data }: ThreadData): Promise<void> {
  const post = (message: FromThread, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved)
  let methods: Methods = {}
  port.on('message', async (message: ToThread) => {
    if (message === 'ping') return post('pong')
    const { call: reply, method, parameters } = message
    try {
      const answer = methods[method] as ((...parameters: unknown[]) => unknown) | undefined
      if (answer === undefined) throw new AlmanacError('internal', `No such method: ${method}.`)
      const value = await answer(...parameters)
      post({ reply, value }, movedWith(value))
    } catch (error) {
      post({ reply, error: toPlain(error) })
    }
  })
  try {
    const { startThread } = (await import(module)) as { startThread: StartThread }
    methods = await startThread(data as never)
    post('ready')
  } catch (error) {
    // An error that leaves the thread by itself loses its class and most of its fields.
    post({ failed: toPlain(error) })
  }
}

/** The module beside the file at `base`: both are sources, or both are built. */
export function threadModule(name: string, base: string): URL {
  return new URL(`./${name}${base.slice(-'.ts'.length)}`, base)
}

const moved = new WeakMap<object, ArrayBuffer[]>()

/** The bytes go to the other thread with the value instead of being copied: its sender must not use them again. */
export function moving<T extends object>(value: T, bytes: readonly ArrayBufferView[]): T {
  moved.set(
    value,
    bytes.map(({ buffer }) => buffer as ArrayBuffer),
  )
  return value
}

/** What `moving` said of a parameter or an answer. */
export function movedWith(value: unknown): ArrayBuffer[] {
  return (typeof value === 'object' && value !== null ? moved.get(value) : undefined) ?? []
}

// Limits of indexing threads, which share memory and processor time with the one that answers.

/**
 * Three spaces of 8 MB for young objects: V8's default, four times as much, parses no faster and takes 100 MB more. Old
 * objects are what an answer or a commit holds; more than this is a leak.
 */
export const indexingMemory: ResourceLimits = { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 512 }

/** Of 20, on top of the service's own: a tenth of the time on a busy core, all of it on an idle one. */
export const indexingNiceness = 10
const nicenessMax = 19

/** For the calling thread and those that it starts later. On Linux only, which gives each thread its own priority. */
export function yieldToServing(): void {
  try {
    const thread = Number(/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1])
    if (!Number.isSafeInteger(thread)) return
    setPriority(thread, Math.min(nicenessMax, getPriority(thread) + indexingNiceness))
  } catch {
    // No such file, or no permission: the usual priority stays.
  }
}

const poolThreadsMax = 8

/**
 * Threads that read answers: twice the work of the network and the store, for which one core is left where there are
 * three. Serving needs none left, because it goes before them (`yieldToServing`).
 */
export function threadsByCores(cores = availableParallelism()): number {
  return Math.min(poolThreadsMax, Math.max(Math.min(2, cores), cores - 1))
}

// Caches compiled code on disk between starts, which halves the time to start.

/** A start has loaded its code by then; a process that is killed later leaves a warm cache. */
const flushAfterMs = 5_000

/** For the calling thread, and only for what it imports afterwards. */
export function keepCompiledCode(): void {
  try {
    // Not below the system's temporary folder, where another user could put code in its place.
    const { directory } = enableCompileCache(join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'almanac'))
    if (directory !== undefined) setTimeout(flushCompileCache, flushAfterMs).unref()
  } catch {
    // A user without a home.
  }
}

// What threads need: calls from one to another (plain data, and errors with every field), limits for those that index,
// and the compile cache. It starts no thread.
import { readlinkSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { homedir, setPriority } from 'node:os'
import { join } from 'node:path'
import type { ResourceLimits } from 'node:worker_threads'
import { AlmanacError, fromPlain, type PlainError, toPlain } from './errors.ts'

/** What a MessagePort and a Worker have in common. */
type Port = { on(event: 'message', listener: (message: unknown) => void): unknown; postMessage(message: unknown): void }

type Methods = Record<string, (...parameters: never[]) => Promise<unknown>>
type Call = (...parameters: unknown[]) => Promise<unknown>

type Request = { call: number; method: string; parameters: unknown[] }
type Reply = { reply: number; value?: unknown; error?: PlainError }

/** Answers calls from the port with these methods. */
export function serveThread(port: Port, methods: Methods): void {
  port.on('message', async given => {
    const message = given as Request | undefined
    if (typeof message?.call !== 'number') return
    const reply: Reply = { reply: message.call }
    try {
      const method = methods[message.method] as Call | undefined
      if (method === undefined) throw new AlmanacError('internal', `No such method: ${message.method}.`)
      reply.value = await method(...message.parameters)
    } catch (error) {
      reply.error = toPlain(error)
    }
    try {
      port.postMessage(reply)
    } catch (error) {
      // A value that messages cannot carry. Without a reply the caller would wait for ever.
      port.postMessage({ reply: message.call, error: toPlain(error) } satisfies Reply)
    }
  })
}

/** Calls the methods of the other side. `fail` rejects every pending and later call, for when that thread ends. */
export function callThread<Far extends Methods>(port: Port): { far: Far; fail: (reason: Error) => void } {
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let calls = 0
  let failure: Error | undefined
  port.on('message', given => {
    const message = given as Reply
    const call = waiting.get(message?.reply)
    if (call === undefined) return
    waiting.delete(message.reply)
    if (message.error === undefined) call.resolve(message.value)
    else call.reject(fromPlain(message.error))
  })
  const far = new Proxy({} as Far, {
    get:
      (_, method) =>
      (...parameters: unknown[]) =>
        new Promise((resolve, reject) => {
          if (failure !== undefined) return reject(failure)
          calls++
          waiting.set(calls, { resolve, reject })
          port.postMessage({ call: calls, method: String(method), parameters } satisfies Request)
        }),
  })
  const fail = (reason: Error): void => {
    failure = reason
    for (const call of waiting.values()) call.reject(reason)
    waiting.clear()
  }
  return { far, fail }
}

// Limits of indexing threads, which share memory and processor time with the one that answers.

/**
 * Three spaces of 8 MB for young objects: V8's default, four times as much, parses no faster and takes 100 MB more. Old
 * objects are what an answer or a commit holds; more than this is a leak.
 */
export const indexingMemory: ResourceLimits = { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 512 }

/** Of 20: a tenth of the time on a busy core, all of it on an idle one. */
export const indexingNiceness = 10

/** For the calling thread and those that it starts later. On Linux only, which gives each thread its own priority. */
export function yieldToServing(): void {
  try {
    const thread = Number(/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1])
    if (Number.isSafeInteger(thread)) setPriority(thread, indexingNiceness)
  } catch {
    // No such file, or no permission: the usual priority stays.
  }
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

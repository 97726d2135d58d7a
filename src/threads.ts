// Calls across a thread: the methods of an object on one side of a MessagePort, called from the other. Errors keep their
// code and hint. It carries plain data only.

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

/** Answers the calls that come through the port with the methods given. */
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
    port.postMessage(reply)
  })
}

/** The far side's methods, as calls. When the far thread ends, `fail` ends every call that is under way. */
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

// What threads that index may take from the one that answers: memory and processor time. Linux gives each thread a priority of
// its own; elsewhere that part does nothing.

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

// Keeps compiled code on disk between starts, which takes half of the time to start away. Without a place to keep it nothing changes.

/** By then what a start needs is loaded; a process that is killed later leaves the next one a warm cache. */
const flushAfterMs = 5_000

/** For the thread that calls, and only for what it imports afterwards. */
export function keepCompiledCode(): void {
  try {
    // Not below the system's temporary folder, where another user could put code in its place.
    const { directory } = enableCompileCache(join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'almanac'))
    if (directory !== undefined) setTimeout(flushCompileCache, flushAfterMs).unref()
  } catch {
    // A user without a home.
  }
}

// A process that is driven by one JSON line for each call, says something first, and ends when its input does: also when this process is killed.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { endProcess } from './tethered-process.ts'

export type DrivenProcess<First> = {
  /** What it said when it was ready. */
  first: First
  /** One after the other, in the order of the calls. */
  call(method: string, ...args: unknown[]): Promise<unknown>
  stop(): Promise<void>
}

/** In a group of its own, so that Ctrl-C on a terminal reaches it through its parent only. */
export async function startDriven<First>(command: readonly string[], name: string): Promise<DrivenProcess<First>> {
  const child = spawn(command[0]!, command.slice(1), {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  // A call to a process that has ended is answered by the end of its output.
  child.stdin.on('error', () => undefined)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${name} has ended`)
    return JSON.parse(value)
  }
  const first = (await next()) as First
  let last: Promise<unknown> = Promise.resolve()
  return {
    first,
    call(method, ...args) {
      const called = last.then(async () => {
        child.stdin.write(`${JSON.stringify({ method, args })}\n`)
        const { result, error } = (await next()) as { result?: unknown; error?: string }
        if (error !== undefined) throw new Error(error)
        return result
      })
      last = called.catch(() => undefined)
      return called
    },
    stop: () => endProcess(child),
  }
}

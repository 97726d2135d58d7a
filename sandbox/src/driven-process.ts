// Starts a process that takes one JSON line for each call. It exits when its input ends, so also when this process is
// killed.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { endProcess } from './tethered-process.ts'

export type DrivenProcess<First> = {
  /** The line that it printed when it was ready. */
  first: First
  processId: number | undefined
  /** Calls run one after the other, in order. */
  call(method: string, ...args: unknown[]): Promise<unknown>
  stop(): Promise<void>
}

/** In its own process group, so Ctrl-C on a terminal reaches only the parent, which stops it. */
export async function startDriven<First>(command: readonly string[], name: string): Promise<DrivenProcess<First>> {
  const child = spawn(command[0]!, command.slice(1), {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  // When the process has ended, the end of its output fails the call.
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
    processId: child.pid,
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

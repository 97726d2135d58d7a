// Starts a real Solana node for a test and stops it. The node's package exists for x64 and macOS only; elsewhere the
// variable SURFPOOL_NODE can name a Node.js that runs it (with an emulator), and SURFPOOL_MODULE the package's file.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export const hasSurfpool = process.env.SURFPOOL_NODE !== undefined || packageLoads()

export type Surfpool = {
  rpcUrl: string
  wsUrl: string
  payerSecretKey: Uint8Array
  /** Calls a method of the node's own interface, such as `timeTravelToTimestamp`. */
  control(method: string, ...args: unknown[]): Promise<unknown>
  stop(): Promise<void>
}

export async function startSurfpool(config: Record<string, unknown> = {}): Promise<Surfpool> {
  const child = spawn(
    process.env.SURFPOOL_NODE ?? process.execPath,
    [join(import.meta.dirname, 'solana-surfpool-process.mjs')],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '', SURFPOOL_CONFIG: JSON.stringify({ offline: true, ...config }) },
    },
  )
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('the Surfpool process ended')
    return JSON.parse(value)
  }
  const { rpcUrl, wsUrl, payerSecretKey } = await next()
  let last: Promise<unknown> = Promise.resolve()
  return {
    rpcUrl,
    wsUrl,
    payerSecretKey: Uint8Array.from(payerSecretKey),
    control(method, ...args) {
      last = last.then(async () => {
        child.stdin.write(`${JSON.stringify({ method, args })}\n`)
        const { result, error } = await next()
        if (error !== undefined) throw new Error(error)
        return result
      })
      return last
    },
    stop: () => stopProcess(child),
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

function packageLoads(): boolean {
  try {
    createRequire(import.meta.url)('@solana/surfpool-linux-x64-gnu')
    return true
  } catch {
    return false
  }
}

// Runs the service as its users do: `almanac start` in a process of its own, on a port that the system gives. It reads
// nothing of the service but what it prints.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { almanacMain, compileCache } from './bundled-service.ts'

export type RunningAlmanac = {
  /** Such as `http://127.0.0.1:41237`, without a slash at the end. */
  url: string
  processId: number
  /** Once the process has ended, by whatever. */
  ended: Promise<void>
  /** Sends the first signal and waits until the process has ended. */
  stop(): Promise<void>
}

export type StartOptions = {
  /** As the setting has it: `file:path` or `postgres://…`. */
  store: string
  /** Registered with every scope and no limit. */
  key: string
  /** More arguments of `almanac start`. */
  flags?: readonly string[]
  /** Arguments of Node itself, such as `--cpu-prof`. */
  nodeFlags?: readonly string[]
  /** What runs Node, such as `['taskset', '-c', '0']`. */
  runner?: readonly string[]
}

const startTimeoutMs = 60_000
const stopTimeoutMs = 20_000

export async function startAlmanac(options: StartOptions): Promise<RunningAlmanac> {
  const command = [
    ...(options.runner ?? []),
    process.execPath,
    ...(options.nodeFlags ?? []),
    almanacMain,
    'start',
    ...['--only', 'api', '--listen', '127.0.0.1:0', '--store', options.store],
    ...['--log-level', 'info', '--log-format', 'json', ...(options.flags ?? [])],
  ]
  const child = spawn(command[0]!, command.slice(1), {
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ALMANAC_KEY: options.key },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const url = await listeningAt(child)
  return { url, processId: child.pid!, ended, stop: () => stop(child) }
}

/** Waits for the first local URL that the process prints; what it printed instead is in the error. */
async function listeningAt(child: ChildProcess): Promise<string> {
  const printed: string[] = []
  return await new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(`almanac start ${reason}. It printed:\n${printed.join('')}`))
    }
    const timer = setTimeout(() => fail(`did not listen within ${startTimeoutMs} ms`), startTimeoutMs)
    const read = (chunk: Buffer) => {
      printed.push(chunk.toString())
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed.join(''))?.[0]
      if (url === undefined) return
      clearTimeout(timer)
      child.off('exit', exited)
      printed.length = 0
      // The pipes must be read on, or the service would wait for its own log.
      for (const stream of [child.stdout, child.stderr]) stream?.off('data', read).resume()
      resolve(url)
    }
    const exited = (code: number | null, signal: string | null) => fail(`ended with ${code ?? signal}`)
    child.once('exit', exited)
    child.once('error', error => fail(error.message))
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
  child.kill('SIGTERM')
  await ended
  clearTimeout(timer)
}

// The process of a peer: bounded in time, watched for memory, and gone when its run is over. It knows no peer.
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { cpuSecondsOf } from '../cpu-time.ts'

export type PeerJob = {
  url: string
  chainId: number
  database: string
  /** All contracts where none is given. */
  contract?: string
  /** The last block. */
  to: number
  limitSeconds: number
}

/** `finished: false` says that the limit came first: the seconds are then a lower bound. */
export type PeerRun = { seconds: number; cpuSeconds: number; finished: boolean; rssMb: number }

export type Watched = {
  child: ChildProcess
  /** When the peer's own start is over and its work begins, by the clock of `performance.now`. */
  startedAt: () => number | undefined
  /** Whether everything is stored. */
  isDone: () => boolean | Promise<boolean>
}

export async function watch({ child, startedAt, isDone }: Watched, limitSeconds: number): Promise<PeerRun> {
  const spawnedAt = performance.now()
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => {
      output = (output + chunk).slice(-4_000)
    })
  try {
    let rssMb = 0
    let cpuAtStart = 0
    let cpuSeconds = 0
    for (;;) {
      rssMb = Math.max(rssMb, peakRssMb(child.pid))
      const cpu = cpuSecondsOf(child.pid!)
      if (startedAt() === undefined) cpuAtStart = cpu
      // An ended process has no figures any more.
      if (!Number.isNaN(cpu)) cpuSeconds = cpu - cpuAtStart
      const done = await isDone()
      const seconds = (performance.now() - (startedAt() ?? spawnedAt)) / 1_000
      if (done) return { seconds, cpuSeconds, finished: true, rssMb }
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(
          `The peer ended with ${child.exitCode ?? child.signalCode} before its work was done:\n${output}`,
        )
      if (seconds > limitSeconds) return { seconds, cpuSeconds, finished: false, rssMb }
      await delay(20)
    }
  } finally {
    process.off('exit', kill)
    await stop(child)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await exited
  clearTimeout(killer)
}

/** Linux alone tells the peak of another process. */
function peakRssMb(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Math.round((Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024) / 1e6)
  } catch {
    return 0
  }
}

/** Whether what the lock file says is what lies in node_modules. */
export function isInstalled(folder: string): boolean {
  const installed = `${folder}/node_modules/.package-lock.json`
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${folder}/package-lock.json`).mtimeMs
}

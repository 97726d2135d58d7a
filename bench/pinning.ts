// Gives server and load cores of their own, where there are two and `taskset` is installed.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** The server that `runner` starts gets the first core, this process the second. */
export function pinToOwnCores(): { pinning: boolean; runner: string[] } {
  const pinning = availableParallelism() > 1 && existsSync('/usr/bin/taskset')
  if (pinning) execFileSync('taskset', ['-a', '-p', '-c', '1', String(process.pid)], { stdio: 'ignore' })
  return { pinning, runner: pinning ? ['taskset', '-c', '0'] : [] }
}

// Measures a suite, where `npm run test:times` asks for it: seconds, processor seconds and the processes that it starts.
// Vitest loads it before each suite; it changes nothing that a test sees.
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { processorSeconds } from './processor-seconds.ts'

export type SuiteTimes = { suite: string; seconds: number; cpuSeconds: number; started: Record<string, number> }

const folder = process.env.ALMANAC_TESTS_TIMES

if (folder !== undefined) {
  const children: ChildProcess[] = []
  let threads = 0
  subscribe('child_process', message => void children.push((message as { process: ChildProcess }).process))
  subscribe('worker_threads', () => void threads++)
  const [beganMs, cpuBefore] = [performance.now(), processorSeconds('self')]
  // Hooks end in the opposite order, so this one comes after those of the suite, which stop its processes.
  afterAll(() => {
    const suite = expect.getState().testPath!
    const started: Record<string, number> = {}
    for (const { spawnfile } of children) {
      const name = basename(spawnfile ?? 'unknown')
      started[name] = (started[name] ?? 0) + 1
    }
    if (threads > 0) started.threads = threads
    const times: SuiteTimes = {
      suite,
      seconds: (performance.now() - beganMs) / 1_000,
      cpuSeconds: processorSeconds('self') - cpuBefore,
      started,
    }
    writeFileSync(join(folder, `${process.pid}-${suite.replaceAll('/', '+')}.json`), JSON.stringify(times))
  })
}

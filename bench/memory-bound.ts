// Holds a benchmark to an amount of memory, process and page cache together, so that a store larger than it really is
// larger. Linux only, and where control groups may be made.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const groups = [
  // Version 2, and version 1 where the memory controller has a hierarchy of its own.
  { root: '/sys/fs/cgroup', limit: 'memory.max', marker: 'cgroup.controllers' },
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', marker: 'memory.limit_in_bytes' },
]

/** Moves this process and its threads into a group of its own. Says what holds now. */
export function boundMemory(megabytes: number): string {
  const group = groups.find(({ root, marker }) => existsSync(join(root, marker)))
  if (group === undefined) return 'memory is not bounded: this machine has no control groups'
  const folder = join(group.root, `almanac-bench-${process.pid}`)
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, group.limit), String(megabytes * 2 ** 20))
    writeFileSync(join(folder, 'cgroup.procs'), String(process.pid))
  } catch (error) {
    return `memory is not bounded: ${(error as Error).message}`
  }
  process.once('exit', () => {
    writeFileSync(join(group.root, 'cgroup.procs'), String(process.pid))
    rmdirSync(folder)
  })
  return `process and page cache are held to ${megabytes} MB`
}

/** What this process has handed to the disk since it began; NaN where the system does not count it. */
export function bytesWritten(): number {
  try {
    const line = readFileSync('/proc/self/io', 'utf8').match(/^write_bytes: (\d+)/m)
    return Number(line?.[1])
  } catch {
    return Number.NaN
  }
}

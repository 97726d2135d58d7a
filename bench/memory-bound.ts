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
  const group = makeGroup(megabytes)
  if (typeof group === 'string') return group
  writeFileSync(join(group.folder, 'cgroup.procs'), String(process.pid))
  process.once('exit', () => {
    writeFileSync(join(group.root, 'cgroup.procs'), String(process.pid))
    rmdirSync(group.folder)
  })
  return `process and page cache are held to ${megabytes} MB`
}

/** A group for another process: what runs its command there, and how the group is removed once that has ended. */
export function memoryGroup(megabytes: number): { runner: string[]; says: string; remove: () => void } {
  const group = makeGroup(megabytes)
  if (typeof group === 'string') return { runner: [], says: group, remove: () => undefined }
  const runner = ['sh', '-c', `echo $$ > ${join(group.folder, 'cgroup.procs')} && exec "$@"`, 'sh']
  return { runner, says: `within ${megabytes} MB`, remove: () => rmdirSync(group.folder) }
}

/** Or why there is none. */
function makeGroup(megabytes: number): { root: string; folder: string } | string {
  const group = groups.find(({ root, marker }) => existsSync(join(root, marker)))
  if (group === undefined) return 'memory is not bounded: this machine has no control groups'
  const folder = join(group.root, `almanac-bench-${process.pid}`)
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, group.limit), String(megabytes * 2 ** 20))
  } catch (error) {
    return `memory is not bounded: ${(error as Error).message}`
  }
  return { root: group.root, folder }
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

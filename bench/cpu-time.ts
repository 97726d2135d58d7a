// How much processor time another process, or some threads of this one, have used. Linux only: elsewhere it is not known.
import { readdirSync, readFileSync } from 'node:fs'
import { statSeconds } from '../test/processor-seconds.ts'

export function cpuSecondsOf(processId: number): number {
  return cpuSecondsIn(`/proc/${processId}`)
}

/** Of a process, of those that it started, and of those of them that have ended: a PostgreSQL server as a whole. */
export function familyCpuSeconds(processId: number): number {
  const folders = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  let seconds = statSeconds(`/proc/${processId}`, 'with ended children')
  for (const id of folders) {
    try {
      const text = readFileSync(`/proc/${id}/stat`, 'utf8')
      const [, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ')
      if (Number(parent) === processId) seconds += statSeconds(`/proc/${id}`)
    } catch {
      // It ended meanwhile.
    }
  }
  return seconds
}

/** Of the threads of this process with this name. */
export function threadCpuSeconds(name: string): number {
  try {
    const threads = readdirSync('/proc/self/task').map(id => `/proc/self/task/${id}`)
    const named = threads.filter(path => readFileSync(`${path}/comm`, 'utf8').trim() === name)
    return named.reduce((sum, path) => sum + cpuSecondsIn(path), 0)
  } catch {
    return Number.NaN
  }
}

function cpuSecondsIn(path: string): number {
  try {
    return statSeconds(path)
  } catch {
    return Number.NaN
  }
}

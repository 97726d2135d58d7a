// How much processor time another process, or some threads of this one, have used. Linux only: elsewhere it is not known.
import { readdirSync, readFileSync } from 'node:fs'

/** `/proc` counts in hundredths of a second on every Linux that Node runs on. */
const ticksPerSecond = 100

export function cpuSecondsOf(processId: number): number {
  return cpuSecondsIn(`/proc/${processId}`)
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
    const text = readFileSync(`${path}/stat`, 'utf8')
    // The second field is the name in brackets, which may hold spaces; user and system time are fields 14 and 15.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
  } catch {
    return Number.NaN
  }
}

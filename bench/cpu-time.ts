// How much processor time another process has used. Linux only: elsewhere it is not known.
import { readFileSync } from 'node:fs'

/** `/proc` counts in hundredths of a second on every Linux that Node runs on. */
const ticksPerSecond = 100

export function cpuSecondsOf(processId: number): number {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, 'utf8')
    // The second field is the name in brackets, which may hold spaces; user and system time are fields 14 and 15.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
  } catch {
    return Number.NaN
  }
}

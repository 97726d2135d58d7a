// The processor seconds of a process and of those that it started and that have ended. It measures and changes nothing.
import { existsSync, readFileSync } from 'node:fs'

/** Clock ticks of a second in `/proc`, on every Linux. */
const ticks = 100

/** Without `/proc` those of this process alone. */
export function processorSeconds(id: number | 'self'): number {
  const path = `/proc/${id}/stat`
  if (!existsSync(path)) return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
  const fields = readFileSync(path, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number)
  // utime, stime, cutime and cstime of proc(5), counted from the third field.
  return fields.slice(11, 15).reduce((sum, value) => sum + value, 0) / ticks
}

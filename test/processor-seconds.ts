// The processor seconds of a process and of those that it started and that have ended. It measures and changes nothing.
import { existsSync, readFileSync } from 'node:fs'

/** `/proc` counts in hundredths of a second on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Without `/proc` those of this process alone. */
export function processorSeconds(id: number | 'self'): number {
  const folder = `/proc/${id}`
  if (existsSync(folder)) return statSeconds(folder, 'with ended children')
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Of a process or a thread, by its folder in `/proc`. */
export function statSeconds(folder: string, children?: 'with ended children'): number {
  const text = readFileSync(`${folder}/stat`, 'utf8')
  // The second field is the name in brackets, which may hold spaces; user and system time are fields 14 and 15, and
  // those of children that have ended 16 and 17.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const times = fields.slice(11, children === undefined ? 13 : 15)
  return times.reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond
}

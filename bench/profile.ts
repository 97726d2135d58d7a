// Sums up a `.cpuprofile`: which functions the time was spent in, by themselves.
import { readFileSync } from 'node:fs'

type CpuProfile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

/** With the seconds that were busy and passed first. */
export function summariseProfile(file: string, rows = 40): string {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const place = url === '' ? '' : ` ${url.replace(/^.*\/(?=[^/]+\/[^/]+$)/, '')}:${lineNumber + 1}`
      return [id, `${functionName || '(anonymous)'}${place}`]
    }),
  )
  const spent = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const name = names.get(id)!
    spent.set(name, (spent.get(name) ?? 0) + timeDeltas[index]!)
  }
  const all = sumOf(spent.values())
  spent.delete('(idle)')
  const busy = sumOf(spent.values())
  const top = [...spent].sort(([, a], [, b]) => b - a).slice(0, rows)
  const lines = top.map(([name, time]) => `${((time / busy) * 100).toFixed(1).padStart(5)} %  ${name}`)
  return [`busy ${(busy / 1e6).toFixed(1)} of ${(all / 1e6).toFixed(1)} s`, ...lines].join('\n')
}

function sumOf(times: Iterable<number>): number {
  let sum = 0
  for (const time of times) sum += time
  return sum
}

// Sums up a `.cpuprofile`: which functions the time was spent in, by themselves.
import { readFileSync } from 'node:fs'

type CpuProfile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

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
  spent.delete('(idle)')
  const busy = [...spent.values()].reduce((sum, time) => sum + time, 0)
  const top = [...spent].sort(([, a], [, b]) => b - a).slice(0, rows)
  return top.map(([name, time]) => `${((time / busy) * 100).toFixed(1).padStart(5)} %  ${name}`).join('\n')
}

// The past that plots show, as the service keeps it and as it grows here. Pure.
import type { components } from '../../openapi.gen.ts'

export type Past = components['schemas']['LivePast']
export type Line = Past['lines'][number]
type Sample = components['schemas']['LiveSample']

/** As many as the service keeps. */
const samplesMax = 720

/** The past and one more moment, as the service itself keeps it. */
export function withSample({ at, lines }: Past, sample: Sample): Past {
  const drop = Math.max(0, at.length + 1 - samplesMax)
  const isSame = (a: Omit<Line, 'values'>, b: Omit<Line, 'values'>) =>
    a.chain === b.chain && a.measure === b.measure && a.endpoint === b.endpoint && a.key === b.key
  const known = lines.map(line => {
    const value = sample.values.find(each => isSame(each, line))?.value ?? null
    return { ...line, values: [...line.values, value].slice(drop) }
  })
  const added = sample.values
    .filter(each => !lines.some(line => isSame(each, line)))
    .map(({ value, ...name }) => ({ ...name, values: [...at.map(() => null), value].slice(drop) }))
  return { at: [...at, sample.at].slice(drop), lines: [...known, ...added] }
}

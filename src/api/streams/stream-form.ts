// Which form of a list a client asks for: pages of JSON, or the whole list as CSV or NDJSON.
import { weightsIn } from '../request.ts'

export const streamTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const
export type StreamForm = keyof typeof streamTypes

/** Undefined: pages. JSON with the same weight wins; a wildcard wins only with a greater one. */
export function streamFormOf(accept: string | undefined): StreamForm | undefined {
  // Most clients name neither.
  if (accept === undefined || !/csv|ndjson/i.test(accept)) return undefined
  const weights = weightsIn(accept)
  const json = weights.get('application/json')
  const wildcard = weights.get('application/*') ?? weights.get('*/*') ?? 0
  const csv = weights.get(streamTypes.csv) ?? 0
  const ndjson = weights.get(streamTypes.ndjson) ?? 0
  const whole = Math.max(csv, ndjson)
  if (whole <= (json ?? 0) || (json === undefined && whole < wildcard)) return undefined
  return csv >= ndjson ? 'csv' : 'ndjson'
}

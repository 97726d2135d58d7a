// Which form of a list a client asks for: pages of JSON, or the whole list as CSV or NDJSON.

export const streamTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const
export type StreamForm = keyof typeof streamTypes

/** Undefined: pages. Where JSON is accepted as gladly, it is sent; by a wildcard, only where it is more so. */
export function streamFormOf(accept: string | undefined): StreamForm | undefined {
  // Most clients name neither.
  if (accept === undefined || !/csv|ndjson/i.test(accept)) return undefined
  const weights = new Map(accept.toLowerCase().split(',').map(weightOf))
  const json = weights.get('application/json')
  const wildcard = weights.get('application/*') ?? weights.get('*/*') ?? 0
  const csv = weights.get(streamTypes.csv) ?? 0
  const ndjson = weights.get(streamTypes.ndjson) ?? 0
  const whole = Math.max(csv, ndjson)
  if (whole <= (json ?? 0) || (json === undefined && whole < wildcard)) return undefined
  return csv >= ndjson ? 'csv' : 'ndjson'
}

function weightOf(part: string): [string, number] {
  const [name = '', ...parameters] = part.split(';').map(text => text.trim())
  const quality = parameters.find(parameter => parameter.startsWith('q='))
  const weight = quality === undefined ? 1 : Number(quality.slice(2))
  return [name, Number.isNaN(weight) ? 0 : weight]
}

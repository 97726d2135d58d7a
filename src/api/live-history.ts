// A bounded history of the API's figures, each chain's lag and rates and each endpoint's health, as columns for plots.
// In memory only.
import type { EndpointStatus, LivePast, LiveSample, StatusReport } from '../status.ts'

/** When the number of requests of an endpoint, of a chain, was last seen to change. */
export type Requests = Map<string, { requests: number; atMs: number }>

/** A chain that is followed asks more often than that: its line has no gaps between two blocks. */
const latencyHoldsMs = 60_000

/** `seen` is kept from one sample to the next. */
export function liveSample({ chains, solana }: StatusReport, atMs: number, seen: Requests = new Map()): LiveSample {
  const endpointValues = (chain: string, rpc: readonly EndpointStatus[]) =>
    rpc.flatMap(status => valuesOf(chain, status, isAsked(`${chain} ${status.endpoint}`, status, { atMs, seen })))
  return {
    at: atMs,
    values: [
      ...Object.entries(chains).flatMap(([chain, { lag_seconds, rates, rpc }]) => [
        { chain, measure: 'lag_seconds' as const, value: rounded(lag_seconds) },
        { chain, measure: 'blocks_per_second' as const, value: rounded(rates?.blocks_per_second ?? 0) },
        { chain, measure: 'rows_per_second' as const, value: rounded(rates?.rows_per_second ?? 0) },
        ...endpointValues(chain, rpc),
      ]),
      ...Object.entries(solana).flatMap(([network, { lag_seconds, rpc }]) => {
        const chain = `solana ${network}`
        return [{ chain, measure: 'lag_seconds' as const, value: rounded(lag_seconds) }, ...endpointValues(chain, rpc)]
      }),
    ],
  }
}

function valuesOf(
  chain: string,
  { endpoint, healthy, latency_ms }: EndpointStatus,
  isAskedNow: boolean,
): LiveSample['values'] {
  return [
    { chain, measure: 'healthy', endpoint, value: healthy ? 1 : 0 },
    // The latency of an endpoint that does not answer, or is not asked, is of then, and would be drawn as of now.
    ...(latency_ms === undefined || !healthy || !isAskedNow
      ? []
      : [{ chain, measure: 'latency_ms' as const, endpoint, value: latency_ms }]),
  ]
}

function isAsked(key: string, { requests }: EndpointStatus, { atMs, seen }: { atMs: number; seen: Requests }) {
  if (requests === undefined) return true
  const last = seen.get(key)
  if (last?.requests === requests) return atMs - last.atMs < latencyHoldsMs
  seen.set(key, { requests, atMs })
  return true
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

export class LiveHistory {
  readonly #samplesMax: number
  readonly #at: number[] = []
  readonly #lines = new Map<string, LivePast['lines'][number]>()

  constructor(samplesMax: number) {
    this.#samplesMax = samplesMax
  }

  add({ at, values }: LiveSample): void {
    const before = this.#at.length
    this.#at.push(at)
    for (const { value, ...name } of values) {
      const key = JSON.stringify([name.chain, name.measure, name.endpoint, name.key])
      let line = this.#lines.get(key)
      if (line === undefined) {
        line = { ...name, values: new Array<number | null>(before).fill(null) }
        this.#lines.set(key, line)
      }
      line.values[before] = value
    }
    const isFull = this.#at.length > this.#samplesMax
    if (isFull) this.#at.shift()
    for (const [key, { values }] of this.#lines) {
      // A line without a value in this sample gets a gap.
      if (values.length === before) values.push(null)
      if (!isFull) continue
      values.shift()
      if (values.every(value => value === null)) this.#lines.delete(key)
    }
  }

  past(): LivePast {
    return {
      at: [...this.#at],
      lines: [...this.#lines.values()].map(line => ({ ...line, values: [...line.values] })),
    }
  }
}

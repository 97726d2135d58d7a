// The part of `/status` that indexers report. Types only.
import type { CoverageScope, CoveredInterval } from './model.ts'

export type EndpointStatus = {
  /** Fit to be shown: no path, no key. */
  endpoint: string
  healthy: boolean
  /** Why it is not. */
  reason?: string
  fault?: string | null
  head?: number
  slot?: number
  latency_ms?: number
  requests?: number
  errors?: number
}

export type ChainStatus = {
  state: 'backfilling' | 'live' | 'stalled'
  /** Why it is stalled. */
  reason?: string
  index?: 'full' | 'on-demand'
  /** The first block of interest. */
  from?: number
  head: number
  finalized: number
  lag_seconds: number
  covered: readonly (CoveredInterval & { scope: CoverageScope })[]
  complete: boolean
  /** Null where nothing is left to do or no rate is known yet. */
  eta_seconds: number | null
  /** Of the last minute; null where nothing is read. */
  rates?: { blocksPerSecond: number; rowsPerSecond: number; bytesPerSecond: number } | null
  rpc: readonly EndpointStatus[]
}

export type SolanaStatus = {
  state: 'live' | 'stalled'
  slot: number
  lag_seconds: number
  rpc: readonly EndpointStatus[]
}

/** By the name of the chain or network. */
export type StatusReport = {
  chains: Readonly<Record<string, ChainStatus>>
  solana: Readonly<Record<string, SolanaStatus>>
}

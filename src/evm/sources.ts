// Makes the bulk sources that the settings of a chain name. It reads nothing yet.
import type { Chain } from '../chains.ts'
import type { Log } from '../log.ts'
import type { Hash, Interval } from '../model.ts'
import type { ChainReader } from '../store/store.ts'
import { fileSource } from './files/file-source.ts'
import { type PortalSourceOptions, portalSource } from './portal/portal-source.ts'
import type { RpcPort } from './rpc/port.ts'
import type { BulkSource } from './source/bulk-source.ts'
import type { Decoder } from './source/decode-pool.ts'
import { findStored } from './source/find-stored.ts'
import { headersAsAnswered } from './source/header-walk.ts'

export type SourceSettings = {
  /** Folders with files, or files. */
  history?: readonly string[] | undefined
  /** The URL of a dataset. */
  portal?: string | undefined
  /** Files, or URLs of beacon nodes. */
  historySummaries?: readonly string[] | undefined
  anchor?: Hash | undefined
}

/** Nothing else of a chain's settings. */
export function sourceSettings({ history, portal, historySummaries, anchor }: SourceSettings): SourceSettings {
  return { history, portal, historySummaries, anchor }
}

export type SourceParts = {
  chain: Chain
  rpc: RpcPort
  decoder: Decoder
  log: Log
  /** Absent: what public portals take. */
  portalRequestsPerSecond?: number | undefined
  /** Absent where nothing is indexed. */
  store?: Pick<ChainReader, 'lowestBlock'>
}

/** In the order in which they are asked. */
export function sourcesOf(settings: SourceSettings, parts: SourceParts): BulkSource[] {
  const { chain, rpc, decoder, log, store, portalRequestsPerSecond: requestsPerSecond } = parts
  const { history, portal, historySummaries: summaries = [], anchor } = settings
  const given = { chain, decoder, log, anchor }
  const headersOf = (interval: Interval, signal: AbortSignal) => headersAsAnswered(rpc, interval, signal)
  const storedNumber: PortalSourceOptions['storedNumber'] =
    store && ((hash, interval, signal) => findStored({ store, chain, hash }, interval, signal))
  const vouchers = rpc.endpoints.length === 0 ? {} : { headersOf }
  const ofPortal = { storedNumber, requestsPerSecond, ...vouchers }
  return [
    ...(history === undefined ? [] : [fileSource({ ...given, paths: history, summaries })]),
    ...(portal === undefined ? [] : [portalSource({ ...given, url: portal, ...ofPortal })]),
  ]
}

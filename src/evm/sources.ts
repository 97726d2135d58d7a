// Makes the bulk sources that the settings of a chain name. It reads nothing yet.
import { setImmediate } from 'node:timers/promises'
import type { Chain } from '../chains.ts'
import type { Log } from '../log.ts'
import type { Hash, Interval } from '../model.ts'
import type { ChainReader } from '../store/store.ts'
import { fileSource } from './files/file-source.ts'
import { portalSource } from './portal/portal-source.ts'
import type { RpcPort } from './rpc/port.ts'
import type { BulkSource } from './source/bulk-source.ts'
import type { Decoder } from './source/decode-pool.ts'
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
  /** Absent where nothing is indexed. */
  store?: Pick<ChainReader, 'blockWithHash'>
}

/** In the order in which they are asked. */
export function sourcesOf(settings: SourceSettings, { chain, rpc, decoder, log, store }: SourceParts): BulkSource[] {
  const { history, portal, historySummaries: summaries = [], anchor } = settings
  const given = { chain, decoder, log, anchor }
  const headersOf = (interval: Interval, signal: AbortSignal) => headersAsAnswered(rpc, interval, signal)
  const storedNumber = store && storedNumbers(store, chain)
  const vouchers = rpc.endpoints.length === 0 ? {} : { headersOf }
  return [
    ...(history === undefined ? [] : [fileSource({ ...given, paths: history, summaries })]),
    ...(portal === undefined ? [] : [portalSource({ ...given, url: portal, storedNumber, ...vouchers })]),
  ]
}

/** Some milliseconds of reading. */
const blocksAtOnce = 100_000

/** Newest first, in steps: others in the thread wait for each. */
function storedNumbers(store: Pick<ChainReader, 'blockWithHash'>, chain: Chain) {
  return async (hash: Hash, { from, to }: Interval, signal: AbortSignal): Promise<number | undefined> => {
    for (let end = to; end >= from; end -= blocksAtOnce) {
      const block = await store.blockWithHash(chain.id, hash, { from: Math.max(from, end - blocksAtOnce + 1), to: end })
      if (block !== undefined) return block.number
      await setImmediate()
      signal.throwIfAborted()
    }
    return undefined
  }
}

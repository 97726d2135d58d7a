// What an operator can set about the HTTP side, with the defaults. No reading of files or environment here.
import type { Dialect } from './dialect.ts'

export type ApiSettings = {
  /** Unset: each request decides. */
  dialect?: Dialect | undefined
  pageSizeMax: number
  urlBytesMax: number
  headerBytesMax: number
  answerBytesMax: number
  requestTimeoutMs: number
  /** How many requests are worked on at once, and how many more may wait for their turn. */
  concurrencyMax: number
  queueMax: number
  /** Ready answers that are kept while nothing is committed. */
  answerCacheBytes: number
  /** `/status`, `/metrics` and `/events` answer without a key. */
  opsOpen: boolean
  /** `*` or exact origins. */
  corsOrigins: readonly string[]
  /** How far a followed chain may be behind before `/ready` says so. */
  lagMaxSeconds: number
  /** How long a request waits for an indexer before it answers with what is there. */
  freshenWaitMs: number
}

export const defaultApiSettings: ApiSettings = {
  pageSizeMax: 100,
  urlBytesMax: 8_192,
  headerBytesMax: 16_384,
  answerBytesMax: 16 * 1024 * 1024,
  requestTimeoutMs: 15_000,
  concurrencyMax: 256,
  queueMax: 1_024,
  answerCacheBytes: 64 * 1024 * 1024,
  opsOpen: false,
  corsOrigins: ['*'],
  lagMaxSeconds: 300,
  freshenWaitMs: 3_000,
}

// How long a client is ready to wait for data that is not indexed yet: `Prefer: wait=n` (RFC 7240), within the server's own bound.
import type { Exchange } from './exchange.ts'
import type { ApiSettings } from './settings.ts'

/** The answer has to leave before the request times out. */
const marginMs = 1_000

export function patienceMs(exchange: Exchange, settings: ApiSettings): number {
  const asked = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(exchange.header('prefer') ?? '')?.[1]
  const wishMs = asked === undefined ? settings.freshenWaitMs : Number(asked) * 1_000
  return Math.min(wishMs, Math.max(0, settings.requestTimeoutMs - marginMs))
}

// What a Retry-After header asks for. It sets no bound: whoever waits does.

/** Seconds or a date, as milliseconds from now; undefined where the header is missing or says neither. */
export function retryAfterOf(header: string | string[] | undefined, nowMs = Date.now()): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined || text.trim() === '') return undefined
  const seconds = Number(text)
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(text) - nowMs
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined
}

// One attempt to send something to a webhook, and what follows from it: delivered, tried again later, or stopped. Of
// what the receiver answers only the status is kept.
import { Resolver } from 'node:dns/promises'
import type { Config } from '../../../config/settings.ts'
import { AlmanacError } from '../../../errors.ts'
import { type FetchRules, fetchFailureOf, guardedFetch, type Permit, permittedUrl } from '../../../guarded-fetch.ts'
import type { WebhookProgress, WebhookRecord } from '../../../store/webhook-store.ts'
import { signedHeaders } from './signature.ts'

/** `loopback`: http and private addresses, of this machine alone: in a sandbox. */
export type WebhookSettings = Config['webhooks'] & { loopback?: boolean }
type Reach = Omit<WebhookSettings, 'maxPerKey'>

export type Attempted = {
  /** Undefined where there was no answer. */
  status: number | undefined
  /** Why it failed; undefined where it did not. */
  error: string | undefined
  tookMs: number
}

const answerBytesMax = 1_024
const timeoutMs = 15_000
const resolveMs = 5_000

export function reachRules({ allowPrivate, allowHttp, loopback }: Reach): FetchRules {
  const permits = (url: URL): Permit => {
    if (loopback === true && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname))
      return { http: true, private: true }
    return { http: allowHttp, private: allowPrivate }
  }
  const bounds = { redirectsMax: 0, bytesMax: answerBytesMax, cutsBody: true, timeoutMs, headersTimeoutMs: timeoutMs }
  return { permits, ...bounds, ...(allowPrivate || loopback ? {} : { resolve: addressesOf }) }
}

/**
 * By the name servers alone: it takes no thread, of which the system's own way has a few, so a name that is made to
 * take long holds up no other webhook.
 */
async function addressesOf(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: resolveMs / 2, tries: 2 })
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const found = [v4, v6].flatMap(each => (each.status === 'fulfilled' ? each.value : []))
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason
  return found
}

const urlCharactersMax = 2_048

/** As it is kept; throws where it could never be asked. */
export function checkedUrl(text: string, rules: FetchRules): string {
  if (text.length > urlCharactersMax) throw refusedUrl(`has at most ${urlCharactersMax} characters`)
  try {
    return permittedUrl(text, rules).href
  } catch (error) {
    throw refusedUrl(error instanceof AlmanacError ? error.message : String(error))
  }
}

function refusedUrl(reason: string): AlmanacError {
  return new AlmanacError('bad_request', `url cannot be used: ${reason}`, {
    details: { parameter: 'url', accepted: 'the https URL of a public host, without credentials' },
  })
}

type Message = { id: string; body: Uint8Array; signal?: AbortSignal | undefined; nowMs: number }

/** Never throws. */
export async function attempt(
  webhook: WebhookRecord,
  { id, body, signal, nowMs }: Message,
  { rules, storeSecret }: { rules: FetchRules; storeSecret: Uint8Array },
): Promise<Attempted> {
  const startedMs = performance.now()
  const took = () => Math.round(performance.now() - startedMs)
  const headers = {
    ...{ 'content-type': 'application/json', 'user-agent': 'Almanac' },
    ...signedHeaders(storeSecret, webhook, { id, atMs: nowMs, body }),
  }
  try {
    const request = { url: webhook.url, method: 'POST', headers, body, ...(signal && { signal }) } as const
    const { status } = await guardedFetch(request, rules)
    const error = status >= 200 && status < 300 ? undefined : `The receiver answered ${status}`
    return { status, error, tookMs: took() }
  } catch (error) {
    return { status: undefined, error: failureText(error), tookMs: took() }
  }
}

/** Says nothing of what was found at the address: it may be chosen to find that out. */
function failureText(error: unknown): string {
  switch (fetchFailureOf(error)) {
    case 'no_address':
      return 'The name of the receiver has no public address'
    case 'refused_host':
    case 'invalid_url':
      return 'The address of the receiver is not permitted'
    case 'timeout':
      return 'The receiver did not answer in time'
    case 'unreachable':
      return 'The receiver could not be reached, or broke off'
    default:
      return error instanceof AlmanacError && error.code === 'timeout' ? error.message : 'The answer was not valid'
  }
}

// When it is tried again.

const firstDelayMs = 5_000
const delayMsMax = 3_600_000
/** After failing for as long it is paused. */
const failingMsMax = 86_400_000

/** What one attempt makes of the progress. `random`: from 0 to 1. */
export function afterAttempt(
  progress: WebhookProgress,
  { status, error }: Attempted,
  { nowMs, more, random = Math.random() }: { nowMs: number; more: boolean; random?: number },
): WebhookProgress {
  const sent = progress.sent + 1
  if (error === undefined) {
    const none = { batch: undefined, attempts: 0, failingSince: undefined, nextAttemptAt: undefined, reason: undefined }
    const behindSince = more ? (progress.behindSince ?? nowMs) : undefined
    return { ...progress, ...none, position: progress.batch!.end, behindSince, sent }
  }
  const attempts = progress.attempts + 1
  const failingSince = progress.failingSince ?? nowMs
  const failed = { ...progress, attempts, failingSince, reason: error, sent }
  if (status === 410) return { ...failed, nextAttemptAt: undefined, stopped: true }
  if (nowMs - failingSince >= failingMsMax)
    return { ...failed, reason: `${error}, for a day`, nextAttemptAt: undefined, stopped: true }
  const delayMs = Math.min(delayMsMax, firstDelayMs * 2 ** Math.min(attempts - 1, 20))
  return { ...failed, nextAttemptAt: Math.ceil(nowMs + delayMs * (0.5 + random / 2)) }
}

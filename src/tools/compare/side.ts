// One side of a comparison: asks a service over HTTP at its pace and within a budget. What it reads has no key in it.
import { pause } from '../../abort.ts'
import { countText, printable } from '../../cli/terminal.ts'
import { AlmanacError, messageOf } from '../../errors.ts'
import { type Redactor, redactText, redactUrl } from '../../redact.ts'
import { retryAfterOf } from '../../rpc/http.ts'

/** What is asked, in the same words on both sides. */
export type Target = {
  /** Below the base of EVM operations, or with `atRoot` below that of Solana, where this side has its own routes. */
  path: string
  query?: Readonly<Record<string, string | readonly string[]>>
  atRoot?: boolean
  /** Sent by POST. */
  body?: unknown
}

export type Answer = {
  status: number
  body: unknown
  /** Undefined where the service does not say it. */
  complete: boolean | undefined
  /** The chains that `X-Index-Incomplete-Chains` names. */
  incompleteChains: readonly string[]
}

export type SideOptions = {
  name: 'here' | 'there'
  /** With the version, such as `https://host/api/v2.2`. */
  evm: string
  solana: string
  key: string | undefined
  /** How the key can be given. */
  keyHint: string
  /** Requests that may be sent, retries among them. */
  budget?: number | undefined
  /** Removes the keys of both sides from a text. */
  hide: Redactor
  signal: AbortSignal
}

const answerTimeoutMs = 30_000
const bodyBytesMax = 64 * 2 ** 20
const retriesMax = 4
const firstPauseMs = 1_000
const pauseMsMax = 60_000
/** Between requests, once the service said that it is asked too often. */
const firstGapMs = 250
const gapMsMax = 5_000

export class Side {
  readonly name: SideOptions['name']
  readonly #options: SideOptions
  #sent = 0
  #gapMs = 0

  constructor(options: SideOptions) {
    this.name = options.name
    this.#options = options
  }

  get sent(): number {
    return this.#sent
  }

  /** The host alone: the path of a base may hold a secret. */
  get shown(): string {
    return redactUrl(this.#options.evm)
  }

  /** Tries again what may work later. An answer of any status is returned; what is no answer, or no JSON, throws. */
  async ask(target: Target): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      const response = await this.#send(target)
      const { status } = response
      const retryAfterMs = retryAfterOf(response.headers.get('retry-after') ?? undefined)
      const isLimited = status === 429
      if (isLimited) this.#gapMs = Math.min(gapMsMax, Math.max(firstGapMs, this.#gapMs * 2))
      const waitMs = retryAfterMs ?? firstPauseMs * 2 ** attempt
      const triesMax = isLimited ? retriesMax : isFailure(status) && retryAfterMs !== undefined ? 1 : 0
      if (attempt < triesMax && waitMs <= pauseMsMax) {
        await response.body?.cancel()
        await this.#rest(waitMs)
        continue
      }
      const text = await this.#read(response)
      if (isLimited) throw this.#refused(status, text, { retryAfterMs: waitMs })
      if (status === 401) throw this.#refused(status, text, {})
      const body = parseJson(text)
      // A proxy's error page is an answer too; any other page means that this is not the base of the service.
      if (body === undefined && !isFailure(status)) throw this.#notTheService(response, text)
      return {
        ...{ status, body },
        complete: { true: true, false: false }[response.headers.get('x-index-complete') ?? ''],
        incompleteChains: (response.headers.get('x-index-incomplete-chains') ?? '').split(', ').filter(Boolean),
      }
    }
  }

  async #send({ path, query = {}, atRoot = false, body }: Target): Promise<Response> {
    const { evm, solana, key, budget, signal } = this.#options
    if (this.#sent > 0) await this.#rest(this.#gapMs)
    signal.throwIfAborted()
    if (budget !== undefined && this.#sent >= budget)
      throw new AlmanacError('quota_exceeded', `The budget of ${countText(budget)} requests is used up.`, {
        hint: 'pass a greater number with --requests.',
      })
    this.#sent++
    const pairs = Object.entries(query).flatMap(([key, value]) => [value].flat().map(each => [key, each]))
    const search = new URLSearchParams(pairs as [string, string][]).toString()
    try {
      return await fetch(`${atRoot ? solana : evm}${path}${search === '' ? '' : `?${search}`}`, {
        headers: {
          accept: 'application/json',
          ...(key === undefined ? {} : { 'x-api-key': key }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        // Another host must not get the key.
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
      })
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #failed(error: unknown): unknown {
    const { signal, hide, name } = this.#options
    if (signal.aborted) return signal.reason
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error
    const what = isLate
      ? `${this.shown} did not answer within ${answerTimeoutMs / 1_000} s.`
      : `${this.shown} cannot be reached.`
    return new AlmanacError(isLate ? 'timeout' : 'upstream_failed', what, {
      ...(isLate ? {} : { cause: redactText(hide(printable(messageOf(cause)))) }),
      retryable: true,
      hint: name === 'here' ? 'start the server, or pass its URL with --url.' : 'check the URL of --against.',
    })
  }

  async #read(response: Response): Promise<string> {
    const parts: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const part of response.body ?? []) {
        bytes += part.length
        if (bytes > bodyBytesMax) break
        parts.push(part)
      }
    } catch (error) {
      throw this.#failed(error)
    }
    if (bytes > bodyBytesMax)
      throw new AlmanacError('answer_too_large', `${this.shown} sent more than ${countText(bodyBytesMax)} bytes.`)
    return this.#options.hide(Buffer.concat(parts).toString())
  }

  async #rest(ms: number): Promise<void> {
    const { signal } = this.#options
    await pause(ms, signal)
    signal.throwIfAborted()
  }

  #refused(status: number, text: string, options: { retryAfterMs?: number }): AlmanacError {
    const isLimited = status === 429
    const isMissing = this.#options.key === undefined
    const refused = isMissing ? 'needs a key, and none was given' : 'refused the key'
    const message = isLimited ? 'answers that it is asked too often' : refused
    const waitSeconds = Math.ceil((options.retryAfterMs ?? 0) / 1_000)
    return new AlmanacError(isLimited ? 'upstream_rate_limited' : 'unauthorized', `${this.shown} ${message}.`, {
      cause: `${status}: ${messageIn(text)}`,
      retryable: isLimited,
      hint: isLimited
        ? `try again in ${waitSeconds} s, or ask for less with --requests.`
        : `pass ${isMissing ? 'one' : 'another key'}: ${this.#options.keyHint}.`,
    })
  }

  #notTheService(response: Response, text: string): AlmanacError {
    const { name } = this.#options
    const isRedirect = response.status >= 300 && response.status < 400
    const kind = isRedirect
      ? 'sends elsewhere'
      : /^\s*</.test(text)
        ? 'answers with a page, not with JSON'
        : 'does not answer with JSON'
    return new AlmanacError('upstream_invalid', `${this.shown} ${kind}.`, {
      cause: `${response.status}: ${printable(redactText(text.trim())).slice(0, 80)}`,
      hint: `pass the base of its API with ${name === 'here' ? '--url' : '--against'}, such as https://host/api/v2.2.`,
    })
  }
}

function isFailure(status: number): boolean {
  return status >= 500 && status !== 501
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What an error answer says, short and on one line. */
export function messageIn(answer: unknown): string {
  const body = typeof answer === 'string' ? (parseJson(answer) ?? answer) : answer
  const said = typeof body === 'object' && body !== null && 'message' in body ? body.message : body
  const text = typeof said === 'string' ? said : JSON.stringify(said)
  return printable(redactText(text ?? '')).slice(0, 160)
}

/** Where the next page begins. */
export function cursorIn(body: unknown): string | undefined {
  const { cursor } = (body ?? {}) as { cursor?: unknown }
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined
}

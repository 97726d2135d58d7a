// One JSON-RPC endpoint: sends a call within its limits of rate, time and size, and says what went wrong by name. It
// judges what every answer must be; what a method's result must be is judged by `rpc.ts`.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { AlmanacError, messageOf } from '../errors.ts'
import type { SolanaNetwork } from '../model.ts'
import { redactText, redactUrl } from '../redact.ts'
import { Breaker } from '../rpc/health.ts'
import { retryAfterOf } from '../rpc/http.ts'
import { Pace } from '../rpc/limits.ts'

/** The node has not reached the slot that a read must not be older than. */
export const minContextSlotNotReached = -32016

const connectionsMax = 8
const queueMax = 1_000
const stallMs = 30_000
/** A slot this far below the last one is a ledger that began anew, not another node of a provider. */
const resetSlots = 10_000

export type EndpointOptions = {
  network: SolanaNetwork
  url: string
  requestsPerSecond?: number | undefined
  timeoutMs?: number | undefined
  answerBytesMax?: number | undefined
}

export type SolanaEndpointStatus = {
  endpoint: string
  healthy: boolean
  slot: number
  requestsPerSecond: number
  fault: string | undefined
  requests: number
  errors: number
  /** Of answers lately; undefined before the first. */
  latencyMs: number | undefined
}

/** How much the newest answer counts. */
const latencyShare = 0.2

export type RpcCall = { method: string; params: readonly unknown[] }

export class SolanaEndpoint {
  readonly name: string
  readonly breaker = new Breaker()
  readonly #network: SolanaNetwork
  readonly #pace: Pace
  readonly #pool: Pool
  readonly #path: string
  readonly #headers: Record<string, string>
  readonly #timeoutMs: number
  readonly #answerBytesMax: number
  #inFlight = 0
  #nextId = 1
  #slot = 0
  #movedAtMs = 0
  #lastFault: string | undefined
  #requests = 0
  #errors = 0
  #latencyMs: number | undefined

  constructor({ network, url, requestsPerSecond, timeoutMs = 10_000, answerBytesMax = 2 ** 26 }: EndpointOptions) {
    const parsed = new URL(url)
    this.name = redactUrl(url)
    this.#network = network
    this.#pace = new Pace(requestsPerSecond)
    this.#pool = new Pool(parsed.origin, {
      connections: connectionsMax,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    this.#path = parsed.pathname + parsed.search
    this.#headers = { 'content-type': 'application/json', ...basicAuthorization(parsed) }
    this.#timeoutMs = timeoutMs
    this.#answerBytesMax = answerBytesMax
  }

  /** The `result` of a call. Numbers named `lamports` come as bigint: they can be beyond 2^53. */
  async call(call: RpcCall, signal?: AbortSignal): Promise<unknown> {
    if (this.#inFlight >= queueMax)
      throw this.#fault('upstream_failed', `has too many calls waiting to take ${call.method}`)
    this.#inFlight++
    try {
      const waitMs = this.#pace.reserveMs()
      if (waitMs > this.#timeoutMs) {
        throw this.#fault('upstream_rate_limited', `may not be asked for ${call.method} yet`, { retryAfterMs: waitMs })
      }
      if (waitMs > 0) await sleep(waitMs, undefined, signal === undefined ? {} : { signal })
      return await this.#measured(call, signal)
    } finally {
      this.#inFlight--
    }
  }

  /** Throws where the endpoint stands still: its slot stayed while the chain's cannot have. */
  checkSlot(slot: number, call: RpcCall, nowMs = performance.now()): void {
    if (slot > this.#slot || slot < this.#slot - resetSlots) {
      this.#slot = slot
      this.#movedAtMs = nowMs
    } else if (nowMs - this.#movedAtMs > stallMs) {
      const seconds = Math.round((nowMs - this.#movedAtMs) / 1_000)
      throw this.#fault(
        'upstream_failed',
        `has not moved beyond slot ${this.#slot} for ${seconds} s, as it says to ${call.method}`,
      )
    }
  }

  /** Its highest slot, if it was seen moving lately; others are measured by it. */
  recentSlot(nowMs = performance.now()): number {
    return nowMs - this.#movedAtMs > stallMs ? 0 : this.#slot
  }

  invalid(call: RpcCall, what: string): AlmanacError {
    return this.#fault('upstream_invalid', `${what} to ${call.method}`)
  }

  /** Nodes that know no `minContextSlot` answer from before it: the same as saying that they are not there yet. */
  behind(call: RpcCall, slot: number): AlmanacError {
    return this.#fault('upstream_failed', `is only at slot ${slot}, as it says to ${call.method}`, {
      details: { rpcCode: minContextSlotNotReached },
    })
  }

  lagging(call: RpcCall, slots: number): AlmanacError {
    return this.#fault('upstream_failed', `lags ${slots} slots behind another, as it says to ${call.method}`)
  }

  status(): SolanaEndpointStatus {
    return {
      endpoint: this.name,
      healthy: !this.breaker.open,
      slot: this.#slot,
      requestsPerSecond: Math.round(this.#pace.requestsPerSecond),
      fault: this.breaker.open ? this.#lastFault : undefined,
      requests: this.#requests,
      errors: this.#errors,
      latencyMs: this.#latencyMs,
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  async #measured(call: RpcCall, signal?: AbortSignal): Promise<unknown> {
    this.#requests++
    const startedAt = performance.now()
    try {
      const result = await this.#send(call, signal)
      const tookMs = performance.now() - startedAt
      this.#latencyMs =
        this.#latencyMs === undefined ? tookMs : this.#latencyMs + (tookMs - this.#latencyMs) * latencyShare
      return result
    } catch (error) {
      // Whoever gave up says nothing of the endpoint.
      if (signal?.aborted !== true) this.#errors++
      throw error
    }
  }

  async #send(call: RpcCall, signal?: AbortSignal): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.#nextId++, method: call.method, params: call.params })
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    const both = signal === undefined ? timeout : AbortSignal.any([timeout, signal])
    let status: number
    let text: string
    try {
      const answer = await this.#pool.request({
        method: 'POST',
        path: this.#path,
        headers: this.#headers,
        body,
        signal: both,
      })
      status = answer.statusCode
      if (status === 429) {
        await answer.body.dump()
        throw this.#refused(call, answer.headers['retry-after'])
      }
      text = await this.#readBounded(call, answer.body)
    } catch (error) {
      if (error instanceof AlmanacError) throw error
      if (timeout.aborted)
        throw this.#fault('upstream_failed', `did not answer ${call.method} within ${this.#timeoutMs} ms`)
      throw this.#fault('upstream_failed', `could not be asked for ${call.method}`, { cause: error })
    }
    return this.#resultOf(call, status, text)
  }

  async #readBounded(call: RpcCall, body: AsyncIterable<Buffer>): Promise<string> {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > this.#answerBytesMax)
        throw this.#fault('upstream_invalid', `answered more than ${this.#answerBytesMax} bytes to ${call.method}`, {
          details: { tooLarge: true },
        })
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  #resultOf(call: RpcCall, status: number, text: string): unknown {
    const answer = parseAnswer(text)
    const error = answer?.error
    if (error !== undefined && error !== null) {
      const { code, message } = error as { code?: unknown; message?: unknown }
      if (code === 429 || code === -32429) throw this.#refused(call, undefined)
      throw this.#fault('upstream_failed', `answered error ${String(code)} to ${call.method}`, {
        cause: new Error(redactText(String(message).slice(0, 300))),
        details: { rpcCode: code },
      })
    }
    if (status !== 200) throw this.#fault('upstream_failed', `answered ${status} to ${call.method}`)
    if (answer === undefined || !('result' in answer))
      throw this.#fault('upstream_invalid', `answered no JSON-RPC to ${call.method}`)
    return answer.result
  }

  #refused(call: RpcCall, retryAfter: string | string[] | undefined): AlmanacError {
    const retryAfterMs = retryAfterOf(retryAfter)
    this.#pace.refused({ inFlight: this.#inFlight, retryAfterMs })
    return this.#fault('upstream_rate_limited', `answered 429 to ${call.method}`, {
      hint: `lower solana.${this.#network}.requestsPerSecond or add a second endpoint.`,
      retryAfterMs: retryAfterMs ?? 1_000,
    })
  }

  #fault(
    code: 'upstream_failed' | 'upstream_invalid' | 'upstream_rate_limited',
    what: string,
    options: { cause?: unknown; hint?: string; retryAfterMs?: number; details?: unknown } = {},
  ): AlmanacError {
    const because = options.cause === undefined ? '' : ` (${redactText(messageOf(options.cause))})`
    this.#lastFault = what + because
    return new AlmanacError(code, `solana ${this.#network} endpoint ${this.name} ${what}.`, {
      ...options,
      retryable: true,
    })
  }
}

type Answer = { result?: unknown; error?: unknown }

function parseAnswer(text: string): Answer | undefined {
  try {
    const answer: unknown = JSON.parse(exactLamports(text))
    return typeof answer === 'object' && answer !== null ? answer : undefined
  } catch {
    return undefined
  }
}

/**
 * JSON.parse rounds whole numbers beyond 2^53, and balances can be that large. Only those are put in quotes: a reviver
 * for all would cost ten times the parse.
 */
export function exactLamports(text: string): string {
  return text.replaceAll(/"lamports":\s*(\d{16,20})(?=[,}\s])/g, '"lamports":"$1"')
}

function basicAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

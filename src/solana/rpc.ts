// The methods of a Solana node that the portfolio needs, over several endpoints: fails over, waits for a slot, and checks
// the shape of every answer. Knows nothing of the store.
import { setTimeout as sleep } from 'node:timers/promises'
import { base58 } from '@scure/base'
import { AlmanacError } from '../errors.ts'
import type { SolanaNetwork, TokenProgram } from '../model.ts'
import type { DailyBudget } from '../rpc/limits.ts'
import { tokenAccountBytes, tokenProgramAddresses } from './decode.ts'
import { minContextSlotNotReached, type RpcCall, type SolanaEndpoint } from './endpoint.ts'

/** What the public method takes. */
export const accountsPerCallMax = 100
const commitment = 'confirmed'
const invalidParams = -32602
const excludedFromIndex = -32010
/** A minute: far more than nodes of one cluster differ by. */
const lagSlotsMax = 150
const roundsMax = 2
const behindRoundsMax = 8
const behindPauseMs = 250
const retryPauseMs = 100

/** An account as a node describes it; `program` is who owns it in the runtime's sense. */
export type AccountInfo = { lamports: bigint; program: string; data: Uint8Array }
export type KeyedAccount = AccountInfo & { key: Uint8Array }
export type At<T> = { slot: number; value: T }

export type SolanaRpcOptions = {
  network: SolanaNetwork
  endpoints: readonly SolanaEndpoint[]
  /** Of all endpoints together. */
  budget?: DailyBudget | undefined
}

export class SolanaRpc {
  readonly network: SolanaNetwork
  readonly #endpoints: readonly SolanaEndpoint[]
  readonly #budget: DailyBudget | undefined

  constructor({ network, endpoints, budget }: SolanaRpcOptions) {
    this.network = network
    this.#endpoints = endpoints
    this.#budget = budget
  }

  /** The accounts of up to 100 keys, undefined for those that do not exist. */
  async accounts(keys: readonly string[], minContextSlot?: number): Promise<At<(AccountInfo | undefined)[]>> {
    const options = { commitment, encoding: 'base64', ...(minContextSlot === undefined ? {} : { minContextSlot }) }
    return this.#ask({ method: 'getMultipleAccounts', params: [keys, options] }, minContextSlot, result => {
      if (!Array.isArray(result) || result.length !== keys.length) return undefined
      const accounts = result.map(entry => (entry === null ? null : readAccount(entry)))
      return accounts.includes(undefined) ? undefined : accounts.map(account => account ?? undefined)
    })
  }

  /** Every token account of an owner under one program, each cut to the part that both programs share. */
  async tokenAccounts(owner: string, program: TokenProgram, minContextSlot?: number): Promise<At<KeyedAccount[]>> {
    const filter = { programId: tokenProgramAddresses[program] }
    const options = {
      commitment,
      encoding: 'base64',
      dataSlice: { offset: 0, length: tokenAccountBytes },
      ...(minContextSlot === undefined ? {} : { minContextSlot }),
    }
    return this.#ask(
      { method: 'getTokenAccountsByOwner', params: [owner, filter, options] },
      minContextSlot,
      result => {
        if (!Array.isArray(result)) return undefined
        const accounts: KeyedAccount[] = []
        for (const entry of result as { pubkey?: unknown; account?: unknown }[]) {
          const account = readAccount(entry?.account)
          const key = readKey(entry?.pubkey)
          if (account === undefined || key === undefined || account.program !== filter.programId) return undefined
          accounts.push({ key, ...account })
        }
        return accounts
      },
    )
  }

  async genesisHash(): Promise<string> {
    const call = { method: 'getGenesisHash', params: [] }
    return this.#overEndpoints(call, async endpoint => {
      const hash = await endpoint.call(call)
      if (typeof hash !== 'string') throw endpoint.invalid(call, 'answered something else')
      return hash
    })
  }

  status() {
    return this.#endpoints.map(endpoint => endpoint.status())
  }

  async close(): Promise<void> {
    await Promise.all(this.#endpoints.map(endpoint => endpoint.close()))
  }

  async #ask<T>(
    call: RpcCall,
    minContextSlot: number | undefined,
    read: (value: unknown) => T | undefined,
  ): Promise<At<T>> {
    return this.#overEndpoints(call, async endpoint => {
      const result = await endpoint.call(call)
      const { context, value } = (result ?? {}) as { context?: { slot?: unknown }; value?: unknown }
      const slot = context?.slot
      if (typeof slot !== 'number' || !Number.isSafeInteger(slot) || slot < 0)
        throw endpoint.invalid(call, 'answered without a slot')
      if (minContextSlot !== undefined && slot < minContextSlot) throw endpoint.behind(call, slot)
      endpoint.checkSlot(slot, call)
      const best = Math.max(...this.#endpoints.map(other => other.recentSlot()))
      if (slot < best - lagSlotsMax) throw endpoint.lagging(call, best - slot)
      const answer = read(value)
      if (answer === undefined) throw endpoint.invalid(call, 'answered something else')
      return { slot, value: answer }
    })
  }

  /** Every endpoint in the order of preference, those that fail all the time last; then once more. */
  async #overEndpoints<T>(call: RpcCall, attempt: (endpoint: SolanaEndpoint) => Promise<T>): Promise<T> {
    let failure: unknown
    for (let round = 0, behindRounds = 0; round < roundsMax; round++) {
      const usable = this.#endpoints.filter(endpoint => !endpoint.breaker.open)
      let behind = false
      for (const endpoint of usable) {
        if (this.#budget?.spend() === false) throw this.#overBudget(this.#budget, call, failure)
        try {
          const answer = await attempt(endpoint)
          endpoint.breaker.succeeded()
          return answer
        } catch (error) {
          failure = error
          if (isBehind(error)) behind = true
          else if (isAboutTheQuestion(error)) endpoint.breaker.succeeded()
          else endpoint.breaker.failed()
        }
      }
      if (usable.length === 0) break
      // A node that is only a moment behind gets the time to catch up; it is not at fault yet.
      if (behind && behindRounds++ < behindRoundsMax) round--
      await sleep(behind ? behindPauseMs : retryPauseMs)
    }
    throw failure ?? this.#allResting(call)
  }

  #overBudget({ requestsPerDay, renewsInMs }: DailyBudget, call: RpcCall, cause: unknown): AlmanacError {
    const setting = `solana.${this.network}.dailyBudget`
    const message = `The ${requestsPerDay} requests of ${setting} are used up: ${call.method} was not sent.`
    return new AlmanacError('upstream_rate_limited', message, {
      cause,
      hint: `raise ${setting}, or wait until midnight UTC.`,
      retryable: true,
      retryAfterMs: renewsInMs,
    })
  }

  #allResting(call: RpcCall): AlmanacError {
    const status = this.#endpoints.map(endpoint => `${endpoint.name} ${endpoint.status().fault ?? ''}`)
    const retryAfterMs = Math.min(...this.#endpoints.map(endpoint => endpoint.breaker.opensInMs))
    return new AlmanacError('upstream_failed', `No solana ${this.network} endpoint answers ${call.method}`, {
      cause: new Error(status.join('; ')),
      retryable: true,
      retryAfterMs: Math.max(retryAfterMs, 100),
    })
  }
}

function isBehind(error: unknown): boolean {
  const details = error instanceof AlmanacError ? error.details : undefined
  return (details as { rpcCode?: unknown } | undefined)?.rpcCode === minContextSlotNotReached
}

/** The endpoint works, and another question may fare better: one odd account must not close it for all. */
function isAboutTheQuestion(error: unknown): boolean {
  const details = error instanceof AlmanacError ? error.details : undefined
  const { rpcCode, tooLarge } = (details ?? {}) as { rpcCode?: unknown; tooLarge?: unknown }
  return tooLarge === true || rpcCode === invalidParams || rpcCode === excludedFromIndex
}

/** Undefined where a node describes no account. Shared with the subscriptions. */
export function readAccount(entry: unknown): AccountInfo | undefined {
  const { lamports, owner, data } = (entry ?? {}) as { lamports?: unknown; owner?: unknown; data?: unknown }
  if (typeof owner !== 'string' || !Array.isArray(data) || typeof data[0] !== 'string' || data[1] !== 'base64')
    return undefined
  const balance = readLamports(lamports)
  return balance === undefined ? undefined : { lamports: balance, program: owner, data: Buffer.from(data[0], 'base64') }
}

function readLamports(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  return typeof value === 'string' && /^\d{1,20}$/.test(value) ? BigInt(value) : undefined
}

function readKey(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'string' || value.length < 32 || value.length > 44) return undefined
  try {
    const key = base58.decode(value)
    return key.length === 32 ? key : undefined
  } catch {
    return undefined
  }
}

// The methods of a Solana node that portfolios need. It checks the slot and the shape of every answer and knows no
// store.
import { type Clock, realClock } from '../abort.ts'
import { AlmanacError, messageOf } from '../errors.ts'
import type { SolanaNetwork, TokenProgram } from '../model.ts'
import type { RpcCall } from '../rpc/batches.ts'
import { RpcClient, type RpcClientOptions } from '../rpc/client.ts'
import { DailyBudget } from '../rpc/daily-budget.ts'
import type { RpcEndpoint } from '../rpc/endpoint.ts'
import { kindOfStatus, type Refusal, type RpcFailureKind, repeatableKinds } from '../rpc/failures.ts'
import type { RpcFamily } from '../rpc/family.ts'
import type { EndpointStatus } from '../status.ts'
import { type PoolOptions, ThreadPool } from '../thread-pool.ts'
import { threadModule } from '../threads.ts'
import { tokenAccountBytes, tokenProgramAddresses } from './decode.ts'
import {
  type AccountInfo,
  type AccountsThread,
  accountsOf,
  exactLamports,
  type KeyedAccount,
  type ReadAt,
  readListed,
  readOwned,
} from './read-accounts.ts'

/** The limit of the public method. */
export const accountsPerCallMax = 100
const commitment = 'confirmed'
/** A minute: far more than nodes of one cluster differ by. */
const lagSlotsMax = 150
const stallMs = 30_000
/** A slot this far below the last one means a new ledger, not another node of a provider. */
const resetSlots = 10_000
const queueMax = 1_000
const waitMaxMs = 10_000
/** One call with its waits and retries; a client has given up by then. */
const deadlineMs = 30_000

export type At<T> = { slot: number; value: T }

type EndpointLimits = {
  urls: readonly string[]
  /** Of all endpoints together, as is the budget. */
  requestsPerSecond?: number | undefined
  dailyBudget?: number | undefined
}

export type SolanaRpcOptions = Pick<RpcClientOptions, 'timeoutMs' | 'bytesMax' | 'clock' | 'isPrivate'> &
  EndpointLimits & {
    network: SolanaNetwork
    reader?: Omit<PoolOptions, 'module' | 'threads'>
  }

export class SolanaRpc {
  readonly network: SolanaNetwork
  budget: DailyBudget | undefined
  readonly #clock: Clock
  readonly #client: RpcClient
  readonly #reader: ThreadPool<AccountsThread>
  readonly #progress = new Map<RpcEndpoint, SlotProgress>()

  constructor(options: SolanaRpcOptions) {
    const { network, timeoutMs = 10_000, clock = realClock } = options
    this.network = network
    this.#clock = clock
    const module = threadModule('read-accounts', import.meta.url)
    // One: accounts large enough for it are rare, and serving needs the cores.
    this.#reader = new ThreadPool({ module, threads: 1, ...options.reader })
    this.#client = new RpcClient({
      ...options,
      timeoutMs,
      deadlineMs,
      clock,
      family: familyOf(network),
      endpoints: [],
      attemptsEach: 2,
      // A node that is a moment behind gets the time to catch up.
      behind: { attemptsMax: 10, pauseMs: 250 },
      failsFast: true,
    })
    this.configure(options)
  }

  /** Asks these endpoints, within these limits, from now on. No call is lost. */
  configure({ urls, requestsPerSecond: whole, dailyBudget }: EndpointLimits): void {
    const clock = this.#clock
    if (dailyBudget !== this.budget?.callsPerDay) {
      const setting = `solana.${this.network}.daily_budget`
      this.budget = dailyBudget === undefined ? undefined : new DailyBudget(dailyBudget, clock, setting)
    }
    const limits = { requestsPerSecond: whole === undefined ? undefined : whole / urls.length, budget: this.budget }
    this.#client.setEndpoints(urls.map(url => ({ url, ...limits, queueMax, waitMaxMs })))
    for (const endpoint of this.#client.endpoints)
      if (!this.#progress.has(endpoint)) this.#progress.set(endpoint, new SlotProgress(clock))
  }

  /** The accounts of up to 100 keys, undefined for those that do not exist. */
  async accounts(keys: readonly string[], minContextSlot?: number): Promise<At<(AccountInfo | undefined)[]>> {
    const call = { method: 'getMultipleAccounts', params: [keys, configOf(minContextSlot)] }
    const count = keys.length
    return this.#ask(call, minContextSlot, bodies =>
      this.#reader.takes(bodies) ? this.#reader.run('listed', { bodies, count }) : readListed({ bodies, count }),
    )
  }

  /** Every token account of an owner under one program, cut to the part that both programs share. */
  async tokenAccounts(owner: string, program: TokenProgram, minContextSlot?: number): Promise<At<KeyedAccount[]>> {
    const programId = tokenProgramAddresses[program]
    const config = { ...configOf(minContextSlot), dataSlice: { offset: 0, length: tokenAccountBytes } }
    const call = { method: 'getTokenAccountsByOwner', params: [owner, { programId }, config] }
    const { slot, value } = await this.#ask(call, minContextSlot, bodies => {
      const task = { bodies, program: programId }
      return this.#reader.takes(bodies) ? this.#reader.run('owned', task) : readOwned(task)
    })
    return { slot, value: accountsOf(value, programId) }
  }

  async genesisHash(): Promise<string> {
    const call = { method: 'getGenesisHash', params: [] }
    return this.#client.ask([call], {}, (endpoint, { bodies }) => {
      const [hash] = endpoint.read(bodies, [call])
      // The log shows it, so it must be what it is said to be.
      if (typeof hash !== 'string' || !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(hash))
        throw endpoint.invalid(call.method, 'an answer that is not a hash')
      return hash
    })
  }

  /** Without a slot where an endpoint has not told any yet. */
  status(): EndpointStatus[] {
    return this.#client.status().map(({ reason, ...status }, at) => {
      const endpoint = this.#client.endpoints[at]!
      const healthy = status.healthy && !endpoint.health.failing
      const slot = this.#progress.get(endpoint)!.slot || undefined
      return { ...status, healthy, slot, fault: healthy ? null : (reason ?? null) }
    })
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.close(), this.#reader.close()])
  }

  async #ask<T>(
    call: RpcCall,
    minContextSlot: number | undefined,
    read: (bodies: readonly Uint8Array[]) => Promise<ReadAt<T>> | ReadAt<T>,
  ): Promise<At<T>> {
    return this.#client.ask([call], {}, async (endpoint, { bodies }) => {
      const answer = await blaming(endpoint, call.method, () => read(bodies))
      if (typeof answer === 'string') throw endpoint.invalid(call.method, answer)
      const { slot, value } = answer
      // Nodes that do not know `minContextSlot` answer from before it.
      if (minContextSlot !== undefined && slot < minContextSlot)
        throw endpoint.fail({ kind: 'behind', method: call.method }, `it is only at slot ${slot}`)
      this.#checkProgress(endpoint, call.method, slot)
      return { slot, value }
    })
  }

  /** Throws where the endpoint stands still or lags far behind another one, though it goes on answering. */
  #checkProgress(endpoint: RpcEndpoint, method: string, slot: number): void {
    const stalledMs = this.#progress.get(endpoint)!.stalledMs(slot)
    const best = Math.max(...[...this.#progress.values()].map(progress => progress.recentSlot()))
    const said =
      stalledMs > 0
        ? `it has not moved beyond slot ${slot} for ${Math.round(stalledMs / 1_000)} s`
        : slot < best - lagSlotsMax
          ? `it lags ${best - slot} slots behind another endpoint`
          : undefined
    if (said === undefined) return
    throw endpoint.invalid(method, said)
  }
}

/** The highest slot that an endpoint answered with, and when it last moved. */
export class SlotProgress {
  slot = 0
  readonly #clock: Pick<Clock, 'now'>
  #movedAtMs = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** For how long the endpoint has stood still, though its chain cannot have; 0 where it has not. */
  stalledMs(slot: number): number {
    const nowMs = this.#clock.now()
    if (slot > this.slot || slot < this.slot - resetSlots) {
      this.slot = slot
      this.#movedAtMs = nowMs
    }
    const stillMs = nowMs - this.#movedAtMs
    return stillMs > stallMs ? stillMs : 0
  }

  /** 0 where the endpoint was not seen moving lately; others are measured by it. */
  recentSlot(): number {
    return this.#clock.now() - this.#movedAtMs > stallMs ? 0 : this.slot
  }
}

/** Whatever goes wrong while its answer is read is the failure of the endpoint that gave it. */
async function blaming<T>(endpoint: RpcEndpoint, method: string, read: () => Promise<T> | T): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof AlmanacError && error.code === 'interrupted') throw error
    throw endpoint.invalid(method, `an answer that could not be read: ${messageOf(error)}`)
  }
}

function familyOf(network: SolanaNetwork): RpcFamily {
  const setting = `solana.${network}`
  return {
    chain: `solana ${network}`,
    sort: refusal => ({ kind: kindOfRefusal(refusal) }),
    isRepeatable: kind => repeatableKinds.has(kind) || kind === 'timeout' || kind === 'behind',
    rules: {
      timeout: { code: 'upstream_failed' },
      'rate-limited': {
        hint: `lower ${setting}.requests_per_second or add a second endpoint.`,
        retryAfterMs: 1_000,
      },
      'method-missing': { code: 'upstream_failed' },
      'response-too-large': { code: 'upstream_invalid', retryable: true, hint: undefined },
    },
    isHeavy: ({ method }) => method !== 'getGenesisHash',
    amend: exactLamports,
  }
}

function kindOfRefusal({ status, rpcCode }: Refusal): RpcFailureKind {
  if (rpcCode === 429 || rpcCode === -32429) return 'rate-limited'
  if (rpcCode === -32601) return 'method-missing'
  // Not at minContextSlot yet.
  if (rpcCode === -32016) return 'behind'
  // Invalid parameters, and keys that are excluded from a node's index: one odd account must not stop all others.
  if (rpcCode === -32602 || rpcCode === -32010) return 'question-refused'
  // Public nodes answer 403 to some questions and to bursts: it does not mean a wrong key.
  return status === 403 ? 'refused' : kindOfStatus(status)
}

function configOf(minContextSlot: number | undefined) {
  return { commitment, encoding: 'base64', ...(minContextSlot === undefined ? {} : { minContextSlot }) }
}

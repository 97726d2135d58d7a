// What can be wrong with an endpoint, and when it strikes: by the text of the request and how often it came, so that one
// seed gives one story whatever the order in which requests arrive.
import type {
  batchWordings,
  finalizedWordings,
  prunedWordings,
  rangeWordings,
  rateLimitWordings,
  resultWordings,
  sizeWordings,
  timeoutWordings,
} from './provider-wordings.ts'
import { chance, draw, seedOf, streams } from './random.ts'

type Scope = {
  /** Only requests that hold one of these methods. */
  methods?: readonly string[]
}
type Sometimes = Scope & { rate: number }

/** Faults of a whole HTTP answer. */
export type HttpFault = Sometimes &
  (
    | { kind: 'rate-limit'; provider?: keyof typeof rateLimitWordings; retryAfterSeconds?: number }
    | { kind: 'server-error'; status?: 500 | 502 | 503 | 504 }
    | { kind: 'truncated' }
    | { kind: 'html'; status?: number }
    | { kind: 'slow'; delayMs: number }
    | { kind: 'reset' }
    | { kind: 'hang' }
    | { kind: 'endless' }
    | { kind: 'not-json-rpc' }
  )

/** Faults of what one call answers; drawn for each call of a batch. */
export type CallFault = Sometimes &
  /** One log of an answer, and a share of the others. `first`: the first one, which its block's numbering always shows. */
  (
    | { kind: 'drop-logs'; share?: number; victim?: 'any' | 'first' }
    | { kind: 'duplicate-logs' }
    | { kind: 'unordered-logs' }
    | { kind: 'null-block' }
    | { kind: 'timeout-error'; provider: keyof typeof timeoutWordings }
    /** A node of a balanced pool that is a moment behind, and a provider that counts calls. */
    | { kind: 'call-behind' }
    | { kind: 'call-rate-limit'; provider?: keyof typeof rateLimitWordings }
  )

/** What an endpoint is like, always. */
export type Trait = Scope &
  (
    | { kind: 'range-limit'; blocks: number; provider: keyof typeof rangeWordings }
    | { kind: 'result-limit'; results: number; provider: keyof typeof resultWordings }
    | { kind: 'size-limit'; bytes: number; provider: keyof typeof sizeWordings }
    | { kind: 'batch-limit'; calls: number; provider: keyof typeof batchWordings }
    | { kind: 'batch-unordered' }
    | { kind: 'lagging'; blocks: number }
    /** Consecutive requests reach backends that are so many blocks behind; `perCall` also within a batch. */
    | { kind: 'load-balanced'; lags: readonly number[]; perCall?: boolean }
    /** Stands still at a height and says that it is syncing. */
    | { kind: 'syncing'; at: number }
    /** `empty` and `null` say nothing of it. `keeps: 'blocks'`: receipts and logs alone are gone. */
    | { kind: 'pruned'; below: number; answer: 'empty' | 'null' | keyof typeof prunedWordings; keeps?: 'blocks' }
    /** Keeps all blocks and no old state: codes, balances and nonces below a block are gone. */
    | { kind: 'pruned-state'; below: number }
    /** Keeps all blocks, and finds no transaction below a block by its hash. */
    | { kind: 'no-transaction-index'; below: number }
    | { kind: 'wrong-chain-id'; chainId: number }
    | { kind: 'no-finalized'; provider: keyof typeof finalizedWordings }
    | { kind: 'method-missing'; methods: readonly string[] }
    /** Also gives receipts as bytes, by `debug_getRawReceipts`. */
    | { kind: 'raw-receipts' }
    | { kind: 'latency'; delayMs: number }
    /** It has `debug_getRawHeader`. */
    | { kind: 'raw-headers' }
  )

export type Fault = HttpFault | CallFault | Trait
export type FaultKind = Fault['kind']

const repeatsMax = 100_000

/** Decides for one endpoint. */
export class FaultDice {
  readonly #seed: number
  readonly #repeats = new Map<string, number>()
  readonly fired = new Map<FaultKind, number>()

  constructor(seed: number) {
    this.#seed = seed
  }

  /** How often this very request came before; the next time it will be one more. */
  repeatOf(request: string): number {
    const repeat = this.#repeats.get(request) ?? 0
    if (this.#repeats.size >= repeatsMax) this.#repeats.clear()
    this.#repeats.set(request, repeat + 1)
    return repeat
  }

  strikes(fault: { kind: FaultKind; rate: number }, request: string, repeat: number): boolean {
    const struck = chance(fault.rate, draw(this.#seed, streams.fault, seedOf(fault.kind), seedOf(request), repeat))
    if (struck) this.fired.set(fault.kind, (this.fired.get(fault.kind) ?? 0) + 1)
    return struck
  }

  /** A draw that belongs to one request, for what a fault does once it struck. */
  draw(request: string, repeat: number, at: number): number {
    return draw(this.#seed ^ seedOf(request), streams.fault, repeat, at)
  }
}

export function appliesTo(fault: Scope, methods: readonly string[]): boolean {
  return fault.methods === undefined || fault.methods.some(method => methods.includes(method))
}

// Remembers which endpoints give receipts as bytes (`debug_getRawReceipts`): smaller than as JSON, and hashed as they
// are. It tries each with a block of its own head, and again after a while where they were missing or wrong, later each
// time. It asks for nothing while little is left of the day's calls.
import type { Clock } from '../../abort.ts'
import { quantityHex, quantityOf } from '../../hex.ts'
import { Flights } from '../../once.ts'
import { type RpcFailure, type RpcFailureKind, rpcFailureOf } from '../../rpc/failures.ts'
import { readRawReceipts } from '../proof/raw-receipts.ts'
import type { AskOne } from './block-presence.ts'
import type { RpcBlock, RpcCall } from './port.ts'

export const receiptMethods = { raw: 'debug_getRawReceipts', json: 'eth_getBlockReceipts' } as const

const holdMs = { first: 60_000, missing: 3_600_000, max: 86_400_000 }
/** How many blocks to check: those without transactions prove nothing. */
const blocksMax = 4

type RawReceiptsOptions = {
  clock: Clock
  askOne: (endpoint: string) => AskOne
  /** Little is left of the calls that the endpoint may be asked today. */
  isScarce: (endpoint: string) => boolean
}

type Known = { has: boolean; holdMs: number; untilMs: number }

export class RawReceipts {
  readonly #options: RawReceiptsOptions
  readonly #known = new Map<string, Known>()
  readonly #looks = new Flights<string, void>()

  constructor(options: RawReceiptsOptions) {
    this.#options = options
  }

  /** False while it is not known: then it is found out meanwhile. */
  has(endpoint: string): boolean {
    const { clock, isScarce } = this.#options
    const known = this.#known.get(endpoint)
    const isDue = known === undefined || (!known.has && clock.now() >= known.untilMs)
    if (isDue && !isScarce(endpoint)) void this.#looks.join(endpoint, () => this.#look(endpoint))
    return known?.has ?? false
  }

  /** They were refused or wrong: receipts come as JSON for a while, longer each time. */
  lost(endpoint: string): void {
    const known = this.#known.get(endpoint)
    if (known?.has !== true) return
    // What it gave for longer than it was held back does not count any more.
    const isOld = this.#options.clock.now() >= known.untilMs
    this.#learn(endpoint, false, 2 * (isOld ? holdMs.first : known.holdMs))
  }

  forget(): void {
    this.#known.clear()
  }

  async #look(endpoint: string): Promise<void> {
    const before = this.#known.get(endpoint)?.holdMs
    const failed = before === undefined ? holdMs.first : 2 * before
    try {
      const has = await givesRaw(this.#options.askOne(endpoint))
      this.#learn(endpoint, has, has ? (before ?? holdMs.first) : failed)
    } catch (error) {
      // Whatever is wrong, it does not give them now.
      this.#learn(endpoint, false, isMissing(error) ? Math.max(failed, holdMs.missing) : failed)
    }
  }

  #learn(endpoint: string, has: boolean, ms: number): void {
    const hold = Math.min(ms, holdMs.max)
    this.#known.set(endpoint, { has, holdMs: hold, untilMs: this.#options.clock.now() + hold })
  }
}

function isMissing(error: unknown): boolean {
  return rpcFailureOf(error)?.kind === 'method-missing'
}

/** Whether the raw receipts of a block with transactions hash to the root of its header. */
async function givesRaw(ask: AskOne): Promise<boolean> {
  const [latest] = (await ask([blockCall('latest')])) as [RpcBlock | null]
  const head = quantityOf(latest?.number, Number.MAX_SAFE_INTEGER)
  for (let number = head; number > Math.max(0, head - blocksMax); number--) {
    const calls = [blockCall(quantityHex(number)), { method: receiptMethods.raw, params: [quantityHex(number)] }]
    const [block, receipts] = (await ask(calls)) as [RpcBlock | null, unknown]
    if (!Array.isArray(block?.transactions) || block.transactions.length === 0) continue
    return Array.isArray(receipts) && !('failure' in readRawReceipts(block, receipts as string[]))
  }
  return false
}

function blockCall(block: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [block, false] }
}

/** The same calls for receipts as bytes; undefined where none asks for receipts. */
export function inBytes(calls: readonly RpcCall[]): readonly RpcCall[] | undefined {
  const isFor = ({ method }: RpcCall): boolean => method === receiptMethods.json
  return calls.some(isFor)
    ? calls.map(call => (isFor(call) ? { ...call, method: receiptMethods.raw } : call))
    : undefined
}

/** About the connection or the whole endpoint: it would refuse JSON as well. */
const ofEndpoint = new Set<RpcFailureKind>(['transport', 'unauthorized', 'wrong-chain', 'batch-refused', 'no-endpoint'])
/** Of fewer blocks, or a little later, it may give them. */
const passing = new Set<RpcFailureKind>([
  ...(['range-too-large', 'too-many-results', 'response-too-large', 'timeout'] as const),
  ...(['rate-limited', 'quota', 'behind', 'invalid-answer', 'refused'] as const),
])

/** The endpoint does not give raw receipts, or not of these blocks: as JSON it may. */
export function lacksRaw(failure: RpcFailure | undefined, blocks: number): boolean {
  if (failure?.method !== receiptMethods.raw || ofEndpoint.has(failure.kind)) return false
  return blocks <= 1 || !passing.has(failure.kind)
}

// Headers as the bytes that are hashed, of any endpoint that has `debug_getRawHeader`: they prove a header whose form
// is not known. Where hashes are known, it gives no bytes that do not hash to them; elsewhere the caller must check.
import { AlmanacError } from '../../errors.ts'
import { parseHex, quantityHex } from '../../hex.ts'
import type { Block, Interval } from '../../model.ts'
import { keccakDigits } from '../proof/block-hash.ts'
import type { RpcHeader, RpcPort } from '../rpc/port.ts'
import { rawHeaderMethod } from '../rpc/refusals.ts'
import { numbersOf } from './chain-source.ts'

/** How long an endpoint that did not give them is not asked again. */
const restMs = 600_000

export class RawHeaders {
  readonly #rpc: RpcPort
  readonly #restsUntilMs = new Map<string, number>()

  constructor(rpc: RpcPort) {
    this.#rpc = rpc
  }

  /** Of each block, lowest first; undefined where no endpoint has them. `known`: the hashes that they must have. */
  async of(
    interval: Interval,
    known: readonly Pick<Block, 'number' | 'hash'>[] | undefined,
    signal: AbortSignal,
  ): Promise<readonly unknown[] | undefined> {
    const params = numbersOf(interval).map(quantityHex)
    const calls = params.map(block => ({ method: rawHeaderMethod, params: [block] }))
    const isWrong = (raw: unknown, at: number): boolean => {
      const hash = known?.[at]?.hash
      const bytes = parseHex(raw)
      return bytes === undefined || (hash !== undefined && `0x${keccakDigits(bytes)}` !== hash)
    }
    for (const endpoint of this.#rpc.endpoints) {
      if (performance.now() < (this.#restsUntilMs.get(endpoint) ?? 0)) continue
      const answers = await this.#rpc.ask(calls, { endpoint, signal }).catch((error: unknown) => {
        signal.throwIfAborted()
        return error instanceof AlmanacError && error.retryable ? 'passes' : 'stays'
      })
      if (typeof answers === 'object' && !answers.values.some(isWrong)) return answers.values
      if (answers !== 'passes') this.#restsUntilMs.set(endpoint, performance.now() + restMs)
    }
    return undefined
  }
}

/** The header with its bytes beside it, for `checkBlockHash`. */
export function withRaw<Header extends RpcHeader>(header: Header, raw: unknown): Header {
  return typeof header === 'object' && header !== null && typeof raw === 'string'
    ? { ...header, rawHeader: raw }
    : header
}

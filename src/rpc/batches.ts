// A JSON-RPC call, and sending calls in batches of a size that an endpoint takes: it learns that size from refusals.
import { followSignals } from '../abort.ts'
import { rpcFailureOf } from './failures.ts'

export type RpcCall = { method: string; params: readonly unknown[] }
export type NumberedCall = RpcCall & { id: number }
type SendOne = (calls: readonly NumberedCall[], signal: AbortSignal) => Promise<Buffer>

export class Batches {
  #callsMax: number

  constructor(callsMax: number) {
    this.#callsMax = callsMax
  }

  /** One body for each request that it took. */
  async send(calls: readonly NumberedCall[], signal: AbortSignal, sendOne: SendOne): Promise<Buffer[]> {
    if (calls.length > this.#callsMax) return this.#sendParts(chunks(calls, this.#callsMax), signal, sendOne)
    try {
      return [await sendOne(calls, signal)]
    } catch (error) {
      const failure = rpcFailureOf(error)
      if (calls.length === 1 || failure === undefined) throw error
      // An answer that is too large for us has no status: its halves would not help.
      const tooLargeForThem = failure.kind === 'response-too-large' && failure.status !== undefined
      if (failure.kind !== 'batch-refused' && !tooLargeForThem) throw error
      if (failure.kind === 'batch-refused') this.#callsMax = Math.max(1, Math.min(this.#callsMax, calls.length >> 1))
      return this.#sendParts(chunks(calls, Math.ceil(calls.length / 2)), signal, sendOne)
    }
  }

  /** All at once; the first failure cancels the others. */
  async #sendParts(parts: NumberedCall[][], signal: AbortSignal, sendOne: SendOne): Promise<Buffer[]> {
    using linked = followSignals(signal)
    const sent = parts.map(part => this.send(part, linked.signal, sendOne))
    try {
      return (await Promise.all(sent)).flat()
    } catch (error) {
      linked.abort(error)
      await Promise.allSettled(sent)
      throw error
    }
  }
}

export function chunks<T>(list: readonly T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < list.length; at += size) parts.push(list.slice(at, at + size))
  return parts
}

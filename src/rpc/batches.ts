// A JSON-RPC call, and sending calls in batches of a size that an endpoint takes: it learns that size from refusals. A
// call that fails for the moment does not cost the others their answers.
import { type Clock, followSignals, pause } from '../abort.ts'
import type { AlmanacError } from '../errors.ts'
import { isPassing, rpcFailureOf } from './failures.ts'
import { patienceMs } from './limits.ts'

export type RpcCall = { method: string; params: readonly unknown[] }
export type NumberedCall = RpcCall & { id: number }
/** One body for each request that was answered, and the calls that are to be sent again. */
export type Sent = { bodies: Buffer[]; failed: { call: NumberedCall; error: AlmanacError }[] }
type SendOne = (calls: readonly NumberedCall[], signal: AbortSignal) => Promise<Sent>

export class Batches {
  #callsMax: number

  constructor(callsMax: number) {
    this.#callsMax = callsMax
  }

  /** Throws where no call was answered. */
  async send(calls: readonly NumberedCall[], signal: AbortSignal, sendOne: SendOne): Promise<Sent> {
    if (calls.length > this.#callsMax) return this.#sendParts(chunks(calls, this.#callsMax), signal, sendOne)
    try {
      return await sendOne(calls, signal)
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

  /** All at once; a failure that sending again would not cure cancels the others. */
  async #sendParts(parts: NumberedCall[][], signal: AbortSignal, sendOne: SendOne): Promise<Sent> {
    using linked = followSignals(signal)
    const sendPart = async (part: NumberedCall[]): Promise<Sent> => {
      try {
        return await sendOrFail(part, calls => this.send(calls, linked.signal, sendOne))
      } catch (error) {
        linked.abort(error)
        throw error
      }
    }
    const sent = parts.map(sendPart)
    try {
      const all = await Promise.all(sent)
      const [bodies, failed] = [all.flatMap(part => part.bodies), all.flatMap(part => part.failed)]
      if (bodies.length === 0 && failed[0] !== undefined) throw failed[0].error
      return { bodies, failed }
    } catch (error) {
      await Promise.allSettled(sent)
      throw error
    }
  }
}

const repeat = { firstMs: 30, maxMs: 500, roundsMax: 12 }

/** Keeps what came and sends the rest again, as long as that brings answers. */
export async function sendUntilWhole(
  calls: readonly NumberedCall[],
  send: (calls: readonly NumberedCall[]) => Promise<Sent>,
  {
    repeatsMax = 2,
    signal,
    clock,
  }: { /** Rounds without any answer. */ repeatsMax?: number | undefined; signal: AbortSignal; clock: Clock },
): Promise<Buffer[]> {
  let { bodies, failed } = await send(calls)
  for (let round = 0, vain = 0; failed[0] !== undefined; round++) {
    const { error } = failed[0]
    const waitMs = error.retryAfterMs ?? Math.min(repeat.maxMs, repeat.firstMs * 2 ** round)
    if (vain > repeatsMax || round >= repeat.roundsMax || waitMs > patienceMs) throw error
    await pause(waitMs, signal, clock)
    if (signal.aborted) throw signal.reason
    const again = await sendOrFail(
      failed.map(({ call }) => call),
      send,
    )
    vain = again.failed.length < failed.length ? 0 : vain + 1
    bodies = [...bodies, ...again.bodies]
    failed = again.failed
  }
  return bodies
}

/** Throws only what sending again would not cure. */
async function sendOrFail(
  calls: readonly NumberedCall[],
  send: (calls: readonly NumberedCall[]) => Promise<Sent>,
): Promise<Sent> {
  try {
    return await send(calls)
  } catch (error) {
    // Silence has no status. Waiting for it again would take as long.
    const isSilence = rpcFailureOf(error)?.kind === 'timeout' && rpcFailureOf(error)?.status === undefined
    if (!isPassing(error) || isSilence) throw error
    return { bodies: [], failed: calls.map(call => ({ call, error })) }
  }
}

export function chunks<T>(list: readonly T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < list.length; at += size) parts.push(list.slice(at, at + size))
  return parts
}

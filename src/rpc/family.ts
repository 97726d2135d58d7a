// What a family of chains, EVM or Solana, tells the transport about its methods and refusals.
import type { RpcCall } from './batches.ts'
import type { FailureRule, Refusal, RpcFailureKind, SortedRefusal } from './failures.ts'

export type RpcFamily = {
  /** Names the chain in messages. */
  chain: string
  sort(refusal: Refusal): SortedRefusal
  /** Worth another try at the endpoint that failed so. */
  isRepeatable(kind: RpcFailureKind, calls: readonly RpcCall[]): boolean
  rules?: Partial<Record<RpcFailureKind, Partial<FailureRule>>>
  /** A batch goes by the first of these methods that it holds, otherwise by its first call. */
  heavyMethods?: readonly string[]
  /** The answer may be large and may take long. */
  isHeavy(call: RpcCall): boolean
  /** Asking for less cures a refusal because of size; otherwise another endpoint is asked. */
  canAskForLess?(calls: readonly RpcCall[]): boolean
  /**
   * Asked before any answer is believed, and again now and then. `objection` says what is wrong, as a predicate of the
   * endpoint: `serves chain 5, not 1`.
   */
  identity?: { call: RpcCall; objection(value: unknown): string | undefined } | undefined
  /** Changes the text of a body before it is parsed. */
  amend?: (text: string) => string
}

/** The method that a request is known by: the heaviest of a batch. */
export function methodOf(calls: readonly RpcCall[], { heavyMethods = [] }: RpcFamily): string {
  const heavy = heavyMethods.find(method => calls.some(call => call.method === method))
  return heavy ?? calls[0]?.method ?? 'batch'
}

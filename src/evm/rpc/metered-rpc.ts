// A transport that counts what is asked through it. It changes nothing.
import type { AskOptions, RawAnswers, RpcAnswers, RpcCall, RpcPort } from './port.ts'

export class MeteredRpc implements RpcPort {
  readonly endpoints: readonly string[]
  readonly #rpc: RpcPort
  calls = 0
  bytes = 0

  constructor(rpc: RpcPort) {
    this.#rpc = rpc
    this.endpoints = rpc.endpoints
  }

  ask(calls: readonly RpcCall[], options: AskOptions): Promise<RpcAnswers> {
    return this.#metered(calls, this.#rpc.ask(calls, options))
  }

  askRaw(calls: readonly RpcCall[], options: AskOptions): Promise<RawAnswers> {
    return this.#metered(calls, this.#rpc.askRaw(calls, options))
  }

  async #metered<Answers extends { bytes: number }>(
    calls: readonly RpcCall[],
    asked: Promise<Answers>,
  ): Promise<Answers> {
    this.calls += calls.length
    const answers = await asked
    this.bytes += answers.bytes
    return answers
  }

  distrust(endpoint: string, reason: string): void {
    this.#rpc.distrust(endpoint, reason)
  }

  status(): ReturnType<RpcPort['status']> {
    return this.#rpc.status()
  }
}

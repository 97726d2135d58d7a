// A transport that counts what is asked through it. It changes nothing.
import type { AskOptions, RpcAnswers, RpcCall, RpcPort } from './port.ts'

export class MeteredRpc implements RpcPort {
  readonly endpoints: readonly string[]
  readonly #rpc: RpcPort
  calls = 0
  bytes = 0

  constructor(rpc: RpcPort) {
    this.#rpc = rpc
    this.endpoints = rpc.endpoints
  }

  async ask(calls: readonly RpcCall[], options: AskOptions): Promise<RpcAnswers> {
    this.calls += calls.length
    const answers = await this.#rpc.ask(calls, options)
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

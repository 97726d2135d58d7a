// What the sources need of JSON-RPC: several calls answered by one endpoint, and the choice of another one. Types only.

export type RpcCall = { method: string; params: readonly unknown[] }

export type RpcAnswers = {
  /** Which endpoint answered, by a name fit for logs. */
  endpoint: string
  /** The results in the order of the calls. */
  values: readonly unknown[]
  bytes: number
}

/** The bodies as they came, for another thread to parse. They hold no JSON-RPC error. */
export type RawAnswers = { endpoint: string; bodies: readonly Uint8Array[]; bytes: number }

export type AskOptions = {
  signal: AbortSignal
  /** Endpoints that are not to be asked, because their answer did not pass a check. */
  exclude?: ReadonlySet<string>
  /** Goes before everything that waits: the head of the chain before its history. */
  urgent?: boolean
  /** Goes behind everything that waits: what nobody waits for must not delay the index. */
  idle?: boolean
  /** A call that the contract refuses is answered with null, where otherwise one would fail them all. */
  revertsAsNull?: boolean
  /** Of one request; an `ask` makes several where the first ones fail. */
  timeoutMs?: number
  bytesMax?: number
}

/** For `/status`: no path, no key. */
export type EndpointReport = { endpoint: string; healthy: boolean; reason?: string; [fact: string]: unknown }

export interface RpcPort {
  readonly endpoints: readonly string[]
  /**
   * All calls at one endpoint, in one batch where it takes batches. Fails with an AlmanacError; with a RangeRefused where
   * the endpoint gives less at once.
   */
  ask(calls: readonly RpcCall[], options: AskOptions): Promise<RpcAnswers>
  /** The same without parsing. Whoever finds a body that cannot be parsed tells it by `distrust`. */
  askRaw(calls: readonly RpcCall[], options: AskOptions): Promise<RawAnswers>
  /** Tells that an endpoint's answer failed a check, which counts against its health. */
  distrust(endpoint: string, reason: string): void
  status(): readonly EndpointReport[]
}

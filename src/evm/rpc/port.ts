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

// Said when endpoints refuse a range for its size: asking for less helps, asking again does not.

/** The endpoints do not answer a range of this size: ask for less. */
export class RangeRefused extends Error {
  override readonly name = 'RangeRefused'
  readonly reason: 'range-too-large' | 'too-dense'
  readonly blocksAllowed: number | undefined

  constructor(reason: RangeRefused['reason'], message: string, blocksAllowed?: number) {
    super(message)
    this.reason = reason
    this.blocksAllowed = blocksAllowed
  }
}

// The shapes that Ethereum JSON-RPC answers have, as far as Almanac reads them. Types only: an answer is what a node says,
// so whoever reads a field expects it to be missing, null or of another type, and decides what that means.

/** A number as the nodes write it: `0x` and hex digits without leading zeros. */
export type RpcQuantity = string
/** Bytes as the nodes write them: `0x` and two hex digits a byte. */
export type RpcBytes = string

/** An element of an `eth_getLogs` answer or of a receipt. The fields of its place are null while it is pending. */
export type RpcLog = {
  address: RpcBytes
  topics: readonly RpcBytes[]
  data: RpcBytes
  blockNumber: RpcQuantity | null
  blockHash: RpcBytes | null
  transactionHash: RpcBytes | null
  transactionIndex: RpcQuantity | null
  logIndex: RpcQuantity | null
  /** True where the block was replaced by a reorganisation. */
  removed?: boolean
}

export type RpcTransaction = {
  hash: RpcBytes
  from: RpcBytes
  /** Null for the creation of a contract. */
  to: RpcBytes | null
  value: RpcQuantity
  nonce: RpcQuantity
  transactionIndex: RpcQuantity | null
  type?: RpcQuantity
}

/** A header without its body. Fields that came with a later fork, or that some chains lack, are optional. */
export type RpcHeader = {
  number: RpcQuantity | null
  hash: RpcBytes | null
  parentHash: RpcBytes
  timestamp: RpcQuantity
  logsBloom: RpcBytes | null
  receiptsRoot?: RpcBytes
  transactionsRoot?: RpcBytes
  stateRoot?: RpcBytes
  sha3Uncles?: RpcBytes
  miner?: RpcBytes
  difficulty?: RpcQuantity
  gasLimit?: RpcQuantity
  gasUsed?: RpcQuantity
  extraData?: RpcBytes
  mixHash?: RpcBytes
  nonce?: RpcBytes | null
  baseFeePerGas?: RpcQuantity
  withdrawalsRoot?: RpcBytes
  blobGasUsed?: RpcQuantity
  excessBlobGas?: RpcQuantity
  parentBeaconBlockRoot?: RpcBytes
  requestsHash?: RpcBytes
}

/** An `eth_getBlockByNumber` answer. Transactions are hashes where only those were asked for. */
export type RpcBlock = RpcHeader & { transactions: readonly (RpcTransaction | RpcBytes)[] }

/** An element of an `eth_getBlockReceipts` answer. */
export type RpcReceipt = {
  transactionHash: RpcBytes
  transactionIndex: RpcQuantity
  blockNumber: RpcQuantity
  blockHash: RpcBytes
  contractAddress: RpcBytes | null
  cumulativeGasUsed: RpcQuantity
  logs: readonly RpcLog[]
  logsBloom: RpcBytes
  type?: RpcQuantity
  /** 1 or 0 since Byzantium. */
  status?: RpcQuantity
  /** The state root after the transaction, before Byzantium. */
  root?: RpcBytes
  /** Deposits of OP chains: part of the receipt's hash where the version is given. */
  depositNonce?: RpcQuantity
  depositReceiptVersion?: RpcQuantity
}

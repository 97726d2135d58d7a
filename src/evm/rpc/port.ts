// What the sources need of JSON-RPC, and the shapes that EVM nodes answer in.

import type { RpcCall } from '../../rpc/batches.ts'
import type { Payer } from '../../rpc/daily-budget.ts'
import { hostOf } from '../../rpc/endpoint-address.ts'
import type { EndpointStatus } from '../../status.ts'

export type { RpcCall }

export type RpcAnswers = {
  /** The name of the endpoint that answered, safe to log. */
  endpoint: string
  /** The results in the order of the calls. */
  values: readonly unknown[]
  bytes: number
}

/** The bodies as they came, for another thread to parse: a later one answers what an earlier one refused. */
export type RawAnswers = { endpoint: string; bodies: readonly Uint8Array[]; bytes: number }

export type AskOptions = {
  signal: AbortSignal
  /** Endpoints not to ask, because their answer failed a check. */
  exclude?: ReadonlySet<string>
  /** The only endpoint to ask. */
  endpoint?: string | undefined
  /** Goes before everything that waits: the head of the chain before its history. */
  urgent?: boolean
  /** Goes after everything that waits: background work must not delay the index. */
  idle?: boolean
  /** The key whose request asks: it uses what `daily_budget` leaves to requests. Absent: no request does. */
  payer?: Payer | undefined
  /** A call that the contract reverts gives null; otherwise it would fail all calls. */
  revertsAsNull?: boolean
  /** The chain has the blocks that are asked for: a node that answers null lacks one, and is asked again. */
  nullIsMissing?: boolean
  /** Nothing proves that the answer is whole: an endpoint that has dropped such blocks gives none. */
  isUnproven?: boolean
  /** Receipts may come as bytes where the endpoint gives them so. */
  rawReceipts?: boolean
  /** The lowest block that the calls are about, where they name it by hash. */
  lowestBlock?: number
  /** Says what is wrong with the results, if something is. That is the endpoint's failure, and another one is asked. */
  objection?: (values: readonly unknown[]) => string | undefined
  /** Of one request; one `ask` makes several where the first ones fail. */
  timeoutMs?: number
  bytesMax?: number
}

/** A block that an endpoint seems to lack, and the method that showed it. */
export type Suspicion = { block: number; method: string }

export interface RpcPort {
  readonly endpoints: readonly string[]
  /** All calls answered by one endpoint. Fails with an AlmanacError or a RangeRefused. */
  ask(calls: readonly RpcCall[], options: AskOptions): Promise<RpcAnswers>
  /** The same without parsing. A caller that cannot parse a body reports it to `distrust`. */
  askRaw(calls: readonly RpcCall[], options: AskOptions): Promise<RawAnswers>
  /**
   * Reports that an answer failed a check, which counts against the endpoint's health. Returns the reason as it may be
   * shown: without the endpoint's secrets.
   */
  distrust(endpoint: string, reason: string): string
  /**
   * Whether an endpoint that answered as if there were nothing in a block has dropped its old blocks. Then it is not
   * asked for them again, and that does not count against it.
   */
  hasDropped(endpoint: string, suspicion: Suspicion): Promise<boolean>
  /** The lowest block that some endpoint may have: below it there is none to ask. */
  readonly historyFrom: number
  status(): readonly EndpointStatus[]
}

/** Asks one endpoint and no other. */
export function onlyAt(rpc: RpcPort, endpoint: string): RpcPort {
  return {
    endpoints: [endpoint],
    ask: (calls, options) => rpc.ask(calls, { ...options, endpoint }),
    askRaw: (calls, options) => rpc.askRaw(calls, { ...options, endpoint }),
    distrust: (name, reason) => rpc.distrust(name, reason),
    hasDropped: (name, suspicion) => rpc.hasDropped(name, suspicion),
    get historyFrom() {
      return rpc.status().find(status => status.endpoint === endpoint)?.history_from ?? 0
    },
    status: () => rpc.status().filter(status => status.endpoint === endpoint),
  }
}

/** Asks for a request of a client; `undefined`: for no request. */
export function paidBy(rpc: RpcPort, payer: Payer | undefined): RpcPort {
  if (payer === undefined) return rpc
  return {
    get endpoints() {
      return rpc.endpoints
    },
    ask: (calls, options) => rpc.ask(calls, { payer, ...options }),
    askRaw: (calls, options) => rpc.askRaw(calls, { payer, ...options }),
    distrust: (name, reason) => rpc.distrust(name, reason),
    hasDropped: (name, suspicion) => rpc.hasDropped(name, suspicion),
    get historyFrom() {
      return rpc.historyFrom
    },
    status: () => rpc.status(),
  }
}

/** Whom to exclude to ask another host than the endpoint's; undefined if there is none. */
export function ofSameHost({ endpoints }: RpcPort, endpoint: string): ReadonlySet<string> | undefined {
  const same = endpoints.filter(name => hostOf(name) === hostOf(endpoint))
  return same.length === endpoints.length ? undefined : new Set(same)
}

/** The endpoints do not answer a range of this size: asking for less helps, asking again does not. */
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

// The shapes of Ethereum JSON-RPC answers, as far as Almanac reads them. They are what a node claims: every reader must
// expect a field to be missing, null or of another type.

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
  blockAccessListHash?: RpcBytes
  slotNumber?: RpcQuantity
  /** What `debug_getRawHeader` answered for the block, whichever endpoint gave it: its hash is its proof. */
  rawHeader?: RpcBytes
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

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

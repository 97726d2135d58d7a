// A transaction as a node has it, with what the decoder makes of its logs, as one process hands it to another. Types
// only.
import type { Address } from './model.ts'
import type { EndpointStatus } from './status.ts'

export type NodeTransaction = {
  /** The endpoint that answered, by a name fit for logs. */
  endpoint: string
  /** How that endpoint gives the receipts that blocks are proven from, where it was asked for them. */
  receipts?: EndpointStatus['receipts']
  block: number
  transactionIndex: number
  /** False: it was reverted. */
  succeeded: boolean
  from: Address | undefined
  /** Undefined where it creates a contract. */
  to: Address | undefined
  /** In wei, decimal. */
  value: string
  /** What the node says of it beside, as far as it does: the fee in wei, decimal, and the selector of its input. */
  gasUsed?: number | undefined
  fee?: string | undefined
  nonce?: number | undefined
  method?: string | undefined
  /** The contract that it creates. */
  created: Address | undefined
  /** The contracts that logged, each once. */
  emitters: readonly Address[]
  /** The logs of the contract, or of all where none is named. */
  logs: readonly NodeLog[]
  /** Logs of other contracts. */
  otherLogs: number
}

export type NodeLog = {
  logIndex: number
  /** How many transfers it stands for. */
  transfers: number
  /** Why there are none. */
  reason: string | undefined
}

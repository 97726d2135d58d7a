// Contracts and transactions that somebody made up, for chains that must hold particular things. The simulator only places them.
import type { SimEvent } from './events.ts'

export type ScenarioTransaction = {
  from: string
  /** Null: it creates `created`. */
  to: string | null
  created: string | null
  nonce: number
  value: bigint
  events: readonly SimEvent[]
}

export type ScenarioContract = {
  address: string
  deployedAt: number
  /** What `eth_call` answers to call data at a block; undefined: it reverts. */
  answer(data: string, block: number): string | undefined
}

export type SimScenario = {
  transactionsIn(block: number): readonly ScenarioTransaction[]
  contract(address: string): ScenarioContract | undefined
}

// What a transfer's log does not say: the value and sender of its transaction and the time of its block, at the least cost. A whole block
// answers for all its transactions in one call; a transaction alone is smaller. The weights below decide which.

import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Hash } from '../../model.ts'
import type { LogTransaction } from '../decode/decode.ts'
import type { LogSequence } from '../decode/log-sequence.ts'
import { quantityHex, quantityOf } from '../hex.ts'
import { checkHeaders } from '../proof/verify.ts'
import type { RpcCall, RpcPort } from '../rpc/port.ts'
import type { RpcBlock, RpcLog, RpcQuantity, RpcTransaction } from '../rpc/types.ts'
import type { RangeHeader } from './chain-source.ts'
import { headerOf } from './header.ts'

// Usual sizes of the JSON of a transaction, a transaction's hash in a header's list, and a header.
const transactionBytes = 700
const hashBytes = 70
const headerBytes = 1_500
// What a call weighs beside its bytes: providers bill calls, and nodes spend about as long on one as on this many bytes.
const callBytes = 4_096

const callsPerAsk = 100
const asksAtOnce = 4

/** A state-sync transaction, which no block lists: it has no sender and moves no value. */
export const unlisted: LogTransaction = { value: '0x0' }

export type Facts = {
  /** By transaction hash as the log has it. */
  transactions: ReadonlyMap<string, LogTransaction>
  /** The headers given and those of every block that holds a log, lowest first. */
  headers: readonly RangeHeader[]
  bytes: number
}

type Wanted = { number: number; hash: string; timestamp: number; transactions: Set<string> }

export class TransactionFacts {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  /** Learnt from the blocks that were read. */
  #transactionsPerBlock = 100

  constructor(chain: Chain, rpc: RpcPort) {
    this.#chain = chain
    this.#rpc = rpc
  }

  async of(logs: LogSequence, known: readonly RangeHeader[], signal: AbortSignal): Promise<Facts> {
    const headers = new Map(known.map((header): [number, RangeHeader] => [header.number, header]))
    const transactions = new Map<string, LogTransaction>()
    const blocks = wantedBlocks(logs).values()
    const waiting: Task[] = []
    // Decided when it is asked and not before, because what was read meanwhile tells how large blocks are.
    const nextAsk = (): Task[] => {
      while (waiting.length < callsPerAsk) {
        const { value: wanted } = blocks.next()
        if (wanted === undefined) break
        waiting.push(...this.#tasksFor(wanted, headers))
      }
      return waiting.splice(0, callsPerAsk)
    }
    let bytes = 0
    const next = async (): Promise<void> => {
      for (let tasks = nextAsk(); tasks.length > 0; tasks = nextAsk())
        bytes += await this.#perform(tasks, { headers, transactions }, signal)
    }
    await Promise.all(Array.from({ length: asksAtOnce }, next))
    return { transactions, headers: [...headers.values()].sort((a, b) => a.number - b.number), bytes }
  }

  #tasksFor(wanted: Wanted, headers: Map<number, RangeHeader>): Task[] {
    const needsHeader = !headers.has(wanted.number) && wanted.timestamp < 0
    const count = wanted.transactions.size
    const whole = callBytes + headerBytes + this.#transactionsPerBlock * transactionBytes
    const header = needsHeader ? callBytes + headerBytes + this.#transactionsPerBlock * hashBytes : 0
    if (whole <= count * (callBytes + transactionBytes) + header) return [{ kind: 'block', wanted, whole: true }]
    const tasks: Task[] = [...wanted.transactions].map(hash => ({ kind: 'transaction', hash, wanted }))
    if (needsHeader) tasks.push({ kind: 'block', wanted, whole: false })
    else if (!headers.has(wanted.number)) {
      // The parent is not known and not needed: such a block is final or is followed with its own header.
      const { number, hash, timestamp } = wanted
      headers.set(number, { number, hash: hash as Hash, timestamp })
    }
    return tasks
  }

  async #perform(
    tasks: readonly Task[],
    found: { headers: Map<number, RangeHeader>; transactions: Map<string, LogTransaction> },
    signal: AbortSignal,
  ): Promise<number> {
    const answers = await this.#rpc.ask(tasks.map(callOf), { signal })
    const unlisted: BlockTask[] = []
    for (const [at, task] of tasks.entries()) {
      const value = answers.values[at]
      // Nodes do not know state-sync transactions by their hash; whether it is one shows in the block, which lists all others.
      if (task.kind === 'transaction' && value === null && this.#chain.quirks.stateSyncTransactions === true) {
        unlisted.push({ kind: 'block', wanted: { ...task.wanted, transactions: new Set([task.hash]) }, whole: true })
        continue
      }
      const problem =
        task.kind === 'block'
          ? this.#readBlock(task, value as RpcBlock | null, found)
          : readTransaction(task, value, found.transactions)
      if (problem !== undefined) {
        this.#rpc.distrust(answers.endpoint, problem)
        throw new AlmanacError('upstream_invalid', `${this.#chain.name} endpoint ${answers.endpoint}: ${problem}.`, {
          retryable: true,
        })
      }
    }
    return answers.bytes + (unlisted.length === 0 ? 0 : await this.#perform(unlisted, found, signal))
  }

  #readBlock(
    { wanted, whole }: BlockTask,
    block: RpcBlock | null,
    found: { headers: Map<number, RangeHeader>; transactions: Map<string, LogTransaction> },
  ): string | undefined {
    const { number, hash } = wanted
    const failed = checkHeaders({ chain: this.#chain, from: number, to: number, headers: [block] })
    if (failed !== undefined || block === null) return failed?.message
    if (block.hash !== hash) return `block ${number} is ${block.hash}, its logs say ${hash}`
    found.headers.set(number, headerOf(block))
    this.#learn(block.transactions)
    if (!whole) return undefined
    const transactions = block.transactions as readonly RpcTransaction[]
    for (const transaction of transactions) {
      if (wanted.transactions.has(transaction?.hash)) found.transactions.set(transaction.hash, readOf(transaction))
    }
    for (const transaction of wanted.transactions) {
      if (found.transactions.has(transaction)) continue
      if (this.#chain.quirks.stateSyncTransactions !== true) return missing(transaction, wanted)
      found.transactions.set(transaction, unlisted)
    }
    return undefined
  }

  /** A header lists its transactions by their hashes. */
  #learn(transactions: unknown): void {
    if (!Array.isArray(transactions)) return
    this.#transactionsPerBlock = this.#transactionsPerBlock * 0.9 + transactions.length * 0.1
  }
}

type BlockTask = { kind: 'block'; wanted: Wanted; whole: boolean }
type TransactionTask = { kind: 'transaction'; hash: string; wanted: Wanted }
type Task = BlockTask | TransactionTask

function readTransaction(
  { hash, wanted }: TransactionTask,
  value: unknown,
  transactions: Map<string, LogTransaction>,
): string | undefined {
  const transaction = value as (RpcTransaction & { blockHash?: string }) | null
  if (transaction?.hash !== hash) return missing(hash, wanted)
  if (transaction.blockHash !== wanted.hash) {
    return `transaction ${hash} stands in block ${transaction.blockHash}, its log in ${wanted.hash}`
  }
  transactions.set(hash, readOf(transaction))
  return undefined
}

/** No more of it than is needed: a history has many. */
function readOf({ value, from }: RpcTransaction): LogTransaction {
  return { value, from }
}

function missing(hash: string, { number }: Wanted): string {
  return `the transaction ${hash} of a log of block ${number} is missing`
}

function callOf(task: Task): RpcCall {
  if (task.kind === 'transaction') return { method: 'eth_getTransactionByHash', params: [task.hash] }
  return { method: 'eth_getBlockByNumber', params: [quantityHex(task.wanted.number), task.whole] }
}

function wantedBlocks(logs: LogSequence): Map<number, Wanted> {
  const wanted = new Map<number, Wanted>()
  for (let at = 0; at < logs.length; at++) {
    const log = logs.logs[at] as RpcLog & { blockTimestamp?: RpcQuantity }
    const number = logs.blocks[at] as number
    let block = wanted.get(number)
    if (block === undefined) {
      const timestamp = quantityOf(log.blockTimestamp, 2 ** 40)
      block = { number, hash: String(log.blockHash), timestamp, transactions: new Set() }
      wanted.set(number, block)
    }
    block.transactions.add(String(log.transactionHash))
  }
  return wanted
}

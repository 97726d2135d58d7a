// Reads the few fields that rows need of blocks and transactions from the bytes of an endpoint's answers. Pure, so that
// any thread can do it; it asks for nothing.
import type { Chain } from '../../chains.ts'
import { isHexOf, quantityBytes, quantityHex } from '../../hex.ts'
import { readAnswers, UnreadableAnswer } from '../../rpc/answers.ts'
import type { LogTransaction } from '../decode/decode.ts'
import { checkHeaders } from '../proof/verify.ts'
import type { RpcBlock, RpcCall, RpcTransaction } from '../rpc/port.ts'
import { type Header, headerOf } from './chain-source.ts'

/** One call. Hashes are as the logs have them; `transactions` are the wanted ones of a whole block. */
export type FactQuestion =
  | { kind: 'block'; number: number; hash: string; whole: boolean; transactions: readonly string[] }
  | { kind: 'transaction'; hash: string; number: number; blockHash: string }

export type FactsTask = {
  chain: Chain
  questions: readonly FactQuestion[]
  /** As they came, without a JSON-RPC error in them. */
  bodies: readonly Uint8Array[]
}

export type ReadFacts = {
  headers: Header[]
  transactions: Map<string, LogTransaction>
  /** How many transactions each block lists. */
  blockSizes: number[]
  /** Whole blocks to ask for: they show whether a transaction that the node does not know is a state-sync one. */
  open: FactQuestion[]
}

/** Stands for a state-sync transaction, which no block lists: it has no sender and moves no value. */
export const unlisted: LogTransaction = { value: '0x0' }

export function callOf(question: FactQuestion): RpcCall {
  if (question.kind === 'transaction') return { method: 'eth_getTransactionByHash', params: [question.hash] }
  return { method: 'eth_getBlockByNumber', params: [quantityHex(question.number), question.whole] }
}

/** The facts, or the reason why the answers cannot be right. */
export function readFacts({ chain, questions, bodies }: FactsTask): ReadFacts | string {
  const facts: ReadFacts = { headers: [], transactions: new Map(), blockSizes: [], open: [] }
  try {
    const answers = readAnswers(bodies, questions.length)
    if ('refusal' in answers) return `it answered: ${answers.refusal.text}`
    for (const [at, question] of questions.entries()) {
      const value = answers.values[at]
      const problem =
        question.kind === 'block'
          ? readBlock(chain, question, value as RpcBlock | null, facts)
          : readTransaction(chain, question, value as MinedTransaction | null, facts)
      if (problem !== undefined) return problem
    }
    return facts
  } catch (error) {
    if (error instanceof UnreadableAnswer) return `it answered ${error.message}`
    throw error
  }
}

type Question<Kind> = Extract<FactQuestion, { kind: Kind }>
type MinedTransaction = RpcTransaction & { blockHash?: string }

function readBlock(
  chain: Chain,
  { number, hash, whole, transactions: wanted }: Question<'block'>,
  block: RpcBlock | null,
  facts: ReadFacts,
): string | undefined {
  const failed = checkHeaders({ chain, from: number, to: number, headers: [block] })
  if (failed !== undefined || block === null) return failed?.message
  if (block.hash !== hash) return `block ${number} is ${block.hash}, its logs say ${hash}`
  facts.headers.push(headerOf(block))
  // A header lists its transactions too, by hash.
  const listed: unknown = block.transactions
  if (Array.isArray(listed)) facts.blockSizes.push(listed.length)
  if (!whole) return undefined
  if (!Array.isArray(listed)) return `block ${number} came without a list of transactions`
  const asked = new Set(wanted)
  for (const transaction of listed as readonly (RpcTransaction | null)[]) {
    const problem = transaction !== null && asked.has(transaction.hash) ? take(transaction, facts) : undefined
    if (problem !== undefined) return problem
  }
  for (const transaction of wanted) {
    if (facts.transactions.has(transaction)) continue
    if (chain.quirks.stateSyncTransactions !== true) return missing(transaction, number)
    facts.transactions.set(transaction, unlisted)
  }
  return undefined
}

function readTransaction(
  chain: Chain,
  { hash, number, blockHash }: Question<'transaction'>,
  transaction: MinedTransaction | null,
  facts: ReadFacts,
): string | undefined {
  // Nodes do not know state-sync transactions by hash. The block shows whether it is one: it lists all others.
  if (transaction === null && chain.quirks.stateSyncTransactions === true) {
    facts.open.push({ kind: 'block', number, hash: blockHash, whole: true, transactions: [hash] })
    return undefined
  }
  if (transaction?.hash !== hash) return missing(hash, number)
  if (transaction.blockHash !== blockHash)
    return `transaction ${hash} stands in block ${transaction.blockHash}, its log in ${blockHash}`
  return take(transaction, facts)
}

function take({ hash, value, from }: RpcTransaction, facts: ReadFacts): string | undefined {
  if (!isHexOf(from, 20) || quantityBytes(value) === undefined)
    return `transaction ${hash} came without a readable sender or value`
  facts.transactions.set(hash, { value, from })
  return undefined
}

function missing(hash: string, number: number): string {
  return `the transaction ${hash} of a log of block ${number} is missing`
}

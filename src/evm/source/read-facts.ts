// Reads the few fields that rows need of blocks and transactions from the bytes of an endpoint's answers. Pure, so that
// any thread can do it; it asks for nothing.
import type { Chain } from '../../chains.ts'
import { messageOf } from '../../errors.ts'
import { isHexOf, quantityHex } from '../../hex.ts'
import { readAnswers, UnreadableAnswer } from '../../rpc/answers.ts'
import type { LogTransaction } from '../decode/decode.ts'
import { checkTransactionHash } from '../proof/transactions-root.ts'
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
  /** Whole blocks to ask for: they show whether a transaction is there that the node does not find by its hash. */
  open: FactQuestion[]
  /** Which questions were answered with what no hash proves. */
  doubtful: number[]
}

/** Stands for a state-sync transaction, which no block lists: it has no sender and moves no value. */
export const unlisted: LogTransaction = { value: '0x0' }

export function callOf(question: FactQuestion): RpcCall {
  if (question.kind === 'transaction') return { method: 'eth_getTransactionByHash', params: [question.hash] }
  return { method: 'eth_getBlockByNumber', params: [quantityHex(question.number), question.whole] }
}

/** The facts, or the reason why the answers cannot be right. */
export function readFacts({ chain, questions, bodies }: FactsTask): ReadFacts | string {
  const facts: ReadFacts = { headers: [], transactions: new Map(), blockSizes: [], open: [], doubtful: [] }
  try {
    const answers = readAnswers(bodies, questions.length)
    if ('refusal' in answers) return `it answered: ${answers.refusal.text}`
    for (const [at, question] of questions.entries()) {
      const value = answers.values[at]
      const reading: Reading = { chain, facts, doubtful: false }
      const problem =
        question.kind === 'block'
          ? readBlock(reading, question, value as RpcBlock | null)
          : readTransaction(reading, question, value as MinedTransaction | null)
      if (problem !== undefined) return problem
      if (reading.doubtful) facts.doubtful.push(at)
    }
    return facts
  } catch (error) {
    // If an answer makes this code throw, the endpoint that gave it is at fault.
    return `it answered ${error instanceof UnreadableAnswer ? '' : 'what cannot be read: '}${messageOf(error)}`
  }
}

type Question<Kind> = Extract<FactQuestion, { kind: Kind }>
/** One answer. Whatever it says that no hash proves makes it doubtful. */
type Reading = { readonly chain: Chain; readonly facts: ReadFacts; doubtful: boolean }
type MinedTransaction = RpcTransaction & { blockHash?: string }

function readBlock(
  reading: Reading,
  { number, hash, whole, transactions: wanted }: Question<'block'>,
  block: RpcBlock | null,
): string | undefined {
  const { chain, facts } = reading
  const onDoubt = (): void => {
    reading.doubtful = true
  }
  const failed = checkHeaders({ chain, from: number, to: number, headers: [block], onDoubt })
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
    const problem = transaction !== null && asked.has(transaction.hash) ? take(reading, transaction) : undefined
    if (problem !== undefined) return problem
  }
  for (const transaction of wanted) {
    if (facts.transactions.has(transaction)) continue
    if (chain.quirks.stateSyncTransactions !== true) return missing(transaction, number)
    facts.transactions.set(transaction, unlisted)
    reading.doubtful = true
  }
  return undefined
}

function readTransaction(
  reading: Reading,
  { hash, number, blockHash }: Question<'transaction'>,
  transaction: MinedTransaction | null,
): string | undefined {
  // Nodes do not know state-sync transactions by hash, and many keep no index of old ones: its block shows whether it
  // is there.
  if (transaction === null) {
    reading.facts.open.push({ kind: 'block', number, hash: blockHash, whole: true, transactions: [hash] })
    return undefined
  }
  if (transaction?.hash !== hash) return missing(hash, number)
  if (transaction.blockHash !== blockHash)
    return `transaction ${hash} stands in block ${transaction.blockHash}, its log in ${blockHash}`
  return take(reading, transaction)
}

function take(reading: Reading, transaction: RpcTransaction): string | undefined {
  const { hash, value, from } = transaction
  if (!isHexOf(from, 20) || !isValue(value)) return `transaction ${hash} came without a readable sender or value`
  const verdict = checkTransactionHash(transaction)
  // What is hashed in a way of its own, a chain or its early blocks, may have transactions that are too.
  const hasForm = reading.chain.quirks.headers !== undefined && !reading.doubtful
  if (verdict.is === 'different' && hasForm) return `a transaction ${verdict.why}`
  if (verdict.is !== 'proven') reading.doubtful = true
  reading.facts.transactions.set(hash, { value, from })
  return undefined
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)
}

function missing(hash: string, number: number): string {
  return `the transaction ${hash} of a log of block ${number} is missing`
}

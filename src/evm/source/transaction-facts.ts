// Reads what a transfer's log does not say: the value and sender of its transaction and the time of its block, at the
// least cost. A whole block answers for all its transactions in one call; a single transaction is smaller. The weights
// below decide.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Hash } from '../../model.ts'
import type { LogTransaction } from '../decode/decode.ts'
import type { LogSequence } from '../decode/log-sequence.ts'
import { ofSameHost, RangeRefused, type RpcPort } from '../rpc/port.ts'
import { askChecked, type RangeHeader } from './chain-source.ts'
import type { Decoder } from './decode-pool.ts'
import { callOf, type FactQuestion, type ReadFacts } from './read-facts.ts'

// Usual JSON sizes of a transaction, of a transaction hash in a header's list, and of a header.
const transactionBytes = 700
const hashBytes = 70
const headerBytes = 1_500
// What a call weighs on top of its bytes: providers bill calls, and a node spends about as long on one as on this many
// bytes.
const callBytes = 4_096

/** Nodes without an index of old transactions are not asked for these by their hash, for so long. */
const unindexedMs = 600_000

const callsPerAsk = 100
const asksAtOnce = 4

export type FactsWanted = {
  logs: LogSequence
  /** False: the times of the blocks are all that is needed. */
  transactions: boolean
  /** The known ones. */
  headers: readonly RangeHeader[]
  /** Of blocks whose headers need not be asked for. */
  timestamps: ReadonlyMap<number, number>
  /** Asks another host for what no hash proves. */
  confirm: boolean
}

type Facts = {
  /** By transaction hash, as the log has it. */
  transactions: ReadonlyMap<string, LogTransaction>
  /** The given headers and those of every block with a log, lowest first. */
  headers: readonly RangeHeader[]
  /** Everything is proven or was told by two hosts. */
  confirmed: boolean
  bytes: number
}

type Found = Omit<Facts, 'headers' | 'transactions'> & {
  headers: Map<number, RangeHeader>
  transactions: Map<string, LogTransaction>
}
type Wanted = { number: number; hash: string; timestamp: number | undefined; transactions: Set<string> }

export class TransactionFacts {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  readonly #decoder: Decoder
  /** A moving average over the blocks that were read. */
  #transactionsPerBlock = 100
  /** Up to which block a node was seen to find no transaction by its hash, and how long that counts. */
  #unindexed = { to: -1, untilMs: 0 }

  constructor(chain: Chain, rpc: RpcPort, decoder: Decoder) {
    this.#chain = chain
    this.#rpc = rpc
    this.#decoder = decoder
  }

  async of(
    { logs, transactions, headers: known, timestamps, confirm }: FactsWanted,
    signal: AbortSignal,
  ): Promise<Facts> {
    const headers = new Map(known.map((header): [number, RangeHeader] => [header.number, header]))
    const found: Found = { headers, transactions: new Map(), confirmed: confirm, bytes: 0 }
    const blocks = wantedBlocks(logs, { timestamps, transactions }).values()
    const waiting: FactQuestion[] = []
    // Decided as late as possible, because what was read meanwhile tells how large blocks are.
    const nextAsk = (): FactQuestion[] => {
      while (waiting.length < callsPerAsk) {
        const { value: wanted } = blocks.next()
        if (wanted === undefined) break
        waiting.push(...this.#questionsFor(wanted, headers))
      }
      return waiting.splice(0, callsPerAsk)
    }
    const next = async (): Promise<void> => {
      for (let questions = nextAsk(); questions.length > 0; questions = nextAsk())
        await this.#ask(questions, found, signal)
    }
    await Promise.all(Array.from({ length: asksAtOnce }, next))
    return { ...found, headers: [...headers.values()].sort((a, b) => a.number - b.number) }
  }

  #questionsFor(wanted: Wanted, headers: Map<number, RangeHeader>): FactQuestion[] {
    const { number, hash, timestamp } = wanted
    const transactions = [...wanted.transactions]
    const needsHeader = !headers.has(number) && timestamp === undefined
    const whole = callBytes + headerBytes + this.#transactionsPerBlock * transactionBytes
    const header = needsHeader ? callBytes + headerBytes + this.#transactionsPerBlock * hashBytes : 0
    const isUnindexed =
      transactions.length > 0 && number <= this.#unindexed.to && performance.now() < this.#unindexed.untilMs
    if (isUnindexed || whole <= transactions.length * (callBytes + transactionBytes) + header)
      return [{ kind: 'block', number, hash, whole: true, transactions }]
    const questions = transactions.map(
      (transaction): FactQuestion => ({ kind: 'transaction', hash: transaction, number, blockHash: hash }),
    )
    if (needsHeader) questions.push({ kind: 'block', number, hash, whole: false, transactions: [] })
    // The parent is unknown and not needed: such a block is final or is followed with its own header.
    else if (timestamp !== undefined && !headers.has(number))
      headers.set(number, { number, hash: hash as Hash, timestamp })
    return questions
  }

  async #ask(questions: readonly FactQuestion[], found: Found, signal: AbortSignal): Promise<void> {
    const chain = this.#chain
    const calls = questions.map(callOf)
    const numbers = questions.map(({ number }) => number)
    const interval = { from: Math.min(...numbers), to: Math.max(...numbers) }
    const facts = await askChecked({
      chain,
      rpc: this.#rpc,
      interval,
      ask: exclude => this.#rpc.askRaw(calls, { exclude, signal, lowestBlock: interval.from }),
      check: async ({ endpoint, bodies, bytes }) => {
        const read = await this.#decoder.facts({ chain, questions, bodies })
        return typeof read === 'string' ? read : { ...read, endpoint, bytes }
      },
    })
    found.bytes += facts.bytes
    addFacts(found, facts)
    const doubtful = facts.doubtful.map(at => questions[at]!)
    if (found.confirmed && doubtful.length > 0 && !(await this.#confirm(doubtful, facts.endpoint, found, signal)))
      found.confirmed = false
    for (const size of facts.blockSizes) this.#transactionsPerBlock = this.#transactionsPerBlock * 0.9 + size * 0.1
    if (facts.open.length > 0) await this.#askOpen(facts.open, found, signal)
  }

  async #askOpen(questions: readonly FactQuestion[], found: Found, signal: AbortSignal): Promise<void> {
    await this.#ask(questions, found, signal)
    if (this.#chain.quirks.stateSyncTransactions === true) return
    const highest = Math.max(...questions.map(({ number }) => number))
    const isKnown = performance.now() < this.#unindexed.untilMs
    this.#unindexed = {
      to: isKnown ? Math.max(highest, this.#unindexed.to) : highest,
      untilMs: performance.now() + unindexedMs,
    }
  }

  /** Whether an endpoint of another host proves what the first one could not, or says the same. */
  async #confirm(
    questions: readonly FactQuestion[],
    endpoint: string,
    found: Found,
    signal: AbortSignal,
  ): Promise<boolean> {
    const exclude = ofSameHost(this.#rpc, endpoint)
    if (exclude === undefined) return false
    let second: ReadFacts | string
    try {
      const { bodies, bytes } = await this.#rpc.askRaw(questions.map(callOf), { exclude, signal })
      found.bytes += bytes
      second = await this.#decoder.facts({ chain: this.#chain, questions, bodies })
    } catch (error) {
      if (error instanceof RangeRefused || error instanceof AlmanacError) return false
      throw error
    }
    if (typeof second === 'string') return false
    const told = second
    const isDoubtful = new Set(told.doubtful.map(at => questions[at]!))
    if (!questions.every(question => !isDoubtful.has(question) || isSame(question, found, told))) return false
    addFacts(found, told)
    return told.open.length === 0
  }
}

function addFacts(found: Found, { headers, transactions }: ReadFacts): void {
  for (const header of headers) found.headers.set(header.number, header)
  for (const [hash, transaction] of transactions) found.transactions.set(hash, transaction)
}

function isSame(question: FactQuestion, found: Found, { headers, transactions }: ReadFacts): boolean {
  const { number } = question
  const timestamp = headers.find(header => header.number === number)?.timestamp
  if (timestamp !== undefined && found.headers.get(number)?.timestamp !== timestamp) return false
  return (question.kind === 'transaction' ? [question.hash] : question.transactions).every(hash => {
    const [one, other] = [found.transactions.get(hash), transactions.get(hash)]
    return one?.value === other?.value && one?.from?.toLowerCase() === other?.from?.toLowerCase()
  })
}

function wantedBlocks(
  logs: LogSequence,
  { timestamps, transactions }: Pick<FactsWanted, 'timestamps' | 'transactions'>,
): Map<number, Wanted> {
  const wanted = new Map<number, Wanted>()
  for (let at = 0; at < logs.length; at++) {
    const log = logs.logs[at]!
    const number = logs.blocks[at]!
    let block = wanted.get(number)
    if (block === undefined) {
      block = { number, hash: String(log.blockHash), timestamp: timestamps.get(number), transactions: new Set() }
      wanted.set(number, block)
    }
    if (transactions) block.transactions.add(String(log.transactionHash))
  }
  return wanted
}

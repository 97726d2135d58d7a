// Finds the first and last transaction of a wallet without an index: by bisection over the nonce, which rises with
// every transaction sent, and over the balance before the first of them. Needs a node with old state.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { isHexOf, quantityHex } from '../../hex.ts'
import type { ActivityRow, Address, Hash, Interval, TransactionRef } from '../../model.ts'
import { checkHeaders } from '../proof/verify.ts'
import { checkTransactionList } from '../proof/verify-transactions.ts'
import type { RpcBlock, RpcCall, RpcPort, RpcTransaction } from '../rpc/port.ts'
import { askChecked, headerOf } from './chain-source.ts'

export type WalletState = {
  nonce: number
  block: number
  /** Whether the first funding was found, or the wallet has sent since. */
  funded: boolean
}

export type WalletFinding = {
  /** Undefined if it never sent, and no transaction funded it. */
  activity: ActivityRow | undefined
  /** Of the blocks that hold the transactions of `activity`. */
  blockHashes: ReadonlyMap<number, Hash>
  /** Where the next look-up begins. */
  state: WalletState
}

type FoundTransaction = TransactionRef & { blockHash: Hash }

/** Of a whole block, which is parsed in the thread that asks. */
const bytesMax = 2 ** 24

export class WalletLookup {
  readonly #chain: Chain
  readonly #rpc: RpcPort

  constructor(chain: Chain, rpc: RpcPort) {
    this.#chain = chain
    this.#rpc = rpc
  }

  /** Looks at blocks up to `upTo`; `known` is what an earlier look-up found. */
  async find(
    address: Address,
    upTo: number,
    known: WalletState | undefined,
    signal: AbortSignal,
  ): Promise<WalletFinding> {
    const [nonce = 0] = (await this.#stateAt('eth_getTransactionCount', address, [upTo], signal)).map(Number)
    const found: FoundTransaction[] = []
    const sentBefore = known?.nonce ?? 0
    const unseen: Interval = { from: (known?.block ?? -1) + 1, to: upTo }
    if (nonce > sentBefore) found.push(...(await this.#sent(address, unseen, { from: sentBefore, to: nonce }, signal)))
    let funded = known?.funded ?? false
    if (!funded) {
      const funding = await this.#funding(address, unseen, found[0], signal)
      if (funding !== undefined) found.push(funding)
      funded = funding !== undefined || nonce > 0
    }
    found.sort((a, b) => a.block - b.block || a.transactionIndex - b.transactionIndex)
    const refs = found.map(({ blockHash: _, ...ref }): TransactionRef => ref)
    const [first, last] = [refs[0], refs.at(-1)]
    const activity = first === undefined || last === undefined ? undefined : { address, first, last }
    const blockHashes = new Map(found.map(({ block, blockHash }) => [block, blockHash]))
    return { activity, blockHashes, state: { nonce, block: upTo, funded } }
  }

  /** The transactions that raised the nonce from `from` and to `to`; none for a contract, whose nonce rises alone. */
  async #sent(
    address: Address,
    blocks: Interval,
    nonces: { from: number; to: number },
    signal: AbortSignal,
  ): Promise<FoundTransaction[]> {
    const reaches =
      (nonce: number): HoldsAt =>
      async numbers =>
        (await this.#stateAt('eth_getTransactionCount', address, numbers, signal)).map(at => at >= nonce)
    const firstBlock = await firstBlockWhere(reaches(nonces.from + 1), blocks)
    if (firstBlock === undefined) return []
    const lastBlock = await firstBlockWhere(reaches(nonces.to), { from: firstBlock, to: blocks.to })
    const wanted = [{ block: firstBlock, nonce: nonces.from }]
    if (lastBlock !== undefined) wanted.push({ block: lastBlock, nonce: nonces.to - 1 })
    const sends = (nonce: number) => (transaction: RpcTransaction) =>
      isAddress(transaction.from, address) && Number(transaction.nonce) === nonce
    const found = wanted.map(({ block, nonce }) => this.#transactionIn(block, signal, sends(nonce)))
    return (await Promise.all(found)).filter(ref => ref !== undefined)
  }

  /** The transaction that first gave the wallet a balance. A payment inside a contract's call cannot be seen here. */
  async #funding(
    address: Address,
    { from, to }: Interval,
    firstSent: TransactionRef | undefined,
    signal: AbortSignal,
  ): Promise<FoundTransaction | undefined> {
    const funds = ({ to: payee, value }: RpcTransaction): boolean => isAddress(payee, address) && BigInt(value) > 0n
    const blocks = { from, to: firstSent === undefined ? to : firstSent.block - 1 }
    const hasBalance: HoldsAt = async numbers =>
      (await this.#stateAt('eth_getBalance', address, numbers, signal)).map(balance => balance > 0n)
    const block = await firstBlockWhere(hasBalance, blocks)
    // A wallet that is funded and spends everything in one block has no balance at the end of any block.
    const funding = block ?? firstSent?.block
    if (funding === undefined) return undefined
    const found = await this.#transactionIn(funding, signal, funds)
    const isLater =
      firstSent !== undefined && found?.block === firstSent.block && found.transactionIndex > firstSent.transactionIndex
    return isLater ? undefined : found
  }

  /** From any endpoint that has the block: one that keeps old state may lack old blocks. */
  async #transactionIn(
    block: number,
    signal: AbortSignal,
    matches: (transaction: RpcTransaction) => boolean,
  ): Promise<FoundTransaction | undefined> {
    const calls: RpcCall[] = [{ method: 'eth_getBlockByNumber', params: [quantityHex(block), true] }]
    const { found } = await askChecked({
      chain: this.#chain,
      rpc: this.#rpc,
      interval: { from: block, to: block },
      ask: exclude => this.#rpc.ask(calls, { signal, exclude, bytesMax }),
      check: ({ values }) => {
        const answer = values[0] as RpcBlock
        const failed =
          checkHeaders({ chain: this.#chain, from: block, to: block, headers: [answer] }) ??
          checkTransactionList(this.#chain, answer, block)
        if (failed !== undefined) return failed.message
        const transactions = answer.transactions as readonly RpcTransaction[]
        const transactionIndex = transactions.findIndex(matches)
        const transaction = transactions[transactionIndex]
        if (transaction === undefined) return { found: undefined }
        if (!isHexOf(transaction.hash, 32)) return `a transaction of block ${block} came without a readable hash`
        const { timestamp, hash: blockHash } = headerOf(answer)
        const hash = transaction.hash.toLowerCase() as Hash
        return { found: { block, transactionIndex, hash, timestamp, blockHash } }
      },
    })
    return found
  }

  async #stateAt(
    method: 'eth_getTransactionCount' | 'eth_getBalance',
    address: Address,
    numbers: readonly number[],
    signal: AbortSignal,
  ): Promise<bigint[]> {
    const { values } = await this.#rpc.ask(stateCalls(method, address, numbers), {
      signal,
      objection: answered => (answered.every(isQuantity) ? undefined : 'an answer that is not a number'),
    })
    return values.map(value => BigInt(value as string))
  }
}

function isQuantity(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)
}

function isAddress(text: string | null, address: Address): boolean {
  return text?.toLowerCase() === address
}

function stateCalls(method: string, address: Address, numbers: readonly number[]): RpcCall[] {
  return numbers.map(number => ({ method, params: [address, quantityHex(number)] }))
}

/** Whether something holds at each block of the list. Once true it must stay true. */
type HoldsAt = (blocks: readonly number[]) => Promise<readonly boolean[]>

// Fifteen questions per batch narrow a range sixteenfold: 20 million blocks take seven batches instead of 25 calls.
const questionsPerBatch = 15

/** The lowest block of the interval where it holds; undefined if it does not hold even at the end. */
export async function firstBlockWhere(holdsAt: HoldsAt, { from, to }: Interval): Promise<number | undefined> {
  if (from > to) return undefined
  const [atEnd] = await holdsAt([to])
  if (atEnd !== true) return undefined
  let low = from
  let high = to
  while (low < high) {
    const questions = spread({ from: low, to: high - 1 })
    const answers = await holdsAt(questions)
    const firstTrue = answers.indexOf(true)
    if (firstTrue !== -1 && answers.includes(false, firstTrue)) {
      throw new AlmanacError('upstream_invalid', 'The answers for several blocks contradict each other.', {
        retryable: true,
      })
    }
    if (firstTrue === -1) low = (questions.at(-1) ?? low) + 1
    else {
      high = questions[firstTrue] ?? high
      if (firstTrue > 0) low = (questions[firstTrue - 1] ?? low) + 1
    }
  }
  return low
}

/** Up to `questionsPerBatch` blocks that cut the interval into even parts. */
function spread({ from, to }: Interval): number[] {
  const blocks = to - from + 1
  const count = Math.min(questionsPerBatch, blocks)
  const list: number[] = []
  for (let index = 1; index <= count; index++) list.push(from + Math.floor((blocks * index) / (count + 1)))
  return [...new Set(list.map(block => Math.min(block, to)))]
}

// The JSON-RPC methods of a simulated node: parameters in, the text of the result out. Knows no HTTP and no faults.
import type { LRUCache } from 'lru-cache'
import type { SimBlock } from './block.ts'
import { ownerOf } from './branches.ts'
import { answersCache, type SimChain } from './chain.ts'
import { headerBytes } from './encode.ts'
import { type EncodedLog, topic } from './events.ts'
import {
  blockText,
  type LogText,
  listed,
  logTexts,
  matchingLogTexts,
  quantity,
  type RenderOptions,
  rawReceiptsText,
  receiptText,
  receiptTexts,
  transactionText,
} from './json.ts'
import { hexOfBytes } from './rlp.ts'

/** What one backend sees: a node that is behind knows less of the chain. */
export type View = { head: number; finalized: number }

export type LogFilter = {
  from: number
  to: number
  address: readonly string[] | undefined
  topics: readonly (readonly string[] | null)[]
  block: SimBlock | undefined
}

export class RpcFailure extends Error {
  readonly code: number
  readonly status: number
  readonly data: unknown
  constructor(code: number, message: string, { status = 200, data }: { status?: number; data?: unknown } = {}) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
  }
}

export class SimMethods {
  readonly chain: SimChain
  readonly #render: RenderOptions
  readonly #answers: LRUCache<string, Buffer>

  constructor(chain: SimChain, { cacheBytes = 256 * 2 ** 20 }: { cacheBytes?: number } = {}) {
    this.chain = chain
    const { chainId, stateSync, logTimestamps } = chain.options
    const stateSyncIndex = stateSync === 'own-index' ? 0x1f : undefined
    this.#render = { chainId, stateSyncListed: stateSync !== 'unlisted', stateSyncIndex, logTimestamps }
    this.#answers = answersCache(cacheBytes)
  }

  /** The number that a block parameter stands for. */
  numberOf(parameter: unknown, view: View): number {
    if (parameter === undefined || parameter === 'latest' || parameter === 'pending') return view.head
    if (parameter === 'finalized' || parameter === 'safe') return view.finalized
    if (parameter === 'earliest') return 0
    if (typeof parameter !== 'string' || !/^0x[0-9a-fA-F]{1,13}$/.test(parameter)) {
      throw new RpcFailure(-32602, 'invalid argument: block number')
    }
    return Number(parameter)
  }

  logFilter(parameter: unknown, view: View): LogFilter {
    if (typeof parameter !== 'object' || parameter === null) throw new RpcFailure(-32602, 'missing filter')
    const { fromBlock, toBlock, blockHash, address, topics = [] } = parameter as Record<string, unknown>
    const addresses = address === undefined || address === null ? undefined : [address].flat()
    const wanted = (topics as unknown[]).map(topic => (topic === null ? null : ([topic].flat() as string[])))
    const common = { address: addresses?.map(a => String(a).toLowerCase()), topics: wanted }
    if (blockHash !== undefined) {
      const block = this.chain.blockByHash(String(blockHash))
      if (block === undefined || block.number > view.head) throw new RpcFailure(-32000, 'unknown block')
      return { ...common, from: block.number, to: block.number, block }
    }
    const from = this.numberOf(fromBlock ?? 'latest', view)
    const to = this.numberOf(toBlock ?? 'latest', view)
    if (from > to) throw new RpcFailure(-32602, 'invalid block range params')
    return { ...common, from, to, block: undefined }
  }

  /** The logs of a filter, in order, as separate texts. */
  logs(filter: LogFilter, view: View): LogText[] {
    if (filter.block !== undefined) return this.#matching(filter.block, filter)
    const found: LogText[] = []
    this.#eachBlock(filter, view, block => {
      for (const log of this.#matching(block, filter)) found.push(log)
    })
    return found
  }

  /** The same as bytes ready to send, kept for the next time. */
  logsAnswer(filter: LogFilter, view: View): Buffer {
    const to = Math.min(filter.to, view.head)
    const owner = filter.block?.branch ?? ownerOf(this.chain.branch, to).id
    const key = `${owner}|${filter.from}|${to}|${filter.address?.join() ?? ''}|${JSON.stringify(filter.topics)}`
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const plain = filter.address === undefined && filter.topics.length === 0 && filter.block === undefined
    const bytes = plain ? this.#allLogs(filter, view) : arrayBytes(this.logs(filter, view).map(log => log.text))
    this.#answers.set(key, bytes)
    return bytes
  }

  /** Makes what a range's blocks answer, within the bounds of what is kept. */
  warm({ from, to }: { from: number; to: number }, { receipts }: { receipts: boolean }): void {
    const view = { head: this.chain.head, finalized: this.chain.finalized }
    for (let number = from; number <= to; number++) {
      this.#blockLogs(this.chain.block(number))
      this.block(number, true, view)
      this.block(number, false, view)
      if (receipts) this.receiptsAnswer(quantity(number), view)
      if (receipts) this.rawReceipts(quantity(number), view)
    }
  }

  block(number: number, full: boolean, view: View): Buffer | undefined {
    return number > view.head ? undefined : this.#blockBytes(this.chain.block(number), full)
  }

  blockByHash(hash: string, full: boolean, view: View): Buffer | undefined {
    const block = this.chain.blockByHash(hash)
    return block === undefined || block.number > view.head ? undefined : this.#blockBytes(block, full)
  }

  /** The bytes that are hashed, as text. */
  rawHeader(parameter: unknown, view: View): string | undefined {
    const number = this.numberOf(parameter, view)
    return number > view.head ? undefined : hexOfBytes(headerBytes(this.chain.block(number).header))
  }

  /** The receipts of a block, each as a text. */
  receipts(parameter: unknown, view: View): string[] | undefined {
    const block = this.#blockOf(parameter, view)
    return block === undefined ? undefined : receiptTexts(block, this.#render)
  }

  rawReceipts(parameter: unknown, view: View): Buffer | undefined {
    const block = this.#blockOf(parameter, view)
    if (block === undefined) return undefined
    return this.#kept('raw', block, () => Buffer.from(rawReceiptsText(block, this.#render), 'latin1'))
  }

  #blockOf(parameter: unknown, view: View): SimBlock | undefined {
    const byHash = typeof parameter === 'string' && parameter.length === 66
    const block = byHash ? this.chain.blockByHash(parameter) : undefined
    if (byHash && block === undefined) return undefined
    const number = block?.number ?? this.numberOf(parameter, view)
    return number > view.head ? undefined : (block ?? this.chain.block(number))
  }

  receiptsAnswer(parameter: unknown, view: View): Buffer | undefined {
    const block = this.#blockOf(parameter, view)
    if (block === undefined) return undefined
    return this.#kept('receipts', block, () => arrayBytes(receiptTexts(block, this.#render)))
  }

  /** Every other method. Undefined: no such method. */
  other(method: string, parameters: readonly unknown[], view: View): string | undefined {
    const { chain } = this
    const text = (value: string | undefined): string => (value === undefined ? 'null' : `"${value}"`)
    const address = (): string => String(parameters[0]).toLowerCase()
    const at = (): number => {
      const number = this.numberOf(parameters[1], view)
      if (number > view.head) throw new RpcFailure(-32000, 'header not found')
      return number
    }
    switch (method) {
      case 'web3_clientVersion':
        return '"Sim/v1.0.0/linux-amd64"'
      case 'net_version':
        return `"${chain.options.chainId}"`
      case 'eth_chainId':
        return text(quantity(chain.options.chainId))
      case 'eth_blockNumber':
        return text(quantity(view.head))
      case 'eth_syncing':
        return 'false'
      case 'eth_gasPrice':
        return '"0x3b9aca00"'
      case 'eth_getTransactionCount':
        return text(quantity(chain.nonceAt(address(), at())))
      case 'eth_getBalance':
        return text(quantity(chain.balanceAt(address(), at())))
      case 'eth_getCode':
        return text(chain.isDeployed(address(), at()) ? '0x60806040' : '0x')
      case 'eth_call':
        return text(this.#call(parameters[0], at()))
      case 'eth_getTransactionByHash':
      case 'eth_getTransactionReceipt': {
        const found = chain.transactionByHash(String(parameters[0]))
        if (found === undefined || found.block.number > view.head) return 'null'
        const render = method === 'eth_getTransactionByHash' ? transactionText : receiptText
        return render(found.block, found.transaction, this.#render)
      }
      case 'eth_getTransactionByBlockNumberAndIndex': {
        const number = this.numberOf(parameters[0], view)
        if (number > view.head) return 'null'
        const block = chain.block(number)
        const transaction = listed(block, this.#render)[Number(parameters[1])]
        return transaction === undefined ? 'null' : transactionText(block, transaction, this.#render)
      }
      default:
        return undefined
    }
  }

  #blockBytes(block: SimBlock, full: boolean): Buffer {
    return this.#kept(full ? 'full' : 'brief', block, () => Buffer.from(blockText(block, full, this.#render), 'latin1'))
  }

  #allLogs(filter: LogFilter, view: View): Buffer {
    const parts: Buffer[] = []
    this.#eachBlock(filter, view, block => {
      const bytes = this.#blockLogs(block)
      if (bytes.length > 0) parts.push(parts.length === 0 ? openBracket : comma, bytes)
    })
    return parts.length === 0 ? emptyArray : Buffer.concat([...parts, closeBracket])
  }

  /** The logs of a block with commas between them. */
  #blockLogs(block: SimBlock): Buffer {
    return this.#kept('logs', block, () => {
      const texts = logTexts(block, this.#render)
      return Buffer.from(texts.map(log => log.text).join(), 'latin1')
    })
  }

  #eachBlock(filter: LogFilter, view: View, visit: (block: SimBlock) => void): void {
    const to = Math.min(filter.to, view.head)
    const single = filter.address?.length === 1 ? filter.address[0] : undefined
    for (let number = filter.from; number <= to; number++) {
      if (single !== undefined) {
        const silentUntil = this.chain.silentUntil(single, number)
        if (silentUntil >= number) {
          number = silentUntil
          continue
        }
      }
      const silent = (address: string): boolean => !this.chain.mayHaveLogs(address, number)
      if (!this.chain.isKept(number) && filter.address?.every(silent)) continue
      visit(this.chain.block(number))
    }
  }

  #matching(block: SimBlock, { address, topics }: LogFilter): LogText[] {
    const matches = (log: EncodedLog): boolean =>
      (address === undefined || address.includes(log.address)) &&
      topics.length <= log.topics.length &&
      topics.every((wanted, at) => wanted === null || wanted.length === 0 || wanted.includes(log.topics[at]!))
    return matchingLogTexts(block, matches, this.#render)
  }

  #call(parameter: unknown, block: number): string {
    const { to, data, input } = parameter as { to?: string; data?: string; input?: string }
    const told = this.chain.options.scenario?.contract(String(to).toLowerCase())
    if (told !== undefined) {
      const answer = told.deployedAt <= block ? told.answer(data ?? input ?? '', block) : '0x'
      if (answer === undefined) throw new RpcFailure(3, 'execution reverted')
      return answer
    }
    const contract = this.chain.contracts.byAddress(String(to).toLowerCase())
    const selector = (data ?? input ?? '').slice(0, 10)
    if (contract === undefined) return '0x'
    const name = selector === '0x06fdde03' ? `Sim ${contract.kind}` : selector === '0x95d89b41' ? 'SIM' : undefined
    if (name !== undefined) {
      const bytes = Buffer.from(name).toString('hex').padEnd(64, '0')
      return `${topic(32n)}${topic(BigInt(name.length)).slice(2)}${bytes}`
    }
    return selector === '0x01ffc9a7' ? topic(1n) : '0x'
  }

  #kept(what: string, { branch, number }: SimBlock, make: () => Buffer): Buffer {
    const answers = (branch === 0 ? this.chain.trunkAnswers : undefined) ?? this.#answers
    const key = `${what}:${branch}:${number}`
    const known = answers.get(key)
    if (known !== undefined) return known
    const made = make()
    answers.set(key, made)
    return made
  }
}

const openBracket = Buffer.from('[')
const closeBracket = Buffer.from(']')
const comma = Buffer.from(',')
const emptyArray = Buffer.from('[]')

const counts = new WeakMap<Buffer, number>()

/** How many logs a kept answer holds: every log says once whether it was removed. */
export function logCount(bytes: Buffer): number {
  let count = counts.get(bytes)
  if (count !== undefined) return count
  count = 0
  for (let at = bytes.indexOf('"removed"'); at !== -1; at = bytes.indexOf('"removed"', at + 9)) count++
  counts.set(bytes, count)
  return count
}

export function arrayBytes(texts: readonly string[]): Buffer {
  return Buffer.from(`[${texts.join()}]`, 'latin1')
}

// A node that answers from a file of ready-made answers, in a process of its own: `node bench/evm-answers-node.ts <job>`. It has
// them in memory before it is ready and then only sends bytes, which is little beside what is measured. Prints its URL as one line of JSON.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { topic } from '../test/sim/events.ts'
import { openAnswers } from './evm-answers.ts'
import type { ShapeName } from './shape.ts'

export type AnswersNodeJob = { shape: ShapeName; chainId: number; head: number }

type Call = { id: unknown; method: string; params: unknown[] }
type Filter = {
  fromBlock?: string
  toBlock?: string
  address?: string | string[]
  topics?: (string | string[] | null)[]
}

/** A second address, of a node that also gives receipts as bytes. */
const rawPath = '/raw'
const rawMethod = 'debug_getRawReceipts'
const finalityDepth = 10
const comma = Buffer.from(',')
const bracket = Buffer.from(']')
const brace = Buffer.from('}')
const job = JSON.parse(process.argv[2]!) as AnswersNodeJob
const answers = openAnswers(job.shape, job.chainId, job.head)
/** Those that had to be searched for. */
const filteredLogs = new Map<string, Buffer>()
const places = new Map<string, { block: number; index: number }>()
let hasPlaces = false
for (let number = 0; number <= job.head; number++) answers.read(number, 'full')

const server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk as Buffer))
  request.on('end', () => {
    const parsed = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[]
    const hasRaw = request.url === rawPath
    const parts = Array.isArray(parsed)
      ? [
          Buffer.from('['),
          ...parsed.flatMap((call, at) => [...(at > 0 ? [comma] : []), ...answer(call, hasRaw)]),
          bracket,
        ]
      : answer(parsed, hasRaw)
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
    for (const part of parts) response.write(part)
    response.end()
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  const urls = ['', rawPath].map(path => `http://127.0.0.1:${port}${path}`)
  console.log(JSON.stringify({ urls, expected: answers.expectedAt(job.head) }))
})

function answer({ id, method, params }: Call, hasRaw: boolean): Buffer[] {
  const result = method === rawMethod && !hasRaw ? undefined : resultOf(method, params)
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`
  if (result === undefined) {
    return [Buffer.from(`${head}"error":{"code":-32601,"message":"the method ${method} does not exist"}}`)]
  }
  return [Buffer.from(`${head}"result":`), typeof result === 'string' ? Buffer.from(result) : result, brace]
}

/** Undefined: there is no such method. */
function resultOf(method: string, params: readonly unknown[]): Buffer | string | undefined {
  switch (method) {
    case 'web3_clientVersion':
      return '"Sim/v1.0.0/linux-amd64"'
    case 'net_version':
      return `"${job.chainId}"`
    case 'eth_chainId':
      return `"0x${job.chainId.toString(16)}"`
    case 'eth_blockNumber':
      return `"0x${answers.head.toString(16)}"`
    case 'eth_syncing':
      return 'false'
    case 'eth_getBlockByNumber':
    case 'eth_getBlockByHash':
      return blockAnswer(params[0], params[1] === true ? 'full' : 'light')
    case 'eth_getBlockReceipts':
      return blockAnswer(params[0], 'receipts')
    case rawMethod:
      return blockAnswer(params[0], 'raw')
    case 'eth_getLogs':
      return logsAnswer(params[0] as Filter)
    case 'eth_getTransactionByHash':
      return transactionAnswer(String(params[0]), 'full')
    case 'eth_getTransactionReceipt':
      return transactionAnswer(String(params[0]), 'receipts')
    case 'eth_getCode':
      return '"0x60806040"'
    case 'eth_getTransactionCount':
    case 'eth_getBalance':
      return '"0x0"'
    case 'eth_call':
      return `"${called(params[0] as { to: string; data?: string; input?: string })}"`
    default:
      console.error(`the simulated node was asked for ${method}, which it does not know`)
      return undefined
  }
}

function blockAnswer(parameter: unknown, kind: 'full' | 'light' | 'receipts' | 'raw'): Buffer | string {
  const number = numberOf(parameter)
  return number === undefined || number > answers.head ? 'null' : answers.read(number, kind)
}

function transactionAnswer(hash: string, kind: 'full' | 'receipts'): string {
  const place = placeOf(hash)
  if (place === undefined) return 'null'
  const parsed: unknown = JSON.parse(answers.read(place.block, kind).toString('latin1'))
  const list = kind === 'full' ? (parsed as { transactions: unknown[] }).transactions : (parsed as unknown[])
  return JSON.stringify(list[place.index])
}

/** Made when a transaction is first asked for: whole blocks need no such table. */
function placeOf(hash: string): { block: number; index: number } | undefined {
  for (let block = 0; !hasPlaces && block <= answers.head; block++) {
    const { transactions } = JSON.parse(answers.read(block, 'light').toString('latin1')) as { transactions: string[] }
    for (const [index, each] of transactions.entries()) places.set(each, { block, index })
  }
  hasPlaces = true
  return places.get(hash)
}

function numberOf(parameter: unknown): number | undefined {
  const text = String(parameter)
  if (text.length === 66) return answers.numberOf(text)
  if (text === 'earliest') return 0
  if (text === 'finalized' || text === 'safe') return answers.head - finalityDepth
  return text.startsWith('0x') ? Number(text) : answers.head
}

function logsAnswer(filter: Filter): Buffer {
  const key = JSON.stringify(filter)
  const kept = filteredLogs.get(key)
  if (kept !== undefined) return kept
  const first = numberOf(filter.fromBlock)!
  const last = Math.min(numberOf(filter.toBlock)!, answers.head)
  const texts: Buffer[] = []
  for (let number = first; number <= last; number++) texts.push(answers.read(number, 'logs'))
  const all = texts.filter(text => text.length > 0)
  if (filter.address === undefined && filter.topics === undefined) return listOf(all)
  const found = listOf(all.flatMap(text => matching(text, filter)))
  filteredLogs.set(key, found)
  return found
}

function listOf(texts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from('['), ...texts.flatMap((text, at) => (at === 0 ? [text] : [comma, text])), bracket])
}

function matching(logs: Buffer, { address, topics = [] }: Filter): Buffer[] {
  const addresses = address === undefined ? undefined : [address].flat().map(each => each.toLowerCase())
  // Most blocks have no log of a contract: their bytes tell sooner than parsing them.
  if (addresses?.every(each => !logs.includes(each)) === true) return []
  const parsed = JSON.parse(`[${logs.toString('latin1')}]`) as { address: string; topics: string[] }[]
  return parsed
    .filter(
      log =>
        (addresses === undefined || addresses.includes(log.address)) &&
        topics.every((wanted, at) => wanted === null || [wanted].flat().includes(log.topics[at]!)),
    )
    .map(log => Buffer.from(JSON.stringify(log)))
}

/** Contracts have a name, a symbol and every interface. */
function called({ to, data, input }: { to: string; data?: string; input?: string }): string {
  const selector = (data ?? input ?? '').slice(0, 10)
  const text = selector === '0x06fdde03' ? `Made ${to.slice(2, 8)}` : selector === '0x95d89b41' ? 'MADE' : undefined
  if (text === undefined) return selector === '0x01ffc9a7' ? topic(1n) : '0x'
  const bytes = Buffer.from(text).toString('hex').padEnd(64, '0')
  return `${topic(32n)}${topic(BigInt(text.length)).slice(2)}${bytes}`
}

// A portal over HTTP that speaks the streaming protocol of SQD's from a simulated chain: final blocks, one line each,
// packed. It ends answers where it likes, lacks what it is told to lack, and fails as `portal-faults.ts` says.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { SimChain } from './chain.ts'
import { blockText, logTexts, type RenderOptions, receiptTexts } from './json.ts'
import {
  endlessAnswer,
  type PortalBlock,
  type PortalFault,
  type PortalFields,
  type SpoiledAnswer,
  spoil,
} from './portal-faults.ts'

export type { PortalBlock, PortalFields } from './portal-faults.ts'

export type SimPortalOptions = {
  chain: SimChain
  /** The first block of the dataset. */
  start?: number
  /** Columns that the dataset lacks up to a block, as `block.withdrawalsRoot`. */
  lacking?: Readonly<Record<string, number>>
  /** Columns that the portal's queries do not know. */
  unknown?: readonly string[]
  /** Ends each answer after so many blocks. */
  blocksPerAnswer?: number
  /** What is wrong with the answer to the n-th stream; undefined: nothing. */
  fault?: (request: number) => PortalFault | undefined
  /** How the lines of an answer are sent, but for block 0 alone; absent: at once, packed. */
  pace?: PortalPace
  /** What it makes of a block, in every answer. */
  told?: (block: PortalBlock) => PortalBlock
  /** Whose blocks are mixed in by faults. */
  other?: SimChain
}

/** Sends lines in its own way, and ends the answer or does not. */
export type PortalPace = (response: ServerResponse, lines: readonly string[]) => void

export type SimPortal = {
  /** Of the dataset. */
  url: string
  /** It may be changed at any time. */
  options: SimPortalOptions
  /** The queries of streams, in the order in which they came. */
  queries: Query[]
  close(): Promise<void>
}

export type Query = {
  fromBlock: number
  toBlock?: number
  includeAllBlocks?: boolean
  fields?: Record<string, Record<string, boolean>>
  transactions?: unknown[]
  logs?: unknown[]
}

export async function startSimPortal(given: SimPortalOptions): Promise<SimPortal> {
  const queries: Query[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { options } = portal
    const path = request.url?.split('?')[0]
    if (path === `${datasetPath}/finalized-head`) {
      const number = options.chain.finalized
      response.end(JSON.stringify({ number, hash: options.chain.hashOf(number) }))
    } else if (path === `${datasetPath}/finalized-stream`) {
      const query = JSON.parse(await bodyOf(request)) as Query
      queries.push(query)
      const given = answerOf(query, queries.length - 1, options)
      if ('lines' in given && options.pace !== undefined && query.toBlock !== 0) options.pace(response, given.lines)
      else if ('lines' in given) send(response, given)
      else refuse(response, given)
    } else refuse(response, { status: 404, message: 'no such dataset' })
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const portal: SimPortal = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${datasetPath}`,
    options: given,
    queries,
    close: () => {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
  return portal
}

const datasetPath = '/datasets/sim'

/** What is answered to a query: lines, or a status with what it says. */
function answerOf(query: Query, request: number, options: SimPortalOptions): SpoiledAnswer | Refusal {
  const { chain, start = 0, blocksPerAnswer = Number.POSITIVE_INFINITY } = options
  const fault = options.fault?.(request)
  if (fault?.kind === 'status') return { ...fault, message: 'not now' }
  if (query.fromBlock < start) return { status: 400, message: `dataset starts from block ${start}` }
  const to = Math.min(query.toBlock ?? chain.finalized, chain.finalized, query.fromBlock + blocksPerAnswer - 1)
  if (query.fromBlock > to) return { status: 204, message: '' }
  const wrong = refusedColumn(query, options)
  if (wrong !== undefined) return { status: 400, message: `Bad request: couldn't parse request: ${wrong}` }
  const blocks: PortalBlock[] = []
  const { told = block => block } = options
  for (let number = query.fromBlock; number <= to; number++)
    blocks.push(selected(told(portalBlock(chain, number)), query))
  const mixed = (number: number): PortalBlock => selected(portalBlock(options.other ?? chain, number), query)
  return fault === undefined ? { lines: blocks.map(lineOf) } : spoil(blocks, fault, { lineOf, mixed })
}

function send(response: ServerResponse, { lines, cutBytes = 0, isEndless, isReset }: SpoiledAnswer): void {
  response.writeHead(200, { 'content-type': 'application/jsonl', 'content-encoding': 'gzip' })
  // One packed part a block, as portals join those of their workers.
  const packed = Buffer.concat(lines.map(line => gzipSync(line, { level: 1 })))
  const sent = packed.subarray(0, packed.length - Math.min(packed.length, cutBytes))
  if (isEndless === true) endlessAnswer(response, lines)
  else if (isReset === true) response.write(sent, () => response.destroy())
  else response.end(sent)
}

function lineOf(block: PortalBlock): string {
  return `${JSON.stringify(block)}\n`
}

type Refusal = { status: number; message: string; retryAfter?: string }

function refuse(response: ServerResponse, { status, message, retryAfter }: Refusal): void {
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { type: 'error', code: 'error', message } }))
}

const tables = { block: 'blocks', transaction: 'transactions', log: 'logs' } as const

function refusedColumn({ fields = {}, fromBlock }: Query, { lacking = {}, unknown = [] }: SimPortalOptions) {
  for (const [table, columns] of Object.entries(fields)) {
    for (const column of Object.keys(columns)) {
      const name = `${table}.${column}`
      if (unknown.includes(name)) return `unknown field \`${column}\``
      if (fromBlock > (lacking[name] ?? -1)) continue
      const stored = column.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
      return `column '${stored}${column === 'accessList' ? '_size' : ''}' is not found in '${tables[table as 'log']}'`
    }
  }
  return undefined
}

/** The columns and blocks that were asked for. */
export function selected({ header, transactions, logs }: PortalBlock, { fields = {}, ...query }: Query): PortalBlock {
  const pick = (item: PortalFields, table: string): PortalFields =>
    Object.fromEntries(Object.keys(fields[table] ?? {}).map(name => [name, item[name] ?? null]))
  const block: PortalBlock = { header: pick(header, 'block') }
  if (query.transactions !== undefined && transactions !== undefined)
    block.transactions = transactions.map(item => pick(item, 'transaction'))
  if (query.logs !== undefined && logs !== undefined) block.logs = logs.map(item => pick(item, 'log'))
  return block
}

const made = new WeakMap<SimChain, Map<number, PortalBlock>>()

export function portalBlock(chain: SimChain, number: number): PortalBlock {
  const kept = made.get(chain) ?? new Map<number, PortalBlock>()
  made.set(chain, kept)
  const known = kept.get(number)
  if (known !== undefined) return known
  const { chainId, stateSync } = chain.options
  const stateSyncListed = stateSync !== 'unlisted'
  const render: RenderOptions = { chainId, stateSyncListed, stateSyncIndex: undefined, logTimestamps: false }
  const block = chain.block(number)
  const logs = logTexts(block, render).map(({ text }) => parsed(text))
  const portal = portalForm(parsed(blockText(block, true, render)), receiptTexts(block, render).map(parsed), logs)
  kept.set(number, portal)
  return portal
}

/**
 * What nodes answer as portals write it: small values are numbers, large ones and bytes hex. Lists that are empty are
 * left out.
 */
export function portalForm(block: PortalFields, receipts: readonly PortalFields[], logs: PortalFields[]): PortalBlock {
  const { transactions: given, ...header } = block
  const transactions = (given as PortalFields[]).map((transaction, at) => {
    const { cumulativeGasUsed, status, logsBloom } = receipts[at]!
    const authorizations = transaction.authorizationList as PortalFields[] | undefined
    const authorizationList = (authorizations ?? []).map(each => {
      return { ...each, ...numbersOf(each, ['yParity']), nonce: BigInt(each.nonce as string).toString() }
    })
    const all = { accessList: [], blobVersionedHashes: [], ...transaction, authorizationList, cumulativeGasUsed }
    const numbers = ['transactionIndex', 'nonce', 'type', 'chainId', 'yParity', 'status']
    return { ...all, logsBloom, ...numbersOf({ ...transaction, status }, numbers) }
  })
  const placed = logs.map(log => ({ ...log, ...numbersOf(log, ['logIndex', 'transactionIndex']) }))
  return {
    header: { ...header, ...numbersOf(header, ['number', 'timestamp', 'size']) },
    ...(transactions.length === 0 ? {} : { transactions }),
    ...(placed.length === 0 ? {} : { logs: placed }),
  }
}

function numbersOf(item: PortalFields, names: readonly string[]): PortalFields {
  return Object.fromEntries(
    names.map(name => [name, item[name] === undefined || item[name] === null ? null : Number(item[name])]),
  )
}

function parsed(text: string): PortalFields {
  return JSON.parse(text) as PortalFields
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

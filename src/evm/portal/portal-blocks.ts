// Takes blocks of a portal to the shapes that nodes answer in, so that the same code checks and decodes them. Pure.
// Nothing is believed: both roots are recomputed, the header's hash too, and senders are recovered from signatures.
//
// A column that the dataset lacks costs the proof that needs it. Where all columns were served and there is still no
// proof, the answer is wrong: else a lie could be hidden by leaving out a value. Fields of headers may be added from a
// node's header: the hash covers them, whatever their source.
import type { Chain } from '../../chains.ts'
import { joinIntervals } from '../../coverage.ts'
import { hexOf, quantityHex, quantityOf } from '../../hex.ts'
import { ledgerOf } from '../../ledgers.ts'
import { type Interval, zeroAddress } from '../../model.ts'
import { checkStructure } from '../../rpc/body-structure.ts'
import type { WholeScope } from '../../views.ts'
import { knownNames } from '../proof/block-hash.ts'
import { addToBloom, emptyBloom } from '../proof/bloom.ts'
import { type FailedCheck, type Failure, failure, shown } from '../proof/failure.ts'
import { readReplay, transactionForms } from '../proof/transaction-types.ts'
import type { RpcBlock, RpcLog, RpcReceipt, RpcTransaction } from '../rpc/port.ts'
import { timeFault } from '../source/block-time.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { decodeRange } from '../source/decode-range.ts'
import { blockColumns, type PortalColumn } from './portal-query.ts'

export type PortalTask = {
  chain: Chain
  scope: WholeScope
  interval: Interval
  /** One line for each block. */
  bodies: readonly Uint8Array[]
  /** Columns that were not served. */
  lacking: readonly PortalColumn[]
  /** Headers of the same blocks as a node gave them. */
  headers?: readonly unknown[] | undefined
}

/**
 * `completed`: how many headers lacked a field that a node's has. `wrong`: which of the blocks cannot be taken; absent:
 * any may be. `isTooMuch`: the thread ended at it, so the answer may be right and the machine too slow.
 */
export type PortalResult =
  | { ok: true; range: DecodedRange; completed: number; tookMs: number }
  | { ok: false; failure: Failure; wrong?: readonly Interval[]; isTooMuch?: true }

export function decodePortalBodies(task: PortalTask): PortalResult {
  let lines: string[]
  try {
    lines = task.bodies.flatMap(linesOf)
  } catch (error) {
    const { from } = task.interval
    return { ok: false, failure: failure('unreadable', from, `block ${from}: ${(error as Error).message}`) }
  }
  const result = decodeLines(lines, task)
  return result.ok ? result : (narrowed(lines, task) ?? result)
}

/** Of an answer that is wrong: the blocks that others must give. All others are taken when they are asked for again. */
function narrowed(lines: readonly string[], task: PortalTask): PortalResult | undefined {
  const { from, to } = task.interval
  // That a line is missing or is one too many says nothing of the others.
  if (lines.length !== to - from + 1) return undefined
  const decoded = (first: number, last: number): PortalResult =>
    decodeLines(lines.slice(first, last + 1), {
      ...task,
      interval: { from: from + first, to: from + last },
      headers: task.headers?.slice(first, last + 1),
    })
  const wrong: Interval[] = []
  let found: PortalResult | undefined
  for (const at of lines.keys()) {
    const alone = decoded(at, at)
    if (alone.ok) continue
    found ??= alone
    wrong.push({ from: from + at, to: from + at })
  }
  if (found?.ok === false) return { ...found, wrong: joinIntervals(wrong) }
  // Two that are right by themselves do not follow each other: either may be of another chain.
  for (let at = 1; at < lines.length; at++) {
    const pair = decoded(at - 1, at)
    if (!pair.ok) return { ...pair, wrong: [{ from: from + at - 1, to: from + at }] }
  }
  return undefined
}

function decodeLines(lines: readonly string[], task: PortalTask): PortalResult {
  const { chain, scope, interval } = task
  const startedMs = performance.now()
  let number = interval.from
  try {
    const translated: Translated[] = []
    for (const line of lines) {
      number = interval.from + translated.length
      translated.push(translate(JSON.parse(line), number, task))
    }
    if (translated.length !== interval.to - interval.from + 1)
      throw new WrongBlock('header-missing', `${translated.length} blocks came for those up to ${interval.to}`)
    const answers = {
      blocks: translated.map(({ block }) => block),
      receipts: translated.map(({ receipts }) => receipts),
      lacks: translated.map(({ lack }) => lack),
    }
    const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0)
    const result = decodeRange({ chain, scope, interval, answers, grain: 'range', bytes, recoverSenders: true })
    if (!result.ok) return result
    const wrong = hiddenIn(result.range, translated, task) ?? mistimedIn(result.range)
    if (wrong !== undefined) return { ok: false, failure: wrong }
    const completed = translated.filter(({ isCompleted }) => isCompleted).length
    return { ...result, completed, tookMs: performance.now() - startedMs }
  } catch (error) {
    // If an answer makes this code throw, the portal is at fault.
    const check = error instanceof WrongBlock ? error.check : 'unreadable'
    return { ok: false, failure: failure(check, number, `block ${number}: ${(error as Error).message}`) }
  }
}

/** What could not be proven although everything was served that a proof needs. */
function hiddenIn(
  { doubt, headersProven, interval }: DecodedRange,
  translated: readonly Translated[],
  { chain, lacking }: PortalTask,
): Failure | undefined {
  if (doubt === undefined) return undefined
  if (headersProven === false)
    return isHashable(interval.from, { chain, lacking })
      ? failure('block-hash', interval.from, doubt.reason)
      : undefined
  const isServed = !lacking.some(column => column.startsWith('transaction.')) && !translated.some(({ lack }) => lack)
  const isKnown = chain.quirks.stateSyncTransactions !== true && translated.every(({ block }) => areKnown(block))
  return isServed && isKnown ? failure('transactions', interval.from, doubt.reason) : undefined
}

function mistimedIn({ headers }: DecodedRange): Failure | undefined {
  for (const [at, header] of headers.entries()) {
    const fault = timeFault(header, headers[at - 1])
    if (fault !== undefined) return failure('header-unreadable', header.number, `block ${header.number} ${fault}`)
  }
  return undefined
}

/** Whether everything was served that the hash of a header is of, and its form is known. */
export function isHashable(number: number, { chain, lacking }: Pick<PortalTask, 'chain' | 'lacking'>): boolean {
  const { headers } = chain.quirks
  if (headers === undefined || number < (headers.from ?? 0)) return false
  const names = [...headerNumbers, ...headerTexts, ...(headers.required ?? []), ...headers.added]
  return names.every(name => blockColumns.has(name) && !lacking.includes(`block.${name}`))
}

function areKnown({ transactions }: RpcBlock): boolean {
  return (transactions as readonly RpcTransaction[]).every(
    ({ type }) => transactionForms.get(type === undefined ? 0 : quantityOf(type, 0x7f))?.sure === true,
  )
}

/** The headers in an answer that asked for no more, as nodes write them; what cannot be read is left out. */
export function portalHeaders({ chain, bodies, lacking }: Pick<PortalTask, 'chain' | 'bodies' | 'lacking'>): Fields[] {
  return bodies.flatMap(linesOf).flatMap(line => {
    try {
      return [headerOf(fieldsOf(fieldsOf(JSON.parse(line)).header), undefined, { chain, lacking }).header]
    } catch {
      return []
    }
  })
}

class WrongBlock extends Error {
  readonly check: FailedCheck
  constructor(check: FailedCheck, message: string) {
    super(message)
    this.check = check
  }
}

const newline = 0x0a

function linesOf(body: Uint8Array): string[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  // Of all lines together: those of a million values each are parsed for longer than all of an honest answer.
  checkStructure(bytes)
  const lines: string[] = []
  let from = 0
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
    lines.push(bytes.toString('utf8', from, end))
    from = end + 1
  }
  return lines
}

type Fields = Record<string, unknown>
type Translated = {
  block: RpcBlock
  receipts: RpcReceipt[]
  /** Why its receipts may not be whole. */
  lack: string | undefined
  isCompleted: boolean
}

function translate(given: unknown, number: number, task: PortalTask): Translated {
  const { header: head, transactions = [], logs = [] } = fieldsOf(given)
  const { header, isCompleted } = headerOf(fieldsOf(head), task.headers?.[number - task.interval.from], task)
  const place = { blockNumber: header.number as string, blockHash: header.hash as string }
  const listed = sorted(listOf(transactions), 'transactionIndex')
  const hasFees = header.baseFeePerGas !== null && header.baseFeePerGas !== undefined
  const receipts: RpcReceipt[] = []
  let lack: string | undefined
  for (const transaction of listed) {
    lack ??= receiptLack(transaction, hasFees, task)
    receipts.push(receiptOf(numbered(transaction, task), place))
  }
  placeLogs(sorted(listOf(logs), 'logIndex'), receipts, { place, chain: task.chain })
  const block = { ...header, transactions: listed as unknown as RpcTransaction[] } as unknown as RpcBlock
  return { block, receipts, lack: lack && `block ${number}: ${lack}`, isCompleted }
}

const headerNumbers = ['number', 'timestamp', 'difficulty', 'gasLimit', 'gasUsed']
const headerTexts = [
  ...['hash', 'parentHash', 'logsBloom', 'receiptsRoot', 'transactionsRoot', 'stateRoot', 'sha3Uncles', 'miner'],
  ...['extraData', 'mixHash', 'nonce'],
]

/** Null where a field may be missing because the dataset lacks it; what the chain did not have yet is left out. */
function headerOf(
  given: Fields,
  node: unknown,
  { chain, lacking }: Pick<PortalTask, 'chain' | 'lacking'>,
): { header: Fields; isCompleted: boolean } {
  const { required = [], added = [] } = chain.quirks.headers ?? {}
  const others = typeof node === 'object' && node !== null ? (node as Fields) : {}
  // Fields of another block could only spoil what is here.
  const isSame = others.hash === given.hash
  const header: Fields = {}
  let isCompleted = false
  for (const name of [...headerNumbers, ...headerTexts, ...required, ...added]) {
    let value = numberText(given[name]) ?? given[name] ?? undefined
    if (value === undefined && isSame && others[name] !== undefined && others[name] !== null) {
      value = others[name]
      isCompleted = true
    }
    if (value !== undefined) header[name] = value
    else if (!isSame && lacking.includes(`block.${name}`)) header[name] = null
  }
  // Portals have no column for fields that were unknown when they indexed the block.
  const known = isSame && chain.quirks.headers !== undefined ? knownNames(chain.quirks.headers) : undefined
  for (const name in known && others) {
    if (known!.has(name)) continue
    header[name] = others[name]
    isCompleted = true
  }
  return { header, isCompleted }
}

/** Quantities as nodes write them; undefined for what is not a number. */
function numberText(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return quantityHex(value)
  if (typeof value === 'string' && /^\d{1,78}$/.test(value)) return `0x${BigInt(value).toString(16)}`
  return undefined
}

/** Changes what the portal writes as numbers, in place: of 200 transactions a copy of each would cost a third more. */
function numbered(transaction: Fields, { chain }: PortalTask): Fields {
  for (const name of ['transactionIndex', 'nonce', 'type', 'chainId', 'yParity', 'status'])
    transaction[name] = numberText(transaction[name]) ?? transaction[name] ?? undefined
  if (Array.isArray(transaction.authorizationList)) {
    for (const authorization of transaction.authorizationList.map(fieldsOf))
      for (const name of ['chainId', 'nonce', 'yParity'])
        authorization[name] = numberText(authorization[name]) ?? authorization[name]
  }
  checkChain(transaction, chain)
  return transaction
}

/** Whether it is signed for the chain, where it says so. */
function checkChain(transaction: Fields, chain: Chain): void {
  const { type, chainId, v } = transaction
  const id = ledgerOf(chain.id).chain
  const isOld = type === undefined || type === '0x0'
  const named = isOld
    ? (readReplay(quantityOf(v, Number.MAX_SAFE_INTEGER)).chainId ?? id)
    : quantityOf(chainId ?? chain.hexId, 2 ** 53)
  if (named === id) return
  const message = `transaction ${quantityOf(transaction.transactionIndex, 2 ** 31)} is signed for the chain ${named}`
  throw new WrongBlock('transactions', `${message} and not for ${id}`)
}

/** Why its receipt may not be whole; undefined if it is. */
function receiptLack(transaction: Fields, hasFees: boolean, { chain, lacking }: PortalTask): string | undefined {
  const { transactionIndex, r, s, status } = transaction
  const type = Number(transaction.type ?? 0)
  const isSigned = transactionForms.get(type)?.signed === true && !isBridged(transaction, chain)
  const wrong = (what: string): WrongBlock =>
    new WrongBlock('transactions', `transaction ${shown(transactionIndex)} came without ${what}`)
  // Whose sender cannot be recovered would be the portal's word.
  if (isSigned && [r, s].some(part => part === '0x0' || part === '0x')) throw wrong('a signature')
  if (type === depositType) return 'its receipts came without the nonces of deposits'
  if (status !== undefined && status !== null) return undefined
  // Receipts have a status since Byzantium, and blocks a fee since a later fork.
  if ((hasFees || type > 0) && !lacking.includes('transaction.status')) throw wrong('its status')
  return 'its receipts came without their status'
}

/** Deposits of OP chains: later forks hash fields with their receipts that portals do not have. */
const depositType = 0x7e

/** Polygon's state-sync transactions have no signature. */
function isBridged({ from, to }: Fields, { quirks }: Chain): boolean {
  return quirks.stateSyncTransactions === true && from === zeroAddress && to === zeroAddress
}

type Place = { blockNumber: string; blockHash: string }

/** Without its logs. */
function receiptOf(transaction: Fields, place: Place): RpcReceipt {
  const { hash, transactionIndex, cumulativeGasUsed, type, status } = transaction as Record<string, string>
  return {
    ...place,
    transactionHash: hash!,
    transactionIndex: transactionIndex!,
    contractAddress: null,
    cumulativeGasUsed: cumulativeGasUsed!,
    logs: [],
    logsBloom: noBloom,
    ...(type === undefined ? {} : { type }),
    ...(status === undefined ? {} : { status }),
  }
}

const noBloom = hexOf(emptyBloom())

/** Gives each receipt its logs, and the bloom that follows from them. `logs` are in the order of the block. */
function placeLogs(logs: readonly Fields[], receipts: RpcReceipt[], block: { place: Place; chain: Chain }): void {
  let bloom = emptyBloom()
  for (const [at, given] of logs.entries()) {
    const index = given.transactionIndex as number
    const receipt = (Number.isSafeInteger(index) && receipts[index]) || unlistedReceipt(given, receipts, block)
    const log: RpcLog = {
      address: given.address as string,
      topics: given.topics as string[],
      data: given.data as string,
      blockNumber: receipt.blockNumber,
      blockHash: receipt.blockHash,
      transactionHash: receipt.transactionHash,
      transactionIndex: receipt.transactionIndex,
      logIndex: numberText(given.logIndex)!,
    }
    ;(receipt.logs as RpcLog[]).push(log)
    if (!addToBloom(bloom, log)) throw new WrongBlock('unreadable', `log ${shown(given.logIndex)} cannot be read`)
    if (logs[at + 1]?.transactionIndex === index) continue
    if (receipt.logsBloom !== noBloom) throw new WrongBlock('log-place', `the logs of transaction ${index} are apart`)
    receipt.logsBloom = hexOf(bloom)
    bloom = emptyBloom()
  }
}

/** Polygon's state sync may be in no list; the fields of its receipt are under no root. */
function unlistedReceipt(log: Fields, receipts: RpcReceipt[], block: { place: Place; chain: Chain }): RpcReceipt {
  const { transactionIndex: index, transactionHash: hash } = log
  if (block.chain.quirks.stateSyncTransactions !== true || index !== receipts.length)
    throw new WrongBlock(
      'log-place',
      `log ${shown(log.logIndex)} is of transaction ${shown(index)}, which is not listed`,
    )
  const cumulativeGasUsed = receipts.at(-1)?.cumulativeGasUsed ?? '0x0'
  const fields = { hash, transactionIndex: quantityHex(index), cumulativeGasUsed, status: '0x1' }
  const receipt = receiptOf(fields, block.place)
  receipts.push(receipt)
  return receipt
}

function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new WrongBlock('unreadable', `${shown(value)} came where an object is expected`)
}

function listOf(value: unknown): Fields[] {
  if (Array.isArray(value)) return value.map(fieldsOf)
  throw new WrongBlock('unreadable', `${shown(value)} came where a list is expected`)
}

/** By a number that each has; most lists are in order. */
function sorted(list: Fields[], name: string): Fields[] {
  let before = -1
  let isInOrder = true
  for (const item of list) {
    const number = item[name]
    if (!Number.isSafeInteger(number) || (number as number) < 0)
      throw new WrongBlock('unreadable', `${shown(number)} came as ${name}`)
    if ((number as number) <= before) isInOrder = false
    before = number as number
  }
  return isInOrder ? list : list.sort((a, b) => (a[name] as number) - (b[name] as number))
}

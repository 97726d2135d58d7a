// What can be wrong with an answer of a portal: what it says of a block, which blocks it sends, and how. Each fault is a
// pure function of its seed.
import type { ServerResponse } from 'node:http'
import { createGzip } from 'node:zlib'
import { draw, drawHex, streams } from './random.ts'

export type PortalFields = Record<string, unknown>
export type PortalBlock = { header: PortalFields; transactions?: PortalFields[]; logs?: PortalFields[] }

/** Lies about one block. */
export const lies = [
  ...['drop-log', 'drop-last-log', 'change-log', 'change-topic', 'add-log', 'move-log', 'change-value'],
  ...['change-recipient', 'change-sender', 'change-nonce', 'change-signature', 'no-signature', 'change-status'],
  ...['change-gas', 'change-hash', 'drop-transaction', 'drop-transactions', 'swap-transactions', 'wrong-receipts-root'],
  ...['wrong-transactions-root', 'wrong-parent', 'wrong-time', 'wrong-bloom', 'wrong-hash', 'null-field'],
  ...['odd-type', 'other-block', 'other-number', 'garbage', 'flip-digit'],
] as const
/** Wrong lines. */
export const disorders = ['leave-out', 'repeat', 'swap', 'reversed', 'blank', 'too-many'] as const
/** What an honest portal may do. */
export const hitches = ['cut-line', 'cut-gzip', 'reset', 'short', 'nothing', 'no-newline'] as const

export type PortalFault =
  | { kind: (typeof lies)[number] | (typeof disorders)[number] | (typeof hitches)[number] | 'endless'; seed: number }
  | { kind: 'status'; status: number; retryAfter?: string }

export type SpoiledAnswer = {
  lines: string[]
  /** Of the packed answer. */
  cutBytes?: number
  isEndless?: boolean
  isReset?: boolean
}

type Making = { lineOf: (block: PortalBlock) => string; mixed: (number: number) => PortalBlock }

export function spoil(
  blocks: readonly PortalBlock[],
  { kind, seed }: Exclude<PortalFault, { kind: 'status' }>,
  { lineOf, mixed }: Making,
): SpoiledAnswer {
  const at = pick(seed, 1, blocks.length)
  const lines = blocks.map(lineOf)
  const [before, line, after] = [lines.slice(0, at), lines[at]!, lines.slice(at + 1)]
  const inside = 1 + pick(seed, 2, line.length - 2)
  switch (kind) {
    case 'leave-out':
      return { lines: [...before, ...after] }
    case 'repeat':
      return { lines: [...before, line, line, ...after] }
    case 'swap':
      return { lines: after.length === 0 ? [line, ...before] : [...before, after[0]!, line, ...after.slice(1)] }
    case 'reversed':
      return { lines: lines.reverse() }
    case 'blank':
      return { lines: [...before, '\n', line, ...after] }
    case 'too-many':
      return { lines: [...lines, ...lines] }
    case 'cut-line':
      return { lines: [...before, line.slice(0, inside)] }
    case 'cut-gzip':
      return { lines, cutBytes: 1 + pick(seed, 2, 4_000) }
    case 'reset':
      return { lines: before, isReset: true }
    case 'short':
      return { lines: [...before, line] }
    case 'nothing':
      return { lines: [] }
    case 'no-newline':
      return { lines: [...before, line, ...after.slice(0, -1), (after.at(-1) ?? '').slice(0, -1)] }
    case 'endless':
      return { lines: before, isEndless: true }
    case 'garbage':
      return { lines: [...before, `${line.slice(0, inside)}}${line.slice(inside)}`, ...after] }
    case 'flip-digit':
      return { lines: [...before, withOtherDigit(line, inside), ...after] }
    default: {
      const lie = changed(structuredClone(blocks[at]!), kind, seed, mixed)
      return { lines: [...before, lineOf(lie), ...after] }
    }
  }
}

/** Sends a line without an end. */
export function endlessAnswer(response: ServerResponse, lines: readonly string[]): void {
  const pack = createGzip({ level: 1 })
  pack.pipe(response)
  response.on('close', () => pack.destroy())
  pack.write(lines.join(''))
  const more = Buffer.alloc(2 ** 20, '{"header":{"hash":"0x')
  const send = (): void => {
    while (!pack.destroyed && pack.write(more));
    if (!pack.destroyed) pack.once('drain', send)
  }
  pack.on('error', () => undefined)
  send()
}

function pick(seed: number, salt: number, count: number): number {
  return count <= 0 ? 0 : draw(seed, streams.fault, salt) % count
}

/** Of some hex text at or after a place. */
function withOtherDigit(line: string, from: number): string {
  const found = /"0x[0-9a-f]+"/g
  found.lastIndex = from
  const text = found.exec(line)
  if (text === null) return line
  const at = text.index + 3 + ((from * 7) % (text[0].length - 4))
  return `${line.slice(0, at)}${line[at] === '1' ? '2' : '1'}${line.slice(at + 1)}`
}

function changed(block: PortalBlock, kind: string, seed: number, mixed: Making['mixed']): PortalBlock {
  const { header, transactions = [], logs = [] } = block
  const transaction = transactions[pick(seed, 3, transactions.length)]
  const place = pick(seed, 4, logs.length)
  const log = logs[place]
  const word = `0x${drawHex(8, seed, streams.fault)}`
  const address = word.slice(0, 42)
  const set = (item: PortalFields | undefined, name: string, value: unknown): void => {
    // What is not there cannot be lied about: then the hash is wrong.
    if (item === undefined || item[name] === value) header.hash = word
    else item[name] = value
  }
  const drop = (index: number): void => {
    if (log === undefined) header.hash = word
    block.logs = logs.filter((_, at) => at !== index).map((each, at) => ({ ...each, logIndex: at }))
  }
  const shapes: Record<string, () => unknown> = {
    'drop-log': () => drop(place),
    'drop-last-log': () => drop(logs.length - 1),
    'change-log': () => set(log, 'data', `${word}${word.slice(2)}`),
    'change-topic': () => set(log, 'topics', [...((log?.topics as string[]) ?? []).slice(0, -1), word]),
    'add-log': () => (log === undefined ? set(header, 'hash', word) : logs.push({ ...log, logIndex: logs.length })),
    'move-log': () => set(log, 'transactionIndex', transactions.length - 1 - (log?.transactionIndex as number)),
    'change-value': () => set(transaction, 'value', `0x${1 + pick(seed, 5, 1_000_000)}`),
    'change-recipient': () => set(transaction, 'to', address),
    'change-sender': () => set(transaction, 'from', address),
    'change-nonce': () => set(transaction, 'nonce', Number(transaction?.nonce) + 1),
    'change-signature': () => set(transaction, 's', `0x1${word.slice(3)}`),
    'no-signature': () => set(transaction, 's', '0x0'),
    'change-status': () => set(transaction, 'status', 1 - Number(transaction?.status)),
    'change-gas': () => set(transaction, 'cumulativeGasUsed', '0x5208f'),
    'change-hash': () => set(transaction, 'hash', word),
    'drop-transaction': () => (transactions.length === 0 ? set(header, 'hash', word) : transactions.pop()),
    'drop-transactions': () => (transactions.length === 0 ? set(header, 'hash', word) : delete block.transactions),
    'swap-transactions': () => {
      const [first, last] = [transactions[0], transactions.at(-1)]
      set(first, 'transactionIndex', last === first ? 7 : last?.transactionIndex)
      if (last !== first) set(last, 'transactionIndex', 0)
    },
    'wrong-receipts-root': () => set(header, 'receiptsRoot', word),
    'wrong-transactions-root': () => set(header, 'transactionsRoot', word),
    'wrong-parent': () => set(header, 'parentHash', word),
    'wrong-time': () => set(header, 'timestamp', Number(header.timestamp) + 1),
    'wrong-bloom': () => set(header, 'logsBloom', `0x${'00'.repeat(255)}01`),
    'wrong-hash': () => set(header, 'hash', word),
    'other-number': () => set(header, 'number', Number(header.number) + 1),
    'null-field': () => {
      const items = [header, transaction, log].filter(item => item !== undefined)
      const item = items[pick(seed, 6, items.length)]!
      const names = Object.keys(item).filter(name => item[name] !== null)
      set(item, names[pick(seed, 7, names.length)]!, null)
    },
    'odd-type': () => {
      const items = [header, transaction, log].filter(item => item !== undefined)
      const item = items[pick(seed, 6, items.length)]!
      const names = Object.keys(item)
      const odd = [{}, [], 'x', -1, 1.5, true, '0x', 2 ** 60, { length: 1 }][pick(seed, 8, 9)]
      set(item, names[pick(seed, 7, names.length)]!, odd)
    },
  }
  if (kind === 'other-block') return mixed(Number(header.number))
  shapes[kind]!()
  return block
}

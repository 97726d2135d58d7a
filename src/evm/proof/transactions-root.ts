// Encodes transactions as they are hashed: their hashes, and the transactions root of a block. With the header's root
// they prove the hash, place, value, recipient and nonce of each transaction, and its signature; the sender is not
// among them.
import { hexOf, parseHex, quantityBytes, quantityOf } from '../../hex.ts'
import type { RpcTransaction } from '../rpc/port.ts'
import { keccakDigits } from './block-hash.ts'
import { shown } from './failure.ts'
import { encodeRlp, hexBytes, type RlpItem, RlpWriter } from './rlp.ts'
import { type TransactionField, type TransactionForm, transactionForms } from './transaction-types.ts'
import { listRoot } from './trie.ts'

/** `unknown`: a type that is not known, or a field that the node left out. */
export type TransactionsVerdict = { is: 'proven' } | { is: 'different' | 'unknown'; why: string }

// One for all blocks: encoded transactions do not outlive their root.
const writer = new RlpWriter()

/** The hash of no bytes. Development nodes give it to their first block; no list of transactions hashes to it. */
const nothingHash = `0x${keccakDigits(new Uint8Array(0))}`

/** Whether transactions, in the order of their block, are those of a transactions root. */
export function checkTransactionsRoot(transactions: readonly RpcTransaction[], root: unknown): TransactionsVerdict {
  writer.reset()
  const encoded: Uint8Array[] = []
  let doubt: string | undefined
  for (const [index, transaction] of transactions.entries()) {
    const form = formOf(transaction)
    const bytes = form === undefined ? `is of the unknown type ${shown(transaction.type)}` : encode(transaction, form)
    if (typeof bytes === 'string') {
      doubt ??= `transaction ${index} ${bytes}`
      continue
    }
    if (!writer.sound) return { is: 'different', why: `transaction ${index} cannot be read` }
    encoded.push(bytes)
    const digits = keccakDigits(bytes)
    if (typeof transaction.hash === 'string' && transaction.hash.endsWith(digits) && transaction.hash.length === 66)
      continue
    const why = `transaction ${index} says that its hash is ${shown(transaction.hash)}, it hashes to 0x${digits}`
    // Development nodes make up a hash where they let anybody send.
    if (form?.sure === true && isSigned(transaction, form)) return { is: 'different', why }
    doubt ??= why
  }
  if (doubt !== undefined) return { is: 'unknown', why: doubt }
  const computed = hexOf(listRoot(encoded))
  if (computed === root || (transactions.length === 0 && root === nothingHash)) return { is: 'proven' }
  const why = `the ${transactions.length} transactions that came hash to ${computed}, the header says ${shown(root)}`
  return { is: 'different', why }
}

/** What the signature of a transaction signs; undefined if it has none or a field is missing. */
export function signedPart(transaction: RpcTransaction): { bytes: Uint8Array; parity: number } | undefined {
  const form = formOf(transaction)
  if (form === undefined || !isSigned(transaction, form)) return undefined
  writer.reset()
  const start = writer.beginList()
  for (const field of form.fields.slice(0, -3)) if (write(transaction, field) !== undefined) return undefined
  const type = typeOf(transaction)
  const v = quantityOf(fieldOf(transaction, type === 0 ? 'v' : 'yParity') ?? fieldOf(transaction, 'v'), 2 ** 50)
  const chainId = type === 0 && v >= 35 ? Math.floor((v - 35) / 2) : undefined
  if (chainId !== undefined) for (const number of [chainId, 0, 0]) writer.quantity(`0x${number.toString(16)}`)
  const bytes = writer.endList(start, type)
  if (!writer.sound || v < 0) return undefined
  return { bytes, parity: type > 0 ? v : chainId === undefined ? v - 27 : (v - 35) % 2 }
}

function typeOf({ type }: RpcTransaction): number {
  return type === undefined || type === null ? 0 : quantityOf(type, 0x7f)
}

function formOf(transaction: RpcTransaction): TransactionForm | undefined {
  return transactionForms.get(typeOf(transaction))
}

function isSigned(transaction: RpcTransaction, { signed }: TransactionForm): boolean {
  const isZero = (text: unknown): boolean => quantityBytes(text)?.length === 0
  return signed && !isZero(fieldOf(transaction, 'r')) && !isZero(fieldOf(transaction, 's'))
}

/** Its bytes, which the next reset overwrites, or what is wrong with it. */
function encode(transaction: RpcTransaction, { fields }: TransactionForm): Uint8Array | string {
  const start = writer.beginList()
  for (const field of fields) {
    const missing = write(transaction, field)
    if (missing !== undefined) return `came without a readable ${missing}`
  }
  return writer.endList(start, typeOf(transaction))
}

/** The name of a field that is missing; undefined once it is written. */
function write(transaction: RpcTransaction, { name, kind }: TransactionField): string | undefined {
  let value = fieldOf(transaction, name)
  if (kind === 'parity') value ??= fieldOf(transaction, 'v')
  else if (name === 'input') value ??= fieldOf(transaction, 'data')
  else if (kind === 'to') value ??= '0x'
  else if (kind === 'mint') value ??= '0x0'
  else if (kind === 'flag') value = value === true ? '0x1' : '0x0'
  if (kind === 'access list' || kind === 'hashes' || kind === 'authorizations') {
    const item = listOf(value, kind)
    if (item === undefined) return name
    if (item === noItems) {
      writer.reserve(1)
      writer.listPrefix(0)
      return undefined
    }
    const bytes = encodeRlp(item)
    writer.reserve(bytes.length)
    writer.encoded(bytes)
    return undefined
  }
  if (typeof value !== 'string') return name
  writer.reserve(value.length / 2 + 8)
  if (kind === 'bytes' || kind === 'to') {
    const bytes = hexBytes(value)
    if (bytes < 0) return name
    writer.string(value, bytes)
  } else writer.quantity(value)
  return undefined
}

function fieldOf(transaction: RpcTransaction, name: string): unknown {
  return (transaction as unknown as Record<string, unknown>)[name] ?? undefined
}

const noItems: readonly RlpItem[] = []

function listOf(value: unknown, kind: 'access list' | 'hashes' | 'authorizations'): RlpItem | undefined {
  if (!Array.isArray(value)) return undefined
  if (value.length === 0) return noItems
  const items = value.map((item): RlpItem | undefined => {
    if (kind === 'hashes') return parseHex(item)
    const given = item as Record<string, unknown> | null
    if (typeof given !== 'object' || given === null) return undefined
    if (kind === 'access list') return whole([parseHex(given.address), listOf(given.storageKeys, 'hashes')])
    const { chainId, address, nonce, yParity, v, r, s } = given
    return whole([
      ...[quantityBytes(chainId), parseHex(address), quantityBytes(nonce)],
      ...[quantityBytes(yParity ?? v), quantityBytes(r), quantityBytes(s)],
    ])
  })
  return whole(items)
}

function whole(items: readonly (RlpItem | undefined)[]): RlpItem | undefined {
  return items.includes(undefined) ? undefined : (items as RlpItem[])
}

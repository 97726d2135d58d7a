// Encodes transactions as they are hashed: their hashes, and the transactions root of a block. With the header's root
// they prove the hash, place, value, recipient and nonce of each transaction, and its signature; the sender is not
// among them.
import { hexOf, quantityBytes, quantityHex, quantityOf } from '../../hex.ts'
import type { RpcTransaction } from '../rpc/port.ts'
import { keccakDigits } from './block-hash.ts'
import { shown } from './failure.ts'
import { byteDigits, bytesOfDigits, listDigits, quantityDigits, stringDigits, unreadable } from './rlp-digits.ts'
import { readReplay, type TransactionField, type TransactionForm, transactionForms } from './transaction-types.ts'
import { listRoot } from './trie.ts'

/**
 * `different`: a transaction does not hash to its hash; `other-root`: each one does, and all of them to another root;
 * `unknown`: a type that is not known, or a field that the node left out.
 */
export type TransactionsVerdict = { is: 'proven' } | { is: 'different' | 'other-root' | 'unknown'; why: string }

/** The hash of no bytes. Development nodes give it to their first block; no list of transactions hashes to it. */
const nothingHash = `0x${keccakDigits(new Uint8Array(0))}`

/** Whether transactions, in the order of their block, are those of a transactions root. */
export function checkTransactionsRoot(transactions: readonly RpcTransaction[], root: unknown): TransactionsVerdict {
  let doubt: string | undefined
  const texts = transactions.map((transaction, index) => {
    const form = formOf(transaction)
    const digits = form && transactionDigits(transaction, form)
    if (digits === undefined)
      doubt ??= `transaction ${index} ${form ? lackOf(transaction, form) : unknownType(transaction)}`
    return digits ?? ''
  })
  const encoded = bytesOfDigits(texts)
  if (encoded === undefined) return { is: 'different', why: 'a transaction came with a field that is not hex' }
  for (let index = 0; index < encoded.length; index++) {
    if (texts[index] === '') continue
    const transaction = transactions[index]!
    const digits = keccakDigits(encoded[index]!)
    const { hash } = transaction
    if (typeof hash === 'string' && hash.length === 66 && hash.startsWith('0x') && hash.endsWith(digits)) continue
    const why = `transaction ${index} says that its hash is ${shown(hash)}, it hashes to 0x${digits}`
    // Development nodes make up a hash where any account may send.
    const form = formOf(transaction)!
    if (form.sure && isSigned(transaction, form)) return { is: 'different', why }
    doubt ??= why
  }
  if (doubt !== undefined) return { is: 'unknown', why: doubt }
  const computed = hexOf(listRoot(encoded))
  if (computed === root || (transactions.length === 0 && root === nothingHash)) return { is: 'proven' }
  const why = `the ${transactions.length} transactions that came hash to ${computed}, the header says ${shown(root)}`
  return { is: 'other-root', why }
}

/** Whether one transaction is what its hash names: its value and its recipient are then as sure as the hash. */
export function checkTransactionHash(transaction: RpcTransaction): TransactionsVerdict {
  const form = formOf(transaction)
  const digits = form && transactionDigits(transaction, form)
  const bytes = digits === undefined ? undefined : bytesOfDigits([digits])?.[0]
  if (form === undefined) return { is: 'unknown', why: unknownType(transaction) }
  if (bytes === undefined) return { is: 'unknown', why: lackOf(transaction, form) }
  const computed = `0x${keccakDigits(bytes)}`
  if (transaction.hash === computed) return { is: 'proven' }
  const is = form.sure && isSigned(transaction, form) ? 'different' : 'unknown'
  return { is, why: `says that its hash is ${shown(transaction.hash)}, it hashes to ${computed}` }
}

/** What the signature of a transaction signs; undefined if it has none or a field is missing. */
export function signedPart(transaction: RpcTransaction): { bytes: Uint8Array; parity: number } | undefined {
  const form = formOf(transaction)
  if (form === undefined || !isSigned(transaction, form)) return undefined
  const type = typeOf(transaction)
  const given = fieldOf(transaction, type === 0 ? 'v' : 'yParity') ?? fieldOf(transaction, 'v')
  const v = quantityOf(given, Number.MAX_SAFE_INTEGER)
  const { chainId, parity } = type === 0 ? readReplay(v) : { chainId: undefined, parity: v }
  const replay =
    chainId === undefined ? '' : [chainId, 0, 0].map(number => quantityDigits(quantityHex(number))).join('')
  const digits = transactionDigits(transaction, { ...form, fields: form.fields.slice(0, -3) }, replay)
  const bytes = digits === undefined ? undefined : bytesOfDigits([digits])?.[0]
  if (bytes === undefined || v < 0) return undefined
  return { bytes, parity }
}

function typeOf({ type }: RpcTransaction): number {
  return type === undefined || type === null ? 0 : quantityOf(type, 0x7f)
}

function formOf(transaction: RpcTransaction): TransactionForm | undefined {
  return transactionForms.get(typeOf(transaction))
}

function unknownType({ type }: RpcTransaction): string {
  return `is of the unknown type ${shown(type)}`
}

function isSigned(transaction: RpcTransaction, { signed }: TransactionForm): boolean {
  const isZero = (text: unknown): boolean => quantityBytes(text)?.length === 0
  return signed && !isZero(fieldOf(transaction, 'r')) && !isZero(fieldOf(transaction, 's'))
}

/** Its RLP behind its type, with items that are encoded already at the end; undefined where a field is missing. */
function transactionDigits(transaction: RpcTransaction, { fields }: TransactionForm, more = ''): string | undefined {
  let items = ''
  for (const field of fields) {
    const digits = fieldDigits(transaction, field)
    if (digits === unreadable) return undefined
    items += digits
  }
  const type = typeOf(transaction)
  return (type > 0 ? byteDigits[type]! : '') + listDigits(items + more)
}

function lackOf(transaction: RpcTransaction, { fields }: TransactionForm): string {
  const lacking = fields.find(field => fieldDigits(transaction, field) === unreadable)
  return `came without a readable ${lacking?.name}`
}

function fieldDigits(transaction: RpcTransaction, { name, kind }: TransactionField): string {
  const value = fieldOf(transaction, name)
  if (kind === 'quantity') return quantityDigits(value)
  if (kind === 'bytes') return stringDigits(value ?? (name === 'input' ? fieldOf(transaction, 'data') : undefined))
  if (kind === 'to') return stringDigits(value ?? '0x')
  if (kind === 'parity') return quantityDigits(value ?? fieldOf(transaction, 'v'))
  if (kind === 'mint') return quantityDigits(value ?? '0x0')
  if (kind === 'flag') return quantityDigits(value === true ? '0x1' : '0x0')
  return itemsDigits(value, kind)
}

function fieldOf(transaction: RpcTransaction, name: string): unknown {
  return (transaction as unknown as Record<string, unknown>)[name] ?? undefined
}

function itemsDigits(value: unknown, kind: 'access list' | 'hashes' | 'authorizations'): string {
  if (!Array.isArray(value)) return unreadable
  let items = ''
  for (const item of value as unknown[]) items += kind === 'hashes' ? stringDigits(item) : partsDigits(item, kind)
  return items.includes(unreadable) ? unreadable : listDigits(items)
}

/** Of one entry of an access list, or one authorization. */
function partsDigits(item: unknown, kind: 'access list' | 'authorizations'): string {
  if (typeof item !== 'object' || item === null) return unreadable
  const { address, storageKeys, chainId, nonce, yParity, v, r, s } = item as Record<string, unknown>
  if (kind === 'access list') return listDigits(stringDigits(address) + itemsDigits(storageKeys, 'hashes'))
  const numbers = [nonce, yParity ?? v, r, s].map(quantityDigits)
  return listDigits(quantityDigits(chainId) + stringDigits(address) + numbers.join(''))
}

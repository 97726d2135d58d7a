// Reads the transactions of a block from RLP: what rows need of each, and the bytes that the transactions root holds.
import { quantityBytes, quantityHex } from '../../hex.ts'
import { keccakDigits, putKeccak256 } from '../proof/block-hash.ts'
import { recoverSender } from '../proof/recover-sender.ts'
import { encodeRlp, putRlpPrefix, rlpPrefixLength } from '../proof/rlp.ts'
import { RlpCursor } from '../proof/rlp-cursor.ts'
import { readReplay, transactionForms } from '../proof/transaction-types.ts'
import { UnreadableFile } from './e2store.ts'

/** What it says is made text, and hashed, when it is asked for: rows name few of a block's transactions. */
export class FileTransaction {
  readonly #encoded: Uint8Array
  readonly #fields: RlpCursor
  readonly #form: Form
  #hash: string | undefined
  #from: string | undefined

  constructor(encoded: Uint8Array, fields: RlpCursor, form: Form) {
    this.#encoded = encoded
    this.#fields = fields
    this.#form = form
  }

  get hash(): string {
    this.#hash ??= `0x${keccakDigits(this.#encoded)}`
    return this.#hash
  }

  /** The sender. Recovered from the signature, which takes a tenth of the time of reading a block. */
  get from(): string {
    this.#from ??= senderOf(this.#fields, this.#form)
    return this.#from
  }

  /** Null where it creates a contract. */
  get to(): string | null {
    const field = this.#before(this.#form.to).string()
    return field.to === field.from ? null : field.hex()
  }

  get value(): string {
    return this.#before(this.#form.value).quantity()
  }

  get nonce(): string {
    return this.#before(this.#form.nonce).quantity()
  }

  #before(place: number): RlpCursor {
    return this.#fields.again().skip(place)
  }
}

type ReadTransactions = {
  transactions: FileTransaction[]
  /** As the root holds them: the type, unless it is 0, then the RLP. */
  encoded: Uint8Array[]
}

/** `chainId`: what transactions must be signed for, if they say so. */
export function readTransactions(list: RlpCursor, chainId: number | undefined): ReadTransactions {
  const transactions: FileTransaction[] = []
  const encoded: Uint8Array[] = []
  while (!list.isAtEnd) {
    list.next()
    const bytes = list.isList ? list.encoded() : list.content()
    const type = list.isList ? 0 : (bytes[0] ?? 0)
    const form = forms.get(type)
    if (form === undefined || (type === 0 && !list.isList))
      throw new UnreadableFile(`has a transaction of the unknown type ${type}`)
    const fields = list.isList ? new RlpCursor(list.bytes, list.from, list.to) : typedList(list)
    checkFields(fields.again(), form, chainId)
    encoded.push(bytes)
    transactions.push(new FileTransaction(bytes, fields, form))
  }
  return { transactions, encoded }
}

type Form = { type: number; nonce: number; to: number; value: number; count: number }

/** Places of the fields, by type. */
const forms = new Map<number, Form>()
for (const [type, { fields, signed }] of transactionForms) {
  const place = (name: string): number => fields.findIndex(field => field.name === name)
  const places = { nonce: place('nonce'), to: place('to'), value: place('value') }
  if (signed) forms.set(type, { type, ...places, count: fields.length })
}

/** The list behind the type of a typed transaction. */
function typedList(item: RlpCursor): RlpCursor {
  const whole = new RlpCursor(item.bytes, item.from + 1, item.to)
  const list = whole.list()
  whole.end()
  return list
}

/** Whether the fields are as many as its type has, those that are read of their kind, and for the right chain. */
function checkFields(fields: RlpCursor, form: Form, chainId: number | undefined): void {
  for (let place = 0; place < form.count; place++) {
    if (place === 0 && form.type > 0) requireChain(fields.number(), chainId)
    else if (place === form.nonce || place === form.value) fields.requireQuantity()
    else if (place === form.to) {
      const length = fields.string().to - fields.from
      if (length !== 0 && length !== 20) throw new UnreadableFile(`has a transaction to ${length} bytes`)
    } else if (place === replayPlace && form.type === 0) {
      const { chainId: named } = readReplay(fields.number())
      if (named !== undefined) requireChain(named, chainId)
    } else fields.next()
  }
  fields.end()
}

/** `v` of a transaction of type 0: it names the chain since EIP-155. */
const replayPlace = 6

// One for all transactions: each is used at once.
const digest = Buffer.allocUnsafeSlow(32)
const signature = Buffer.allocUnsafeSlow(64)

/** Parity, `r` and `s` end every form; what is before them is signed. */
const signatureFields = 3

function senderOf(fields: RlpCursor, { type, count }: Form): string {
  const walk = fields.again().skip(count - signatureFields)
  const signedTo = walk.to
  const v = walk.number()
  const { chainId, parity } = type === 0 ? readReplay(v) : { chainId: undefined, parity: v }
  putKeccak256(signedBytes(fields, signedTo, type, chainId), digest, 0)
  signature.fill(0)
  for (const end of [32, 64]) {
    const { bytes, from, to } = walk.requireQuantity()
    bytes.copy(signature, end - (to - from), from, to)
  }
  const sender = recoverSender(digest, signature, parity)
  if (sender === undefined) throw new UnreadableFile('has a transaction whose signature is impossible')
  return sender
}

/** What the signature signs: the type, and the fields before it as a list; with EIP-155 the chain and two zeros too. */
function signedBytes(fields: RlpCursor, to: number, type: number, chainId: number | undefined): Uint8Array {
  const from = fields.again().next().start
  const replay = chainId === undefined ? noBytes : replayBytes(chainId)
  const length = to - from + replay.length
  const out = Buffer.allocUnsafe(1 + rlpPrefixLength(length) + length)
  out[0] = type
  let at = putRlpPrefix(out, 1, 0xc0, length)
  at += fields.bytes.copy(out, at, from, to)
  out.set(replay, at)
  return type > 0 ? out : out.subarray(1)
}

const noBytes = new Uint8Array()
const replayBytesOf = new Map<number, Uint8Array>()

function replayBytes(chainId: number): Uint8Array {
  const known = replayBytesOf.get(chainId)
  if (known !== undefined) return known
  const bytes = Buffer.concat([encodeRlp(quantityBytes(quantityHex(chainId))!), Buffer.of(0x80, 0x80)])
  // One, for a file has transactions of one chain.
  replayBytesOf.clear()
  replayBytesOf.set(chainId, bytes)
  return bytes
}

function requireChain(named: number, chainId: number | undefined): void {
  if (chainId !== undefined && named !== chainId)
    throw new UnreadableFile(`has a transaction that is signed for the chain ${named} and not for ${chainId}`)
}

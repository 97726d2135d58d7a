// Keccak, and the hash of a block recomputed from its header: it ties the bloom, the roots, the time and the parent to
// the hash that the next block names.
import { getHashes, hash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { ethereumHeaders, type HeaderForm } from '../../chains.ts'
import { isHexOf, parseHex, quantityOf } from '../../hex.ts'
import type { RpcHeader } from '../rpc/port.ts'
import { bytesOfDigits, listDigits, quantityDigits, stringDigits, unreadable } from './rlp-digits.ts'

// In the order in which they are hashed.
const common = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom', 'difficulty'],
  ...['number', 'gasLimit', 'gasUsed', 'timestamp', 'extraData', 'mixHash', 'nonce'],
]
const quantities = new Set([
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'],
  ...['extDataGasUsed', 'blockGasCost', 'timestampMilliseconds', 'minDelayExcess', 'slotNumber'],
])
const besideAll = ['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals', 'rawHeader']

/**
 * A header that is not of the chain's form may be one of a later fork: then it is the node's word, and no lie. `fields`
 * are those that the chain's form lacks and the hash has. `raw`: only the bytes that came beside the header prove it.
 */
export type HeaderVerdict =
  | { is: 'equal'; fields?: readonly string[]; raw?: true }
  | { is: 'different'; hash: string }
  | { is: 'unknown'; why: string }

/** Whether a header hashes to its block hash. `form` undefined: the chain's is not known. */
export function checkBlockHash(header: RpcHeader, form: HeaderForm | undefined): HeaderVerdict {
  if (form === undefined) return { is: 'unknown', why: "the form of the chain's headers is not known" }
  const { learnt } = form
  // Proof enough, whatever else the node shows.
  if (learnt?.[0] !== undefined && learnt[0] in header) {
    if (hashesTo(header, knownItems(header, form) + itemsOf(header, learnt))) return { is: 'equal', fields: learnt }
  }
  const computed = blockHashOf(header, form)
  if (computed !== undefined && computed === header.hash) return { is: 'equal' }
  const doubt = doubtOf(header, form)
  if (doubt === undefined) return { is: 'different', hash: computed! }
  const fields = unknownFields(header, form)
  if (fields !== undefined) return { is: 'equal', fields }
  return isOfRaw(header) ? { is: 'equal', raw: true } : { is: 'unknown', why: doubt }
}

/** `0x` and 64 digits; undefined if a field that every header of the form has is missing or unreadable. */
export function blockHashOf(header: RpcHeader, form: HeaderForm = ethereumHeaders): string | undefined {
  return hashOf(knownItems(header, form))
}

/** What is hashed of a header of the form, as RLP digits; with `unreadable` in it if a field is missing. */
function knownItems(header: RpcHeader, form: HeaderForm): string {
  const given = header as unknown as Record<string, unknown>
  let items = ''
  for (const name of common) items += digitsOf(given[name], name)
  if (form.required !== undefined) for (const name of form.required) items += digitsOf(given[name], name)
  for (const name of form.added) {
    if (!isGiven(given[name])) break
    items += digitsOf(given[name], name)
  }
  return items
}

function digitsOf(text: unknown, name: string): string {
  return quantities.has(name) ? quantityDigits(text) : stringDigits(text)
}

/** Undefined where the items cannot be read. */
function hashOf(items: string): string | undefined {
  const bytes = bytesOfDigits([listDigits(items)])
  return bytes && `0x${keccakDigits(bytes[0]!)}`
}

function hashesTo(header: RpcHeader, items: string): boolean {
  const computed = hashOf(items)
  return computed !== undefined && computed === header.hash
}

/** More than any header has, with the signatures that some chains keep in `extraData`. */
const headerDigitsMax = 2 * 16_384
/** As many are tried, in every order of up to three: 85 hashes at most, a third of a millisecond. */
const unknownMax = 5

/** The unknown fields that belong to the hash, in their order; undefined where no choice of them gives it. */
function unknownFields(header: RpcHeader, form: HeaderForm): readonly string[] | undefined {
  const items = knownItems(header, form)
  if (items.length > headerDigitsMax || items.includes(unreadable)) return undefined
  const known = knownNames(form)
  const names: string[] = []
  for (const name in header) {
    if (known.has(name) || !/^[a-z][a-z0-9_]{0,39}$/i.test(name) || itemsOf(header, [name]) === unreadable) continue
    if (names.push(name) === unknownMax) break
  }
  for (const some of choicesOf(names)) if (hashesTo(header, items + itemsOf(header, some))) return some
  return undefined
}

/** All as they came, which is how a fork adds fields; then fewer and in other orders: nodes also show others. */
function* choicesOf(names: readonly string[]): Generator<readonly string[]> {
  if (names.length > 0) yield names
  for (const a of names) yield [a]
  for (const a of names) for (const b of names) if (a !== b) yield [a, b]
  for (const a of names)
    for (const b of names) for (const c of names) if (a !== b && b !== c && a !== c) yield [a, b, c]
}

/** Of fields that no table knows: 32 bytes are bytes, and what is shorter is a quantity. */
function itemsOf(header: RpcHeader, names: readonly string[]): string {
  const given = header as unknown as Record<string, unknown>
  let items = ''
  for (const name of names) {
    const text = given[name]
    const digits = isHexOf(text, 32) ? stringDigits(text) : quantityDigits(text)
    if (digits === unreadable) return unreadable
    items += digits
  }
  return items
}

/** Whether the bytes beside a header hash to its block hash, and begin with the fields that it shows. */
function isOfRaw(header: RpcHeader): boolean {
  const { rawHeader } = header
  if (typeof rawHeader !== 'string' || rawHeader.length > headerDigitsMax) return false
  const bytes = parseHex(rawHeader)
  if (bytes === undefined || `0x${keccakDigits(bytes)}` !== header.hash) return false
  // Items say where they end, so bytes that begin as these do have these as their first ones.
  const shown = bytesOfDigits([knownItems(header, { added: [] })])?.[0]
  const start = 1 + (bytes[0] ?? 0) - 0xf7
  return shown !== undefined && start > 1 && bytes.subarray(start, start + shown.length).equals(shown)
}

/** Every field that nodes of the chain may show, hashed or not. */
export function knownNames(form: HeaderForm): Set<string> {
  return new Set([...common, ...(form.required ?? []), ...form.added, ...(form.beside ?? []), ...besideAll])
}

/** Why a header is not of its chain's form; undefined if it is. */
function doubtOf(header: RpcHeader, form: HeaderForm): string | undefined {
  const given = header as unknown as Record<string, unknown>
  if (quantityOf(header.number, Number.MAX_SAFE_INTEGER) < (form.from ?? 0))
    return 'the form of old headers is not known'
  const known = knownNames(form)
  for (const name in given) if (!known.has(name)) return `the header has an unknown field ${name.slice(0, 40)}`
  for (const name of [...common, ...(form.required ?? [])])
    if (!isReadable(given[name], name)) return `the header came without a readable ${name}`
  let missing: string | undefined
  for (const name of form.added) {
    if (given[name] === null || (isGiven(given[name]) && missing !== undefined))
      return `the header came without a readable ${missing ?? name}`
    if (!isGiven(given[name])) missing ??= name
    else if (!isReadable(given[name], name)) return `the header came without a readable ${name}`
  }
  return undefined
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function isReadable(text: unknown, name: string): boolean {
  return bytesOfDigits([digitsOf(text, name)]) !== undefined
}

// OpenSSL's Keccak takes a fifth of the time of the one in JavaScript; runtimes have it from OpenSSL 3.2 on.
const native = getHashes().includes('keccak-256')

export function keccak256(bytes: Uint8Array): Uint8Array {
  const digest = Buffer.allocUnsafe(32)
  putKeccak256(bytes, digest, 0)
  return digest
}

/** 64 digits. */
export function keccakDigits(bytes: Uint8Array): string {
  return native ? hash('keccak-256', bytes, 'hex') : Buffer.from(keccak_256(bytes)).toString('hex')
}

export function putKeccak256(bytes: Uint8Array, out: Buffer, at: number): void {
  // Through a string, because `hash` takes 1.3 times as long to make a buffer.
  if (native) out.write(hash('keccak-256', bytes, 'latin1'), at, 'latin1')
  else out.set(keccak_256(bytes), at)
}

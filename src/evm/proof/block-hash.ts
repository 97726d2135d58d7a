// Keccak, and the hash of a block recomputed from its header: it ties the bloom, the roots, the time and the parent to
// the hash that the next block names.
import { getHashes, hash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { ethereumHeaders, type HeaderForm } from '../../chains.ts'
import { parseHex, quantityBytes, quantityOf } from '../../hex.ts'
import type { RpcHeader } from '../rpc/port.ts'
import { encodeRlp } from './rlp.ts'

// In the order in which they are hashed.
const common = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom', 'difficulty'],
  ...['number', 'gasLimit', 'gasUsed', 'timestamp', 'extraData', 'mixHash', 'nonce'],
]
const quantities = new Set([
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'],
  ...['extDataGasUsed', 'blockGasCost', 'timestampMilliseconds', 'minDelayExcess'],
])
const besideAll = ['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals']

/** A header that is not of the chain's form may be one of a later fork: then it is the node's word, and no lie. */
export type HeaderVerdict = { is: 'equal' } | { is: 'different'; hash: string } | { is: 'unknown'; why: string }

/** Whether a header hashes to its block hash. `form` undefined: the chain's is not known. */
export function checkBlockHash(header: RpcHeader, form: HeaderForm | undefined): HeaderVerdict {
  if (form === undefined) return { is: 'unknown', why: "the form of the chain's headers is not known" }
  const computed = blockHashOf(header, form)
  // Proof enough, whatever else the node shows.
  if (computed !== undefined && computed === header.hash) return { is: 'equal' }
  const doubt = doubtOf(header, form)
  return doubt === undefined ? { is: 'different', hash: computed! } : { is: 'unknown', why: doubt }
}

/** `0x` and 64 digits; undefined if a field that every header of the form has is missing or unreadable. */
export function blockHashOf(header: RpcHeader, form: HeaderForm = ethereumHeaders): string | undefined {
  const given = header as unknown as Record<string, unknown>
  const fields: Uint8Array[] = []
  for (const name of [...common, ...(form.required ?? [])]) {
    const bytes = read(given[name], name)
    if (bytes === undefined) return undefined
    fields.push(bytes)
  }
  for (const name of form.added) {
    if (!isGiven(given[name])) break
    const bytes = read(given[name], name)
    if (bytes === undefined) return undefined
    fields.push(bytes)
  }
  return `0x${keccakDigits(encodeRlp(fields))}`
}

/** Why a header is not of its chain's form; undefined if it is. */
function doubtOf(header: RpcHeader, form: HeaderForm): string | undefined {
  const given = header as unknown as Record<string, unknown>
  if (quantityOf(header.number, Number.MAX_SAFE_INTEGER) < (form.from ?? 0))
    return 'the form of old headers is not known'
  const known = new Set([...common, ...(form.required ?? []), ...form.added, ...(form.beside ?? []), ...besideAll])
  for (const name in given) if (!known.has(name)) return `the header has an unknown field ${name.slice(0, 40)}`
  for (const name of [...common, ...(form.required ?? [])])
    if (read(given[name], name) === undefined) return `the header came without a readable ${name}`
  let missing: string | undefined
  for (const name of form.added) {
    if (given[name] === null || (isGiven(given[name]) && missing !== undefined))
      return `the header came without a readable ${missing ?? name}`
    if (!isGiven(given[name])) missing ??= name
    else if (read(given[name], name) === undefined) return `the header came without a readable ${name}`
  }
  return undefined
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function read(text: unknown, name: string): Uint8Array | undefined {
  return quantities.has(name) ? quantityBytes(text) : parseHex(text)
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

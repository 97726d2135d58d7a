// Encodes and decodes Solana transactions as far as the sandbox needs. The official library is thirty megabytes; the
// tests compare with it.
import { base58 } from '@scure/base'
import type { SolanaSigner } from './solana-signer.ts'

export type Instruction = {
  program: string
  accounts: readonly { key: string; signer?: boolean; writable?: boolean }[]
  data: Uint8Array
}

export type SignedTransaction = { message: Uint8Array; signatures: readonly { key: string; signature: Uint8Array }[] }

const signatureBytes = 64
const keyBytes = 32
const versionBit = 0x80

/** As `sendTransaction` takes it. The first signer pays. */
export function encodeTransaction(
  instructions: readonly Instruction[],
  { signers, blockhash }: { signers: readonly [SolanaSigner, ...SolanaSigner[]]; blockhash: string },
): Uint8Array {
  const used = new Map<string, { signer: boolean; writable: boolean }>()
  const use = (key: string, signer = false, writable = false): void => {
    const known = used.get(key)
    used.set(key, { signer: signer || known?.signer === true, writable: writable || known?.writable === true })
  }
  use(signers[0].address, true, true)
  for (const { accounts } of instructions) for (const { key, signer, writable } of accounts) use(key, signer, writable)
  for (const { program } of instructions) use(program)
  const groups = [...used].map(([key, { signer, writable }]) => ({ key, group: (signer ? 0 : 2) + (writable ? 0 : 1) }))
  const ordered = groups.toSorted((a, b) => a.group - b.group)
  const count = (wanted: (group: number) => boolean): number => ordered.filter(({ group }) => wanted(group)).length
  const signed = count(group => group < 2)
  const keys = ordered.map(({ key }) => key)
  const message = Buffer.concat([
    Uint8Array.of(
      signed,
      count(group => group === 1),
      count(group => group === 3),
    ),
    shortLength(keys.length),
    ...keys.map(key => base58.decode(key)),
    base58.decode(blockhash),
    shortLength(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      Uint8Array.of(keys.indexOf(program)),
      shortLength(accounts.length),
      Uint8Array.from(accounts, ({ key }) => keys.indexOf(key)),
      shortLength(data.length),
      data,
    ]),
  ])
  const signatures = keys.slice(0, signed).map(key => {
    const signer = signers.find(({ address }) => address === key)
    if (signer === undefined) throw new Error(`${key} must sign`)
    return signer.sign(message)
  })
  return Buffer.concat([shortLength(signatures.length), ...signatures, message])
}

export function decodeTransaction(bytes: Uint8Array): SignedTransaction & { keys: readonly string[] } {
  const count = readShortLength(bytes, 0)
  const messageAt = count.next + count.length * signatureBytes
  const message = bytes.slice(messageAt)
  // A versioned message has one more byte before its header of three.
  const keysAt = message[0]! & versionBit ? 4 : 3
  const list = readShortLength(message, keysAt)
  const keys = Array.from({ length: list.length }, (_, index) => {
    const at = list.next + index * keyBytes
    return base58.encode(message.slice(at, at + keyBytes))
  })
  const signatures = keys.slice(0, count.length).map((key, index) => {
    const at = count.next + index * signatureBytes
    return { key, signature: bytes.slice(at, at + signatureBytes) }
  })
  return { message, signatures, keys }
}

/** Seven bits a byte, lowest first. */
function shortLength(length: number): Uint8Array {
  const bytes: number[] = []
  let rest = length
  for (; rest >= 0x80; rest >>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Uint8Array.of(...bytes, rest)
}

function readShortLength(bytes: Uint8Array, at: number): { length: number; next: number } {
  let length = 0
  for (let index = 0; index < 3; index++) {
    const byte = bytes[at + index] ?? 0
    length |= (byte & 0x7f) << (7 * index)
    if (byte < 0x80) return { length, next: at + index + 1 }
  }
  throw new Error('a length takes more than three bytes')
}

// Multicall3, a contract that many chains have at one address: one call of it makes many, each of which may fail. This
// file writes that call and reads its answer. Pure.
import type { Address, ContractCall } from '../../model.ts'
import type { RpcCall } from '../../rpc/batches.ts'

export const multicall3 = '0xca11bde05977b3631167028862be2a173976ca11' as Address

/** Nodes allow 50 million and more. One that takes all of it takes little more than the others would have. */
export function aggregateGas(calls: number): number {
  return 300_000 * calls
}

/** aggregate3((address target, bool allowFailure, bytes callData)[]). */
const aggregate3 = '0x82ad56cb'

export function isAggregate({ method, params }: RpcCall): boolean {
  return method === 'eth_call' && (params[0] as { to?: unknown }).to === multicall3
}

/** Digits of a word. */
const word = 64

export function aggregateCall(calls: readonly ContractCall[]): string {
  const entries = calls.map(({ to, data }) => {
    const digits = data.slice(2)
    const padded = digits.padEnd(Math.ceil(digits.length / word) * word, '0')
    return [to.slice(2).padStart(word, '0'), wordOf(1), wordOf(0x60), wordOf(digits.length / 2), padded].join('')
  })
  let offset = 32 * calls.length
  const offsets = entries.map(entry => {
    const at = wordOf(offset)
    offset += entry.length / 2
    return at
  })
  return [aggregate3, wordOf(0x20), wordOf(calls.length), ...offsets, ...entries].join('')
}

/**
 * What each call returned, in hex; undefined where it failed. Undefined for all where the answer is none of
 * Multicall3's.
 */
export function aggregatedAnswers(value: unknown, count: number): (string | undefined)[] | undefined {
  if (typeof value !== 'string') return undefined
  const digits = value.slice(2)
  const list = numberAt(digits, 0)
  if (list === undefined || numberAt(digits, list) !== count) return undefined
  const first = list + 32
  const answers: (string | undefined)[] = []
  for (let at = 0; at < count; at++) {
    const offset = numberAt(digits, first + 32 * at)
    if (offset === undefined) return undefined
    const entry = first + offset
    const succeeded = numberAt(digits, entry)
    const data = numberAt(digits, entry + 32)
    const length = data === undefined ? undefined : numberAt(digits, entry + data)
    if (succeeded === undefined || data === undefined || length === undefined) return undefined
    const from = 2 * (entry + data + 32)
    if (from + 2 * length > digits.length) return undefined
    answers.push(succeeded === 1 ? `0x${digits.slice(from, from + 2 * length)}` : undefined)
  }
  return answers
}

function wordOf(value: number): string {
  return value.toString(16).padStart(word, '0')
}

/** A word as a number of bytes; undefined where it is not there or larger than any answer. */
function numberAt(digits: string, byte: number): number | undefined {
  const text = digits.slice(2 * byte, 2 * byte + word)
  return /^0{56}[0-9a-f]{8}$/i.test(text) ? Number.parseInt(text, 16) : undefined
}

// Reads accounts out of a node's answers, in the thread that asks or, where they are large, in another one. Pure: it
// checks their shape and knows neither the network nor the store.
import { base58 } from '@scure/base'
import { readAnswers, UnreadableAnswer } from '../rpc/answers.ts'
import { moving, yieldToServing } from '../threads.ts'

/** An account as a node describes it; `program` owns it in the runtime's sense. */
export type AccountInfo = { lamports: bigint; program: string; data: Uint8Array }
export type KeyedAccount = AccountInfo & { key: Uint8Array }

/** The slot as the node gave it, and what was read; a text says what is wrong with the answer. */
export type ReadAt<T> = { slot: number; value: T } | string

export type AccountsThread = ReturnType<typeof startThread>

export function startThread() {
  yieldToServing()
  return {
    listed: readListed,
    owned(task: Parameters<typeof readOwned>[0]) {
      const read = readOwned(task)
      if (typeof read === 'string') return read
      const { keys, lamports, data, ends } = read.value
      return moving(read, [keys, lamports, data, ends])
    },
  }
}

const otherShape = 'an answer of another shape'

/** As many accounts as were asked for, undefined for those that do not exist. */
export function readListed({
  bodies,
  count,
}: {
  bodies: readonly Uint8Array[]
  count: number
}): ReadAt<(AccountInfo | undefined)[]> {
  return readAt(bodies, value => {
    if (!Array.isArray(value) || value.length !== count) return undefined
    const accounts = value.map(entry => (entry === null ? null : readAccount(entry)))
    return accounts.includes(undefined) ? undefined : accounts.map(account => account ?? undefined)
  })
}

/** Keyed accounts of one program as columns, to cross to another thread: an object for each would have to be cloned. */
export type OwnedColumns = { keys: Uint8Array; lamports: BigUint64Array; data: Uint8Array; ends: Float64Array }

export function readOwned({
  bodies,
  program,
}: {
  bodies: readonly Uint8Array[]
  program: string
}): ReadAt<OwnedColumns> {
  return readAt(bodies, value => {
    if (!Array.isArray(value)) return undefined
    const parts: Uint8Array[] = []
    const columns = {
      keys: new Uint8Array(keyBytes * value.length),
      lamports: new BigUint64Array(value.length),
      ends: new Float64Array(value.length),
    }
    let end = 0
    for (const [at, entry] of (value as ({ pubkey?: unknown; account?: unknown } | null)[]).entries()) {
      const account = readAccount(entry?.account)
      const key = readKey(entry?.pubkey)
      if (account === undefined || key === undefined || account.program !== program) return undefined
      columns.keys.set(key, at * keyBytes)
      columns.lamports[at] = account.lamports
      parts.push(account.data)
      end += account.data.length
      columns.ends[at] = end
    }
    // Bytes of its own: those of a small Buffer are shared with others.
    const data = new Uint8Array(end)
    parts.forEach((part, at) => {
      data.set(part, columns.ends[at]! - part.length)
    })
    return { ...columns, data }
  })
}

export function accountsOf({ keys, lamports, data, ends }: OwnedColumns, program: string): KeyedAccount[] {
  return Array.from(ends, (end, at) => ({
    key: keys.subarray(at * keyBytes, (at + 1) * keyBytes),
    lamports: lamports[at]!,
    program,
    data: data.subarray(at === 0 ? 0 : ends[at - 1], end),
  }))
}

function readAt<T>(bodies: readonly Uint8Array[], read: (value: unknown) => T | undefined): ReadAt<T> {
  try {
    const answers = readAnswers(bodies, 1, undefined, exactLamports)
    if ('refusal' in answers) return answers.refusal.text
    const { context, value } = (answers.values[0] ?? {}) as { context?: { slot?: unknown }; value?: unknown }
    const slot = context?.slot
    if (typeof slot !== 'number' || !Number.isSafeInteger(slot) || slot < 0) return 'an answer without a slot'
    const found = read(value)
    return found === undefined ? otherShape : { slot, value: found }
  } catch (error) {
    if (error instanceof UnreadableAnswer) return error.message
    throw error
  }
}

/**
 * JSON.parse rounds whole numbers beyond 2^53, and balances can be that large. Only those are put in quotes: a reviver
 * for all would cost ten times the parse.
 */
export function exactLamports(text: string): string {
  return text.replaceAll(/"lamports":\s*(\d{16,20})(?=[,}\s])/g, '"lamports":"$1"')
}

/** Undefined where the entry does not describe an account. */
export function readAccount(entry: unknown): AccountInfo | undefined {
  const { lamports, owner, data } = (entry ?? {}) as { lamports?: unknown; owner?: unknown; data?: unknown }
  if (typeof owner !== 'string' || !Array.isArray(data) || typeof data[0] !== 'string' || data[1] !== 'base64')
    return undefined
  const balance = readLamports(lamports)
  return balance === undefined ? undefined : { lamports: balance, program: owner, data: Buffer.from(data[0], 'base64') }
}

function readLamports(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) return undefined
  const lamports = BigInt(value)
  return lamports < 2n ** 64n ? lamports : undefined
}

const keyBytes = 32

function readKey(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'string' || value.length < 32 || value.length > 44) return undefined
  try {
    const key = base58.decode(value)
    return key.length === keyBytes ? key : undefined
  } catch {
    return undefined
  }
}

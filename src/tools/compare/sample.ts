// Chooses what the two sides are asked about: what was given, or contracts and accounts that this side has, at random
// from a seed.
// What else is asked about (tokens, wallets, blocks, mints) is found in answers of this side, which cost nothing there.
import { AlmanacError } from '../../errors.ts'
import { zeroAddress } from '../../model.ts'
import type { Operation, Row, Subject } from './operations.ts'
import { type Answer, messageIn, type Side } from './side.ts'

export type Given = Record<
  'contracts' | 'wallets' | 'tokens' | 'accounts',
  readonly { chain: string; address: string }[]
>

export type ComparedChain = { chain: string; block: number; headHere: number; headThere: number | null }

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<T>(random: () => number, items: readonly T[]): T | undefined {
  return items[Math.floor(random() * items.length)]
}

/** Contracts in turn from each chain, as many as can be told apart. */
export async function sampleContracts(
  ops: Side,
  { chains, count, random }: { chains: readonly string[]; count: number; random: () => number },
): Promise<{ chain: string; address: string }[]> {
  const found = new Map<string, { chain: string; address: string }>()
  for (let attempt = 0; attempt < count * 3 && found.size < count; attempt++) {
    const chain = chains[attempt % chains.length]!
    const after = `0x${Array.from({ length: 40 }, () => Math.floor(random() * 16).toString(16)).join('')}`
    const ask = async (query: Record<string, string>) => {
      const answer = await ops.ask({ path: `/chains/${encodeURIComponent(chain)}/contracts`, query, atRoot: true })
      requireOps(answer, ops)
      return (answer.body as { contracts?: { address: string }[] }).contracts?.[0]?.address
    }
    // Past the last contract the list begins anew.
    const address = (await ask({ limit: '1', after })) ?? (await ask({ limit: '1', order: 'address' }))
    if (address !== undefined) found.set(`${chain} ${address}`, { chain, address })
  }
  return [...found.values()]
}

/** The listed are those that were read last. */
const listedAccounts = 100

/** Some of the Solana accounts that this side has read; a text says why there are none. */
export async function sampleAccounts(
  ops: Side,
  { network, count, random }: { network: string; count: number; random: () => number },
): Promise<string[] | string> {
  const query = { limit: `${listedAccounts}` }
  const { status, body } = await ops.ask({ path: `/solana/${network}/accounts`, query, atRoot: true })
  if (status !== 200) return `its accounts cannot be listed here (${status}: ${messageIn(body)})`
  // Not in the order of readings: the questions of one run change that for the next.
  const left = ((body as { accounts: { address: string }[] }).accounts ?? []).map(({ address }) => address).sort()
  if (left.length === 0) return 'no account of it was read here yet'
  return Array.from({ length: Math.min(count, left.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat()
}

export function requireOps({ status, body }: Answer, side: Side): void {
  if (status === 200) return
  const isKey = status === 403
  throw new AlmanacError(isKey ? 'forbidden' : 'upstream_failed', `${side.shown} answered ${status}.`, {
    cause: messageIn(body),
    hint: isKey
      ? 'use a key with the scope ops, or name what to compare with --contract, --wallet, --token and --account.'
      : 'read the log of the server.',
  })
}

/** A page of a contract's transfers shows a token, a wallet and a block to ask about. */
export function subjectsIn(
  rows: readonly Row[],
  { chain, random, withWallet }: { chain: string; random: () => number; withWallet: boolean },
): Subject[] {
  const row = pick(random, rows)
  if (row === undefined) return []
  const { token_address, token_id, block_number, block_timestamp, from_address, to_address } = row
  const wallet = pick(
    random,
    [from_address, to_address].filter(each => each !== zeroAddress),
  )
  const date = String(block_timestamp)
  return [
    { kind: 'token', chain, address: String(token_address), tokenId: String(token_id) },
    { kind: 'block', chain, block: Number(block_number), date: /Z$/.test(date) ? date : `${date}.000Z` },
    ...(withWallet && wallet !== undefined ? [{ kind: 'wallet', chain, address: String(wallet) } as const] : []),
  ]
}

export type Question = { operation: Operation; subject: Subject; block: number }

/** Each operation once, then each a second time, so that a small budget sees all of them. */
export function interleaved(questions: readonly Question[]): Question[] {
  const byOperation = [...Map.groupBy(questions, ({ operation }) => operation).values()]
  const longest = Math.max(0, ...byOperation.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => byOperation.flatMap(each => each[at] ?? [])).flat()
}

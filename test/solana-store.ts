// A store in a folder of its own, and the portfolio of an owner as the service would answer it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import type { Freshen } from '../src/query/freshen.ts'
import { type PortfolioAnswer, type PortfolioEntry, portfolioOf } from '../src/query/portfolio.ts'
import { displayAmount } from '../src/solana/amounts.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'

export async function openTestStore(): Promise<{ store: Store; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-solana-'))
  const store = await openStore(`file:${join(folder, 'test.db')}`, { role: 'owner' })
  return {
    store,
    async remove() {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** An entry with its keys as people read them. */
type ReadableEntry = Omit<PortfolioEntry, 'account' | 'mint'> & { account: string; mint: string }
type ReadableAnswer = Omit<PortfolioAnswer, 'nfts' | 'tokens'> & { nfts: ReadableEntry[]; tokens: ReadableEntry[] }

export type Asker = (owner: string) => Promise<ReadableAnswer>

/** Asks as the HTTP operation does, without HTTP. */
export function asker(
  store: Store,
  network: { freshen(owner: Uint8Array): ReturnType<NonNullable<Freshen['portfolio']>> },
): Asker {
  const freshen: Freshen = { portfolio: (_, owner) => network.freshen(owner) }
  return async owner => {
    const question = { network: 'devnet', owner: base58.decode(owner) } as const
    const answer = await portfolioOf(store, question, { freshen, displayAmount })
    return { ...answer, nfts: answer.nfts.map(readable), tokens: answer.tokens.map(readable) }
  }
}

function readable(entry: PortfolioEntry): ReadableEntry {
  return { ...entry, account: base58.encode(entry.account), mint: base58.encode(entry.mint) }
}

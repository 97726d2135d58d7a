// A store in a folder of its own, and the portfolio of an owner as the service would answer it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import type { Freshen } from '../src/query/freshen.ts'
import { type PortfolioAnswer, portfolioOf } from '../src/query/portfolio.ts'
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

export type Asker = (owner: string) => Promise<PortfolioAnswer>

/** Asks as the HTTP operation does, without HTTP. */
export function asker(
  store: Store,
  network: { freshen(owner: Uint8Array): ReturnType<NonNullable<Freshen['portfolio']>> },
): Asker {
  const freshen: Freshen = { portfolio: (_, owner) => network.freshen(owner) }
  return owner => portfolioOf(store, { network: 'devnet', owner: base58.decode(owner) }, { freshen, displayAmount })
}

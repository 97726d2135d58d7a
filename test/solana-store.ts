// A store in a folder of its own, and the portfolio of an owner as the service would answer it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { writePortfolio } from '../src/api/solana/holdings-json.ts'
import type { Freshen } from '../src/query/freshen.ts'
import { portfolioOf } from '../src/query/portfolio.ts'
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

type Entry = { account: string; mint: string; name: string; symbol: string; amount: string; amountRaw: bigint }
type Portfolio = { lamports: bigint; slot: number; nfts: Entry[]; tokens: Entry[] }

export type Asker = (owner: string) => Promise<Portfolio>

/** Asks as the HTTP operation does, without HTTP. */
export function asker(
  store: Store,
  network: { freshen(owner: Uint8Array): ReturnType<NonNullable<Freshen['portfolio']>> },
): Asker {
  const freshen: Freshen = { portfolio: (_, owner) => network.freshen(owner) }
  return async owner => {
    const question = { network: 'devnet', owner: base58.decode(owner) } as const
    const answer = await portfolioOf(store, question, {
      key: { id: 'k', indexPerDay: undefined, indexWaiting: undefined },
      freshen,
      displayAmount,
    })
    const { nfts, tokens } = JSON.parse(writePortfolio(answer).toString())
    return { lamports: answer.lamports, slot: answer.slot, nfts: nfts.map(entryOf), tokens: tokens.map(entryOf) }
  }
}

function entryOf({ associatedTokenAddress, amountRaw, ...same }: Record<string, string>) {
  return { ...same, account: associatedTokenAddress, amountRaw: BigInt(amountRaw!) }
}

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Draws } from './draws.ts'
import { developmentAccount } from './evm-accounts.ts'
import { type Collection, keptTokens, nextTransaction, type Ownership } from './evm-collections.ts'

const wallets = Array.from({ length: 8 }, (_, index) => developmentAccount(index + 1))
const turns = 4_000

/** The tokens that as much traffic as hours bring would burn. */
function burnedBy(seed: string, kind: 'ERC721' | 'ERC721A'): number[] {
  const burned: number[] = []
  const to = wallets[0]!.address
  const call = (name: string, id: unknown) => {
    if (name === 'burn') burned.push(Number(id))
    return { to, data: '0x' as const }
  }
  const collection = { kind, name: kind, contract: { address: to, call } } as Collection
  const held: Ownership = { nextId: kind === 'ERC721' ? 1 : 0, owners: new Map(), balances: new Map() }
  const draws = new Draws(seed, 'traffic')
  for (let turn = 0; turn < turns; turn++) nextTransaction({ collection, held, wallets, draws })
  return burned
}

test.each(['almanac', 'another'])('the first tokens of a collection are never burned, with the seed %s', seed => {
  for (const kind of ['ERC721', 'ERC721A'] as const) {
    const burned = burnedBy(seed, kind)
    expect(burned.length).toBeGreaterThan(50)
    expect(burned.filter(id => id < keptTokens)).toEqual([])
  }
})

test('the tokens that the first calls ask for are among them', () => {
  const guide = readFileSync(new URL('../../docs/guides/first-calls.md', import.meta.url), 'utf8')
  const asked = [...guide.matchAll(/127\.0\.0\.1:8080\/api\/v2[.\d]*\/nft\/0x[0-9a-f]{40}\/(\d+)/g)].map(([, id]) =>
    Number(id),
  )
  expect(asked).not.toEqual([])
  expect(asked.filter(id => id >= keptTokens)).toEqual([])
})

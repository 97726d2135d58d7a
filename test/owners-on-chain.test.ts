// Who owns what over HTTP against what the contracts themselves say, on a real node: now, after each block, and after a
// reorganisation.

import * as AbiParameters from 'ox/AbiParameters'
import type { Address } from 'ox/Address'
import { fromNumber, type Hex } from 'ox/Hex'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { alice, bob, carol, erin, frank, type History, largest, mine, rangeLength } from './evm-history.ts'
import { tradesOf, tradingWallets } from './evm-trades.ts'
import { finality, patience, World } from './evm-world.ts'

const slowMs = 120_000
const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => BigInt(first + at))
/** Every token that was ever minted, with one that is minted on a branch. */
const idsOf = {
  seven: [1n, 2n, ...upTo(10, 21), 55n, largest],
  many: [1n, 2n, ...upTo(5, 9), largest],
  run: upTo(0, rangeLength + 4),
}
const contracts = ['seven', 'many', 'run'] as const
type Row = { token_address: string; token_id: string; owner_of: string; amount: string }
type Answer = { cursor: string | null; result: Row[] }

describe('owners are those of the contracts', { timeout: slowMs }, () => {
  const world = new World('full')
  beforeAll(async () => {
    await world.begin()
    const [first, second, third] = tradesOf(world.history)
    await mine(world.node, first)
    await mine(world.node, second)
    // What came before is final, what comes is not.
    for (let block = 0; block < finality; block++) await mine(world.node)
    await mine(world.node, third)
    await world.settled()
  }, slowMs)
  afterAll(() => world.end())

  test('now', () => expectOwners(world))

  test('as of blocks before, final and not', async () => {
    const head = Number(await world.node.ask('eth_blockNumber'))
    for (const block of [4, head - finality - 2, head - 1]) await expectOwners(world, block)
  })

  test('after a reorganisation, and once its blocks are final', async () => {
    const { seven, many, run } = world.history
    await mine(world.node, [{ from: 'alice', ...seven.call('transferFrom', alice, bob, 18n) }])
    await world.settled()
    await world.reorganise([
      [
        { from: 'alice', ...run.call('transferFrom', alice, frank, 5n) },
        { from: 'erin', ...many.call('burn', erin, 5n, 4n) },
        { from: 'alice', ...many.call('safeBatchTransferFrom', alice, frank, [9n, 9n], [1n, 2n], '0x') },
      ],
      [
        { from: 'alice', ...seven.call('transferFrom', alice, carol, 21n) },
        { from: 'bob', ...seven.call('mint', bob, 55n) },
      ],
    ])
    await world.settled()
    await expectOwners(world)
    for (let block = 0; block < finality + 1; block++) await mine(world.node)
    await world.settled()
    await expectOwners(world)
  })
})

/** Waits until every list is what the node says, now or after a block. */
async function expectOwners(world: World, block?: number): Promise<void> {
  const held = await heldRows(world, block)
  expect(held.length).toBeGreaterThan(250)
  const query = block === undefined ? '' : `&at_block=${block}`
  await vi.waitFor(async () => {
    for (const name of contracts) {
      const { address } = world.history[name]
      const wanted = held.filter(row => row.token_address === address)
      const owners = [...new Set(wanted.map(row => row.owner_of))].sort()
      expect(texts(await rowsOf(world, `/nft/${address}/owners?${query}`)), name).toEqual(texts(wanted))
      const unique = await json<{ walletAddresses: string[] }>(world, `/nft/${address}/unique-owners?${query}`)
      expect(unique.walletAddresses, name).toEqual(owners)
      const ids = new Set(wanted.map(row => row.token_id))
      expect(await json(world, `/nft/${address}/stats?${query}`), name).toMatchObject({
        total_tokens: `${ids.size}`,
        owners: { current: `${owners.length}` },
      })
    }
    for (const wallet of tradingWallets) {
      const wanted = held.filter(row => row.owner_of === wallet)
      expect(texts(await rowsOf(world, `/${wallet}/nft?${query}`)), wallet).toEqual(texts(wanted))
      const collections = (await rowsOf(world, `/${wallet}/nft/collections?${query}`)).map(row => row.token_address)
      expect(collections, wallet).toEqual([...new Set(wanted.map(row => row.token_address))].sort().reverse())
    }
  }, patience)
}

async function json<Body>(world: World, path: string): Promise<Body> {
  const response = await world.get(`/api/v2.2${path}`)
  expect(response.status, path).toBe(200)
  return (await response.json()) as Body
}

async function rowsOf(world: World, path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ; ) {
    const page = await json<Answer>(world, `${path}${cursor}`)
    rows.push(...page.result)
    if (page.cursor === null) return rows
    cursor = `&cursor=${page.cursor}`
  }
}

function texts(rows: readonly Row[]): string[] {
  return rows.map(row => `${row.token_address} ${row.token_id} ${row.owner_of} ${row.amount}`).sort()
}

/** Every token of every contract, asked of the contracts. */
async function heldRows(world: World, block?: number): Promise<Row[]> {
  const { seven, many, run, owners } = world.history
  const ask = async (call: { to: Address; data: Hex }, type: 'address[]' | 'uint256[]'): Promise<unknown[]> => {
    const answer = await world.node.ask('eth_call', call, block === undefined ? 'latest' : fromNumber(block))
    return AbiParameters.decode([{ type }], answer as Hex)[0] as unknown[]
  }
  const ownersOf = async ({ address }: History['seven'], ids: readonly bigint[]): Promise<Row[]> => {
    const found = (await ask(owners.call('ownersOf', address, ids), 'address[]')) as Address[]
    return ids.flatMap((id, at) =>
      BigInt(found[at]!) === 0n
        ? []
        : [{ token_address: address, token_id: `${id}`, owner_of: found[at]!.toLowerCase(), amount: '1' }],
    )
  }
  const pairs = idsOf.many.flatMap(id => tradingWallets.map(owner => ({ id, owner })))
  const amounts = await ask(
    many.call(
      'balanceOfBatch',
      pairs.map(({ owner }) => owner),
      pairs.map(({ id }) => id),
    ),
    'uint256[]',
  )
  const held = pairs.flatMap(({ id, owner }, at) =>
    amounts[at] === 0n
      ? []
      : [{ token_address: many.address, token_id: `${id}`, owner_of: owner, amount: `${amounts[at]}` }],
  )
  return [...(await ownersOf(seven, idsOf.seven)), ...(await ownersOf(run, idsOf.run)), ...held]
}

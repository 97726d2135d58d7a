// From a real node to the answers: `almanac start` in a process of its own, on a chain of real contracts that is reorganised under it.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { blockHashOf } from '../src/evm/proof/block-hash.ts'
import { receiptsRoot } from '../src/evm/proof/receipts-root.ts'
import type { RpcBlock, RpcReceipt } from '../src/evm/rpc/port.ts'
import * as of from './evm-history.ts'
import type { Transaction } from './evm-transactions.ts'
import type { TransferRecord } from './evm-truth.ts'
import { finality, PlayedNode, patience, World } from './evm-world.ts'
import { engineAbove } from './store-engines.ts'
import { thorough } from './thorough.ts'

const { alice, bob, carol, dave, erin, frank, giver, taker, operator, largest, rangeLength, mine } = of
const nobody = `0x${'0'.repeat(40)}`
const stranger = `0x${'ee'.repeat(20)}` as const
const slowMs = 120_000
/** On both before a release: what is stored on demand is compared on both in `evm-index` and `evm-faults`. */

describe('a real node', { timeout: slowMs }, () => {
  let played: PlayedNode
  beforeAll(async () => {
    played = await PlayedNode.start()
  }, slowMs)
  afterAll(() => played.stop())

  describe.each(engineAbove('postgres'))('in full on %s', engine => {
    const world = new World('full', engine, () => played)
    beforeAll(() => world.begin(), slowMs)
    afterAll(() => world.end())

    test('gives headers and receipts that hash to what they say, for every type of transaction', async () => {
      const types = new Set<unknown>()
      const { head } = await world.truth()
      for (let number = 0; number <= head; number++) {
        const at = `0x${number.toString(16)}`
        const block = (await world.node.ask('eth_getBlockByNumber', at, true)) as RpcBlock
        const receipts = (await world.node.ask('eth_getBlockReceipts', at)) as RpcReceipt[]
        expect(blockHashOf(block), `hash of block ${number}`).toBe(block.hash)
        expect(receiptsRoot(receipts), `receipts root of block ${number}`).toBe(block.receiptsRoot)
        for (const receipt of receipts) types.add(receipt.type)
      }
      expect([...types].sort()).toEqual(['0x0', '0x1', '0x2', '0x4'])
    })

    test('is covered whole, with the proof of the receipts root', async () => {
      await world.settled()
      expect(await world.status()).toMatchObject({
        state: 'live',
        complete: true,
        head: 8 + finality,
        finalized: 8,
        covered: [{ from: 0, to: 8 + finality, evidence: 'receipts-root', scope: 'full' }],
      })
    })

    test('every transfer of every contract is answered, newest first', async () => {
      await world.expectTruth()
    })

    test('mints, moves and burns of ERC-1155 are what was done', async () => {
      const rows = await world.rowsOf(world.history.many.address)
      const [from, to] = [alice, bob].map(address => address.toLowerCase())
      const by = { alice: from, bob: to, carol: carol.toLowerCase() }
      expect(rows.map(briefly).reverse()).toEqual([
        `Single by ${by.alice}: ${nobody} to ${from}, 100 of 7, for 7`,
        `Batch by ${by.bob}: ${nobody} to ${from}, 10 of 1, for 0`,
        `Batch by ${by.bob}: ${nobody} to ${from}, ${2n ** 200n} of 2, for 0`,
        `Batch by ${by.bob}: ${nobody} to ${from}, 1 of ${largest}, for 0`,
        `Batch by ${by.bob}: ${nobody} to ${from}, 0 of 2, for 0`,
        `Single by ${by.carol}: ${from} to ${to}, 40 of 7, for 0`,
        `Batch by ${by.carol}: ${from} to ${to}, 3 of 1, for 0`,
        `Batch by ${by.carol}: ${from} to ${to}, 1 of ${largest}, for 0`,
        `Single by ${by.alice}: ${from} to ${from}, 0 of 7, for 0`,
        `Single by ${by.bob}: ${to} to ${nobody}, 40 of 7, for 0`,
        `Batch by ${by.carol}: ${from} to ${nobody}, 7 of 1, for 0`,
        `Batch by ${by.carol}: ${from} to ${nobody}, ${2n ** 199n} of 2, for 0`,
      ])
    })

    test('mints, moves and burns of ERC-721 are what was done, and an ERC-2309 range is all its tokens', async () => {
      const [from, to, third] = [alice, bob, carol].map(address => address.toLowerCase())
      const rows = await world.rowsOf(world.history.seven.address)
      expect(rows.map(briefly).reverse()).toEqual([
        `Single by null: ${nobody} to ${from}, 1 of 1, for 12345`,
        `Single by null: ${nobody} to ${from}, 1 of ${largest}, for ${10n ** 18n}`,
        `Single by null: ${nobody} to ${to}, 1 of 2, for 0`,
        `Single by null: ${from} to ${to}, 1 of 1, for 0`,
        `Single by null: ${to} to ${third}, 1 of 2, for 0`,
        `Single by null: ${to} to ${nobody}, 1 of 1, for 0`,
      ])
      const run = (await world.rowsOf(world.history.run.address)).reverse()
      expect(run).toHaveLength(rangeLength + 5 + 2)
      expect(run.slice(0, rangeLength).map(briefly)).toEqual(
        Array.from({ length: rangeLength }, (_, id) => `Single by null: ${nobody} to ${to}, 1 of ${id}, for 0`),
      )
      expect(run.slice(rangeLength).map(briefly)).toEqual([
        ...[0, 1, 2, 3, 4].map(id => `Single by null: ${nobody} to ${third}, 1 of ${rangeLength + id}, for 50`),
        `Single by null: ${to} to ${frank.toLowerCase()}, 1 of 17, for 0`,
        `Single by null: ${third} to ${nobody}, 1 of ${rangeLength}, for 0`,
      ])
    })

    test('odd events: what can be read is answered, the rest is counted, and a coin has no NFT transfers', async () => {
      const rows = await world.rowsOf(world.history.anything.address)
      const moved = `${giver} to ${taker},`
      expect(rows.map(row => `${row.contract_type} ${briefly(row)}`).reverse()).toEqual([
        `ERC721 Single by null: ${moved} 1 of 9, for 3`,
        `ERC721 Single by null: ${moved} 1 of ${largest}, for 3`,
        `ERC1155 Single by ${operator}: ${moved} ${largest} of 5, for 3`,
        `ERC1155 Batch by ${operator}: ${moved} 0 of 4, for 3`,
        `ERC1155 Batch by ${operator}: ${moved} 6 of 4, for 3`,
        ...[30, 31, 32].map(id => `ERC721 Single by null: ${moved} 1 of ${id}, for 3`),
      ])
      expect(await world.malformed()).toEqual({ topics: 1, data: 4, range: 1 })
      expect(await world.rowsOf(world.history.coin.address)).toEqual([])
    })

    test('a malformed event is counted at the head as well', async () => {
      await mine(world.node, [{ from: 'bob', ...world.history.anything.call('say', of.malformedEvents) }])
      await vi.waitFor(async () => expect(await world.malformed()).toMatchObject({ topics: 2 }), patience)
    })

    test('bounds by block and by date take the same rows', async () => {
      const { address } = world.history.many
      const truth = (await world.truth()).transfersOf(address)
      const wanted = truth.filter(({ block_number }) => Number(block_number) === 3)
      expect(wanted.length).toBeGreaterThan(0)
      expect(await world.rowsOf(address, 'from_block=3&to_block=3')).toEqual(wanted)
      const date = encodeURIComponent(`${wanted[0]!.block_timestamp}Z`)
      expect(await world.rowsOf(address, `from_date=${date}&to_date=${date}`)).toEqual(wanted)
    })

    test('first and last transactions of wallets: sent, received, created, and by tokens alone', async () => {
      const truth = await world.truth()
      const { seven, coin, anything } = world.history
      for (const wallet of [alice, bob, carol, dave, erin, frank, giver, seven.address, coin.address, anything.address])
        expect(await world.walletOf(wallet), wallet).toEqual({ complete: 'true', ...truth.activityOf(wallet) })
      // Neither ever sent or was sent a transaction.
      expect((await world.walletOf(dave)).first?.block_number).toBe('5')
      expect((await world.walletOf(frank)).first?.block_number).toBe('5')
      expect(await world.walletOf(`0x${'dd'.repeat(20)}`)).toEqual({ complete: 'true' })
    })

    test('a reorganisation replaces rows and wallets, and a client that is paging neither repeats nor misses one', async () => {
      const { many, seven } = world.history
      const mint = (id: bigint): Transaction => ({ from: 'bob', value: id, ...many.call('mint', bob, id, 1n) })
      for (const id of [1_001n, 1_002n, 1_003n]) await mine(world.node, [mint(id), mint(id + 100n)])
      await mine(world.node, [{ from: 'alice', to: stranger, value: 1n }])
      await world.expectTruth()
      // The newest block has no transfer, so that the rows may be right before it is stored.
      await expect.poll(() => world.walletOf(stranger)).toHaveProperty('first')

      const first = await world.page(many.address, 'limit=2')
      const second = await world.page(many.address, `cursor=${first.cursor}`)
      expect([...first.result, ...second.result].map(row => row.token_id)).toEqual(['1103', '1003', '1102', '1002'])
      // All four rows are orphaned, and so are the two that the next page would have begun with.
      await world.reorganise([[mint(2_001n), { from: 'bob', ...seven.call('mint', bob, 55n) }], [mint(2_002n)], [], []])
      await world.expectTruth()
      await expect.poll(() => world.walletOf(stranger)).toEqual({ complete: 'true' })

      // The run goes on from the place of its last row, where another transaction stands now.
      const rows = await world.rowsOf(many.address)
      expect(rows.slice(0, 2).map(row => row.token_id)).toEqual(['2002', '2001'])
      expect(placeOf(rows[0]!)).toBe(placeOf(second.result[1]!))
      expect(await world.rowsOf(many.address, `cursor=${second.cursor}`)).toEqual(rows.slice(1))
    })

    test('a restart finds what happened meanwhile: more blocks, and others than before', async () => {
      const { many } = world.history
      await mine(world.node, [{ from: 'bob', ...many.call('mint', bob, 3_001n, 1n) }])
      await mine(world.node)
      await world.expectTruth()
      await world.stop()
      await world.reorganise([[{ from: 'bob', ...many.call('mint', bob, 3_002n, 9n) }], []])
      for (let count = 0; count < finality + 4; count++) await mine(world.node)
      await mine(world.node, [{ from: 'erin', to: alice, value: 1n }])
      await world.start()
      await world.expectTruth()
      expect((await world.rowsOf(many.address))[0]?.token_id).toBe('3002')
      const truth = await world.truth()
      await world.settled()
      expect(await world.walletOf(erin)).toEqual({ complete: 'true', ...truth.activityOf(erin) })
      const { covered } = await world.status()
      expect(covered).toEqual([{ from: 0, to: truth.head, evidence: 'receipts-root', scope: 'full' }])
      expect(await world.verify(truth.head - finality)).toMatchObject({ same: true, blocks: truth.head - finality + 1 })
    })
  })

  describe.each(engineAbove('sqlite'))('on demand on %s', engine => {
    const world = new World('on-demand', engine, () => played)
    beforeAll(() => world.begin(), slowMs)
    afterAll(() => world.end())

    test('the first answer for a contract is whole, and others are not read for it', async () => {
      const { many, run } = world.history
      const truth = await world.truth()
      expect(await world.page(many.address, 'limit=100')).toMatchObject({
        result: truth.transfersOf(many.address),
        index_complete: true,
      })
      expect(await world.rowsOf(run.address)).toEqual(truth.transfersOf(run.address))
      const { covered } = await world.status()
      const wanted = [many, run].map(({ address }) => ({ from: 0, to: 8 + finality, scope: address }))
      expect(covered.filter(({ scope }) => scope !== 'watched')).toEqual(
        expect.arrayContaining(wanted.map(interval => ({ ...interval, evidence: 'one-endpoint' }))),
      )
      expect(covered.map(({ scope }) => scope)).not.toContain(world.history.seven.address)
    })

    test('odd events are read as in full', async () => {
      const rows = await world.rowsOf(world.history.anything.address)
      expect(rows.map(row => row.token_id)).toEqual(['32', '31', '30', '4', '4', '5', `${largest}`, '9'])
      expect(await world.rowsOf(world.history.coin.address)).toEqual([])
    })

    test('wallets: what they sent and what first funded them, and that there may be more', async () => {
      const truth = await world.truth()
      for (const wallet of [alice, bob, carol, erin])
        expect(await world.walletOf(wallet), wallet).toEqual({ complete: 'false', ...truth.sentBy(wallet) })
      // Known by a token alone, which no nonce and no balance tells.
      expect(await world.walletOf(dave)).toEqual({ complete: 'false' })
    })

    test('new blocks and reorganisations reach the contracts that were asked for', async () => {
      const { many, seven } = world.history
      const mint = (id: bigint): Transaction => ({ from: 'bob', value: id, ...many.call('mint', bob, id, 1n) })
      for (const id of [1_001n, 1_002n]) await mine(world.node, [mint(id), mint(id + 100n)])
      await world.expectTruth()
      await world.reorganise([[mint(2_001n), { from: 'erin', ...seven.call('mint', bob, 55n) }], [mint(2_002n)]])
      await world.expectTruth()
      const truth = await world.truth()
      expect(await world.walletOf(erin)).toEqual({ complete: 'false', ...truth.sentBy(erin) })
    })

    thorough('kill -9 and a restart: contracts stay followed, whatever happened meanwhile', async () => {
      const { many } = world.history
      await mine(world.node, [{ from: 'bob', ...many.call('mint', bob, 3_001n, 1n) }])
      await mine(world.node)
      await world.expectTruth()
      await world.stop('SIGKILL')
      await world.reorganise([[{ from: 'bob', ...many.call('mint', bob, 3_002n, 9n) }], []])
      for (let count = 0; count < finality + 4; count++) await mine(world.node)
      await mine(world.node, [{ from: 'erin', to: alice, value: 1n }])
      await world.start()
      await world.expectTruth()
      expect((await world.rowsOf(many.address))[0]?.token_id).toBe('3002')
      const truth = await world.truth()
      expect(await world.walletOf(erin)).toEqual({ complete: 'false', ...truth.sentBy(erin) })
    })
  })
})

function briefly(row: TransferRecord): string {
  const { transaction_type, operator, from_address, to_address, amount, token_id, value } = row
  return `${transaction_type} by ${operator}: ${from_address} to ${to_address}, ${amount} of ${token_id}, for ${value}`
}

function placeOf({ block_number, transaction_index, log_index }: TransferRecord): string {
  return `${block_number}/${transaction_index}/${log_index}`
}

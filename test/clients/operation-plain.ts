// What no SDK calls on every base, asked for by plain HTTP.
import { expect } from 'vitest'
import type { Address } from '../../src/model.ts'
import { alice, erin } from '../evm-history.ts'
import { sharedId } from '../evm-trades.ts'
import type { OperationsWorld } from './operations-world.ts'

type PlainCall = { name: string; run(world: OperationsWorld, base: string): Promise<void> }

export const plainCalls: readonly PlainCall[] = [
  {
    name: 'unique owners, to the end by every limit',
    async run(world, base) {
      const contract = world.history.many.address as Address
      const wanted = world.model.uniqueOwners(contract)
      for (const limit of [1, 7, 100, 5_000]) {
        const found: string[] = []
        for (let page = 1, cursor = ''; page === 1 || cursor !== ''; page++) {
          const { status, body } = await world.get(
            'live',
            `${base}/nft/${contract}/unique-owners?limit=${limit}${cursor && `&cursor=${cursor}`}`,
          )
          expect(status).toBe(200)
          const answer = body as { page: number; pageSize: number; cursor: string | null; walletAddresses: string[] }
          expect([Number(answer.page), Number(answer.pageSize)]).toEqual([page, limit])
          found.push(...answer.walletAddresses)
          cursor = answer.cursor ?? ''
        }
        expect(found).toEqual(wanted)
      }
    },
  },
  {
    name: 'metadata of several contracts',
    async run(world, base) {
      const { run, coin, seven } = world.history
      const addresses = [run, coin, seven].map(({ address }) => address)
      const { status, body } = await world.get('live', `${base}/nft/metadata`, { addresses })
      expect(status).toBe(200)
      expect(body).toMatchObject([
        { token_address: run.address, name: 'Run', symbol: 'RUN', contract_type: 'ERC721' },
        null,
        { token_address: seven.address, name: 'Seven', symbol: 'SVN', contract_type: 'ERC721' },
      ])
      for (const bad of [[], Array(26).fill(run.address), ['0x12']])
        expect((await world.get('live', `${base}/nft/metadata`, { addresses: bad })).status).toBe(400)
    },
  },
  {
    name: 'stats',
    async run(world, base) {
      const many = world.history.many.address as Address
      const { total_tokens: _, ...ofToken } = world.statsOf(many, sharedId)
      const wanted: [string, object][] = [
        [`/nft/${many}/stats`, world.statsOf(many)],
        [`/nft/${many}/${sharedId}/stats`, ofToken],
        [`/wallets/${erin}/stats`, await world.walletStatsOf(erin)],
        [`/block/${world.tradeBlock}/stats`, await world.blockStatsOf(world.tradeBlock)],
        [`/block/${(await world.nodeBlock(world.tradeBlock)).hash}/stats`, await world.blockStatsOf(world.tradeBlock)],
      ]
      for (const [path, body] of wanted)
        expect(await world.get('live', base + path), path).toEqual({ status: 200, body })
      expect((await world.get('live', `${base}/block/1000000/stats`)).status).toBe(404)
      const none = { owners: { current: '0' }, transfers: { total: '0' } }
      const { address: coin } = world.history.coin
      expect(await world.get('live', `${base}/nft/${coin}/stats`)).toEqual({
        status: 200,
        body: { total_tokens: '0', ...none },
      })
      expect(await world.get('live', `${base}/nft/${many}/999/stats`)).toEqual({ status: 200, body: none })
    },
  },
  {
    name: 'empty lists for what never moved, 400 for ids that are none, 501 for what is not served',
    async run(world, base) {
      const { coin, many } = world.history
      const empty = ['owners', '0/owners', '0/transfers', ''].map(list => `/nft/${coin.address}${list && `/${list}`}`)
      for (const path of [...empty, `/nft/${many.address}/999/owners`, `/nft/${many.address}/999/transfers`])
        expect(await world.get('live', base + path), path).toMatchObject({ status: 200, body: { result: [] } })
      for (const id of ['01', '0x01', 'one', '-1', `${2n ** 256n}`])
        expect((await world.get('live', `${base}/nft/${many.address}/${id}/owners`)).status, id).toBe(400)
      expect((await world.get('live', `${base}/nft/${many.address}/0x5/owners`)).status).toBe(200)
      for (const path of [`/erc20/${coin.address}/price`, `/wallets/${alice}/approvals`, '/latestBlockNumber/eth'])
        expect(await world.get('live', base + path), path).toMatchObject({
          status: 501,
          body: { message: expect.any(String) },
        })
    },
  },
]

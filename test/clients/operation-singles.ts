// The calls of the SDK that answer one thing, and what each must answer on the chain of `operations-world.ts`.
import { expect } from 'vitest'
import type { Address } from '../../src/model.ts'
import { alice, bob, erin } from '../evm-history.ts'
import { sharedId } from '../evm-trades.ts'
import type { ApiVersion, Wanted } from './expected.ts'
import { type Answer, type AnySdk, nftRecord, told } from './operation-lists.ts'
import type { OperationsWorld } from './operations-world.ts'

type SingleCall = {
  name: string
  /** Other generations of the SDK do not have it. */
  only?: ApiVersion
  run(sdk: AnySdk, world: OperationsWorld, form: Wanted): Promise<void>
}

export const singleCalls: readonly SingleCall[] = [
  {
    name: 'getNFTMetadata',
    async run(sdk, world, form) {
      const address = world.history.seven.address as Address
      const { raw, result } = seen(await sdk.EvmApi.nft!.getNFTMetadata!({ address, tokenId: '12' }))
      expect(told(raw)).toEqual(nftRecord(world, world.model.nft(address, 12n)!, form))
      expect(result).toMatchObject({ tokenAddress: address, tokenId: '12', amount: 1, name: 'Seven' })
      // Burned, never minted, and of a contract without NFTs.
      for (const tokenId of ['1', '999']) expect(await sdk.EvmApi.nft!.getNFTMetadata!({ address, tokenId })).toBeNull()
      const { address: coin } = world.history.coin
      expect(await sdk.EvmApi.nft!.getNFTMetadata!({ address: coin, tokenId: '0' })).toBeNull()
      // A chain that is not configured: null where the SDK has null for what is not there, else an error with the names.
      const elsewhere = { address, chain: '0x38' }
      expect(await sdk.EvmApi.nft!.getNFTMetadata!({ ...elsewhere, tokenId: '12' })).toBeNull()
      await expect(sdk.EvmApi.nft!.getNFTOwners!(elsewhere)).rejects.toThrow(
        /404.*bsc is not configured here \(configured: eth/,
      )
    },
  },
  {
    name: 'getMultipleNFTs',
    async run(sdk, world, form) {
      const { seven, many, run } = world.history
      const asked = [
        [many.address, sharedId],
        [seven.address, 1n],
        [run.address, 100n],
        [run.address, 17n],
      ] as const
      const tokens = asked.map(([tokenAddress, id]) => ({ tokenAddress, tokenId: `${id}` }))
      const { raw, result } = seen<(Record<string, unknown> | null)[]>(
        await sdk.EvmApi.nft!.getMultipleNFTs!({ tokens }),
      )
      const held = asked.map(([contract, id]) => world.model.nft(contract as Address, id))
      expect(held.map(each => each === undefined)).toEqual([false, true, false, false])
      expect(raw.map(each => each && told(each))).toEqual(
        held.map(each => (each ? nftRecord(world, each, form) : null)),
      )
      expect(result.map(each => each && [each.tokenId, each.ownerOf])).toEqual(
        held.map(each => (each ? [`${each.tokenId}`, each.owner] : null)),
      )
    },
  },
  {
    name: 'getNFTContractMetadata',
    async run(sdk, world, form) {
      const address = world.history.many.address as Address
      const { raw, result } = seen(await sdk.EvmApi.nft!.getNFTContractMetadata!({ address }))
      expect(raw).toMatchObject({ token_address: address, ...world.namesOf(address, form) })
      expect(result).toMatchObject({ tokenAddress: address, name: 'Many', contractType: 'ERC1155' })
      const { address: coin } = world.history.coin
      expect(await sdk.EvmApi.nft!.getNFTContractMetadata!({ address: coin })).toBeNull()
    },
  },
  {
    name: 'getNFTCollectionStats',
    only: 'v2.2',
    async run(sdk, world) {
      const address = world.history.many.address as Address
      const { raw, result } = seen(await sdk.EvmApi.nft!.getNFTCollectionStats!({ address }))
      expect(raw).toEqual(world.statsOf(address))
      const { total_tokens: totalTokens, owners, transfers } = world.statsOf(address)
      expect(result).toEqual({ total_tokens: totalTokens, owners, transfers })
    },
  },
  {
    name: 'getNFTTokenStats',
    only: 'v2.2',
    async run(sdk, world) {
      const address = world.history.many.address as Address
      const { raw, result } = seen(await sdk.EvmApi.nft!.getNFTTokenStats!({ address, tokenId: `${sharedId}` }))
      const { total_tokens: _, ...wanted } = world.statsOf(address, sharedId)
      expect(raw).toEqual(wanted)
      expect(result).toEqual(wanted)
    },
  },
  {
    name: 'getWalletStats',
    only: 'v2.2',
    async run(sdk, world) {
      const { raw, result } = seen(await sdk.EvmApi.wallets!.getWalletStats!({ address: erin }))
      expect(raw).toEqual(await world.walletStatsOf(erin))
      expect(result).toMatchObject({ nfts: raw.nfts, nft_transfers: raw.nft_transfers })
    },
  },
  {
    name: 'getBlockStats',
    only: 'v2.2',
    async run(sdk, world) {
      const blockNumberOrHash = `${world.tradeBlock}`
      const { raw, result } = seen(await sdk.EvmApi.block!.getBlockStats!({ blockNumberOrHash }))
      expect(raw).toEqual(await world.blockStatsOf(world.tradeBlock))
      expect(result).toMatchObject({ transactions: raw.transactions, nft_transfers: raw.nft_transfers })
    },
  },
  {
    name: 'getDateToBlock',
    async run(sdk, world) {
      const { number, hash, parentHash, timestamp } = await world.nodeBlock(world.tradeBlock)
      const date = new Date((timestamp + 5) * 1_000)
      const { raw, result } = seen(await sdk.EvmApi.block!.getDateToBlock!({ date }))
      expect(raw).toEqual({
        block: number,
        date: `${date.toISOString().slice(0, 19)}+00:00`,
        timestamp: timestamp + 5,
        block_timestamp: new Date(timestamp * 1_000).toISOString(),
        hash,
        parent_hash: parentHash,
      })
      expect(result).toMatchObject({ data: { block: number, hash, parentHash } })
    },
  },
  {
    name: 'getNativeBalance',
    async run(sdk, world) {
      const balance = `${BigInt((await world.chain.node.ask('eth_getBalance', bob, 'latest')) as string)}`
      const { raw } = seen(await sdk.EvmApi.balance!.getNativeBalance!({ address: bob }))
      expect(raw).toEqual({ balance })
      const earlier = `${BigInt((await world.chain.node.ask('eth_getBalance', bob, '0x3')) as string)}`
      expect(earlier).not.toBe(balance)
      expect(seen(await sdk.EvmApi.balance!.getNativeBalance!({ address: bob, toBlock: 3 })).raw).toEqual({
        balance: earlier,
      })
    },
  },
  {
    name: 'getNativeBalancesForAddresses',
    async run(sdk, world) {
      const addresses = [erin, alice]
      const balances = await Promise.all(
        addresses.map(async each => BigInt((await world.chain.node.ask('eth_getBalance', each, 'latest')) as string)),
      )
      const call = sdk.EvmApi.balance!.getNativeBalancesForAddresses!
      const { raw, result } = seen<Record<string, unknown>[]>(await call({ walletAddresses: addresses }))
      expect(raw).toMatchObject([
        {
          ...{ chain: 'eth', chain_id: '0x1', total_balance: `${balances[0]! + balances[1]!}` },
          wallet_balances: addresses.map((address, at) => ({
            address: address.toLowerCase(),
            balance: `${balances[at]}`,
          })),
        },
      ])
      expect(result).toHaveLength(1)
    },
  },
  {
    name: 'web3ApiVersion and endpointWeights',
    async run(sdk) {
      const version = seen(await sdk.EvmApi.utils!.web3ApiVersion!({}))
      expect(version.raw).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
      expect(version.result).toEqual(version.raw)
      const weights = seen<object[]>(await sdk.EvmApi.utils!.endpointWeights!({}))
      expect(weights.raw.length).toBeGreaterThan(20)
      expect(weights.raw).toContainEqual({
        ...{ endpoint: 'getWalletNFTs', path: expect.stringContaining('nft'), rateLimitCost: '1', price: '1' },
      })
      expect(weights.result).toEqual(weights.raw)
    },
  },
  {
    name: 'accounts of Solana',
    async run(sdk, { solana }) {
      const network = 'devnet'
      const { owner: address, lamports, token, nft } = solana
      const balance = seen(await sdk.SolApi.account!.getBalance!({ network, address }))
      expect(balance.raw).toEqual({ lamports: `${lamports}`, solana: '1.23456789' })
      const tokens = seen<object[]>(await sdk.SolApi.account!.getSPL!({ network, address }))
      const nfts = seen<object[]>(await sdk.SolApi.account!.getNFTs!({ network, address }))
      expect(tokens.raw).toEqual([{ ...token, name: '', symbol: '' }])
      expect(nfts.raw).toEqual([{ ...nft, name: 'Mad Lads #9963', symbol: 'MAD' }])
      expect(tokens.result).toMatchObject([{ associatedTokenAddress: token.associatedTokenAddress, mint: token.mint }])
      expect(nfts.result).toMatchObject([{ associatedTokenAddress: nft.associatedTokenAddress, mint: nft.mint }])
    },
  },
  {
    name: 'metadata of Solana',
    async run(sdk, { solana }, { version }) {
      const network = 'devnet'
      const found = seen(await sdk.SolApi.nft!.getNFTMetadata!({ network, address: solana.nft.mint }))
      const { mint } = solana.nft
      const metaplex = { sellerFeeBasisPoints: 420, updateAuthority: '2RtGg6fsFiiF1EQzHqbd66AhW7R5bWeQGpTbv2UMkCdW' }
      expect(found.raw).toMatchObject({ mint, standard: 'metaplex', name: 'Mad Lads #9963', metaplex })
      expect(found.result).toMatchObject({ mint, name: 'Mad Lads #9963', metaplex })
      if (version === 'v2') return
      const token = seen(await sdk.SolApi.token!.getTokenMetadata!({ network, address: solana.token.mint }))
      expect(token.raw).toMatchObject({
        mint: solana.token.mint,
        standard: '',
        decimals: '6',
        metaplex: { metadataUri: '' },
      })
      expect(token.result).toMatchObject({ mint: solana.token.mint })
    },
  },
]

/** The raw answer, which `toJSON()` returns, and the SDK's own object as its users write it. */
function seen<Shape = Record<string, unknown>>(answer: Answer): { raw: Shape; result: Shape } {
  expect(answer.toJSON()).toEqual(answer.raw)
  return { raw: answer.raw as Shape, result: JSON.parse(JSON.stringify(answer.result)) as Shape }
}

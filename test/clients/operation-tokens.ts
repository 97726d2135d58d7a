// The calls of the SDK on ERC-20 tokens, and what each must answer on the chain of `operations-world.ts`: its coin was
// made once, and moved once.
import { expect, vi } from 'vitest'
import { alice, bob, dave } from '../evm-history.ts'
import { patience } from '../evm-world.ts'
import type { Wanted } from './expected.ts'
import type { Answer, AnySdk } from './operation-lists.ts'
import type { OperationsWorld } from './operations-world.ts'

type TokenCall = { name: string; run(sdk: AnySdk, world: OperationsWorld, form: Wanted): Promise<void> }

const supply = 10n ** 24n
const moved = 5_000n
const lower = (address: string) => address.toLowerCase()

type Row = Record<string, unknown>

export const tokenCalls: readonly TokenCall[] = [
  {
    name: 'getTokenTransfers',
    async run(sdk, world, form) {
      const address = world.history.coin.address
      const { raw, result } = await answered(() => sdk.EvmApi.token!.getTokenTransfers!({ address }))
      const { result: rows } = raw as { result: Row[] }
      expect(rows.map(transferOf)).toEqual(wantedTransfers(address))
      for (const row of rows) expect(row).toMatchObject(coinOf(form))
      expect((result as Row[]).map(({ value }) => value)).toEqual([`${moved}`, `${supply}`])
    },
  },
  {
    name: 'getWalletTokenTransfers',
    async run(sdk, world) {
      const { raw, result } = await answered(() => sdk.EvmApi.token!.getWalletTokenTransfers!({ address: dave }))
      const [first] = wantedTransfers(world.history.coin.address)
      expect((raw as { result: Row[] }).result.map(transferOf)).toEqual([first])
      expect(result).toMatchObject([
        { fromAddress: lower(alice), toAddress: lower(dave), logIndex: expect.any(Number) },
      ])
    },
  },
  {
    name: 'getWalletTokenBalances',
    async run(sdk, world, form) {
      const { address } = world.history.coin
      for (const asked of [{ address: dave }, { address: dave, tokenAddresses: [address] }]) {
        const { raw, result } = await answered(() => sdk.EvmApi.token!.getWalletTokenBalances!(asked))
        const { token_name: name, token_symbol: symbol, token_decimals: _, ...flags } = coinOf(form)
        expect(raw).toEqual([
          {
            ...{ token_address: address, name, symbol, logo: null, thumbnail: null, decimals: 18, balance: `${moved}` },
            ...flags,
          },
        ])
        expect(result).toMatchObject([{ value: '0.000000000000005', token: { symbol: 'CN', decimals: 18 } }])
      }
    },
  },
  {
    name: 'getTokenMetadata',
    async run(sdk, world, form) {
      const { address } = world.history.coin
      const { raw, result } = await answered(() => sdk.EvmApi.token!.getTokenMetadata!({ addresses: [address] }))
      expect(raw).toMatchObject([metadataOf(address, form)])
      expect(result).toMatchObject([{ token: { name: 'Coin', symbol: 'CN', decimals: 18 } }])
    },
  },
  {
    name: 'getTokenMetadataBySymbol',
    async run(sdk, world, form) {
      const { address } = world.history.coin
      const { raw, result } = await answered(() => sdk.EvmApi.token!.getTokenMetadataBySymbol!({ symbols: ['CN'] }))
      expect(raw).toMatchObject([metadataOf(address, form)])
      expect(result).toMatchObject([{ token: { name: 'Coin', symbol: 'CN', decimals: 18 } }])
    },
  },
  {
    name: 'getTokenAllowance',
    async run(sdk, world) {
      const { address } = world.history.coin
      const asked = { address, ownerAddress: alice, spenderAddress: bob }
      const { raw, result } = await answered(() => sdk.EvmApi.token!.getTokenAllowance!(asked))
      expect([raw, result]).toEqual([{ allowance: '0' }, { allowance: '0x00' }])
    },
  },
]

/** The first request for a token starts its indexing: asked until it is there, with its name. */
async function answered(ask: () => Promise<unknown>): Promise<{ raw: unknown; result: unknown }> {
  return await vi.waitFor(async () => {
    const answer = (await ask()) as Answer
    expect(answer.toJSON()).toEqual(answer.raw)
    const text = JSON.stringify(answer.raw)
    expect(text).toMatch(/allowance|"CN"/)
    return { raw: answer.raw, result: JSON.parse(JSON.stringify(answer.result)) as unknown }
  }, patience)
}

function coinOf({ dialect }: Wanted) {
  const flag = dialect === 'live' ? false : 'false'
  return {
    ...{ token_name: 'Coin', token_symbol: 'CN', token_decimals: '18' },
    ...{ possible_spam: flag, verified_contract: flag },
  }
}

function metadataOf(address: string, { dialect }: Wanted) {
  const flag = dialect === 'live' ? false : 'false'
  return {
    ...{ address, name: 'Coin', symbol: 'CN', decimals: '18', total_supply: `${supply}` },
    ...{ total_supply_formatted: '1000000', logo: null, possible_spam: flag, verified_contract: flag },
  }
}

function transferOf({ address, from_address: from, to_address: to, value }: Row) {
  return { address, from, to, value }
}

function wantedTransfers(address: string) {
  return [
    { address, from: lower(alice), to: lower(dave), value: `${moved}` },
    { address, from: `0x${'0'.repeat(40)}`, to: lower(alice), value: `${supply}` },
  ]
}

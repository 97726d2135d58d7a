// The calls of the SDK on ERC-20 tokens of every kind, and what each must answer on the chain of `operations-world.ts`.
import { expect } from 'vitest'
import { exactAmount } from '../../src/exact-amount.ts'
import {
  alice,
  bob,
  type TokenName,
  type TransferTruth,
  tokenDecimals,
  tokenKinds,
  tokenTitles,
  zero,
} from '../erc20-world.ts'
import type { Wanted } from './expected.ts'
import { type Answer, type AnySdk, everyPage, type ListAnswer } from './operation-lists.ts'
import type { OperationsWorld } from './operations-world.ts'

type Row = Record<string, unknown>
/** Newer calls of the SDK have pages of their own. */
type OwnersPage = {
  raw(): { result: Row[] }
  toJSON(): unknown
  result: unknown
  hasNext(): boolean
  next(): Promise<OwnersPage>
}
type Asked = { sdk: AnySdk; world: OperationsWorld; form: Wanted }

type TokenCall = {
  name: string
  /** Only one generation of the SDK has it. */
  only?: Wanted['version']
  run(sdk: AnySdk, world: OperationsWorld, form: Wanted): Promise<void>
}

const pageSize = 2

export const tokenCalls: readonly TokenCall[] = [
  {
    name: 'getTokenTransfers, of every kind of token to the end',
    async run(sdk, world, form) {
      for (const kind of tokenKinds) {
        const address = addressOf(world, kind)
        const first = await sdk.EvmApi.token!.getTokenTransfers!({ address, limit: pageSize })
        await expectTransfers({ sdk, world, form }, first, world.tokenTruth[kind])
      }
    },
  },
  {
    name: 'getWalletTokenTransfers, of all tokens and of some',
    async run(sdk, world, form) {
      const some = [addressOf(world, 'plain'), addressOf(world, 'old')]
      // The older SDK asks for all of them alone.
      for (const contractAddresses of form.version === 'v2' ? [undefined] : [undefined, some]) {
        const asked = { address: bob, limit: pageSize, ...(contractAddresses && { contractAddresses }) }
        const first = await sdk.EvmApi.token!.getWalletTokenTransfers!(asked)
        const wanted = Object.values(world.tokenTruth)
          .flat()
          .filter(row => [row.from_address, row.to_address].includes(bob))
          .filter(row => contractAddresses?.includes(row.address) ?? true)
          .sort((a, b) => Number(b.block_number) - Number(a.block_number) || b.log_index - a.log_index)
        await expectTransfers({ sdk, world, form }, first, wanted)
      }
    },
  },
  {
    name: 'getWalletTokenBalances: what each token says, whatever its transfers add up to',
    async run(sdk, world, form) {
      const tokenAddresses = tokenKinds.map(kind => addressOf(world, kind))
      for (const asked of [{ address: bob }, { address: bob, tokenAddresses }]) {
        const { raw, result } = seen<Row[], { value: string; token: Row }[]>(
          await sdk.EvmApi.token!.getWalletTokenBalances!(asked),
        )
        const held = await Promise.all(
          tokenKinds.map(async kind => ({ kind, balance: (await world.tokens.says(kind, 'balanceOf', [bob]))! })),
        )
        const wanted = held.filter(({ balance }) => balance > 0n)
        expect(byAddress(raw, 'token_address')).toEqual(
          byAddress(
            wanted.map(({ kind, balance }) => ({
              ...{ token_address: addressOf(world, kind), ...titled(kind), logo: null, thumbnail: null },
              ...{ decimals: tokenDecimals[kind] ?? null, balance: `${balance}`, ...flagsOf(form) },
            })),
            'token_address',
          ),
        )
        // The SDK takes 18 decimals where a token does not say them.
        const amounts = wanted.map(({ kind, balance }) => exactAmount(`${balance}`, tokenDecimals[kind] ?? 18))
        expect(result.map(({ value }) => value).sort()).toEqual(amounts.sort())
      }
    },
  },
  ...(['getTokenMetadata', 'getTokenMetadataBySymbol'] as const).map(
    (name): TokenCall => ({
      name,
      async run(sdk, world, form) {
        const addresses = tokenKinds.map(kind => addressOf(world, kind))
        const symbols = tokenKinds.map(kind => tokenTitles[kind]![1])
        const asked = name === 'getTokenMetadata' ? { addresses } : { symbols }
        const { raw, result } = seen<Row[], { token: Row }[]>(await sdk.EvmApi.token![name]!(asked))
        const wanted = await Promise.all(tokenKinds.map(kind => metadataOf(world, kind, form)))
        expect(byAddress(raw, 'address')).toMatchObject(byAddress(wanted, 'address'))
        for (const [at, { token }] of result.entries())
          expect(token).toMatchObject({ contractAddress: raw[at]!.address, symbol: raw[at]!.symbol })
      },
    }),
  ),
  {
    name: 'getTokenAllowance',
    async run(sdk, world) {
      const asked = { address: addressOf(world, 'plain'), ownerAddress: alice, spenderAddress: bob }
      const { raw, result } = seen(await sdk.EvmApi.token!.getTokenAllowance!(asked))
      expect([raw, result]).toEqual([{ allowance: '77' }, { allowance: '0x4d' }])
    },
  },
  {
    name: 'getTokenOwners, of every kind of token to the end',
    only: 'v2.2',
    async run(sdk, world, { dialect }) {
      for (const kind of tokenKinds) {
        const tokenAddress = addressOf(world, kind)
        const owners: Row[] = []
        const first: OwnersPage = await sdk.EvmApi.token!.getTokenOwners!({ tokenAddress, limit: pageSize })
        for (let page: OwnersPage | undefined = first, number = 1; page !== undefined; number++) {
          const { result, ...envelope } = page.raw()
          expect(envelope).toMatchObject({ page: dialect === 'live' ? number : `${number}` })
          const shown = JSON.parse(JSON.stringify(page.result)) as Row[]
          expect(shown.map(row => row.balance)).toEqual(result.map(row => row.balance))
          expect(page.toJSON()).toEqual(page.raw())
          owners.push(...result)
          page = page.hasNext() ? await page.next() : undefined
        }
        const holders = new Set(world.tokenTruth[kind].map(row => row.to_address))
        expect(owners.length, kind).toBeGreaterThan(0)
        expect(new Set(owners.map(row => row.owner_address)).size).toBe(owners.length)
        for (const row of owners) {
          expect([kind, holders.has(row.owner_address as string)]).toEqual([kind, true])
          const balance = await world.tokens.says(kind, 'balanceOf', [row.owner_address])
          expect([kind, row.owner_address, row.balance]).toEqual([kind, row.owner_address, `${balance}`])
        }
      }
    },
  },
  {
    name: 'getTokenStats',
    only: 'v2.2',
    async run(sdk, world) {
      for (const kind of tokenKinds) {
        const { raw } = seen(await sdk.EvmApi.token!.getTokenStats!({ address: addressOf(world, kind) }))
        expect([kind, raw]).toEqual([kind, { transfers: { total: `${world.tokenTruth[kind].length}` } }])
      }
    },
  },
  {
    name: 'getTokenPrice is refused, with its reason',
    async run(sdk, world) {
      const asked = sdk.EvmApi.token!.getTokenPrice!({ address: addressOf(world, 'plain') })
      await expect(asked).rejects.toThrow(/501/)
    },
  },
]

function addressOf(world: OperationsWorld, kind: TokenName): string {
  return world.tokens.tokens[kind].address
}

function titled(kind: TokenName) {
  const [name, symbol] = tokenTitles[kind]!
  return { name, symbol }
}

function flagsOf({ dialect }: Wanted) {
  const flag = dialect === 'live' ? false : 'false'
  return { possible_spam: flag, verified_contract: flag }
}

/** What `toJSON()` gives is what was answered; of the SDK's own objects, what a user gets who writes them as JSON. */
function seen<Raw = unknown, Result = unknown>(answer: Answer | null): { raw: Raw; result: Result } {
  expect(answer!.toJSON()).toEqual(answer!.raw)
  return { raw: answer!.raw as Raw, result: JSON.parse(JSON.stringify(answer!.result)) as Result }
}

async function expectTransfers({ world, form }: Asked, first: ListAnswer, wanted: readonly TransferTruth[]) {
  const pages = await everyPage(first)
  expect(pages).toHaveLength(Math.ceil(wanted.length / pageSize))
  const answers = pages.map(page => seen<{ result: Row[] }, Row[]>(page))
  const rows = answers.flatMap(({ raw }) => raw.result)
  expect(rows).toEqual(wanted.map(row => transferRow(world, row, form)))
  expect(answers.flatMap(({ result }) => result)).toMatchObject(
    wanted.map(row => ({
      ...{ chain: '0x1', address: row.address, fromAddress: row.from_address, toAddress: row.to_address },
      ...{ value: row.value, blockNumber: row.block_number, logIndex: row.log_index },
      transactionHash: row.transaction_hash,
    })),
  )
}

function transferRow(world: OperationsWorld, row: TransferTruth, form: Wanted): Row {
  const kind = tokenKinds.find(each => addressOf(world, each) === row.address)!
  const { name, symbol } = titled(kind)
  const decimals = tokenDecimals[kind]
  const side = (of: 'from_address' | 'to_address') => ({
    [`${of}_label`]: row[of] === zero ? 'Null address' : null,
    ...{ [`${of}_entity`]: null, [`${of}_entity_logo`]: null },
  })
  return {
    ...{ token_name: name, token_symbol: symbol, token_logo: null },
    token_decimals: decimals === undefined ? null : `${decimals}`,
    ...row,
    block_timestamp: form.dialect === 'live' ? row.block_timestamp : row.block_timestamp.slice(0, 19),
    ...side('from_address'),
    ...side('to_address'),
    ...flagsOf(form),
  }
}

async function metadataOf(world: OperationsWorld, kind: TokenName, form: Wanted): Promise<Row> {
  const supply = `${await world.tokens.says(kind, 'totalSupply')}`
  const decimals = tokenDecimals[kind]
  return {
    ...{ address: addressOf(world, kind), ...titled(kind), logo: null, ...flagsOf(form) },
    decimals: decimals === undefined ? null : `${decimals}`,
    total_supply: supply,
    total_supply_formatted: decimals === undefined ? null : exactAmount(supply, decimals),
  }
}

function byAddress(rows: readonly Row[], field: string): Row[] {
  return rows.toSorted((a, b) => (String(a[field]) < String(b[field]) ? -1 : 1))
}

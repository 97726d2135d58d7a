// What the fields and the body of a request begin with, where examples of the service are known and where none are.
import { expect, onTestFinished, test, vi } from 'vitest'
import type { DocumentedOperation, Parameter } from '../state/document.ts'
import { bodyOf, exampleOf, isFilledAtFirst, type LiveExamples } from './example-values.ts'

function addressOf(path: string, live: LiveExamples): string {
  const operation = { path, tags: ['Solana'] } as unknown as DocumentedOperation
  return exampleOf(operation, { name: 'address', example: 'documented' } as Parameter, live)
}

test('mints of Solana are those of an account that this service read', () => {
  const live = { account: 'account', nftMint: 'nft', tokenMint: 'token' }
  expect(addressOf('/account/{network}/{address}/portfolio', live)).toBe('account')
  expect(addressOf('/nft/{network}/{address}/metadata', live)).toBe('nft')
  expect(addressOf('/token/{network}/{address}/metadata', live)).toBe('token')
  expect(addressOf('/token/{network}/{address}/metadata', {})).toBe('documented')
})

test('bodies name tokens and contracts of this service', () => {
  const live = { contract: '0x01', contracts: ['0x01', '0x02'], tokenIds: ['7', '8'] }
  const tokens = { tokens: [{ token_address: '0xff', token_id: '6955' }] }
  expect(JSON.parse(bodyOf(tokens, live))).toEqual({
    tokens: ['7', '8'].map(id => ({ token_address: '0x01', token_id: id })),
  })
  expect(JSON.parse(bodyOf({ addresses: ['0xff'] }, live))).toEqual({ addresses: ['0x01', '0x02'] })
  const key = { name: 'shop', scopes: ['nft-transfers'], expires: '90d' }
  expect(JSON.parse(bodyOf(key, live))).toEqual(key)
  expect(JSON.parse(bodyOf(tokens, {}))).toEqual(tokens)
})

test('a list of wallets has several of this service', () => {
  const operation = { path: '/wallets/balances', tags: [] } as unknown as DocumentedOperation
  const parameter = { name: 'wallet_addresses', example: ['0xff', '0xee'] } as unknown as Parameter
  expect(exampleOf(operation, parameter, { wallet: '0x01', wallets: ['0x01', '0x02'] })).toBe('0x01,0x02')
  expect(exampleOf(operation, parameter, {})).toBe('0xff,0xee')
})

test('an ERC-20 token is one that a wallet of this service holds, and never the wallet', () => {
  const ask = (path: string, name: string, live: LiveExamples) =>
    exampleOf({ path, tags: [] } as unknown as DocumentedOperation, { name, example: 'documented' } as Parameter, live)
  const live = { erc20: 'token', erc20Symbol: 'TKN', wallet: 'one', wallets: ['one', 'two'] }
  expect(ask('/api/v2.2/erc20/{address}/transfers', 'address', live)).toBe('token')
  expect(ask('/api/v2.2/erc20/metadata', 'addresses', live)).toBe('token')
  expect(ask('/api/v2.2/erc20/metadata/symbols', 'symbols', live)).toBe('TKN')
  expect(ask('/api/v2.2/{address}/erc20', 'address', live)).toBe('one')
  const sides = ['owner_address', 'spender_address']
  expect(sides.map(name => ask('/api/v2.2/erc20/{address}/allowance', name, live))).toEqual(['one', 'two'])
  expect(ask('/api/v2.2/erc20/{address}/transfers', 'address', { wallet: 'one' })).toBe('documented')
})

test('a date stays the same while a form is open', () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const operation = { path: '/dateToBlock', tags: [] } as unknown as DocumentedOperation
  const ask = () => exampleOf(operation, { name: 'date' } as Parameter, { block: '7' })
  const before = ask()
  vi.setSystemTime(Date.now() + 5_000)
  expect(ask()).toBe(before)
  expect(before).toMatch(/^\d{4}-\d\d-\d\dT/)
})

test('changes begin at a block of a contract, so that there are some', () => {
  const operation = { path: '/changes', tags: [] } as unknown as DocumentedOperation
  const parameters = ['from_block', 'contract', 'wallet'].map(name => ({ name, required: false }) as Parameter)
  expect(parameters.filter(each => isFilledAtFirst(operation, each)).map(({ name }) => name)).toEqual([
    'from_block',
    'contract',
  ])
  expect(exampleOf(operation, parameters[0]!, { block: '7' })).toBe('7')
})

test('no key is offered for what is done to one', () => {
  const ask = (path: string) =>
    exampleOf({ path, tags: [] } as unknown as DocumentedOperation, { name: 'id', example: '1f' } as Parameter, {})
  expect([ask('/keys/{id}'), ask('/jobs/{id}')]).toEqual(['', '1f'])
})

// The menu of the reference finds operations by parameters, by other words and in spite of a typing error.
import { expect, test } from 'vitest'
import { notServedAt, notServedFor } from '../search/not-served.ts'
import type { DocumentedOperation } from '../state/document.ts'
import type { Entry } from './entries.ts'
import { entriesAt, filtered } from './filter.ts'

function entry(id: string, summary: string, parameters: string[] = [], subject = ''): Entry {
  const facts = {
    operationId: id,
    summary,
    method: 'GET',
    path: `/${id}`,
    responses: { 200: { content: id === 'getOwners' ? { 'text/csv': {} } : {} } },
    parameters: parameters.map(name => ({
      name,
      description: name === 'include_prices' ? 'Accepted; adds nothing.' : 'A parameter.',
    })),
  }
  const operation = facts as unknown as DocumentedOperation
  return { id, name: id, title: summary, note: undefined, subject, operation, older: [] }
}

const owners = entry('getOwners', 'Owners of the NFTs of a contract', ['address', 'at_block', 'cursor'], 'Owners')
const transfers = entry('getTransfers', 'NFT transfers of a block', ['from_block'], 'Transfers and blocks')
const tokens = entry('getTokens', 'Counts of tokens', ['include_prices'])
const version = entry('getVersion', 'Version of the service')
const all = [owners, transfers, tokens, version]

test.each([
  ['at_block', [owners]],
  ['holders', [owners]],
  ['history', [transfers]],
  ['transfres', [transfers]],
  ['vresion', [version]],
  // Only a field of the other one says it.
  ['block', [transfers]],
  ['', all],
  ['price', []],
  ['who owns', [owners]],
  ['SYNCING', []],
  ['429', []],
  ['ens', []],
  ['csv', [owners]],
  ['paging', [owners]],
  ['pagination', [owners]],
  ['as of', [owners]],
  ['range', [transfers]],
  ['owners', [owners]],
  ['Transfers and Blocks', [transfers]],
])('%s', (text, found) => {
  expect(filtered(all, text)).toEqual(found)
})

const notServed = {
  getWalletApprovals: {
    why: 'it needs approvals of ERC-20, which are not indexed',
    at: ['GET /wallets/{address}/approvals'],
  },
  getNFTFloorPriceByToken: {
    why: 'it needs facts from outside the chain',
    at: ['GET /nft/{address}/{token_id}/floor-price'],
  },
  getTokenPrice: {
    why: 'it needs prices and markets',
    at: ['GET /erc20/{address}/price', 'GET /token/{network}/{address}/price'],
  },
  resolveENSDomain: { why: 'it needs names of domains', at: ['GET /resolve/ens/{domain}'] },
  getWalletTransactions: { why: 'it needs whole transactions', at: ['GET /{address}'] },
}

test('what the hosted service has besides is known by its name, and by what it needs', () => {
  const ids = (text: string) => notServedFor(notServed, text)
  expect(ids('getwalletapprovals')).toEqual(['getWalletApprovals'])
  expect(ids('wallet approvals')).toEqual(['getWalletApprovals'])
  // What needs it comes before what only has it in its path.
  for (const text of ['erc20', 'ERC-20'])
    expect([text, ids(text)]).toEqual([text, ['getWalletApprovals', 'getTokenPrice']])
  expect(ids('floor')).toEqual(['getNFTFloorPriceByToken'])
  // From the start of a word on: no token is of ENS.
  for (const text of ['ens', 'ENS', 'domain']) expect([text, ids(text)]).toEqual([text, ['resolveENSDomain']])
  expect(ids('tokenprice')).toEqual(['getTokenPrice'])
  for (const text of ['', 'a', 'zyzzyva', 'rice', 'ain']) expect([text, ids(text)]).toEqual([text, []])
})

test('the operation that is named comes before those whose names begin so', () => {
  const [byBlock, plain] = [entry('getPagesByBlock', 'Pages of a block'), entry('getPages', 'Pages')]
  expect(filtered([byBlock, plain], 'getpages')).toEqual([plain, byBlock])
})

test('a pasted path or address finds the operation of its shape alone', () => {
  const at = (id: string, path: string) => {
    const made = entry(id, id)
    return { ...made, operation: { ...made.operation, path } as DocumentedOperation }
  }
  const [ofNft, ofContract, token] = [
    at('getNFTTokenIdOwners', '/api/v2.2/nft/{address}/{token_id}/owners'),
    at('getNFTOwners', '/api/v2.2/nft/{address}/owners'),
    at('getNFTMetadata', '/api/v2.2/nft/{address}/{token_id}'),
  ]
  const address = '0x8464135c8f25da09e49bc8782676a84730c318bc'
  for (const text of [
    `/api/v2.2/nft/${address}/owners`,
    `GET /nft/${address}/owners?chain=eth&limit=1`,
    `https://deep-index.moralis.io/api/v2/nft/${address}/owners?chain=0x1`,
    '/nft/:address/owners',
    'nft/{address}/owners',
    '/nft/0x8464…/owners',
  ])
    expect([text, filtered([ofNft, ofContract, token], text)]).toEqual([text, [ofContract]])
  expect(filtered([ofNft, ofContract, token], `/nft/${address}/12`)).toEqual([token])
})

test('a pasted path or address of what is not served finds that, and so does its whole name', () => {
  const address = '0x6b175474e89094c44da98b954eedeac495271d0f'
  for (const text of [
    `/erc20/${address}/price`,
    `GET /api/v2.2/erc20/${address}/price?chain=eth`,
    `https://deep-index.moralis.io/api/v2.2/erc20/${address}/price`,
    `curl -H 'X-API-Key: x' 'https://deep-index.moralis.io/api/v2.2/erc20/${address}/price?chain=eth'`,
    'https://solana-gateway.moralis.io/token/mainnet/So11111111111111111111111111111111111111112/price',
    'gettokenprice',
  ])
    expect([text, notServedAt(notServed, text)]).toEqual([text, ['getTokenPrice']])
  expect(notServedAt(notServed, '/resolve/ens/vitalik.eth')).toEqual(['resolveENSDomain'])
  expect(notServedAt(notServed, `/${address}`)).toEqual(['getWalletTransactions'])
  for (const text of ['', 'token price', '/webhooks', address, '/erc20/price', '/nft/transfers/price'])
    expect([text, notServedAt(notServed, text)]).toEqual([text, []])
})

test('of several operations at a path, the one with the method that is written comes first', () => {
  const [read, write] = [entry('readKeys', 'Keys'), entry('writeKeys', 'New key')].map((made, at) => ({
    ...made,
    operation: { ...made.operation, method: at === 0 ? 'GET' : 'POST', path: '/keys/{id}' } as DocumentedOperation,
  }))
  for (const text of ['POST /keys/12', "curl -X POST 'http://127.0.0.1:8080/keys/12'"])
    expect([text, entriesAt([read!, write!], text)]).toEqual([text, [write, read]])
  expect(entriesAt([read!, write!], 'keys')).toEqual([])
})

test('a word finds operations from the start of their words on', () => {
  for (const text of ['owners', 'getowners', 'NFTs contract', '/getOwners'])
    expect([text, filtered([owners], text, { isExact: true })]).toEqual([text, [owners]])
  for (const text of ['wners', 'tract', 'ft', 'onwers'])
    expect([text, filtered([owners], text, { isExact: true })]).toEqual([text, []])
})

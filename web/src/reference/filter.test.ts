// The menu of the reference finds operations by parameters, by other words and in spite of a typing error.
import { expect, test } from 'vitest'
import type { DocumentedOperation } from '../state/document.ts'
import type { Entry } from './entries.ts'
import { filtered, notServedFor } from './filter.ts'

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
  return { id, title: summary, note: undefined, subject, operation, older: [] }
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

test('what the hosted service has besides is known by its name, and by what it needs', () => {
  const notServed = {
    getTokenTransfers: 'it needs ERC-20 transfers',
    getNFTFloorPriceByToken: 'it needs facts from outside the chain',
  }
  const ids = (text: string) => notServedFor(notServed, text).map(([id]) => id)
  expect(ids('gettokentransfers')).toEqual(['getTokenTransfers'])
  for (const text of ['erc20', 'ERC-20', 'token transfers'])
    expect([text, ids(text)]).toEqual([text, ['getTokenTransfers']])
  expect(ids('floor')).toEqual(['getNFTFloorPriceByToken'])
  for (const text of ['', 'a', 'zyzzyva']) expect([text, ids(text)]).toEqual([text, []])
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

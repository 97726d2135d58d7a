// The operations that pages and the search lead to: those of the OpenAPI document, as the reference lists them. It
// describes none of them itself.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../web/build-folder.ts'
import { entriesOf } from '../web/src/reference/entries.ts'
import type { ApiDocument } from '../web/src/state/document.ts'

export type Operation = {
  id: string
  title: string
  subject: string
  method: string
  path: string
  ids: string[]
  /** What it says of itself, with the names of its parameters. */
  about: string
  /** What else people call it: the call of the SDK, names at other services, words of a question. */
  also: string[]
}

const otherNames: Readonly<Record<string, readonly string[]>> = {
  getWalletNFTsV22: ['list all nfts of a wallet', 'nfts of an owner', 'getNFTsForOwner', 'qn_fetchNFTs'],
  getContractNFTsV22: ['nfts of a collection', 'getNFTsForContract', 'getNFTsForCollection'],
  getNFTOwnersV22: [
    'owners of a collection',
    'holders of a collection',
    'getOwnersForContract',
    'getOwnersForCollection',
    'historical owners',
    'past owners',
    'owners at a block',
  ],
  getNFTMetadataV22: ['nft metadata', 'metadata of a token', 'token uri', 'tokenURI', 'image of an nft'],
  getMultipleNFTsV22: ['batch', 'several nfts', 'nfts in bulk'],
  getNFTBulkContractMetadataV22: ['batch', 'several contracts', 'contracts in bulk'],
  getNativeBalancesForAddressesV22: ['batch', 'native balance of multiple wallets', 'balances of several wallets'],
  getNFTCollectionStatsV22: ['number of owners', 'owner count', 'number of holders', 'total supply', 'count of nfts'],
  getUniqueOwnersByCollectionV22: ['unique owners', 'unique holders'],
  rotateKey: ['rotate a key'],
  createKey: ['create a key'],
  revokeKey: ['revoke a key'],
  getNFTTokenIdOwnersV22: [
    ...['owner of a token', 'owner of an nft', 'ownerOf', 'getOwnersForNFT'],
    ...['owner of a token at a block', 'who owned a token at a block'],
  ],
  getNFTTransfersV22: ['ownership history', 'history of an nft', 'history of a token', 'past owners of a token'],
  getWalletNFTTransfersV22: ['nft history of a wallet', 'alchemy_getAssetTransfers', 'getAssetTransfers'],
  getNFTContractTransfersV22: ['transfers of a collection', 'getTransfersForContract'],
  getNativeBalanceV22: ['native balance', 'balance at block', 'balance at a block', 'eth_getBalance'],
  getDateToBlockV22: ['block by date', 'block by timestamp'],
  getPortfolio: ['portfolio', 'solana portfolio'],
}

const version = /^\/api\/v2(\.\d)?(?=\/)/

export function readOperations(): Operation[] {
  const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8')) as ApiDocument
  return entriesOf(document).map(({ id, title, subject, operation, older }) => ({
    ...{ id, title, subject, method: operation.method, path: operation.path.replace(version, '') },
    about: [operation.description ?? '', ...(operation.parameters ?? []).map(({ name }) => name)].join(' '),
    also: [operation['x-sdk-call'] ?? [], otherNames[id] ?? []].flat(),
    ids: [id, ...older.map(({ operationId }) => operationId)],
  }))
}

/** Code such as `GET /nft/{address}/owners`; without a method, one that reads. */
export function operationIn(operations: readonly Operation[], code: string): Operation | undefined {
  const [, method = 'GET', path] = /^(?:(GET|POST|DELETE) )?(\/[^\s?]*)(?:\?\S*)?$/.exec(code) ?? []
  return operations.find(operation => operation.method === method && operation.path === path?.replace(version, ''))
}

// The lists of who owns what: which parameters each has and how its rows look. `holding-lists.ts` answers them.
import type { Address } from '../../model.ts'
import type { NftRow } from '../../query/holdings/questions.ts'
import { onDemandSentence } from '../openapi-parts.ts'
import { readParameter } from '../params.ts'
import type { ApiRequest } from '../request.ts'
import { addressKeys, contractNftKeys, type HoldingFilter, holdingKeys } from './holding-cursor.ts'
import { type HoldingPage, holdingList, listBody } from './holding-lists.ts'
import { asOfParameters, type HoldingParameters } from './holding-parameters.ts'
import { addressStream, nftStream } from './holding-streams.ts'
import { collectionJson, type NftShape, nftJson } from './nft-json.ts'

const ofContract = (request: ApiRequest, { address }: HoldingParameters): string =>
  readParameter(address, request.pathParameter('address')).slice(2)
const ofWallet = (request: ApiRequest, { wallet }: HoldingParameters): string =>
  readParameter(wallet, request.pathParameter('address')).slice(2)
const ofToken = (request: ApiRequest, parameters: HoldingParameters): string =>
  ofContract(request, parameters) +
  readParameter(parameters.tokenId, request.pathParameter('token_id')).toString(16).padStart(64, '0')

const addressOf = (subject: string): Address => `0x${subject.slice(0, 40)}` as Address
const tokenOf = (subject: string) => ({
  contract: addressOf(subject),
  tokenId: BigInt(`0x${subject.slice(40)}`),
})
const shownOf = ({ contracts, excludeSpam }: HoldingFilter) => ({
  contracts: contracts.length === 0 ? undefined : contracts,
  excludeSpam,
})
const nftsJson = (rows: readonly NftRow[], shape: NftShape, page: HoldingPage) =>
  rows.map(row => nftJson(row, shape, { ...page, normalizeMetadata: page.filter.normalizeMetadata }))

const ofNfts = ['format', 'normalizeMetadata', 'mediaItems', 'disableTotal'] as const

export const owners = holdingList({
  ...{ list: 'owners', id: 'getNFTOwners', summary: 'Owners of a collection', schema: 'NftOwners' },
  ...{ keys: holdingKeys, firstPage: 1, path: ['address'], subjectOf: ofContract },
  description: `Who owns each NFT of a contract, now or as of an earlier block (\`at_block\`, \`at_date\`): a row for each token and owner, newest change first. Use it for a snapshot of holders. ${onDemandSentence}`,
  query: [...ofNfts, ...asOfParameters],
  ask: (holdings, { subject, ...question }, options) =>
    holdings.owners({ ...question, contract: addressOf(subject), tokenId: undefined }, options),
  body: ({ rows }, page) => listBody(nftsJson(rows, 'owner', page), page),
  stream: (streams, { subject, shown, options, ...asked }) => {
    const question = { ...asked, contract: addressOf(subject), tokenId: undefined }
    return nftStream(streams.owners(question, options), { ...shown, shape: 'owner' })
  },
})

export const tokenOwners = holdingList({
  ...{ list: 'token-owners', id: 'getNFTTokenIdOwners', summary: 'Owners of an NFT', schema: 'NftOwners' },
  ...{ keys: holdingKeys, firstPage: 1, path: ['address', 'tokenId'], subjectOf: ofToken },
  description:
    'Who owns one token, now or as of an earlier block (`at_block`, `at_date`): one row for ERC-721, several for ERC-1155, newest change first. Empty where the token has no owner.',
  query: [...ofNfts, ...asOfParameters],
  ask: (holdings, { subject, ...question }, options) => {
    return holdings.owners({ ...question, ...tokenOf(subject) }, options)
  },
  body: ({ rows }, page) => listBody(nftsJson(rows, 'owner', page), page),
  stream: (streams, { subject, shown, options, ...asked }) =>
    nftStream(streams.owners({ ...asked, ...tokenOf(subject) }, options), { ...shown, shape: 'owner' }),
})

export const uniqueOwners = holdingList({
  ...{ list: 'unique-owners', id: 'getUniqueOwnersByCollection', summary: 'Unique owners of a collection' },
  ...{ schema: 'UniqueOwners', keys: addressKeys, firstPage: 1, path: ['address'], subjectOf: ofContract },
  description:
    'The addresses that own at least one NFT of a contract, now or as of an earlier block (`at_block`, `at_date`): each once, ascending. Use it for an allow-list or an airdrop: a page has up to 5,000. The zero address is not an owner.',
  query: asOfParameters,
  limitMax: 5_000,
  sizeField: 'pageSize',
  ask: (holdings, { subject, ...question }, options) =>
    holdings.uniqueOwners({ ...question, contract: addressOf(subject) }, options),
  body: ({ rows }, { page, pageSize, cursor, dialect }) => {
    const number = (value: number) => (dialect === 'live' ? value : `${value}`)
    const end = dialect === 'live' ? null : ''
    return JSON.stringify({
      ...{ page: number(page), pageSize: number(pageSize), cursor: cursor ?? end, walletAddresses: rows },
    })
  },
  stream: (streams, { subject, options, ...asked }) =>
    addressStream(streams.uniqueOwners({ ...asked, contract: addressOf(subject) }, options)),
})

export const walletNfts = holdingList({
  ...{ list: 'wallet-nfts', id: 'getWalletNFTs', summary: 'NFTs of a wallet', schema: 'WalletNfts' },
  ...{ keys: holdingKeys, firstPage: 1, path: ['wallet'], subjectOf: ofWallet },
  description:
    'The NFTs that a wallet owns, now or as of an earlier block (`at_block`, `at_date`): a row for each token, newest change first. Use it for a gallery, or to let owners in; `token_addresses` keeps those of some contracts. On a chain that is not indexed in full it shows what is there, with the status `SYNCING`; with `token_addresses` it is `SYNCED` once these contracts are indexed.',
  query: ['excludeSpam', 'tokenAddresses', ...ofNfts, 'includePrices', ...asOfParameters],
  ask: (holdings, { subject, filter, ...question }, options) => {
    return holdings.walletNfts({ ...question, wallet: addressOf(subject), ...shownOf(filter) }, options)
  },
  body: ({ rows, complete }, page) => listBody(nftsJson(rows, 'wallet', page), page, { complete, at: 'start' }),
  stream: (streams, { subject, shown, filter, options, ...asked }) => {
    const question = { ...asked, wallet: addressOf(subject), ...shownOf(filter) }
    return nftStream(streams.walletNfts(question, options), { ...shown, shape: 'wallet' })
  },
})

export const walletCollections = holdingList({
  ...{ list: 'wallet-collections', id: 'getWalletNFTCollections', summary: 'NFT collections of a wallet' },
  ...{ schema: 'WalletCollections', keys: addressKeys, firstPage: 1, path: ['wallet'], subjectOf: ofWallet },
  description:
    'The contracts whose NFTs a wallet owns, now or as of an earlier block (`at_block`, `at_date`): each once, descending by address. Use it for an overview of a wallet before its single NFTs.',
  query: ['excludeSpam', 'tokenCounts', 'includePrices', 'disableTotal', ...asOfParameters],
  ask: (holdings, { subject, filter: { excludeSpam }, ...question }, options) =>
    holdings.walletCollections({ ...question, wallet: addressOf(subject), excludeSpam }, options),
  body: ({ rows, complete }, page) => {
    const options = { dialect: page.dialect, withCount: page.filter.tokenCounts }
    const shown = rows.map(row => collectionJson(row, options))
    return listBody(shown, page, { complete, at: 'start' })
  },
})

export const contractNfts = holdingList({
  ...{ list: 'contract-nfts', id: 'getContractNFTs', summary: 'NFTs of a collection', schema: 'ContractNfts' },
  ...{ keys: contractNftKeys, firstPage: 0, path: ['address'], subjectOf: ofContract },
  description:
    'Every token of a contract that has an owner. Use it to list a collection. Rows descend by token hash; tokens that only ERC-2309 ranges moved follow, ascending by id. `range` and `totalRanges` split the hashes for readers that work side by side.',
  query: ['totalRanges', 'range', ...ofNfts, 'includePrices'],
  ask: (holdings, { subject, filter: { part }, ...question }, options) =>
    holdings.contractNfts({ ...question, contract: addressOf(subject), part }, options),
  body: ({ rows, complete }, page) => listBody(nftsJson(rows, 'contract', page), page, { complete, at: 'end' }),
  stream: (streams, { subject, shown, filter: { part }, options, ...asked }) => {
    const question = { ...asked, contract: addressOf(subject), part }
    return nftStream(streams.contractNfts(question, options), { ...shown, shape: 'contract' })
  },
})

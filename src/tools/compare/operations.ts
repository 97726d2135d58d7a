// The operations that are compared: what is asked about a subject, and how the rows of an answer are told apart and
// ordered. Which of them a service has, it says itself.
import type { Target } from './side.ts'

export type Row = Readonly<Record<string, unknown>>

/** What questions are about. NFTs, ERC-20 tokens, blocks and mints are found in answers of this side. */
export type Subject =
  | { kind: 'contract' | 'wallet' | 'erc20'; chain: string; address: string }
  | { kind: 'token'; chain: string; address: string; tokenId: string }
  | { kind: 'block'; chain: string; block: number; date: string }
  | { kind: 'account' | 'mint' | 'nft-mint'; chain: string; address: string }

/** The block up to which both sides are compared, and the chains that both have. */
export type Asked = { block: number; chains: readonly string[] }

/** An answer, taken apart: fields that stand once, and rows. */
export type Parts = { record: Row; rows: readonly Row[] }

export type RowKind = {
  /** Rows of both sides with the same group are the same thing; `member` tells several of one group apart. */
  group: (row: Row) => string
  member: (row: Row) => string
  /** Sorts as the list does; undefined where lists are whole. */
  place?: (row: Row) => string
  order?: 'ascending' | 'descending'
  /** Rows follow from the logs of their block alone, whatever else is indexed. */
  isOfBlock?: true
}

export type Operation = {
  /** The hosted service's own name. */
  id: string
  kind: Subject['kind']
  target: (subject: never, asked: Asked) => Target
  parts: (body: unknown) => Parts
  rows?: RowKind
  /** Follows cursors. */
  isPaged?: true
  /** This side can be asked for the state after a block, the other answers as of its head. */
  asOf?: true
  /** Which transfers change the answer, where it is about the present. */
  changesWith?: 'token' | 'contract' | 'wallet' | 'erc20'
  /** The answer is of the moment: both sides are asked again before they are said to differ. */
  isOfMoment?: true
}

type Of<Kind extends Subject['kind']> = Extract<Subject, { kind: Kind }>

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value))
const lower = (value: unknown): string => text(value).toLowerCase()
/** Numbers of up to so many digits in the order of their texts. */
const sortable = (value: unknown, digits = 20): string => text(value).padStart(digits, '0')
const amountDigits = 78

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)
const rowsOf = (value: unknown): Row[] => (Array.isArray(value) ? value.filter(isRow) : [])
const recordOf = (value: unknown): Row => (isRow(value) ? value : { answer: value })

const transferRows: RowKind = {
  group: row => `${lower(row.transaction_hash)}:${text(row.log_index)}`,
  member: row => text(row.token_id),
  place: row => [row.block_number, row.transaction_index, row.log_index].map(sortable).join(),
  order: 'descending',
  isOfBlock: true,
}
const heldRows: RowKind = {
  group: row => `${lower(row.token_address)}:${text(row.token_id)}`,
  member: row => lower(row.owner_of),
  place: row => sortable(row.block_number),
  order: 'descending',
}
const contractRows: RowKind = { ...heldRows, place: row => lower(row.token_hash) }
const collectionRows: RowKind = {
  group: row => lower(row.token_address),
  member: () => '',
  place: row => lower(row.token_address),
  order: 'descending',
}
const ownerRows: RowKind = {
  group: row => lower(row.owner_of),
  member: () => '',
  place: row => lower(row.owner_of),
  order: 'ascending',
}
const tokenRows: RowKind = { group: row => lower(row.token_address ?? row.address), member: () => '' }
const tokenOwnerRows: RowKind = {
  group: row => lower(row.owner_address),
  member: () => '',
  place: row => sortable(row.balance, amountDigits),
  order: 'descending',
}
const chainRows: RowKind = { group: row => lower(row.chain_id), member: () => '' }
const accountRows: RowKind = { group: row => text(row.associatedTokenAddress), member: () => '' }

/** The fields around the rows; where a page ends is seen by its rows. */
function listParts(body: unknown): Parts {
  const { result, cursor: _, ...record } = recordOf(body)
  return { record, rows: rowsOf(result) }
}

/** The sides answer as of different blocks, and are asked at different moments. */
function tokenOwnerParts(body: unknown): Parts {
  const { balances_block: _, ...answer } = recordOf(body)
  return listParts(answer)
}

function tokenHolderParts(body: unknown): Parts {
  const { balancesBlock: _, holderChange: __, ...record } = recordOf(body)
  return { record, rows: [] }
}

function uniqueOwnerParts(body: unknown): Parts {
  const { walletAddresses, cursor: _, ...record } = recordOf(body)
  const owners = Array.isArray(walletAddresses) ? walletAddresses : []
  return { record, rows: owners.map(owner => ({ owner_of: owner })) }
}

function chainParts(body: unknown): Parts {
  const { active_chains: chains, ...record } = recordOf(body)
  return { record, rows: rowsOf(chains) }
}

/** A row says in which of the two lists it stands. */
function portfolioParts(body: unknown): Parts {
  const { tokens, nfts, ...record } = recordOf(body)
  const listed = (list: string, rows: unknown) => rowsOf(rows).map(row => ({ list, ...row }))
  return { record, rows: [...listed('tokens', tokens), ...listed('nfts', nfts)] }
}

const recordParts = (body: unknown): Parts => ({ record: recordOf(body), rows: [] })
const arrayParts = (body: unknown): Parts => ({ record: {}, rows: rowsOf(body) })

const pageRows = '100'
/** Of both versions of the written reference, which disagree on it. */
const plain = { normalizeMetadata: 'false' }
const list = { parts: listParts, isPaged: true } as const
const transfers = { ...list, rows: transferRows } as const
const moment = { isOfMoment: true } as const

const ofContract = (path: (address: string) => string, query: (asked: Asked) => Record<string, string>) => {
  return ({ chain, address }: Of<'contract' | 'erc20'>, asked: Asked): Target => ({
    ...{ path: path(address), query: { chain, ...query(asked) } },
  })
}
const bounded = ({ block }: Pick<Asked, 'block'>) => ({ to_block: `${block}`, limit: pageRows })
const limited = () => ({ limit: pageRows })
const alone = () => ({})
const inChain = (chain: string, query: Record<string, string> = {}) => ({ chain, ...query })
const ofToken = ({ address, tokenId }: Of<'token'>) => `/nft/${address}/${tokenId}`
const onSolana = (path: string): Target => ({ path, atRoot: true })

export const operations: readonly Operation[] = [
  {
    ...{ id: 'getNFTContractTransfers', kind: 'contract', ...transfers },
    target: ofContract(address => `/nft/${address}/transfers`, bounded),
  },
  {
    ...{ id: 'getWalletNFTs', kind: 'wallet', ...list, rows: heldRows, asOf: true, changesWith: 'token' },
    target: ({ chain, address }: Of<'wallet'>) => ({
      path: `/${address}/nft`,
      query: inChain(chain, { limit: pageRows, ...plain }),
    }),
  },
  {
    ...{ id: 'getNFTOwners', kind: 'contract', ...list, rows: heldRows, asOf: true, changesWith: 'token' },
    target: ofContract(
      address => `/nft/${address}/owners`,
      () => ({ limit: pageRows, ...plain }),
    ),
  },
  {
    ...{ id: 'getWalletActiveChains', kind: 'wallet', parts: chainParts, rows: chainRows },
    target: ({ address }: Of<'wallet'>, { chains }) => ({
      path: `/wallets/${address}/chains`,
      query: { 'chains[]': chains },
    }),
  },
  {
    ...{ id: 'getNFTCollectionStats', kind: 'contract', parts: recordParts, asOf: true, changesWith: 'contract' },
    target: ofContract(address => `/nft/${address}/stats`, alone),
  },
  {
    ...{ id: 'getWalletNFTTransfers', kind: 'wallet', ...transfers },
    target: ({ chain, address }: Of<'wallet'>, asked) => ({
      path: `/${address}/nft/transfers`,
      query: inChain(chain, bounded(asked)),
    }),
  },
  {
    ...{ id: 'getContractNFTs', kind: 'contract', ...list, rows: contractRows, changesWith: 'token' },
    target: ofContract(
      address => `/nft/${address}`,
      () => ({ limit: pageRows, ...plain }),
    ),
  },
  {
    ...{ id: 'getUniqueOwnersByCollection', kind: 'contract', parts: uniqueOwnerParts, rows: ownerRows },
    ...{ isPaged: true, asOf: true, changesWith: 'contract' },
    target: ofContract(address => `/nft/${address}/unique-owners`, limited),
  },
  {
    ...{ id: 'getWalletNFTCollections', kind: 'wallet', ...list, rows: collectionRows },
    ...{ asOf: true, changesWith: 'wallet' },
    target: ({ chain, address }: Of<'wallet'>) => ({
      path: `/${address}/nft/collections`,
      query: inChain(chain, { limit: pageRows, token_counts: 'true' }),
    }),
  },
  {
    ...{ id: 'getNFTMetadata', kind: 'token', parts: recordParts, changesWith: 'token' },
    target: (subject: Of<'token'>) => ({ path: ofToken(subject), query: inChain(subject.chain, plain) }),
  },
  {
    ...{ id: 'getNFTTransfers', kind: 'token', ...transfers },
    target: (subject: Of<'token'>) => ({
      path: `${ofToken(subject)}/transfers`,
      query: inChain(subject.chain, limited()),
    }),
  },
  {
    ...{ id: 'getNFTTokenIdOwners', kind: 'token', ...list, rows: heldRows, asOf: true, changesWith: 'token' },
    target: (subject: Of<'token'>) => ({
      path: `${ofToken(subject)}/owners`,
      query: inChain(subject.chain, { limit: pageRows, ...plain }),
    }),
  },
  {
    ...{ id: 'getNFTContractMetadata', kind: 'contract', parts: recordParts },
    target: ofContract(address => `/nft/${address}/metadata`, alone),
  },
  {
    ...{ id: 'getDateToBlock', kind: 'block', parts: recordParts },
    target: ({ chain, date }: Of<'block'>) => ({ path: '/dateToBlock', query: inChain(chain, { date }) }),
  },
  {
    ...{ id: 'getWalletStats', kind: 'wallet', parts: recordParts, changesWith: 'wallet' },
    target: ({ chain, address }: Of<'wallet'>) => ({ path: `/wallets/${address}/stats`, query: { chain } }),
  },
  {
    ...{ id: 'getNativeBalance', kind: 'wallet', parts: recordParts },
    target: ({ chain, address }: Of<'wallet'>, { block }) => ({
      path: `/${address}/balance`,
      query: inChain(chain, { to_block: `${block}` }),
    }),
  },
  {
    ...{ id: 'getNativeBalancesForAddresses', kind: 'wallet', parts: arrayParts, rows: chainRows },
    target: ({ chain, address }: Of<'wallet'>, { block }) => ({
      path: '/wallets/balances',
      query: inChain(chain, { 'wallet_addresses[]': address, to_block: `${block}` }),
    }),
  },
  {
    ...{ id: 'getMultipleNFTs', kind: 'token', parts: arrayParts, rows: heldRows, changesWith: 'token' },
    target: ({ chain, address, tokenId }: Of<'token'>) => ({
      ...{ path: '/nft/getMultipleNFTs', query: { chain } },
      body: { tokens: [{ token_address: address, token_id: tokenId }], normalizeMetadata: false },
    }),
  },
  {
    ...{ id: 'getNFTBulkContractMetadata', kind: 'contract', parts: arrayParts, rows: collectionRows },
    target: ({ chain, address }: Of<'contract'>) => ({
      ...{ path: '/nft/metadata', query: { chain } },
      body: { addresses: [address] },
    }),
  },
  {
    ...{ id: 'getNFTTokenStats', kind: 'token', parts: recordParts, asOf: true, changesWith: 'token' },
    target: (subject: Of<'token'>) => ({ path: `${ofToken(subject)}/stats`, query: { chain: subject.chain } }),
  },
  {
    ...{ id: 'getNFTTransfersByBlock', kind: 'block', ...transfers },
    target: ({ chain, block }: Of<'block'>) => ({
      path: `/block/${block}/nft/transfers`,
      query: inChain(chain, limited()),
    }),
  },
  {
    ...{ id: 'getNFTTransfersFromToBlock', kind: 'block', ...transfers },
    target: ({ chain, block }: Of<'block'>) => ({ path: '/nft/transfers', query: inChain(chain, bounded({ block })) }),
  },
  {
    ...{ id: 'getBlockStats', kind: 'block', parts: recordParts },
    target: ({ chain, block }: Of<'block'>) => ({ path: `/block/${block}/stats`, query: { chain } }),
  },
  {
    ...{ id: 'getTokenTransfers', kind: 'erc20', ...transfers },
    target: ofContract(address => `/erc20/${address}/transfers`, bounded),
  },
  {
    ...{ id: 'getWalletTokenTransfers', kind: 'wallet', ...transfers },
    target: ({ chain, address }: Of<'wallet'>, asked) => ({
      path: `/${address}/erc20/transfers`,
      query: inChain(chain, bounded(asked)),
    }),
  },
  {
    ...{ id: 'getWalletTokenBalances', kind: 'wallet', parts: arrayParts, rows: tokenRows },
    target: ({ chain, address }: Of<'wallet'>, { block }) => ({
      path: `/${address}/erc20`,
      query: inChain(chain, { to_block: `${block}` }),
    }),
  },
  {
    ...{ id: 'getTokenMetadata', kind: 'erc20', parts: arrayParts, rows: tokenRows, changesWith: 'erc20' },
    target: ({ chain, address }: Of<'erc20'>) => ({
      path: '/erc20/metadata',
      query: inChain(chain, { 'addresses[]': address }),
    }),
  },
  {
    ...{ id: 'getTokenOwners', kind: 'erc20', ...list, parts: tokenOwnerParts, rows: tokenOwnerRows },
    ...{ asOf: true, changesWith: 'erc20' },
    target: ofContract(address => `/erc20/${address}/owners`, limited),
  },
  {
    ...{ id: 'getTokenStats', kind: 'erc20', parts: recordParts, changesWith: 'erc20' },
    target: ofContract(address => `/erc20/${address}/stats`, alone),
  },
  {
    ...{ id: 'getTokenHolders', kind: 'erc20', parts: tokenHolderParts, changesWith: 'erc20' },
    target: ofContract(address => `/erc20/${address}/holders`, alone),
  },
  {
    ...{ id: 'solana.getPortfolio', kind: 'account', parts: portfolioParts, rows: accountRows, ...moment },
    target: ({ chain, address }: Of<'account'>) => onSolana(`/account/${chain}/${address}/portfolio`),
  },
  {
    ...{ id: 'solana.balance', kind: 'account', parts: recordParts, ...moment },
    target: ({ chain, address }: Of<'account'>) => onSolana(`/account/${chain}/${address}/balance`),
  },
  {
    ...{ id: 'solana.getSPL', kind: 'account', parts: arrayParts, rows: accountRows, ...moment },
    target: ({ chain, address }: Of<'account'>) => onSolana(`/account/${chain}/${address}/tokens`),
  },
  {
    ...{ id: 'solana.getNFTs', kind: 'account', parts: arrayParts, rows: accountRows, ...moment },
    target: ({ chain, address }: Of<'account'>) => onSolana(`/account/${chain}/${address}/nft`),
  },
  {
    ...{ id: 'solana.getTokenMetadata', kind: 'mint', parts: recordParts, ...moment },
    target: ({ chain, address }: Of<'mint'>) => onSolana(`/token/${chain}/${address}/metadata`),
  },
  {
    ...{ id: 'solana.getNFTMetadata', kind: 'nft-mint', parts: recordParts, ...moment },
    target: ({ chain, address }: Of<'nft-mint'>) => onSolana(`/nft/${chain}/${address}/metadata`),
  },
]

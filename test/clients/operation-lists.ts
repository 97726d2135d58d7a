// The calls of the SDK that answer lists, and what each must answer on the chain of `operations-world.ts`.
import type { Address } from '../../src/model.ts'
import { alice, erin } from '../evm-history.ts'
import { sharedId } from '../evm-trades.ts'
import type { TransferRecord } from '../evm-truth.ts'
import type { ModelHolding } from '../holdings-model.ts'
import type { Wanted } from './expected.ts'
import type { OperationsWorld } from './operations-world.ts'

export type Answer = { raw: unknown; toJSON(): unknown; result: unknown }
type Page = { page?: unknown; page_size?: unknown; cursor?: unknown; status?: unknown; result?: unknown }
export type ListAnswer = Answer & { raw: Page; hasNext(): boolean; next(): Promise<ListAnswer> }

export async function everyPage(first: ListAnswer): Promise<ListAnswer[]> {
  const pages = [first]
  for (let page = first; page.hasNext(); ) {
    page = await page.next()
    pages.push(page)
    if (pages.length > 1_000) throw new Error('The pages do not end.')
  }
  return pages
}

type Call = (request: object) => Promise<never>

/** Both generations of the SDK, by the names of their calls. */
export type AnySdk = {
  start(config: Record<string, string>): Promise<void>
  EvmApi: Record<string, Record<string, Call>>
  SolApi: Record<string, Record<string, Call>>
}

type Fields = Record<string, unknown>

type ListCall = {
  name: string
  call(sdk: AnySdk, request: object): Promise<ListAnswer>
  request(world: OperationsWorld): object
  firstPage: 0 | 1
  hasStatus: boolean
  /** All rows, in order. */
  wanted(world: OperationsWorld, form: Wanted): unknown[]
  /** What of a record is compared; all of it unless told. */
  shown?(record: Fields): unknown
  /** What of an object of the SDK is compared with its record. */
  known(result: Fields): unknown
  knownOfRecord(record: Fields): unknown
}

export const listCalls: readonly ListCall[] = [
  transferList('getWalletNFTTransfers', {
    request: () => ({ address: erin }),
    isShown: row => [row.from_address, row.to_address].includes(erin.toLowerCase()),
  }),
  transferList('getNFTTransfers', {
    request: world => ({ address: world.history.many.address, tokenId: `${sharedId}` }),
    isShown: (row, world) => row.token_address === world.history.many.address && row.token_id === `${sharedId}`,
  }),
  transferList('getNFTTransfersByBlock', {
    request: world => ({ blockNumberOrHash: `${world.tradeBlock}` }),
    isShown: (row, world) => row.block_number === `${world.tradeBlock}`,
  }),
  transferList('getNFTTransfersFromToBlock', {
    request: () => ({ fromBlock: 3, toBlock: 5 }),
    isShown: row => Number(row.block_number) >= 3 && Number(row.block_number) <= 5,
  }),
  nftList('getNFTOwners', {
    request: world => ({ address: world.history.seven.address }),
    held: world => world.model.owners(addressOf(world, 'seven')),
  }),
  nftList('getNFTOwners', {
    request: world => ({ address: world.history.run.address }),
    held: world => world.model.owners(addressOf(world, 'run')),
  }),
  nftList('getNFTTokenIdOwners', {
    request: world => ({ address: world.history.many.address, tokenId: `${sharedId}` }),
    held: world => world.model.owners(addressOf(world, 'many'), sharedId),
  }),
  nftList('getWalletNFTs', {
    request: () => ({ address: alice }),
    held: world => world.model.walletNfts(alice.toLowerCase() as Address),
    hasStatus: true,
  }),
  contractNfts('seven'),
  contractNfts('run'),
  {
    name: 'getWalletNFTCollections',
    call: (sdk, request) => sdk.EvmApi.nft!.getWalletNFTCollections!(request),
    request: () => ({ address: alice }),
    firstPage: 1,
    hasStatus: true,
    wanted: (world, form) => {
      const held = world.model.walletNfts(alice.toLowerCase() as Address)
      const contracts = [...new Set(held.map(({ contract }) => contract))].sort().reverse()
      return contracts.map(contract => ({ token_address: contract, ...world.namesOf(contract, form) }))
    },
    shown: ({ token_address, contract_type, name, symbol, possible_spam, verified_collection }) => ({
      ...{ token_address, contract_type, name, symbol, possible_spam, verified_collection },
    }),
    known: ({ tokenAddress, name }) => [tokenAddress, name],
    knownOfRecord: ({ token_address, name }) => [token_address, name],
  },
]

function addressOf(world: OperationsWorld, name: 'seven' | 'many' | 'run'): Address {
  return world.history[name].address as Address
}

type TransferList = Pick<ListCall, 'request'> & { isShown(row: TransferRecord, world: OperationsWorld): boolean }

function transferList(name: string, { request, isShown }: TransferList): ListCall {
  return {
    name,
    call: (sdk, asked) => sdk.EvmApi.nft![name]!(asked),
    request,
    ...{ firstPage: 0, hasStatus: false },
    wanted: (world, { version, dialect }) =>
      world.truth.transfers
        .filter(row => isShown(row, world))
        .map(row => ({
          ...row,
          ...(dialect === 'live' && {
            ...{ possible_spam: false, verified_collection: false, block_timestamp: `${row.block_timestamp}.000Z` },
          }),
          ...(version === 'v2.2' && world.tokenNamesOf(row.token_address)),
        })),
    // Two of the calls take the recipient for the contract.
    known: ({ tokenId, toAddress, blockNumber }) => [tokenId, toAddress, blockNumber],
    knownOfRecord: ({ token_id, to_address, block_number }) => [token_id, to_address, block_number],
  }
}

type NftList = Pick<ListCall, 'request'> & { held(world: OperationsWorld): ModelHolding[]; hasStatus?: boolean }

function nftList(name: string, { request, held, hasStatus = false }: NftList): ListCall {
  return {
    name,
    call: (sdk, asked) => sdk.EvmApi.nft![name]!(asked),
    request,
    ...{ firstPage: 1, hasStatus },
    wanted: (world, form) => held(world).map(holding => nftRecord(world, holding, form)),
    shown: told,
    known: ({ tokenAddress, tokenId, ownerOf, amount }) => [tokenAddress, tokenId, ownerOf, amount],
    knownOfRecord: record => [record.token_address, record.token_id, record.owner_of, Number(record.amount)],
  }
}

function contractNfts(contract: 'seven' | 'run'): ListCall {
  return {
    name: `getContractNFTs of ${contract}`,
    call: (sdk, asked) => sdk.EvmApi.nft!.getContractNFTs!(asked),
    request: world => ({ address: world.history[contract].address }),
    ...{ firstPage: 0, hasStatus: true },
    wanted: world =>
      world.model.contractNfts(addressOf(world, contract)).map(({ tokenHash, tokenId }) => [tokenHash, `${tokenId}`]),
    shown: ({ token_hash, token_id }) => [token_hash, token_id],
    known: ({ tokenAddress, tokenId }) => [tokenAddress, tokenId],
    knownOfRecord: ({ token_address, token_id }) => [token_address, token_id],
  }
}

/** What the chain tells of a token and its holder; the rest is read from the node when it is first shown. */
export function nftRecord(world: OperationsWorld, holding: ModelHolding, form: Wanted): Fields {
  return {
    token_address: holding.contract,
    token_id: `${holding.tokenId}`,
    owner_of: holding.owner,
    amount: `${holding.amount}`,
    block_number: `${holding.position.block}`,
    block_number_minted: `${holding.blockMinted}`,
    token_hash: holding.tokenHash,
    ...world.namesOf(holding.contract, form),
  }
}

/** Leaves out what depends on when the node was asked, and what `minter_address` says beyond ERC-1155. */
export function told(record: Fields): Fields {
  const { token_uri: _, last_token_uri_sync: __, metadata, last_metadata_sync, minter_address, ...rest } = record
  const { normalized_metadata: ___, transfer_index: ____, updated_at: _____, ...known } = rest
  // It is there once the token's URI was read, with when.
  if ((metadata === null) !== (last_metadata_sync === null)) return record
  if (known.contract_type === 'ERC1155' && minter_address !== erc1155Minter) return record
  return known
}

const erc1155Minter = "ERC1155 tokens don't have a single minter"

// The questions of who owns what as pages ask them.
import { service } from '../state/service.ts'
import type { AsOf } from './as-of.ts'
import { countHolders } from './holders-count.ts'

const pageSize = 25

type Page = { chain: string; cursor: string | undefined }
type Wallet = { chain: string; wallet: string }
type Contract = { chain: string; contract: string }
type Token = Contract & { tokenId: string }

function pageQuery({ chain, cursor }: Page) {
  return { chain, limit: pageSize, ...(cursor === undefined ? {} : { cursor }) }
}

/** The service itself reads the texts, and says what is wrong with them. */
function asOfQuery({ at_block, at_date }: AsOf) {
  return {
    ...(at_block === undefined ? {} : { at_block: at_block as unknown as number }),
    ...(at_date === undefined ? {} : { at_date }),
  }
}

export function askTransfers({ address = '', ...query }: Readonly<Record<string, string>>, signal: AbortSignal) {
  return service.GET('/api/v2.2/nft/{address}/transfers', {
    params: { path: { address }, query: query as never },
    signal,
  })
}

export function askWalletChains(address: string, signal: AbortSignal) {
  return service.GET('/api/v2.2/wallets/{address}/chains', { params: { path: { address } }, signal })
}

export function askPortfolio(network: string, address: string, signal: AbortSignal) {
  const path = { network: network as 'mainnet', address }
  return service.GET('/account/{network}/{address}/portfolio', { params: { path }, signal })
}

export function askWalletNfts({ wallet: address, ...page }: Wallet & Page, signal: AbortSignal) {
  return service.GET('/api/v2.2/{address}/nft', {
    params: { path: { address }, query: { ...pageQuery(page), media_items: true } },
    signal,
  })
}

export function askWalletCollections({ wallet: address, ...page }: Wallet & Page, signal: AbortSignal) {
  return service.GET('/api/v2.2/{address}/nft/collections', {
    params: { path: { address }, query: { ...pageQuery(page), token_counts: true } },
    signal,
  })
}

export function askWalletTransfers({ wallet: address, ...page }: Wallet & Page, signal: AbortSignal) {
  return service.GET('/api/v2.2/{address}/nft/transfers', {
    params: { path: { address }, query: pageQuery(page) },
    signal,
  })
}

export function askWalletStats({ chain, wallet: address }: Wallet, signal: AbortSignal) {
  return service.GET('/api/v2.2/wallets/{address}/stats', { params: { path: { address }, query: { chain } }, signal })
}

export function askBalance({ chain, wallet: address }: Wallet, signal: AbortSignal) {
  return service.GET('/api/v2.2/{address}/balance', { params: { path: { address }, query: { chain } }, signal })
}

export function askWalletTokens({ chain, wallet: address }: Wallet, signal: AbortSignal) {
  return service.GET('/api/v2.2/{address}/erc20', { params: { path: { address }, query: { chain } }, signal })
}

export function askWalletTokenTransfers({ wallet: address, ...page }: Wallet & Page, signal: AbortSignal) {
  return service.GET('/api/v2.2/{address}/erc20/transfers', {
    params: { path: { address }, query: pageQuery(page) },
    signal,
  })
}

export function askErc20Metadata({ chain, contract }: Contract, signal: AbortSignal) {
  return service.GET('/api/v2.2/erc20/metadata', { params: { query: { chain, addresses: [contract] } }, signal })
}

export function askErc20Stats({ chain, contract: address }: Contract, signal: AbortSignal) {
  return service.GET('/api/v2.2/erc20/{address}/stats', { params: { path: { address }, query: { chain } }, signal })
}

export function askErc20Transfers({ contract: address, ...page }: Contract & Page, signal: AbortSignal) {
  return service.GET('/api/v2.2/erc20/{address}/transfers', {
    params: { path: { address }, query: pageQuery(page) },
    signal,
  })
}

export function askErc20Owners({ contract: address, ...page }: Contract & Page, signal: AbortSignal) {
  return service.GET('/api/v2.2/erc20/{address}/owners', {
    params: { path: { address }, query: pageQuery(page) },
    signal,
  })
}

export function askErc20Holders({ chain, contract: address }: Contract, signal: AbortSignal) {
  return service.GET('/api/v2.2/erc20/{address}/holders', { params: { path: { address }, query: { chain } }, signal })
}

export function askOwners({ contract: address, ...page }: Contract & Page & AsOf, signal: AbortSignal) {
  return service.GET('/api/v2.2/nft/{address}/owners', {
    params: { path: { address }, query: { ...pageQuery(page), ...asOfQuery(page), media_items: true } },
    signal,
  })
}

/** The whole list is read, as of one block, up to `rowsMax` of its rows. */
export async function askHolders(
  { chain, contract: address, rowsMax, ...asOf }: Contract & AsOf & { rowsMax: number },
  signal: AbortSignal,
) {
  const { data, error, response } = await service.GET('/api/v2.2/nft/{address}/owners', {
    params: { path: { address }, query: { chain, ...asOfQuery(asOf) } },
    headers: { accept: 'application/x-ndjson' },
    parseAs: 'stream',
    signal,
  })
  if (data == null) return { error, response }
  return { data: await countHolders(data.pipeThrough(new TextDecoderStream()), rowsMax), response }
}

export function askCollectionStats({ chain, contract: address, ...asOf }: Contract & AsOf, signal: AbortSignal) {
  return service.GET('/api/v2.2/nft/{address}/stats', {
    params: { path: { address }, query: { chain, ...asOfQuery(asOf) } },
    signal,
  })
}

export function askFirstTransfer({ chain, contract: address }: Contract, signal: AbortSignal) {
  return service.GET('/api/v2.2/nft/{address}/transfers', {
    params: { path: { address }, query: { chain, limit: 1, order: 'ASC' } },
    signal,
  })
}

export function askLastTransfer({ chain, contract: address }: Contract, signal: AbortSignal) {
  return service.GET('/api/v2.2/nft/{address}/transfers', {
    params: { path: { address }, query: { chain, limit: 1 } },
    signal,
  })
}

export function askHead(chain: string, signal: AbortSignal) {
  return service.GET('/api/v2.2/dateToBlock', { params: { query: { chain, date: `${Date.now()}` } }, signal })
}

export function askNft({ chain, contract: address, tokenId: token_id }: Token, signal: AbortSignal) {
  return service.GET('/api/v2.2/nft/{address}/{token_id}', {
    params: { path: { address, token_id }, query: { chain, media_items: true } },
    signal,
  })
}

export function askTokenStats({ chain, contract: address, tokenId: token_id }: Token, signal: AbortSignal) {
  return service.GET('/api/v2.2/nft/{address}/{token_id}/stats', {
    params: { path: { address, token_id }, query: { chain } },
    signal,
  })
}

export function askTokenOwners({ contract: address, tokenId: token_id, ...page }: Token & Page, signal: AbortSignal) {
  return service.GET('/api/v2.2/nft/{address}/{token_id}/owners', {
    params: { path: { address, token_id }, query: pageQuery(page) },
    signal,
  })
}

export function askTokenTransfers(
  { contract: address, tokenId: token_id, ...page }: Token & Page,
  signal: AbortSignal,
) {
  return service.GET('/api/v2.2/nft/{address}/{token_id}/transfers', {
    params: { path: { address, token_id }, query: pageQuery(page) },
    signal,
  })
}

export function askBlockTransfers({ block, ...page }: Page & { block: string }, signal: AbortSignal) {
  return service.GET('/api/v2.2/block/{block_number_or_hash}/nft/transfers', {
    params: { path: { block_number_or_hash: block }, query: pageQuery(page) },
    signal,
  })
}

/** All that a life needs: the oldest transfers of a token. */
export function askTokenLife({ chain, contract: address, tokenId: token_id }: Token, signal: AbortSignal) {
  return service.GET('/api/v2.2/nft/{address}/{token_id}/transfers', {
    params: { path: { address, token_id }, query: { chain, limit: 100, order: 'ASC' } },
    signal,
  })
}

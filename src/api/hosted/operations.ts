// Every operation that the hosted service has, by its own id: those that Almanac has a route for are served, the others
// answer 501. The table is of what is known of its public SDKs and reference; nothing here does anything.
import type { Scope } from '../../keys/gatekeeper.ts'
import type { IndexName } from '../../views.ts'

export type HostedOperation = {
  id: string
  method: string
  /** As in the table of routes; those of EVM chains stand below `/api/v2`, `/api/v2.1` and `/api/v2.2`. */
  path: string
  isSolana: boolean
  /** Why it is not served, where it is not. */
  needs: string
  /** Of those that are served: which scope a key needs, and which index of transfers a chain. */
  scope?: Scope | 'any'
  view?: IndexName
  /** How the public SDK for JavaScript asks for it. Absent: it does not. */
  sdkCall?: string
}

const undocumented = 'its answer is not documented'

/**
 * By what they need, which says why one is not served. Those that are have their scope and their view, and before their
 * id the group that the SDK has them in.
 */
const evmOperations: Readonly<Record<string, string>> = {
  'NFT transfers': `
GET /{address}/nft nft.getWalletNFTs nft-holdings by_wallet
GET /{address}/nft/collections nft.getWalletNFTCollections nft-holdings by_wallet
GET /{address}/nft/transfers nft.getWalletNFTTransfers nft-transfers by_wallet
GET /nft/transfers nft.getNFTTransfersFromToBlock nft-transfers by_block
GET /nft/{address} nft.getContractNFTs nft-holdings by_token
GET /nft/{address}/metadata nft.getNFTContractMetadata nft-transfers
GET /nft/{address}/owners nft.getNFTOwners nft-holdings by_token
GET /nft/{address}/stats nft.getNFTCollectionStats nft-holdings by_token
GET /nft/{address}/transfers nft.getNFTContractTransfers nft-transfers
GET /nft/{address}/unique-owners getUniqueOwnersByCollection nft-holdings by_token
GET /nft/{address}/{token_id} nft.getNFTMetadata nft-holdings by_token
GET /nft/{address}/{token_id}/metadata/resync nft.reSyncMetadata nft-holdings by_token
GET /nft/{address}/{token_id}/owners nft.getNFTTokenIdOwners nft-holdings by_token
GET /nft/{address}/{token_id}/stats nft.getNFTTokenStats nft-holdings by_token
GET /nft/{address}/{token_id}/transfers nft.getNFTTransfers nft-transfers by_token
POST /nft/getMultipleNFTs nft.getMultipleNFTs nft-holdings by_token
POST /nft/metadata getNFTBulkContractMetadata nft-transfers
GET /block/{block_number_or_hash}/nft/transfers nft.getNFTTransfersByBlock nft-transfers by_block
GET /block/{block_number_or_hash}/stats block.getBlockStats nft-holdings by_block
GET /wallets/{address}/stats wallets.getWalletStats nft-holdings by_wallet`,
  'blocks and the node': `
GET /dateToBlock block.getDateToBlock any
GET /info/endpointWeights utils.endpointWeights any
GET /wallets/balances balance.getNativeBalancesForAddresses balances
GET /wallets/{address}/chains wallets.getWalletActiveChains wallet-chains
GET /web3/version utils.web3ApiVersion any
GET /{address}/balance balance.getNativeBalance balances`,
  [undocumented]: `
GET /latestBlockNumber/{chain} getLatestBlockNumber`,
  'ERC-20 transfers': `
GET /{address}/erc20 token.getWalletTokenBalances erc20
GET /{address}/erc20/transfers token.getWalletTokenTransfers erc20
GET /erc20/metadata token.getTokenMetadata erc20
GET /erc20/metadata/symbols token.getTokenMetadataBySymbol erc20
GET /erc20/{address}/allowance token.getTokenAllowance erc20
GET /erc20/{address}/owners getTokenOwners erc20
GET /erc20/{address}/stats getTokenStats erc20
GET /erc20/{address}/transfers token.getTokenTransfers erc20
GET /erc20/{address}/holders getTokenHolders erc20
GET /erc20/{address}/holders/historical getHistoricalTokenHolders erc20`,
  'approvals of ERC-20, which are not indexed': `
GET /wallets/{address}/approvals getWalletApprovals`,
  'logs of marketplaces': `
GET /nft/{address}/trades getNFTTrades
GET /nft/{address}/{token_id}/trades getNFTTradesByToken
GET /wallets/{address}/nfts/trades getNFTTradesByWallet
GET /nft/{address}/price getNFTContractSalePrices
GET /nft/{address}/{token_id}/price getNFTSalePrices
GET /nft/{address}/lowestprice getNFTLowestPrice`,
  'whole transactions': `
GET /{address} getWalletTransactions
GET /{address}/verbose getWalletTransactionsVerbose
GET /{address}/logs getContractLogs
POST /{address}/events getContractEvents
POST /{address}/function runContractFunction
GET /block/{block_number_or_hash} getBlock
GET /transaction/{transaction_hash} getTransaction
GET /transaction/{transaction_hash}/verbose getTransactionVerbose
GET /transaction/{transaction_hash}/internal-transactions getInternalTransactions
GET /wallets/{address}/history getWalletHistory`,
  'names of domains, such as ENS': `
GET /resolve/{domain} resolveDomain
GET /resolve/ens/{domain} resolveENSDomain
GET /resolve/{address}/domain resolveAddressToDomain
GET /resolve/{address}/reverse resolveAddress`,
  'facts from outside the chain': `
GET /nft/{address}/floor-price getNFTFloorPriceByContract
GET /nft/{address}/floor-price/historical getNFTHistoricalFloorPriceByContract
GET /nft/{address}/traits getNFTTraitsByCollection
GET /nft/{address}/traits/paginate getNFTTraitsByCollectionPaginate
GET /nft/{address}/{token_id}/floor-price getNFTFloorPriceByToken
POST /nft/{address}/nfts-by-traits getNFTByContractTraits
PUT /nft/{address}/sync syncNFTContract
POST /ipfs/uploadFolder uploadFolder
POST /contracts-review reviewContracts
GET /entities/categories getEntityCategories
GET /entities/categories/{category_id} getEntitiesByCategory
GET /entities/search searchEntities
GET /entities/{entity_id} getEntity`,
  'prices and markets': `
GET /{address}/reserves getPairReserves
GET /{token0_address}/{token1_address}/pairAddress getPairAddress
GET /{token0_address}/{token1_address}/price getPairPrice
GET /discovery/token getDiscoveryToken
POST /discovery/tokens getFilteredTokens
GET /discovery/tokens/top-gainers getTopGainersTokens
GET /discovery/tokens/top-losers getTopLosersTokens
GET /discovery/tokens/trending getTrendingTokens
GET /erc20/exchange/{exchange}/bonding getBondingTokensByExchange
GET /erc20/exchange/{exchange}/graduated getGraduatedTokensByExchange
GET /erc20/exchange/{exchange}/new getNewTokensByExchange
POST /erc20/prices getMultipleTokenPrices
GET /erc20/{address}/bondingStatus getTokenBondingStatus
GET /erc20/{address}/pairs getTokenPairs
GET /erc20/{address}/pairs/stats getAggregatedTokenPairStats
GET /erc20/{address}/price getTokenPrice
GET /erc20/{address}/swaps getSwapsByTokenAddress
GET /erc20/{address}/top-gainers getTopProfitableWalletPerToken
GET /market-data/erc20s/top-movers getTopERC20TokensByPriceMovers
GET /market-data/erc20s/top-tokens getTopERC20TokensByMarketCap
GET /market-data/global/market-cap getTopCryptoCurrenciesByMarketCap
GET /market-data/global/volume getTopCryptoCurrenciesByTradingVolume
GET /market-data/nfts/hottest-collections getHottestNFTCollectionsByTradingVolume
GET /market-data/nfts/top-collections getTopNFTCollectionsByMarketCap
GET /pairs/{address}/ohlcv getPairCandlesticks
GET /pairs/{address}/snipers getSnipersByPairAddress
GET /pairs/{address}/stats getPairStats
GET /pairs/{address}/swaps getSwapsByPairAddress
POST /tokens/analytics getMultipleTokenAnalytics
POST /tokens/analytics/timeseries getTimeSeriesTokenAnalytics
GET /tokens/categories getTokenCategories
GET /tokens/search searchTokens
GET /tokens/{address}/analytics getTokenAnalytics
GET /tokens/{address}/score getTokenScore
GET /tokens/{address}/score/historical getHistoricalTokenScore
GET /volume/categories getVolumeStatsByCategory
GET /volume/chains getVolumeStatsByChain
GET /volume/timeseries getTimeSeriesVolume
GET /volume/timeseries/{category_id} getTimeSeriesVolumeByCategory
GET /wallets/{address}/defi/positions getDefiPositionsSummary
GET /wallets/{address}/defi/summary getDefiSummary
GET /wallets/{address}/defi/{protocol}/positions getDefiPositionsByProtocol
GET /wallets/{address}/insight getWalletInsight
GET /wallets/{address}/net-worth getWalletNetWorth
GET /wallets/{address}/profitability getWalletProfitability
GET /wallets/{address}/profitability/summary getWalletProfitabilitySummary
GET /wallets/{address}/swaps getSwapsByWalletAddress
GET /wallets/{address}/tokens getWalletTokenBalancesPrice`,
}

const solanaOperations: Readonly<Record<string, string>> = {
  'accounts of Solana': `
GET /account/{network}/{address}/balance account.balance portfolio
GET /account/{network}/{address}/nft account.getNFTs portfolio
GET /account/{network}/{address}/portfolio account.getPortfolio portfolio
GET /account/{network}/{address}/tokens account.getSPL portfolio
GET /nft/{network}/{address}/metadata nft.getNFTMetadata portfolio
GET /token/{network}/{address}/metadata token.getTokenMetadata portfolio
POST /token/{network}/metadata getMultipleTokenMetadata`,
  'holders of tokens': `
GET /token/{network}/holders/{address} getTokenHolders
GET /token/{network}/holders/{address}/historical getHistoricalTokenHolders
GET /token/{network}/{address}/top-holders getTopHolders`,
  'prices and markets': `
GET /account/{network}/{address}/swaps getSwapsByWalletAddress
GET /token/{network}/exchange/{exchange}/bonding getBondingTokensByExchange
GET /token/{network}/exchange/{exchange}/graduated getGraduatedTokensByExchange
GET /token/{network}/exchange/{exchange}/new getNewTokensByExchange
GET /token/{network}/pairs/{address}/ohlcv getCandleSticks
GET /token/{network}/pairs/{address}/snipers getSnipersByPairAddress
GET /token/{network}/pairs/{address}/stats getPairStats
GET /token/{network}/pairs/{address}/swaps getSwapsByPairAddress
GET /token/{network}/{address}/bonding-status getTokenBondingStatus
GET /token/{network}/{address}/pairs getTokenPairs
GET /token/{network}/{address}/pairs/stats getAggregatedTokenPairStats
GET /token/{network}/{address}/price getTokenPrice
GET /token/{network}/{address}/swaps getSwapsByTokenAddress
POST /token/{network}/prices getMultipleTokenPrices`,
}

/** Where the SDK has another name for it. */
const sdkNames: Readonly<Record<string, string>> = { balance: 'getBalance' }

export const hostedOperations: readonly HostedOperation[] = [
  ...read(evmOperations, false),
  ...read(solanaOperations, true),
]

function read(table: Readonly<Record<string, string>>, isSolana: boolean): HostedOperation[] {
  return Object.entries(table).flatMap(([needs, lines]) =>
    lines
      .trim()
      .split('\n')
      .map(line => {
        const [method, path, name, scope, view] = line.split(' ') as [string, string, string, Scope?, IndexName?]
        const [id = '', group] = name.split('.').reverse()
        const sdkCall = group && `Moralis.${isSolana ? 'SolApi' : 'EvmApi'}.${group}.${sdkNames[id] ?? id}`
        const known = { ...(scope && { scope }), ...(view && { view }), ...(sdkCall && { sdkCall }) }
        return { id, method, path, isSolana, needs, ...known }
      }),
  )
}

/** What a client may ask instead, by the ids of EVM operations that are served. */
const alternatives: Readonly<Record<string, string>> = {
  getWalletTokenBalancesPrice: 'getWalletTokenBalances has the balances without prices',
  getWalletNetWorth: 'getWalletTokenBalances and getNativeBalance have what it holds, without prices',
  getWalletHistory: 'getWalletNFTTransfers and getWalletTokenTransfers have its transfers',
  getWalletTransactions: 'getWalletNFTTransfers and getWalletTokenTransfers have its transfers',
  getContractLogs: 'getNFTContractTransfers and getTokenTransfers have its transfers',
  getContractEvents: 'getNFTContractTransfers and getTokenTransfers have its transfers',
  getNFTTrades: 'getNFTContractTransfers has the value of each transaction',
  getNFTTradesByToken: 'getNFTTransfers has the value of each transaction',
  getNFTTradesByWallet: 'getWalletNFTTransfers has the value of each transaction',
  getBlock: 'getBlockStats has its counts',
  getLatestBlockNumber: 'getDateToBlock with the date of now has the newest block',
}

export function whyNotServed({ needs }: HostedOperation): string {
  return needs === undocumented ? undocumented : `it needs ${needs}`
}

/** A text that follows the reason. Undefined where nothing else has it. */
export function insteadOf({ id, isSolana }: HostedOperation): string | undefined {
  return isSolana ? undefined : alternatives[id]
}

/** Routes and operations with the same shape are the same, whatever their parameters are called. */
export function shapeOf({ method = 'GET', path }: { method?: string | undefined; path: string }): string {
  return `${method} ${path.replace(/{\w+}/g, '{}')}`
}

type ListedRoute = { method?: string; path: string; versions?: unknown }

function serves(route: ListedRoute, operation: HostedOperation): boolean {
  return (route.versions === undefined) === operation.isSolana && shapeOf(route) === shapeOf(operation)
}

export function isServed(operation: HostedOperation, routes: readonly ListedRoute[]): boolean {
  return routes.some(route => serves(route, operation))
}

/** What a route serves. Undefined: something of Almanac's own. */
export function hostedAt(route: ListedRoute): HostedOperation | undefined {
  return hostedOperations.find(operation => serves(route, operation))
}

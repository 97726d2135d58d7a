// Every operation that the hosted service has, by its own id: those that Almanac has a route for are served, the others
// answer 501. The table is of what is known of its public SDKs and reference; nothing here does anything.
import type { RouteParts } from '../responder.ts'

export type HostedOperation = {
  id: string
  method: string
  /** As in the table of routes; those of EVM chains stand below `/api/v2`, `/api/v2.1` and `/api/v2.2`. */
  path: string
  isSolana: boolean
  /** Why it is not served, where it is not. */
  needs: string
}

/** By what they need, which says why one is not served. */
const evmOperations: Readonly<Record<string, string>> = {
  'NFT transfers': `
GET /{address}/nft getWalletNFTs
GET /{address}/nft/collections getWalletNFTCollections
GET /{address}/nft/transfers getWalletNFTTransfers
GET /nft/transfers getNFTTransfersFromToBlock
GET /nft/{address} getContractNFTs
GET /nft/{address}/metadata getNFTContractMetadata
GET /nft/{address}/owners getNFTOwners
GET /nft/{address}/stats getNFTCollectionStats
GET /nft/{address}/transfers getNFTContractTransfers
GET /nft/{address}/unique-owners getUniqueOwnersByCollection
GET /nft/{address}/{token_id} getNFTMetadata
GET /nft/{address}/{token_id}/owners getNFTTokenIdOwners
GET /nft/{address}/{token_id}/stats getNFTTokenStats
GET /nft/{address}/{token_id}/transfers getNFTTransfers
POST /nft/getMultipleNFTs getMultipleNFTs
POST /nft/metadata getNFTBulkContractMetadata
GET /block/{block_number_or_hash}/nft/transfers getNFTTransfersByBlock
GET /block/{block_number_or_hash}/stats getBlockStats
GET /wallets/{address}/stats getWalletStats`,
  'blocks and the node': `
GET /dateToBlock getDateToBlock
GET /info/endpointWeights endpointWeights
GET /wallets/balances getNativeBalancesForAddresses
GET /wallets/{address}/chains getWalletActiveChains
GET /web3/version web3ApiVersion
GET /{address}/balance getNativeBalance`,
  'a body that is not known': `
GET /latestBlockNumber/{chain} getLatestBlockNumber`,
  'ERC-20 transfers': `
GET /{address}/erc20 getWalletTokenBalances
GET /{address}/erc20/transfers getWalletTokenTransfers
GET /erc20/metadata getTokenMetadata
GET /erc20/metadata/symbols getTokenMetadataBySymbol
GET /erc20/{address}/allowance getTokenAllowance
GET /erc20/{address}/owners getTokenOwners
GET /erc20/{address}/stats getTokenStats
GET /erc20/{address}/transfers getTokenTransfers
GET /erc20/{address}/holders getTokenHolders
GET /erc20/{address}/holders/historical getHistoricalTokenHolders
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
  'names of domains': `
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
GET /nft/{address}/{token_id}/metadata/resync reSyncMetadata
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
GET /account/{network}/{address}/balance balance
GET /account/{network}/{address}/nft getNFTs
GET /account/{network}/{address}/portfolio getPortfolio
GET /account/{network}/{address}/tokens getSPL
GET /nft/{network}/{address}/metadata getNFTMetadata
GET /token/{network}/{address}/metadata getTokenMetadata
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
        const [method, path, id] = line.split(' ') as [string, string, string]
        return { id, method, path, isSolana, needs }
      }),
  )
}

/** Routes and operations with the same shape are the same, whatever their parameters are called. */
export function shapeOf({ method = 'GET', path }: { method?: string | undefined; path: string }): string {
  return `${method} ${path.replace(/{\w+}/g, '{}')}`
}

type ListedRoute = Pick<RouteParts, 'document'> & { method?: string; path: string; versions?: unknown }

export function isServed({ isSolana, ...operation }: HostedOperation, routes: readonly ListedRoute[]): boolean {
  const shape = shapeOf(operation)
  return routes.some(route => (route.versions === undefined) === isSolana && shapeOf(route) === shape)
}

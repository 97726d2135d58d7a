// The table of routes. A new operation takes:
// - its rules, in a file of `query/`, without HTTP;
// - its route, in a file of `evm/` or `solana/`: parameters, answer, description, and the shape of its errors where it
//   differs;
// - a row here;
// - the schema of its answer in `schemas.ts`, with an example of the same name in `openapi-examples.json`;
// - a scope in `keys/keys.ts`, unless it shares one;
// - of an operation that the hosted service has: scope and view in `hosted/operations.ts`, which then counts it as
//   served, and its way to be compared in `tools/compare/operations.ts`.
// `npm run generate` then writes `docs/openapi.json` and the console's types.
import { backfill } from './backfill.ts'
import { block } from './console/block.ts'
import { contracts } from './console/contracts.ts'
import { coverage } from './console/coverage.ts'
import { labels } from './console/labels.ts'
import { search } from './console/search.ts'
import { transaction } from './console/transaction.ts'
import { events } from './events.ts'
import { nativeBalance, nativeBalances } from './evm/balances.ts'
import { changes } from './evm/changes/changes.ts'
import { contractMetadata, contractMetadataList } from './evm/contract-metadata.ts'
import { dateToBlock } from './evm/date-to-block.ts'
import { allowance, tokenCounts, tokenMetadataBySymbol, tokenMetadataList } from './evm/erc20/token-facts.ts'
import { erc20Owners, holderHistory, holders } from './evm/erc20/token-owners.ts'
import { erc20Transfers, walletErc20Transfers } from './evm/erc20/token-transfers.ts'
import { walletTokens } from './evm/erc20/wallet-tokens.ts'
import { contractNfts, owners, tokenOwners, uniqueOwners, walletCollections, walletNfts } from './evm/holding-routes.ts'
import { metadataResync } from './evm/metadata-resync.ts'
import { blockStats, collectionStats, tokenStats, walletStats } from './evm/nft-stats.ts'
import { nftTransfers } from './evm/nft-transfers.ts'
import { multipleNfts, nft } from './evm/nfts.ts'
import { apiVersion, endpointWeights } from './evm/service-facts.ts'
import { allTransfers, blockTransfers, tokenTransfers, walletTransfers } from './evm/transfer-lists.ts'
import { walletChains } from './evm/wallet-chains.ts'
import {
  changedWebhook,
  newWebhook,
  webhookDeletion,
  webhookDetails,
  webhookList,
  webhookResumption,
  webhookRotation,
  webhookTest,
} from './evm/webhooks/webhooks.ts'
import { explanation } from './explain.ts'
import { change, keyList, keyUse, newKey, revocation, rotation } from './keys.ts'
import { health, metrics, readiness, status } from './operator-routes.ts'
import { type ApiVersion, apiVersions } from './request.ts'
import type { RouteParts } from './responder.ts'
import { balance, nfts, portfolio, tokens } from './solana/account.ts'
import { nftMetadata, tokenMetadata } from './solana/metadata.ts'
import { readAccounts } from './solana/read-accounts.ts'

export type Route = RouteParts & {
  /** GET, and with it HEAD, where it is left out. */
  method?: 'POST' | 'PATCH' | 'DELETE'
  /** `{name}` is a parameter. */
  path: string
  /** Puts the path below `/api/v2`, `/api/v2.1` …. Absent: the path is whole. */
  versions?: readonly ApiVersion[]
  /** Pages of other origins may ask. Only the operations are: they change nothing and say nothing of the service. */
  crossOrigin?: true
}

export const routes: readonly Route[] = [
  { path: '/nft/{address}/transfers', versions: apiVersions, crossOrigin: true, ...nftTransfers },
  { path: '/{address}/nft/transfers', versions: apiVersions, crossOrigin: true, ...walletTransfers },
  { path: '/nft/{address}/{token_id}/transfers', versions: apiVersions, crossOrigin: true, ...tokenTransfers },
  { path: '/block/{block_number_or_hash}/nft/transfers', versions: apiVersions, crossOrigin: true, ...blockTransfers },
  { path: '/nft/transfers', versions: apiVersions, crossOrigin: true, ...allTransfers },
  { path: '/{address}/nft', versions: apiVersions, crossOrigin: true, ...walletNfts },
  { path: '/{address}/nft/collections', versions: apiVersions, crossOrigin: true, ...walletCollections },
  { path: '/nft/{address}', versions: apiVersions, crossOrigin: true, ...contractNfts },
  { path: '/nft/{address}/owners', versions: apiVersions, crossOrigin: true, ...owners },
  { path: '/nft/{address}/unique-owners', versions: apiVersions, crossOrigin: true, ...uniqueOwners },
  { path: '/nft/{address}/stats', versions: apiVersions, crossOrigin: true, ...collectionStats },
  { path: '/nft/{address}/{token_id}', versions: apiVersions, crossOrigin: true, ...nft },
  { path: '/nft/{address}/{token_id}/owners', versions: apiVersions, crossOrigin: true, ...tokenOwners },
  { path: '/nft/{address}/{token_id}/metadata/resync', versions: apiVersions, crossOrigin: true, ...metadataResync },
  { path: '/nft/{address}/{token_id}/stats', versions: apiVersions, crossOrigin: true, ...tokenStats },
  { method: 'POST', path: '/nft/getMultipleNFTs', versions: apiVersions, crossOrigin: true, ...multipleNfts },
  { path: '/wallets/{address}/stats', versions: apiVersions, crossOrigin: true, ...walletStats },
  { path: '/block/{block_number_or_hash}/stats', versions: apiVersions, crossOrigin: true, ...blockStats },
  { path: '/{address}/erc20', versions: apiVersions, crossOrigin: true, ...walletTokens },
  { path: '/{address}/erc20/transfers', versions: apiVersions, crossOrigin: true, ...walletErc20Transfers },
  { path: '/erc20/metadata', versions: apiVersions, crossOrigin: true, ...tokenMetadataList },
  { path: '/erc20/metadata/symbols', versions: apiVersions, crossOrigin: true, ...tokenMetadataBySymbol },
  { path: '/erc20/{address}/allowance', versions: apiVersions, crossOrigin: true, ...allowance },
  { path: '/erc20/{address}/owners', versions: apiVersions, crossOrigin: true, ...erc20Owners },
  { path: '/changes', crossOrigin: true, ...changes },
  { path: '/erc20/{address}/stats', versions: apiVersions, crossOrigin: true, ...tokenCounts },
  { path: '/erc20/{address}/holders', versions: apiVersions, crossOrigin: true, ...holders },
  { path: '/erc20/{address}/holders/historical', versions: apiVersions, crossOrigin: true, ...holderHistory },
  { path: '/erc20/{address}/transfers', versions: apiVersions, crossOrigin: true, ...erc20Transfers },
  { path: '/dateToBlock', versions: apiVersions, crossOrigin: true, ...dateToBlock },
  { path: '/web3/version', versions: apiVersions, crossOrigin: true, ...apiVersion },
  { path: '/info/endpointWeights', versions: apiVersions, crossOrigin: true, ...endpointWeights },
  { path: '/wallets/{address}/chains', versions: apiVersions, crossOrigin: true, ...walletChains },
  { path: '/{address}/balance', versions: apiVersions, crossOrigin: true, ...nativeBalance },
  { path: '/wallets/balances', versions: apiVersions, crossOrigin: true, ...nativeBalances },
  { path: '/nft/{address}/metadata', versions: apiVersions, crossOrigin: true, ...contractMetadata },
  { method: 'POST', path: '/nft/metadata', versions: apiVersions, crossOrigin: true, ...contractMetadataList },
  { path: '/account/{network}/{address}/portfolio', crossOrigin: true, ...portfolio },
  { path: '/account/{network}/{address}/balance', crossOrigin: true, ...balance },
  { path: '/account/{network}/{address}/tokens', crossOrigin: true, ...tokens },
  { path: '/account/{network}/{address}/nft', crossOrigin: true, ...nfts },
  { path: '/nft/{network}/{address}/metadata', crossOrigin: true, ...nftMetadata },
  { path: '/token/{network}/{address}/metadata', crossOrigin: true, ...tokenMetadata },
  { path: '/chains/{chain}/contracts', ...contracts },
  { path: '/chains/{chain}/coverage', ...coverage },
  { path: '/chains/{chain}/blocks/{number}', ...block },
  { path: '/chains/{chain}/transactions/{hash}', ...transaction },
  { path: '/chains/{chain}/labels', ...labels },
  { path: '/solana/{network}/accounts', ...readAccounts },
  { method: 'POST', path: '/chains/{chain}/backfill', ...backfill },
  { path: '/health', ...health },
  { path: '/ready', ...readiness },
  { path: '/status', ...status },
  { path: '/metrics', ...metrics },
  { path: '/events', ...events },
  { path: '/explain/{chain}/{contract}', ...explanation },
  { path: '/search', ...search },
  { path: '/keys', ...keyList },
  { method: 'POST', path: '/keys', ...newKey },
  { path: '/keys/{id}/use', ...keyUse },
  { method: 'POST', path: '/keys/{id}', ...change },
  { method: 'POST', path: '/keys/{id}/rotation', ...rotation },
  { method: 'DELETE', path: '/keys/{id}', ...revocation },
  { path: '/webhooks', ...webhookList },
  { method: 'POST', path: '/webhooks', ...newWebhook },
  { path: '/webhooks/{id}', ...webhookDetails },
  { method: 'PATCH', path: '/webhooks/{id}', ...changedWebhook },
  { method: 'POST', path: '/webhooks/{id}/test', ...webhookTest },
  { method: 'POST', path: '/webhooks/{id}/rotation', ...webhookRotation },
  { method: 'POST', path: '/webhooks/{id}/resume', ...webhookResumption },
  { method: 'DELETE', path: '/webhooks/{id}', ...webhookDeletion },
]

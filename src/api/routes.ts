// The table of routes. A new operation is one row here, a file with its handler and document beside it, and one with its rules in `query/`.
import type { Context } from './context.ts'
import { answerEvents, eventsDocument } from './events.ts'
import { answerExplain, explainDocument } from './explain.ts'
import { answerKeys, answerNewKey, answerRevocation, keysDocument, newKeyDocument, revocationDocument } from './keys.ts'
import { answerTransfers, transfersDocument } from './nft-transfers.ts'
import type { DocumentOptions, Json } from './openapi-parts.ts'
import {
  answerContracts,
  answerHealth,
  answerMetrics,
  answerReady,
  answerStatus,
  contractsDocument,
  healthDocument,
  metricsDocument,
  readyDocument,
  statusDocument,
} from './ops.ts'
import { type ApiVersion, apiVersions } from './params.ts'
import { answerPortfolio, portfolioDocument } from './portfolio.ts'
import type { Handler } from './responder.ts'
import { answerWalletChains, walletChainsDocument } from './wallet-chains.ts'

export type Route = {
  /** GET, and with it HEAD, where nothing is said. */
  method?: 'POST' | 'DELETE'
  /** Without the version. `{name}` is a parameter. */
  path: string
  /** The route is at `/api/{version}` for each of them. Absent: the path is whole. */
  versions?: readonly ApiVersion[]
  /** Called once for each app. */
  answer: (context: Context) => Handler
  /** The operation in the OpenAPI document. */
  document: (options: DocumentOptions, version: ApiVersion) => Json
}

// biome-ignore format: one row for each route
export const routes: readonly Route[] = [
  { path: '/nft/{address}/transfers', versions: apiVersions, answer: answerTransfers, document: transfersDocument },
  { path: '/wallets/{address}/chains', versions: apiVersions, answer: answerWalletChains, document: walletChainsDocument },
  { path: '/account/{network}/{address}/portfolio', answer: answerPortfolio, document: portfolioDocument },
  { path: '/chains/{chain}/contracts', answer: answerContracts, document: contractsDocument },
  { path: '/health', answer: answerHealth, document: healthDocument },
  { path: '/ready', answer: answerReady, document: readyDocument },
  { path: '/status', answer: answerStatus, document: statusDocument },
  { path: '/metrics', answer: answerMetrics, document: metricsDocument },
  { path: '/events', answer: answerEvents, document: eventsDocument },
  { path: '/explain/{chain}/{contract}', answer: answerExplain, document: explainDocument },
  { path: '/keys', answer: answerKeys, document: keysDocument },
  { method: 'POST', path: '/keys', answer: answerNewKey, document: newKeyDocument },
  { method: 'DELETE', path: '/keys/{id}', answer: answerRevocation, document: revocationDocument },
]

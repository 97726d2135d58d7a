// The OpenAPI 3.1 document of the whole service, made from the parameters and schemas that the routes use.
import { z } from 'zod'
import type { ChainTable } from '../chains.ts'
import { type Answer, jsonAnswer, safetyHeaders } from './answer.ts'
import { examples, operatorPaths } from './openapi-operator.ts'
import {
  dataErrors,
  failureResponses,
  indexHeaders,
  inPath,
  inQuery,
  inQueryList,
  type Json,
  operation,
  solanaErrors,
  solanaHeaders,
  success,
} from './openapi-parts.ts'
import {
  explanation,
  issuedKey,
  keyList,
  liveBlockShape,
  livePastShape,
  liveSampleShape,
  liveStatusShape,
  newKey,
  shownKey,
} from './operator-schemas.ts'
import { contractListParameters, portfolioParameters, transferParameters, walletParameters } from './params.ts'
import * as schemas from './schemas.ts'

export type DocumentOptions = { chains: ChainTable; pageSizeMax: number; version: string }

/** Served to anyone: it says nothing that the keys protect. */
export function openApiAnswer(options: DocumentOptions): Answer {
  return jsonAnswer(openApiDocument(options), { 'Cache-Control': 'public, max-age=300', ...safetyHeaders })
}

/** As it is kept in `docs/`. */
export function openApiText(options: DocumentOptions): string {
  return `${JSON.stringify(openApiDocument(options), null, 2)}\n`
}

export function openApiDocument({ chains, pageSizeMax, version }: DocumentOptions): Json {
  const transfer = transferParameters(chains, pageSizeMax)
  const { order, disableTotal, address, ...shared } = transfer
  const wallet = walletParameters(chains)
  const listed = contractListParameters(chains)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Almanac',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: [
        'NFT transfers of a contract, active chains of a wallet and portfolios of Solana accounts.',
        'Answers come in two dialects: `reference` writes counts and flags as strings, `live` as numbers and booleans. ' +
          'The operator’s setting decides, then the path (`/api/v2.1` and `/api/v2.2`: live), then the header ' +
          '`X-Moralis-Platform` (live), else it is `reference`; the header `X-Dialect` names it. ' +
          '`/api/v2.1` is another name for `/api/v2.2`.',
        'Errors are `application/json`; with `Accept: application/problem+json` they come as RFC 9457 problems with the ' +
          'same facts (schema `Problem`). Every answer carries `X-Request-Id`.',
      ].join('\n\n'),
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    tags: [{ name: 'EVM' }, { name: 'Solana' }, { name: 'Operations' }],
    paths: {
      '/api/v2/nft/{address}/transfers': operation({
        id: 'getNFTContractTransfers',
        tag: 'EVM',
        summary: 'NFT transfers of a contract',
        parameters: [inPath(address), ...Object.values({ ...shared, disableTotal }).map(inQuery)],
        success: success('TransferCollection', 'A page of transfers, newest first.', examples.transfers, indexHeaders),
        errors: dataErrors,
      }),
      '/api/v2.2/nft/{address}/transfers': operation({
        id: 'getNFTContractTransfersV22',
        tag: 'EVM',
        summary: 'NFT transfers of a contract, with names and a choice of order',
        parameters: [inPath(address), ...Object.values({ ...shared, order }).map(inQuery)],
        success: success('NamedTransferCollection', 'A page of transfers.', examples.namedTransfers, indexHeaders),
        errors: dataErrors,
      }),
      ...Object.fromEntries(
        ['v2', 'v2.2'].map(name => [
          `/api/${name}/wallets/{address}/chains`,
          operation({
            id: name === 'v2' ? 'getWalletActiveChains' : 'getWalletActiveChainsV22',
            tag: 'EVM',
            summary: 'The chains on which a wallet is active',
            parameters: [inPath(wallet.address), inQueryList(wallet.chains)],
            success: success(
              'WalletChains',
              'The first and last transaction on each chain.',
              examples.walletChains,
              indexHeaders,
            ),
            errors: dataErrors,
          }),
        ]),
      ),
      '/account/{network}/{address}/portfolio': operation({
        id: 'getPortfolio',
        tag: 'Solana',
        summary: 'Balance, tokens and NFTs of a Solana account',
        parameters: [inPath(portfolioParameters.network), inPath(portfolioParameters.address)],
        success: success('Portfolio', 'What the account holds.', examples.portfolio, solanaHeaders),
        errors: solanaErrors,
        failureSchema: 'SolanaFailure',
      }),
      '/chains/{chain}/contracts': operation({
        id: 'listContracts',
        tag: 'Operations',
        summary:
          'The contracts of a chain that transfers are stored for; needs the scope `ops` unless the operator opened it',
        parameters: [inPath(listed.chain), inQuery(listed.after), inQuery(listed.limit)],
        success: success('ContractList', 'Contracts in the order of their addresses.', examples.contracts, {}),
        errors: ['bad_request', 'unauthorized', 'forbidden', 'internal'],
      }),
      ...operatorPaths,
    },
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Issued with `almanac keys create`.' },
      },
      responses: {
        ...failureResponses([...dataErrors, 'not_found', 'upstream_failed'], 'Failure'),
        ...failureResponses(solanaErrors, 'SolanaFailure'),
      },
      schemas: componentSchemas(),
    },
  }
}

function componentSchemas(): Json {
  const registry = z.registry<{ id: string }>()
  const named = {
    Transfer: schemas.transfer,
    NamedTransfer: schemas.namedTransfer,
    TransferCollection: schemas.transferCollection,
    NamedTransferCollection: schemas.namedTransferCollection,
    WalletTransaction: schemas.walletTransaction,
    WalletChains: schemas.walletChains,
    Holding: schemas.holding,
    Portfolio: schemas.portfolio,
    Failure: schemas.failure,
    SolanaFailure: schemas.solanaFailure,
    Problem: schemas.problem,
    ContractList: schemas.contractList,
    Health: schemas.health,
    Readiness: schemas.readiness,
    Status: schemas.status,
    LiveStatus: liveStatusShape,
    LivePast: livePastShape,
    LiveSample: liveSampleShape,
    LiveBlock: liveBlockShape,
    Key: shownKey,
    KeyList: keyList,
    Explanation: explanation,
    NewKey: newKey,
    IssuedKey: issuedKey,
  }
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas: made } = z.toJSONSchema(registry, { io: 'input', uri: id => `#/components/schemas/${id}` })
  return Object.fromEntries(
    Object.entries(made).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as Json]),
  )
}

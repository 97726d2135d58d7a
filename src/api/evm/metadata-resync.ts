// Has the URI of a token read again, and what it points to fetched again where the operator permits it, over HTTP.
import { AlmanacError } from '../../errors.ts'
import type { TokenDetails } from '../../query/metadata/token-uris.ts'
import { readyAnswer } from '../answer.ts'
import { chainErrors, inPath, inQuery, jsonSuccess } from '../openapi-parts.ts'
import { freshenWaitMsOf, perform } from '../operation.ts'
import { choiceParameter, dialectOf, exampleContract, QueryText, readParameter } from '../params.ts'
import type { RouteParts } from '../responder.ts'
import { holdingParameters } from './holding-parameters.ts'
import { holdingsOptions } from './holdings-context.ts'

const flag = choiceParameter('flag', ['uri', 'metadata'], {
  default: 'uri',
  description:
    'What to read again. `uri`: the URI from the contract, and then the metadata; `metadata`: what the known URI points to.',
})
const mode = choiceParameter('mode', ['async', 'sync'], {
  default: 'async',
  description: '`sync`: the answer waits until it is done.',
})

export const metadataResync: RouteParts = {
  answer: context => {
    const { address, tokenId, chain } = holdingParameters(context.chains, context.settings.pageSizeMax)
    return request =>
      perform(context, request, {
        ...{ about: 'indexed', scope: 'nft-holdings' },
        work: async admission => {
          const token = {
            contract: readParameter(address, request.pathParameter('address')),
            tokenId: readParameter(tokenId, request.pathParameter('token_id')),
          }
          const query = new QueryText(request.query)
          const id = (query.optional(chain) ?? context.chains.usual).id
          const what = query.optional(flag) ?? 'uri'
          const isSync = query.optional(mode) === 'sync'
          const options = holdingsOptions(context, request, admission)
          const { rows } = await context.holdings.nfts({ chain: id, tokens: [token] }, options)
          const row = rows[0]
          if (row === undefined) throw ownerless(token.contract, token.tokenId)
          const shown = { ...token, standard: row.standard }
          const asked = { what, key: admission.key, waitMs: freshenWaitMsOf(request, context.settings) }
          const again = () => context.tokenUris.again(id, shown, asked)
          const headers = { 'X-Dialect': dialectOf(request, context.settings.dialect) }
          if (!isSync) {
            again().catch(error => context.log.debug({ err: error }, 'Metadata not read again'))
            const ready = readyAnswer({ headers, body: statusBody('pending') })
            return { ready: { ...ready, plain: { ...ready.plain, status: 202 } }, keep: false }
          }
          await context.queue.withoutSlot(again)
          const { details } = await context.tokenUris.of(id, [shown], admission.key)
          if (!isUpdated(details[0]!))
            throw new AlmanacError(
              'not_found',
              `The metadata of token ${token.tokenId} of ${token.contract} could not be read`,
            )
          return { ready: readyAnswer({ headers, body: statusBody('completed') }), keep: false }
        },
      })
  },
  document: ({ chains, pageSizeMax }, version) => {
    const { address, tokenId, chain } = holdingParameters(chains, pageSizeMax)
    return {
      id: version === 'v2' ? 'reSyncMetadata' : 'reSyncMetadataV22',
      tag: 'EVM',
      summary: 'Read metadata again',
      description:
        'Reads the URI of a token from its contract again, and what it points to where the operator permits it (`metadata` in the configuration). Use it after a collection reveals its art. 404: the token has no owner, or, with `mode=sync`, its metadata could not be read.',
      parameters: [inPath(address), inPath(tokenId), inQuery(chain), inQuery(flag), inQuery(mode)],
      answers: {
        200: jsonSuccess('MetadataResync', 'With `mode=sync`: it was read again.', {}),
        202: jsonSuccess('MetadataResync', 'It is being read again.', {}),
      },
      errors: [...chainErrors, 'list_too_large', 'not_found'],
      failures: [ownerless(exampleContract, 6955n)],
    }
  },
}

function ownerless(contract: string, tokenId: bigint): AlmanacError {
  return new AlmanacError('not_found', `No NFT of ${contract} with the id ${tokenId} has an owner`)
}

function isUpdated({ metadata, web }: TokenDetails): boolean {
  return metadata !== undefined || web?.fact?.status === 'success'
}

function statusBody(status: 'pending' | 'completed'): Buffer<ArrayBuffer> {
  return Buffer.from(JSON.stringify({ status })) as Buffer<ArrayBuffer>
}

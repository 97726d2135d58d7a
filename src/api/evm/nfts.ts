// Single NFTs over HTTP: one by its path, or up to 25 by a body. `query/holdings/` has the rules.
import { z } from 'zod'
import { AlmanacError } from '../../errors.ts'
import { type Address, parseAddress } from '../../model.ts'
import type { TokenRef } from '../../query/holdings/questions.ts'
import { chainErrors, inPath, inQuery, jsonSuccess, reference, stateHeaders } from '../openapi-parts.ts'
import { exampleContract, missing, QueryText, readParameter, showGiven, unacceptable } from '../params.ts'
import type { RouteParts } from '../responder.ts'
import { parseTokenId } from './evm-parameters.ts'
import { documented, holdingParameters, readFilter } from './holding-parameters.ts'
import { type AskedHolding, type HoldingAnswer, holdingAnswer, picturesAt } from './holdings-context.ts'
import { nftJson } from './nft-json.ts'

const tokensMax = 25
const bodyBytesMax = 64 * 1_024
const ofOne = ['chain', 'format', 'normalizeMetadata', 'mediaItems', 'includePrices'] as const

export const nft: RouteParts = {
  answer: holdingAnswer(askOne),
  document: ({ chains, pageSizeMax }, version) => {
    const parameters = holdingParameters(chains, pageSizeMax)
    return {
      id: version === 'v2' ? 'getNFTMetadata' : 'getNFTMetadataV22',
      tag: 'EVM',
      summary: 'NFT metadata',
      description:
        'One token with its contract, its owner and what is known of its metadata. Use it for the page of a token. Of several owners the newest receiver is shown. 404: it never moved, or it is burned.',
      parameters: [inPath(parameters.address), inPath(parameters.tokenId), ...documented(parameters, ofOne)],
      answers: { 200: jsonSuccess('Nft', 'The NFT with its newest owner.', stateHeaders) },
      errors: [...chainErrors, 'list_too_large', 'not_found'],
      failures: [ownerless(exampleToken, 6955n, true)],
    }
  },
}

export const multipleNfts: RouteParts = {
  answer: holdingAnswer(askMany, { isKept: false }),
  document: ({ chains, pageSizeMax }, version) => ({
    id: version === 'v2' ? 'getMultipleNFTs' : 'getMultipleNFTsV22',
    tag: 'EVM',
    summary: 'Multiple NFTs',
    description: `Up to ${tokensMax} tokens in one request, in the order of the body; null for one without an owner. Use it instead of a request for each token. Ids are decimal, or \`0x\` and hex digits.`,
    parameters: [inQuery(holdingParameters(chains, pageSizeMax).chain)],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: reference('TokenList'),
          examples: { one: { value: { tokens: [{ token_address: exampleToken, token_id: '6955' }] } } },
        },
      },
    },
    answers: {
      200: jsonSuccess('NftList', 'The NFTs in the order of the body, null for one without an owner.', stateHeaders),
    },
    errors: [...chainErrors, 'list_too_large'],
    failures: [unacceptable('tokens', acceptedTokens)],
  }),
}

const exampleToken = exampleContract as Address

async function askOne({ context, request, parameters, dialect, options }: AskedHolding): Promise<HoldingAnswer> {
  const contract = readParameter(parameters.address, request.pathParameter('address'))
  const tokenId = readParameter(parameters.tokenId, request.pathParameter('token_id'))
  const query = new QueryText(request.query)
  const chain = (query.optional(parameters.chain) ?? context.chains.usual).id
  const format = query.optional(parameters.format) ?? 'decimal'
  const { normalizeMetadata, mediaItems } = readFilter(query, parameters, ofOne)
  const pictureAt = mediaItems ? picturesAt(context, request, { chain, key: options.key }) : undefined
  const answer = await context.holdings.nfts({ chain, tokens: [{ contract, tokenId }] }, options)
  const row = answer.rows[0]
  if (row === undefined) throw ownerless(contract, tokenId, answer.complete)
  const shown = nftJson(row, 'single', { dialect, format, normalizeMetadata, pictureAt })
  return { ...answer, shown, isOfRequest: mediaItems }
}

async function askMany({ context, request, parameters, dialect, options }: AskedHolding): Promise<HoldingAnswer> {
  const chain = (new QueryText(request.query).optional(parameters.chain) ?? context.chains.usual).id
  // A client that sends its body slowly does not take a slot meanwhile.
  const body = bodyOf(await context.queue.withoutSlot(() => request.readJson(bodyBytesMax)))
  const { tokens, normalizeMetadata } = body
  const pictureAt = body.mediaItems ? picturesAt(context, request, { chain, key: options.key }) : undefined
  const answer = await context.holdings.nfts({ chain, tokens }, options)
  const written = { dialect, format: 'decimal', normalizeMetadata, pictureAt } as const
  const shown = answer.rows.map(row => row && nftJson(row, 'single', written))
  return { ...answer, shown }
}

function ownerless(contract: Address, tokenId: bigint, isComplete: boolean): AlmanacError {
  return new AlmanacError('not_found', `No NFT of ${contract} with the id ${tokenId} has an owner`, {
    details: { index_complete: isComplete },
  })
}

/** Numbers are taken as ids too: clients write both. */
const bodySchema = z.object({
  tokens: z.array(z.object({ token_address: z.string(), token_id: z.union([z.string(), z.int().min(0)]) })),
  normalizeMetadata: z.boolean().nullish(),
  media_items: z.boolean().nullish(),
  // As the public SDK writes it.
  mediaItems: z.boolean().nullish(),
})

const acceptedTokens = `a list of 1 to ${tokensMax} objects with token_address and token_id`

type Asked = { tokens: TokenRef[]; normalizeMetadata: boolean; mediaItems: boolean }

function bodyOf(body: unknown): Asked {
  const { data, error } = bodySchema.safeParse(body)
  const [list, at, field] = error?.issues[0]?.path ?? []
  if (list === 'tokens' && typeof at === 'number' && typeof field === 'string') {
    const accepted = field === 'token_id' ? 'a decimal or 0x hex number, as text' : '0x and 40 hex digits, as text'
    const item: object = (body as { tokens: object[] }).tokens[at]!
    throw (Object.hasOwn(item, field) ? unacceptable : missing)(`tokens[${at}].${field}`, accepted)
  }
  if (typeof body === 'object' && body !== null && !Object.hasOwn(body, 'tokens'))
    throw missing('tokens', acceptedTokens)
  if (data === undefined || data.tokens.length === 0 || data.tokens.length > tokensMax)
    throw unacceptable('tokens', acceptedTokens)
  const tokens = data.tokens.map(({ token_address: address, token_id: id }, at) => {
    const [contract, tokenId] = [parseAddress(address), parseTokenId(`${id}`)]
    if (contract === undefined)
      throw unacceptable(`tokens[${at}].token_address`, `0x and 40 hex digits, not "${showGiven(address)}"`)
    if (tokenId === undefined)
      throw unacceptable(
        `tokens[${at}].token_id`,
        `a decimal or 0x hex number without leading zeros, not "${showGiven(`${id}`)}"`,
      )
    return { contract, tokenId }
  })
  const mediaItems = data.media_items ?? data.mediaItems ?? false
  return { tokens, normalizeMetadata: data.normalizeMetadata ?? false, mediaItems }
}

// The metadata operations of Solana over HTTP: a mint as an NFT, and as a token. The rules are in
// `query/mint-metadata.ts`.
import type { Admission } from '../../keys/gatekeeper.ts'
import type { MetaplexFacts, MintFacts } from '../../model.ts'
import { plainName } from '../../plain-text.ts'
import type { IndexingKey } from '../../query/freshen.ts'
import { normalizedMetadataOf } from '../../query/metadata/token-metadata.ts'
import { webAddressOf } from '../../query/metadata/web-address.ts'
import { factFromWeb, jsonType } from '../../query/metadata/web-facts.ts'
import { mintOf, noSuchMint } from '../../query/mint-metadata.ts'
import { readyAnswer } from '../answer.ts'
import type { Context } from '../context.ts'
import { inPath, inQuery, jsonSuccess, mintHeaders, solanaErrors } from '../openapi-parts.ts'
import { perform } from '../operation.ts'
import { type Parameter, QueryText, readParameter } from '../params.ts'
import type { ApiRequest } from '../request.ts'
import type { RouteParts } from '../responder.ts'
import { readingHeaders } from './account.ts'
import { flagWithoutEffect, network, pubkeyParameter } from './parameters.ts'

type MetadataView = {
  id: string
  summary: string
  description: string
  schema: Parameters<typeof jsonSuccess>[0]
  address: Parameter<Uint8Array>
  flags: readonly Parameter<boolean>[]
  body: (mint: string, facts: MintFacts) => object
  /** Shows what the metadata file says too. */
  withFile?: true
}

export const nftMetadata = metadataRoute({
  id: 'getSolanaNftMetadata',
  summary: 'Metadata of a Solana NFT',
  description:
    'What the chain says of the mint of an NFT: its name, symbol, standard, supply and Metaplex facts, such as the address of its metadata file, and what that file says where the operator permits fetching it. 404: there is no such mint.',
  schema: 'SolanaNftMetadata',
  address: pubkeyParameter('Mint of the NFT.', '9PN8gNqJy5mVnr8PJSaiKULG2inbTZxm4Xwgc2LM6x5Z'),
  flags: [flagWithoutEffect('mediaItems', 'The answer names the picture; it is not fetched')],
  body: shared,
  withFile: true,
})

export const tokenMetadata = metadataRoute({
  id: 'getSolanaTokenMetadata',
  summary: 'Metadata of a Solana token',
  description:
    'What the chain says of the mint of a token: its name, symbol, decimals and total supply, and its Metaplex facts. Use it to show amounts of the token. 404: there is no such mint.',
  schema: 'SolanaTokenMetadata',
  address: pubkeyParameter('Mint of the token.', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
  flags: [],
  body: (mint, facts) => ({
    ...shared(mint, facts),
    // Text here, unlike in the lists of an account.
    decimals: `${facts.decimals}`,
    totalSupplyFormatted: facts.displayedSupply,
  }),
})

function metadataRoute({ id, summary, description, schema, address, flags, body, withFile }: MetadataView): RouteParts {
  return {
    answer: context => {
      const work = async (request: ApiRequest, { key }: Admission) => {
        const asked = readParameter(network, request.pathParameter('network'))
        const text = request.pathParameter('address')
        const mint = readParameter(address, text)
        const query = new QueryText(request.query)
        for (const flag of flags) query.optional(flag)
        const answer = await mintOf({ network: asked, mint }, { key, freshen: context.freshen })
        const file = withFile && (await fileOf(context, answer.facts, key))
        const shown = { ...body(text, answer.facts), ...file }
        const json = Buffer.from(JSON.stringify(shown)) as Buffer<ArrayBuffer>
        // The age changes by the second, and an indexer may have to read the mint again.
        return { ready: readyAnswer({ headers: readingHeaders(answer), body: json }), keep: false }
      }
      return request => perform(context, request, { scope: 'portfolio', work: admission => work(request, admission) })
    },
    document: {
      id,
      tag: 'Solana',
      summary,
      description,
      parameters: [inPath(network), inPath(address), ...flags.map(inQuery)],
      answers: { 200: jsonSuccess(schema, 'What the mint and its Metaplex accounts say.', mintHeaders) },
      errors: [...solanaErrors, 'not_found'],
      failures: [noSuchMint(String(address.example), 'mainnet')],
    },
    failureSchema: 'SolanaFailure',
  }
}

function shared(mint: string, { name, symbol, tokenStandard, supply, mintAuthority, metaplex }: MintFacts) {
  return {
    mint,
    standard: metaplex === null ? '' : 'metaplex',
    name: plainName(name),
    symbol: plainName(symbol),
    tokenStandard,
    totalSupply: supply,
    metaplex: shownMetaplex(metaplex ?? { ...noMetaplex, updateAuthority: mintAuthority ?? systemProgram }),
  }
}

/** Public clients read these fields without looking whether they are there. */
function shownMetaplex({ uri, updateAuthority, primarySaleHappened, ...facts }: MetaplexFacts) {
  const { sellerFeeBasisPoints, isMutable, masterEdition } = facts
  return {
    metadataUri: plainName(uri),
    updateAuthority,
    sellerFeeBasisPoints,
    primarySaleHappened: primarySaleHappened ? 1 : 0,
    isMutable,
    masterEdition,
  }
}

const fileWaitMs = 1_000

/** What the metadata file says, where the operator permits fetching it. */
async function fileOf({ web, queue }: Context, { metaplex }: MintFacts, key: IndexingKey) {
  const address = metaplex === null ? undefined : webAddressOf(metaplex.uri.replaceAll('\0', ''))
  if (web === undefined || address === undefined || !web.mayAsk(address)) return undefined
  const wait = (waiting: () => Promise<unknown>) => queue.withoutSlot(waiting)
  const fact = await factFromWeb(web, address, { purpose: 'metadata', key, waitMs: fileWaitMs, wait })
  if (fact?.status !== 'success' || fact.type !== jsonType || fact.content === undefined) return undefined
  const { description, image, external_url, animation_url, attributes } = normalizedMetadataOf(fact.content.toString())
  return {
    ...{ description, image, externalUrl: external_url, animationUrl: animation_url },
    attributes: attributes.map(({ trait_type, value }) => ({ traitType: trait_type, value })),
    metadataEvidence: fact.evidence,
  }
}

const systemProgram = '11111111111111111111111111111111'
const noMetaplex = {
  uri: '',
  sellerFeeBasisPoints: 0,
  primarySaleHappened: false,
  isMutable: false,
  masterEdition: false,
}

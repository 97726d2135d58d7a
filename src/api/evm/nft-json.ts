// Rows of who owns what as the JSON objects of answers, with the keys in the order that clients of the hosted service
// see. It knows no rules.
import type { ShownFacts } from '../../annotate/shown-facts.ts'
import { type Address, cryptoPunks, firstCryptoPunks, type TokenStandard, zeroAddress } from '../../model.ts'
import type { CollectionRow, NftRow, TokenRef } from '../../query/holdings/questions.ts'
import { mediaOf } from '../../query/metadata/token-media.ts'
import { normalizedMetadataOf } from '../../query/metadata/token-metadata.ts'
import type { TokenDetails } from '../../query/metadata/token-uris.ts'
import type { WebAddress } from '../../query/metadata/web-address.ts'
import { jsonType } from '../../query/metadata/web-facts.ts'
import type { WebFact } from '../../store/web-fact-store.ts'
import { timestampMax } from '../json-bytes.ts'
import type { Dialect } from '../params.ts'

export type NftOptions = {
  dialect: Dialect
  format: 'decimal' | 'hex'
  normalizeMetadata: boolean
  /** Gives the address of a picture that a token URI holds. Absent: `media` was not asked for. */
  pictureAt?: PictureAt | undefined
}

/** `address`: where it lies on the web. */
export type PictureAt = (token: TokenRef, address?: WebAddress, fact?: WebFact) => string

/** Which record it is: of a list of owners, of a wallet, of a contract, or a single token. */
export type NftShape = 'owner' | 'wallet' | 'contract' | 'single'

/** They declare no standard. Their transfers are named ERC-721 all the same. */
const withoutStandard: ReadonlySet<Address> = new Set([cryptoPunks, firstCryptoPunks])
/** As the hosted service says it. */
export const noSingleMinter = "ERC1155 tokens don't have a single minter"

export function nftJson(row: NftRow, shape: NftShape, options: NftOptions): Record<string, unknown> {
  const { dialect, format, normalizeMetadata, pictureAt } = options
  const { contract, tokenId, owner, position, blockMinted, standard, minter, facts } = row
  const amount = `${row.amount}`
  const held = { owner_of: owner, block_number: `${position.block}` }
  const { block, transactionIndex, logIndex, batchIndex } = position
  return {
    token_address: contract,
    token_id: format === 'hex' ? `0x${tokenId.toString(16)}` : `${tokenId}`,
    ...(shape === 'single' ? { transfer_index: [block, transactionIndex, logIndex, batchIndex] } : {}),
    ...(shape === 'wallet' ? { amount } : {}),
    ...(shape === 'contract' ? {} : held),
    block_number_minted: blockMinted === undefined ? null : `${blockMinted}`,
    token_hash: row.tokenHash,
    ...(shape === 'wallet' ? {} : { amount }),
    ...standardFields(contract, facts, standard),
    ...tokenFields(row.token, normalizeMetadata),
    minter_address: standard === 'ERC1155' ? noSingleMinter : (minter ?? null),
    ...flagFields(facts, dialect),
    ...(pictureAt === undefined ? {} : { media: mediaJson(row, pictureAt) }),
  }
}

/** Null where the token names no picture, as far as is known. */
function mediaJson({ token, ...row }: NftRow, pictureAt: PictureAt) {
  if (token?.syncedAtMs === undefined) return { status: 'processing' }
  const updatedAt = isoOf(token.syncedAtMs)
  if (token.isLeftOut) return { status: 'temporarily_unavailable', updatedAt }
  if (token.picture !== undefined) return webMediaJson(row, token.picture, { token, pictureAt })
  if (token.web !== undefined && token.metadata === undefined)
    return {
      status: token.web.fact?.status === 'success' ? 'unsupported_media' : (token.web.fact?.status ?? 'processing'),
    }
  const media = mediaOf(token)
  if (media === undefined) return null
  const { status } = media
  if ('url' in media) return { status, original_media_url: media.url, updatedAt }
  if (status === 'unsupported_media') return { mimetype: media.type, status, updatedAt }
  const category = media.type.slice(0, media.type.indexOf('/'))
  return { mimetype: media.type, category, status, original_media_url: pictureAt(row), updatedAt }
}

type WebMedia = { token: TokenDetails; pictureAt: PictureAt }

/** Each size is the picture itself: none is made smaller here. */
function webMediaJson(
  row: TokenRef,
  { address, fact }: NonNullable<TokenDetails['picture']>,
  { token, pictureAt }: WebMedia,
) {
  const media = mediaOf(token)
  const original_media_url = media !== undefined && 'url' in media ? media.url : token.tokenUri
  if (address === undefined)
    return { status: 'invalid_url', original_media_url, updatedAt: isoOf(token.syncedAtMs ?? 0) }
  const item = { url: pictureAt(row, address, fact), width: fact?.width ?? 0, height: fact?.height ?? 0 }
  const media_collection = { low: item, medium: item, high: item }
  if (fact === undefined) return { status: 'processing', original_media_url, media_collection }
  const updatedAt = isoOf(fact.readAtMs)
  if (fact.status !== 'success' || fact.type === null || fact.type === jsonType)
    return { status: fact.status === 'success' ? 'unsupported_media' : fact.status, original_media_url, updatedAt }
  const category = fact.type.slice(0, fact.type.indexOf('/'))
  const shown = { mimetype: fact.type, category, status: 'success', original_media_url, updatedAt }
  return { ...shown, bytes: fact.size, evidence: fact.evidence, media_collection }
}

export function standardFields(contract: Address, facts: ShownFacts | undefined, standard: TokenStandard) {
  const contract_type = withoutStandard.has(contract) ? null : standard
  return { contract_type, name: facts?.name ?? null, symbol: facts?.symbol ?? null }
}

/** The names of a record that are not nested. */
export function nftColumns(shape: NftShape): string[] {
  const row: NftRow = {
    ...{ contract: zeroAddress, owner: zeroAddress, tokenId: 0n, tokenHash: '', standard: 'ERC721', amount: 1n },
    ...{ position: { block: 0, transactionIndex: 0, logIndex: 0, batchIndex: 0 } },
    ...{ blockMinted: undefined, minter: undefined, facts: undefined, token: undefined },
  }
  return Object.keys(nftJson(row, shape, { dialect: 'live', format: 'decimal', normalizeMetadata: false }))
}

/** `normalized_metadata` is absent where the metadata is not known. */
export function tokenFields(token: TokenDetails | undefined, normalizeMetadata: boolean) {
  const metadata = token?.metadata
  const isNormalized = normalizeMetadata && metadata !== undefined
  const syncedAt = token?.syncedAtMs === undefined ? null : isoOf(token.syncedAtMs)
  return {
    token_uri: token?.tokenUri ?? null,
    metadata: metadata ?? null,
    ...(isNormalized ? { normalized_metadata: normalizedMetadataOf(metadata) } : {}),
    last_token_uri_sync: syncedAt,
    // On-chain metadata comes with the URI.
    last_metadata_sync:
      metadata === undefined ? null : token?.web?.fact === undefined ? syncedAt : isoOf(token.web.fact.readAtMs),
    ...(metadata === undefined || token?.web?.fact === undefined ? {} : { metadata_evidence: token.web.fact.evidence }),
  }
}

export function collectionJson(
  { contract, standard, count, facts }: CollectionRow,
  { dialect, withCount }: { dialect: Dialect; withCount: boolean },
): Record<string, unknown> {
  return {
    token_address: contract,
    contract_type: standard,
    name: facts?.name ?? null,
    symbol: facts?.symbol ?? null,
    ...flagFields(facts, dialect),
    ...(withCount ? { count: dialect === 'live' ? count : `${count}` } : {}),
    collection_logo: null,
    collection_banner_image: null,
  }
}

export function flagFields(facts: ShownFacts | undefined, dialect: Dialect) {
  const flag = (value = false) => (dialect === 'live' ? value : `${value}`)
  return { possible_spam: flag(facts?.possibleSpam), verified_collection: flag(facts?.verifiedCollection) }
}

function isoOf(milliseconds: number): string {
  return new Date(Math.min(milliseconds, timestampMax * 1_000)).toISOString()
}

// Sends the pictures of tokens by signed links: those that token URIs hold, and those that were fetched from where the
// operator permits it. It never sends a page.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { AlmanacError } from '../../errors.ts'
import { mediaOf, svgType } from '../../query/metadata/token-media.ts'
import { metadataOf } from '../../query/metadata/token-metadata.ts'
import { pictureAddressOf } from '../../query/metadata/token-uris.ts'
import { webAddressOf } from '../../query/metadata/web-address.ts'
import { factFromWeb, jsonType } from '../../query/metadata/web-facts.ts'
import { overloaded } from '../admission-queue.ts'
import { type Answer, type Handler, matchesTag } from '../answer.ts'
import type { Context } from '../context.ts'
import type { ApiRequest } from '../request.ts'
import type { MediaToken } from './media-links.ts'

/** A browser shows its own box meanwhile; the next look finds the picture. */
const fetchWaitMs = 10_000
const metadataBytesMax = 4 * 2 ** 20

type Picture = { type: string; bytes: Buffer<ArrayBuffer>; tag: string }

/** A link needs no key, so whoever has one may ask without end: it costs a decoding a minute. */
const keptPictures = { maxSize: 16 * 2 ** 20, ttl: 60_000, sizeCalculation: ({ bytes }: Picture) => bytes.length + 500 }

/**
 * An image element runs and fetches nothing. Whoever opens the link itself gets a page without scripts, forms and
 * requests, and of SVG, which can look like a page of this service and has links, a file. Styles within it stay: art is
 * made with them, and what they name is not fetched.
 */
const pictureHeaders = {
  'Content-Security-Policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // Pages of clients show pictures too.
  'Cross-Origin-Resource-Policy': 'cross-origin',
  // A contract may change its art; it is read again after a week.
  'Cache-Control': 'private, max-age=3600',
}

export function mediaHandler(context: Context): Handler {
  const kept = new LRUCache<string, Picture>(keptPictures)
  return request => {
    const token = context.mediaLinks.open(request.target)
    if (token === undefined)
      throw new AlmanacError('forbidden', 'This link is not valid or has expired: ask for the NFT again')
    const known = kept.get(request.target)
    if (known !== undefined) return pictureAnswer(context, known, request)
    return context.queue.run(async () => {
      const picture = await pictureOf(context, token)
      kept.set(request.target, picture)
      return pictureAnswer(context, picture, request)
    })
  }
}

async function pictureOf(context: Context, token: MediaToken): Promise<Picture> {
  const { chain, contract, tokenId } = token
  const [stored] = await context.store.tokenUris(chain, [{ contract, tokenId }])
  const found = stored?.uri === undefined ? undefined : await heldOrFetched(context, token, stored.uri)
  if (found === undefined)
    throw new AlmanacError('not_found', `No picture of token ${tokenId} of ${contract} is stored`)
  const { type, bytes } = found
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { type, bytes, tag }
}

type Found = { type: string; bytes: Buffer<ArrayBuffer> } | undefined

async function heldOrFetched(context: Context, token: MediaToken, tokenUri: string): Promise<Found> {
  const { web, queue } = context
  const details: Parameters<typeof pictureAddressOf>[0] = { tokenUri, metadata: metadataOf(tokenUri) }
  const place = details.metadata === undefined ? webAddressOf(tokenUri) : undefined
  if (web !== undefined && place !== undefined) {
    const [fact] = await web.stored([place], metadataBytesMax)
    details.web = { address: place, fact }
    if (fact?.status === 'success' && fact.type === jsonType) details.metadata = fact.content?.toString()
  }
  const media = mediaOf(details)
  if (media?.status === 'success') {
    const bytes = media.bytes()
    return bytes && { type: media.type, bytes }
  }
  const address = pictureAddressOf(details, token.tokenId)?.address
  if (web === undefined || address === undefined || token.payer === undefined) return undefined
  const { id, isLimited } = token.payer
  // The link was given to this key: what it may have indexed a day is not counted here, its share of bytes is.
  const key = { id, indexPerDay: isLimited ? 1 : undefined, indexWaiting: undefined }
  const wait = (waiting: () => Promise<unknown>) => queue.withoutSlot(waiting)
  const fact = await factFromWeb(web, address, { purpose: 'picture', key, waitMs: fetchWaitMs, wait })
  if (fact?.status !== 'success' || fact.type === null || fact.type === jsonType) return undefined
  return fact.content && { type: fact.type, bytes: fact.content }
}

function pictureAnswer({ unsent }: Context, { type, bytes, tag }: Picture, request: ApiRequest): Answer {
  const headers = {
    ...{ 'Content-Type': type, ETag: tag, ...pictureHeaders },
    ...(type === svgType && { 'Content-Disposition': 'attachment; filename="picture.svg"' }),
  }
  const knownTag = request.header('if-none-match')
  if (knownTag !== undefined && matchesTag(knownTag, tag)) return { status: 304, headers, body: null }
  if (!unsent.hasRoom(bytes.length)) throw overloaded('Clients have not taken the answers to earlier requests')
  return { status: 200, headers, body: bytes }
}

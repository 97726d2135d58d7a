// Sends the pictures that token URIs hold, by signed links. It asks no node and no host, and never sends a page.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { AlmanacError } from '../../errors.ts'
import { mediaOf, svgType } from '../../query/metadata/token-media.ts'
import { metadataOf } from '../../query/metadata/token-metadata.ts'
import { overloaded } from '../admission-queue.ts'
import { type Answer, type Handler, matchesTag } from '../answer.ts'
import type { Context } from '../context.ts'
import type { ApiRequest } from '../request.ts'
import type { MediaToken } from './media-links.ts'

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

async function pictureOf({ store }: Context, { chain, contract, tokenId }: MediaToken): Promise<Picture> {
  const [stored] = await store.tokenUris(chain, [{ contract, tokenId }])
  const uri = stored?.uri
  const media = uri === undefined ? undefined : mediaOf({ tokenUri: uri, metadata: metadataOf(uri) })
  const bytes = media?.status === 'success' ? media.bytes() : undefined
  if (media?.status !== 'success' || bytes === undefined)
    throw new AlmanacError('not_found', `No picture of token ${tokenId} of ${contract} is stored`)
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { type: media.type, bytes, tag }
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

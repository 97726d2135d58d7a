// Tells which picture a token has: the bytes where the URI holds them, an address where they lie elsewhere. Pure; it
// fetches nothing, and what contracts say is never taken for more than a text.
import { dataUriOf } from './data-uri.ts'
import { parsedMetadata } from './token-metadata.ts'

/** What browsers show without running anything. SVG is among them as long as it is loaded as an image. */
const mediaTypes: ReadonlySet<string> = new Set([
  ...['image/svg+xml', 'image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/apng', 'image/bmp'],
  ...['video/mp4', 'video/webm', 'video/ogg', 'audio/mpeg', 'audio/mp4', 'audio/ogg', 'audio/wav', 'audio/webm'],
])
export const svgType = 'image/svg+xml'
const otherNames: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg', 'audio/mp3': 'audio/mpeg' }
/** Of what is not shown, a type can be any text. */
const shownTypeMax = 100

type TokenMedia =
  | { status: 'success'; type: string; bytes: () => Buffer<ArrayBuffer> | undefined }
  | { status: 'unsupported_media'; type: string }
  /** No host is asked, so none is available. */
  | { status: 'host_unavailable'; url: string }
  | { status: 'invalid_url'; url: string }

/** Undefined where the token names no picture, as far as is known. */
export function mediaOf({ tokenUri, metadata }: TokenTexts): TokenMedia | undefined {
  if (metadata !== undefined) {
    const known = parsedMetadata(metadata)
    const image = [known?.image, known?.image_url, known?.image_data].find(each => typeof each === 'string' && each)
    return image === undefined ? undefined : pictureOf(image as string)
  }
  // Some contracts answer with the picture itself.
  const media = tokenUri === undefined ? undefined : heldBy(tokenUri)
  return media?.status === 'success' ? media : undefined
}

type TokenTexts = { tokenUri: string | undefined; metadata: string | undefined }

function pictureOf(image: string): TokenMedia {
  const held = heldBy(image)
  if (held !== undefined) return held
  if (/^\s*<(?:svg|\?xml)[\s>]/i.test(image))
    return { status: 'success', type: svgType, bytes: () => Buffer.from(image) as Buffer<ArrayBuffer> }
  const isAddress = /^(?:https?|ipfs|ipns|ar):\/\/./i.test(image) && URL.canParse(image)
  return { status: isAddress ? 'host_unavailable' : 'invalid_url', url: image }
}

function heldBy(uri: string): TokenMedia | undefined {
  const data = dataUriOf(uri)
  if (data === undefined) return undefined
  const type = otherNames[data.type] ?? data.type
  if (!mediaTypes.has(type)) return { status: 'unsupported_media', type: type.slice(0, shownTypeMax) }
  return { status: 'success', type, bytes: data.bytes }
}

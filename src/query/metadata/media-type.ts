// Which kind of picture some bytes are, by the bytes alone: what a host calls them is not asked. Pure.
import { svgType } from './token-media.ts'

const signatures: readonly (readonly [type: string, offset: number, bytes: string])[] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF87a'],
  ['image/gif', 0, 'GIF89a'],
  ['image/webp', 8, 'WEBP'],
  ['image/bmp', 0, 'BM'],
  ['image/avif', 4, 'ftypavif'],
  ['image/avif', 4, 'ftypavis'],
  ['video/webm', 0, '\x1a\x45\xdf\xa3'],
  ['video/ogg', 0, 'OggS'],
  ['audio/mpeg', 0, 'ID3'],
  ['audio/wav', 8, 'WAVE'],
  ['audio/mp4', 4, 'ftypM4A'],
  ['video/mp4', 4, 'ftyp'],
]

/** Undefined for everything else, pages and scripts among them. */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 64)).toString('latin1')
  const found = signatures.find(([, offset, signature]) => head.startsWith(signature, offset))
  if (found !== undefined) return found[0]
  return isSvg(Buffer.from(bytes.subarray(0, 4_096)).toString('utf8')) ? svgType : undefined
}

/** Its first element, after declarations and comments. */
function isSvg(text: string): boolean {
  const prolog = /^\uFEFF?(?:\s+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE\s+svg[^>[]*(?:\[[^\]]*\]\s*)?>)*/i.exec(text)![0]
  return /^<svg[\s>]/i.test(text.slice(prolog.length))
}

export type PixelSize = { width: number; height: number }

/** Of the formats that say so at their beginning. */
export function pixelSizeOf(bytes: Uint8Array, type: string): PixelSize | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 64))
  if (type === 'image/png' && view.length >= 24) return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) }
  if (type === 'image/gif' && view.length >= 10) return { width: view.readUInt16LE(6), height: view.readUInt16LE(8) }
  return undefined
}

// What every route hands over to be sent, and the headers that all answers share.

import { promisify } from 'node:util'
import { brotliCompress, constants, crc32, gzip } from 'node:zlib'

export type Answer = {
  status: number
  /** Plain, because copying such an object is the cheapest way to headers. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array<ArrayBuffer> | string | null
  /** Sent in place of the body, where the answer goes on as long as the client stays. */
  stream?: ReadableStream<Uint8Array>
  /** The body is lent: to be called once it is sent, and by nobody who does not send it. */
  release?: () => void
}

/** Answers are data: nothing in them may run, be framed or be taken for another type. */
export const safetyHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}

/**
 * Every answer depends on a key, so only the client itself may keep it; and the next block may change it, so it asks
 * again each time, which costs no body while the ETag holds.
 */
export const privateCaching = { 'Cache-Control': 'private, no-cache' }

export function entityTag(body: Uint8Array): string {
  const half = body.length >> 1
  return weakTag([crc32(body.subarray(0, half)), crc32(body.subarray(half))], body.length)
}

/** Weak, because one tag stands for the plain and the compressed bytes. Two checksums and the length: 64 bits and more. */
export function weakTag(checksums: readonly [number, number], bodyLength: number): string {
  const hex = (value: number) => value.toString(16).padStart(8, '0')
  return `W/"${hex(checksums[0])}${hex(checksums[1])}-${bodyLength.toString(36)}"`
}

export function matchesTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch === tag || ifNoneMatch.trim() === '*') return true
  const opaque = tag.replace(/^W\//, '')
  return ifNoneMatch.split(',').some(candidate => candidate.trim().replace(/^W\//, '') === opaque)
}

export function jsonAnswer(value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(value)) as Buffer<ArrayBuffer>,
  }
}

// Compressed forms of an answer, when the client asks for one and the body is worth it.

export const encodings = ['br', 'gzip'] as const
export type Encoding = (typeof encodings)[number]

/** Below this a compressed body saves less than a packet. */
export const compressedFrom = 1_400

const choices = new Map<string, Encoding | undefined>()
const choicesMax = 256

/** The best encoding that the header accepts; the few headers that clients really send are remembered. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined) return undefined
  if (choices.has(acceptEncoding)) return choices.get(acceptEncoding)
  const choice = parseChoice(acceptEncoding)
  if (choices.size < choicesMax) choices.set(acceptEncoding, choice)
  return choice
}

function parseChoice(acceptEncoding: string): Encoding | undefined {
  const weights = new Map(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map((part): [string, number] => {
        const [name = '', ...parameters] = part.split(';').map(text => text.trim())
        const quality = parameters.find(parameter => parameter.startsWith('q='))
        const weight = quality === undefined ? 1 : Number(quality.slice(2))
        return [name, Number.isNaN(weight) ? 0 : weight]
      }),
  )
  const weightOf = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? 0
  const accepted = encodings.filter(encoding => weightOf(encoding) > 0)
  return accepted.sort((a, b) => weightOf(b) - weightOf(a))[0]
}

const gzipAsync = promisify(gzip)
const brotliAsync = promisify(brotliCompress)

/** Fast settings: a page of 100 (67 kB) takes 0.5 ms and becomes 12 kB; slower ones save nothing on hashes. */
export function compress(body: Uint8Array, encoding: Encoding): Promise<Buffer<ArrayBuffer>> {
  return (
    encoding === 'gzip'
      ? gzipAsync(body, { level: 3 })
      : brotliAsync(body, {
          params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
        })
  ) as Promise<Buffer<ArrayBuffer>>
}

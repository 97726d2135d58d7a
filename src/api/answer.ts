// What every route hands over to be sent, and the headers that all answers share.
import { crc32 } from 'node:zlib'

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

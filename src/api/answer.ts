// What every route hands over to be sent, its compressed forms, and the cache of ready answers. It knows no operation.
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, crc32, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Chain } from '../chains.ts'
import { type Evidence, shownEvidence } from '../model.ts'
import type { Dialect } from './params.ts'
import { type ApiRequest, type Head, weightsIn } from './request.ts'

export type Answer = {
  status: number
  /** A plain object is the cheapest to copy. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array<ArrayBuffer> | null
  /** Sent instead of the body, for as long as the client stays. */
  stream?: Readable
  /** Sends what takes longer than one write, instead of the body. Never fails. */
  send?: (outgoing: ServerResponse) => Promise<void>
  /** The body is lent. Call once after sending. Only the sender may call it. */
  release?: () => void
}

export type Handler = (request: ApiRequest) => Answer | Promise<Answer>

/** Answers are data: nothing in them may run, be framed or be taken for another type. */
export const safetyHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}

/** For what describes the operations. It needs no key: it says nothing that keys protect. */
export const documentHeaders = { 'Cache-Control': 'public, max-age=300', ...safetyHeaders }

/** For answers about the service itself. */
const notStored = { 'Cache-Control': 'no-store', ...safetyHeaders }

/**
 * Every answer depends on a key, so only the client may keep it. The next block may change it, so the client asks again
 * each time, which costs no body while the ETag matches.
 */
const privateCaching = { 'Cache-Control': 'private, no-cache' }

export function entityTag(body: Uint8Array): string {
  const half = body.length >> 1
  return weakTag([crc32(body.subarray(0, half)), crc32(body.subarray(half))], body.length)
}

/** Weak: one tag stands for the plain and the compressed bytes. Two checksums and the length are more than 64 bits. */
export function weakTag(checksums: readonly [number, number], bodyLength: number): string {
  const hex = (value: number) => value.toString(16).padStart(8, '0')
  return `W/"${hex(checksums[0])}${hex(checksums[1])}-${bodyLength.toString(36)}"`
}

export function matchesTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch === tag || ifNoneMatch.trim() === '*') return true
  const opaque = tag.replace(/^W\//, '')
  return ifNoneMatch.split(',').some(candidate => candidate.trim().replace(/^W\//, '') === opaque)
}

export function jsonAnswer(value: unknown, { status = 200, headers = notStored as Answer['headers'] } = {}): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(value)) as Buffer<ArrayBuffer>,
  }
}

export function textAnswer(type: string, text: string, headers: Answer['headers'] = notStored): Answer {
  const body = Buffer.from(text) as Buffer<ArrayBuffer>
  return { status: 200, headers: { 'Content-Type': type, ...headers }, body }
}

type Completeness = {
  complete: boolean
  evidence: Evidence | undefined
  /** Where the answer is the state after a block; -1 is before the first one. */
  block?: number
}

/** How complete the index was for what was asked. */
export function completenessHeaders(
  { complete, evidence, block = -1 }: Completeness,
  dialect: Dialect,
): Record<string, string> {
  return {
    'X-Dialect': dialect,
    'X-Index-Complete': `${complete}`,
    ...(block < 0 ? {} : { 'X-Block-Number': `${block}` }),
    ...(evidence === undefined ? {} : { 'X-Index-Evidence': shownEvidence(evidence) }),
  }
}

/** Why waiting does not complete the answer. */
export function reasonHeaders(why: string | undefined): Record<string, string> {
  return why === undefined ? {} : { 'X-Index-Incomplete-Reason': why }
}

/** Of the oldest, by the clock: a kept answer grows old too. */
export function headAgeHeader(heads: readonly Head[]): Record<string, string> {
  const now = Math.floor(Date.now() / 1_000)
  const old = heads.filter(({ timestamp, ageMaxSeconds }) => now - timestamp > ageMaxSeconds)
  if (old.length === 0) return {}
  return { 'X-Head-Age': `${Math.max(...old.map(({ timestamp }) => now - timestamp))}` }
}

/** A name that an operator chose may not fit into a header. The id always does. */
export function headerName({ name, hexId }: Pick<Chain, 'name' | 'hexId'>): string {
  return /^[\x21-\x2b\x2d-\x7e ]+$/.test(name) ? name : hexId
}

// Compressed forms of an answer.

const encodings = ['br', 'gzip'] as const
export type Encoding = (typeof encodings)[number]

/** Below this a compressed body saves less than a packet. */
const compressedFrom = 1_400

const choices = new Map<string, Encoding | undefined>()
const choicesMax = 256

/** The best encoding that the header accepts. The few headers that clients really send are remembered. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined) return undefined
  if (choices.has(acceptEncoding)) return choices.get(acceptEncoding)
  const choice = parseChoice(acceptEncoding)
  if (choices.size < choicesMax) choices.set(acceptEncoding, choice)
  return choice
}

function parseChoice(acceptEncoding: string): Encoding | undefined {
  const weights = weightsIn(acceptEncoding)
  const weightOf = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? 0
  const accepted = encodings.filter(encoding => weightOf(encoding) > 0)
  return accepted.sort((a, b) => weightOf(b) - weightOf(a))[0]
}

const gzipAsync = promisify(gzip)
const brotliAsync = promisify(brotliCompress)

/** Fast settings: a page of 100 (67 kB) takes 0.5 ms and becomes 12 kB; slower ones save nothing on hashes. */
function compress(body: Uint8Array, encoding: Encoding): Promise<Buffer<ArrayBuffer>> {
  return (
    encoding === 'gzip'
      ? gzipAsync(body, { level: 3 })
      : brotliAsync(body, {
          params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
        })
  ) as Promise<Buffer<ArrayBuffer>>
}

// Ready answers, kept while the store's revision stays: a repeated request costs a look-up.

/** An answer with everything that can be done before a client asks for it. */
export type ReadyAnswer = {
  plain: Answer
  notModified: Answer
  /** Of the chains that it is about. */
  heads?: readonly Head[]
  tag: string
  /** A promise while it is made: many may ask for a kept answer at once. */
  compressed: { [Name in Encoding]?: Answer | Promise<Answer> }
}

export const vary = 'Accept, Accept-Encoding, X-Moralis-Platform'

/** `tag` where one is cheaper than that of the body, `release` where the body is lent. */
export function readyAnswer({
  headers,
  body,
  tag = entityTag(body),
  release,
}: {
  headers: Record<string, string>
  body: Buffer<ArrayBuffer>
  tag?: string
  release?: () => void
}): ReadyAnswer {
  const shared = { ...headers, ETag: tag, Vary: vary, ...privateCaching, ...safetyHeaders }
  return {
    // The length comes first, where the sender looks for it.
    plain: {
      status: 200,
      headers: { 'Content-Length': `${body.length}`, 'Content-Type': 'application/json', ...shared },
      body,
      ...(release === undefined ? {} : { release }),
    },
    notModified: { status: 304, headers: shared, body: null },
    tag,
    compressed: {},
  }
}

/** The same answer with a body of its own, for keeping. */
function owned(ready: ReadyAnswer): ReadyAnswer {
  const { release, ...plain } = ready.plain
  if (release === undefined) return ready
  // Of the exact size, and not part of one of Node's slabs, which it would keep alive.
  const body = Buffer.allocUnsafeSlow(plain.body!.length) as Buffer<ArrayBuffer>
  body.set(plain.body as Buffer)
  release()
  return { ...ready, plain: { ...plain, body } }
}

/** The form of a ready answer that this request asks for, with what is known only when it is sent. */
export function deliver(ready: ReadyAnswer, request: ApiRequest): Answer | Promise<Answer> {
  const answer = formOf(ready, request)
  if (ready.heads === undefined) return answer
  const age = headAgeHeader(ready.heads)
  if (age['X-Head-Age'] === undefined) return answer
  const aged = (form: Answer): Answer => ({ ...form, headers: { ...form.headers, ...age } })
  return answer instanceof Promise ? answer.then(aged) : aged(answer)
}

function formOf(ready: ReadyAnswer, request: ApiRequest): Answer | Promise<Answer> {
  const ifNoneMatch = request.header('if-none-match')
  if (ifNoneMatch !== undefined && matchesTag(ifNoneMatch, ready.tag)) {
    ready.plain.release?.()
    return ready.notModified
  }
  const encoding = chooseEncoding(request.header('accept-encoding'))
  const body = ready.plain.body as Buffer<ArrayBuffer>
  if (encoding === undefined || body.length < compressedFrom) return ready.plain
  ready.compressed[encoding] ??= compressedAnswer(ready, body, encoding)
  return ready.compressed[encoding]
}

async function compressedAnswer(ready: ReadyAnswer, body: Buffer<ArrayBuffer>, encoding: Encoding): Promise<Answer> {
  const compressed = await compress(body, encoding)
    .catch(error => {
      delete ready.compressed[encoding]
      throw error
    })
    .finally(ready.plain.release)
  const headers = { ...ready.plain.headers, 'Content-Length': `${compressed.length}`, 'Content-Encoding': encoding }
  const answer = { status: 200, headers, body: compressed }
  ready.compressed[encoding] = answer
  return answer
}

type Entry = { revision: number; ready: ReadyAnswer }

/** Headers and keys of an entry. Both compressed forms come later and take about a quarter of the body. */
const entryBytes = 2_000

const onceAskedMax = 4_096

export class AnswerCache {
  readonly #entries: LRUCache<string, Entry>
  /** Checksums of the keys that were offered once, in two generations. A collision does no harm. */
  #askedOnce = new Set<number>()
  #askedOnceBefore = new Set<number>()

  constructor(bytesMax: number) {
    this.#entries = new LRUCache({
      maxSize: Math.max(1, bytesMax),
      sizeCalculation: ({ ready }, key) => entryBytes + key.length * 2 + Math.ceil(ready.plain.body!.length * 1.5),
    })
  }

  get(key: string, revision: number): ReadyAnswer | undefined {
    const entry = this.#entries.get(key)
    return entry?.revision === revision ? entry.ready : undefined
  }

  /**
   * Keeps an answer when it is made for the second time: keeping pages that are not asked for again took distinct pages
   * from 850 to 1,190 µs of CPU on a busy machine. `revision` is from before anything was read. Returns the answer to
   * send: a kept one has a body of its own.
   */
  offer(key: string, revision: number, ready: ReadyAnswer): ReadyAnswer {
    if (!this.#entries.has(key) && !this.#wasAskedBefore(key)) return ready
    const kept = owned(ready)
    this.#entries.set(key, { revision, ready: kept })
    return kept
  }

  #wasAskedBefore(key: string): boolean {
    const checksum = crc32(key)
    if (this.#askedOnce.has(checksum) || this.#askedOnceBefore.has(checksum)) return true
    if (this.#askedOnce.size >= onceAskedMax) {
      this.#askedOnceBefore = this.#askedOnce
      this.#askedOnce = new Set()
    }
    this.#askedOnce.add(checksum)
    return false
  }
}

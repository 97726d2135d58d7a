// Reads the bodies of JSON-RPC answers. Pure, so a worker thread can read large ones.
import { isAscii } from 'node:buffer'
import {
  checkStructure,
  closeBrace,
  firstByte,
  isSpace,
  openBrace,
  openBracket,
  spacesMax,
  splitAnswers,
  UnreadableAnswer,
} from './body-structure.ts'

export { UnreadableAnswer }

export type RpcRefusal = { rpcCode: number | undefined; text: string }
export type ReadAnswers = { values: unknown[] } | { refusal: RpcRefusal; call: number | undefined }

/** Which answers count as given: `tolerated` refusals do, and null does unless a block must be there. */
export type AnswerRule = {
  /** The contract refused, not the node. */
  tolerated?: ((refusal: RpcRefusal) => boolean) | undefined
  /** Null means that the node lacks a block that the chain has. */
  nullIsMissing?: boolean | undefined
}

/** Undefined for a refusal that names no call. */
export type RefusedCall = { refusal: RpcRefusal; call: number | undefined }
export type BodyProblem = { unreadable: string } | { refused: RefusedCall[]; aboutBatch: boolean }

/** Tells most error pages and cut-off answers by the ends of a body, without parsing it; the parser finds the rest. */
export function lookUnreadable(body: Buffer): string | undefined {
  const first = firstByte(body)
  const opening = body[first]
  if (opening === undefined || isSpace(opening)) return 'an empty body'
  if (opening !== openBrace && opening !== openBracket) {
    const start = shown(body.subarray(0, 200).toString('latin1'), 60)
    return opening === lessThan ? 'an HTML page' : `something that is not JSON: ${start}`
  }
  let last = body.length - 1
  while (last > body.length - spacesMax && isSpace(body[last])) last--
  return body[last] === (opening === openBrace ? closeBrace : closeBracket) ? undefined : 'a cut-off body'
}

/**
 * What is wrong with a body that came with a status below 300. A good one is not parsed; of another one only the
 * answers that mention an error are, and they are small.
 */
export function problemIn(
  body: Buffer,
  calls: readonly { id: number }[],
  rule: AnswerRule = {},
): BodyProblem | undefined {
  const unreadable = lookUnreadable(body)
  if (unreadable !== undefined) return { unreadable }
  const mayLack = rule.nullIsMissing === true && mentionsNull(body)
  if (!mentionsError(body) && !mayLack) {
    return body.includes('"result"') ? undefined : { unreadable: 'JSON that is not a JSON-RPC answer' }
  }
  const isBatch = body[firstByte(body)] === openBracket
  const refused: RefusedCall[] = []
  try {
    for (const bytes of splitAnswers(body, calls.length).map(asBuffer)) {
      if (!mentionsError(bytes) && !(mayLack && mentionsNull(bytes))) continue
      if (bytes.length > refusalBytesMax) return { unreadable: `an error of ${bytes.length} bytes` }
      const answer = parse(bytes) as Answer | null
      const refusal = refusalOfAnswer(answer, rule)
      if (refusal === undefined) continue
      refused.push({ refusal, call: calls.find(({ id }) => id === answer?.id)?.id })
    }
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : 'a body that is not JSON' }
  }
  // A single answer to a batch concerns the batch, not one call.
  return refused.length === 0 ? undefined : { refused, aboutBatch: calls.length > 1 && !isBatch }
}

type Answer = { id?: unknown; result?: unknown; error?: unknown }

const refusalBytesMax = 200_000

function refusalOfAnswer(answer: Answer | null, { tolerated, nullIsMissing }: AnswerRule): RpcRefusal | undefined {
  if (isError(answer?.error)) {
    const refusal = refusalOf(answer?.error)
    return tolerated?.(refusal) === true ? undefined : refusal
  }
  return nullIsMissing === true && answer?.result === null ? missingBlock : undefined
}

/** As nodes word it that answer with an error instead of null. */
const missingBlock: RpcRefusal = { rpcCode: undefined, text: 'block not found (null)' }

/**
 * Results of the methods in use are hex, base64 and numbers, and have no such key. A search jumps between occurrences
 * of the first character: quotes abound in JSON and this letter is rare, so searching for the end of the word first is
 * 8 times as fast.
 */
function mentionsError(body: Buffer): boolean {
  return body.includes('rror"') && body.includes('"error"')
}

/** An answer of null is shorter than this, and has the key `jsonrpc` somewhere in it. */
const nullAnswerBytes = 120
const nullResult = /"result"\s*:\s*null/

/** How far to search in one go, so that a body full of `jsonrpc` is searched once and not for each of them. */
const strideBytes = 1_024

/** Looks around each `jsonrpc`: in a body of hex it is found ten times as fast as `null`, which receipts hold. */
function mentionsNull(body: Buffer): boolean {
  for (let at = body.indexOf('jsonrpc'); at !== -1; at = body.indexOf('jsonrpc', at + strideBytes)) {
    const around = body.toString('latin1', Math.max(0, at - nullAnswerBytes), at + strideBytes + nullAnswerBytes)
    if (nullResult.test(around)) return true
  }
  return false
}

/**
 * The results of `count` calls whose ids were 0 to count - 1, from one body or several, in the order of the calls. A
 * later body holds the answers that an earlier one refused or left null. Throws an UnreadableAnswer where a body is not
 * JSON or an answer is missing. A tolerated refusal gives null. `amend` changes a body's text before it is parsed.
 */
export function readAnswers(
  bodies: readonly Uint8Array[],
  count: number,
  tolerated?: AnswerRule['tolerated'],
  amend?: (text: string) => string,
): ReadAnswers {
  const values = new Array<unknown>(count)
  const refusals = new Map<number, RpcRefusal>()
  let seen = 0
  for (const body of bodies) {
    const parsed = parse(body, amend)
    for (const answer of Array.isArray(parsed) ? parsed : [parsed]) {
      if (typeof answer !== 'object' || answer === null) throw new UnreadableAnswer('an answer that is not an object')
      const { id, result, error } = answer as Answer
      const call = typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < count ? id : undefined
      const refusal = isError(error) ? refusalOf(error) : undefined
      const isTolerated = refusal !== undefined && tolerated?.(refusal) === true
      if (refusal !== undefined && !isTolerated) {
        if (call === undefined) return { refusal, call }
        refusals.set(call, refusal)
        continue
      }
      const value = isTolerated ? null : result
      if (call === undefined || value === undefined || (values[call] ?? null) !== null) {
        throw new UnreadableAnswer('an answer without a known id and a result')
      }
      if (values[call] === undefined) seen++
      values[call] = value
    }
  }
  if (seen === count) return { values }
  for (const [call, refusal] of refusals) if (values[call] === undefined) return { refusal, call }
  throw new UnreadableAnswer(`${seen} answers to ${count} calls`)
}

/** The JSON-RPC error in a body that came with an HTTP error status; undefined where it holds none. */
export function refusalIn(body: Buffer): RpcRefusal | undefined {
  if (body.length > refusalBytesMax || lookUnreadable(body) !== undefined) return undefined
  try {
    const parsed = parse(body)
    const first = (Array.isArray(parsed) ? parsed[0] : parsed) as Answer | null
    return first?.error === undefined ? undefined : refusalOf(first.error)
  } catch {
    return undefined
  }
}

/** Some nodes send `"error": null` with a result. */
export function isError(error: unknown): boolean {
  return error !== undefined && error !== null
}

/** Nodes send anything as a message: it never throws, and what it gives is short and printable. */
function refusalOf(error: unknown): RpcRefusal {
  if (typeof error !== 'object' || error === null) return { rpcCode: undefined, text: textOf(error) }
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown }
  const more = data === undefined || data === null ? '' : `: ${textOf(data)}`
  const text = shown(`${textOf(message ?? 'no message')}${more}`)
  return { rpcCode: typeof code === 'number' ? code : undefined, text }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return 'a message that cannot be shown'
  }
}

const textMax = 1_000

/**
 * Without line breaks, other control characters, marks that change the direction of text, and halves of pairs. It ends
 * with a whole word: a part of a secret would not be recognised as one.
 */
function shown(text: string, lengthMax = textMax): string {
  const cut = text.length <= lengthMax ? text : `${text.slice(0, lengthMax).replace(/\S*$/, '')}…`
  return cut.toWellFormed().replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
}

function parse(body: Uint8Array, amend?: (text: string) => string): unknown {
  checkStructure(body)
  try {
    // Answers are hex with few exceptions, and copying takes a third of the time of decoding.
    const text = asBuffer(body).toString(isAscii(body) ? 'latin1' : 'utf8')
    return JSON.parse(amend === undefined ? text : amend(text))
  } catch (error) {
    throw new UnreadableAnswer(`a body of ${body.length} bytes that is not JSON`, { cause: error })
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const closeBracket = 0x5d
const lessThan = 0x3c

// Reads the bodies of JSON-RPC answers. Pure, so a worker thread can read large ones.

export type RpcRefusal = { rpcCode: number | undefined; text: string }
export type ReadAnswers = { values: unknown[] } | { refusal: RpcRefusal; call: number | undefined }

/** Refusals that count as answers: the contract refused, not the node. */
export type Tolerated = (refusal: RpcRefusal) => boolean

export type BodyProblem =
  | { unreadable: string }
  | { refusal: RpcRefusal /** The id of the call that failed. */; call: number | undefined; aboutBatch: boolean }

/** The body is not an answer: cut off, an error page, or something else. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer'
}

/** Tells most error pages and cut-off answers by the ends of a body, without parsing it; the parser finds the rest. */
export function lookUnreadable(body: Buffer): string | undefined {
  const first = body.find(byte => !isSpace(byte))
  if (first === undefined) return 'an empty body'
  if (first !== openBrace && first !== openBracket) {
    const start = body.subarray(0, 60).toString('latin1').replace(/\s+/g, ' ')
    return first === lessThan ? 'an HTML page' : `something that is not JSON: ${start}`
  }
  let last = body.length - 1
  while (last > 0 && isSpace(body[last])) last--
  return body[last] === (first === openBrace ? closeBrace : closeBracket) ? undefined : 'a cut-off body'
}

/** What is wrong with a body that came with a status below 300. A good one is not parsed. */
export function problemIn(
  body: Buffer,
  calls: readonly { id: number }[],
  tolerated?: Tolerated,
): BodyProblem | undefined {
  const unreadable = lookUnreadable(body)
  if (unreadable !== undefined) return { unreadable }
  if (!mentionsError(body)) {
    return body.includes('"result"') ? undefined : { unreadable: 'JSON that is not a JSON-RPC answer' }
  }
  let parsed: unknown
  try {
    parsed = parse(body)
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : 'a body that is not JSON' }
  }
  const answers = (Array.isArray(parsed) ? parsed : [parsed]) as ({ id?: unknown; error?: unknown } | null)[]
  const failing = answers.find(answer => isError(answer?.error) && tolerated?.(refusalOf(answer?.error)) !== true)
  if (failing === undefined || failing === null) return undefined
  const call = calls.find(({ id }) => id === failing.id)?.id
  // A single answer to a batch concerns the batch, not one call.
  return { refusal: refusalOf(failing.error), call, aboutBatch: calls.length > 1 && !Array.isArray(parsed) }
}

/**
 * Results of the methods in use are hex, base64 and numbers, and have no such key. A search jumps between occurrences
 * of the first character: quotes abound in JSON and this letter is rare, so searching for the end of the word first is
 * 8 times as fast.
 */
function mentionsError(body: Buffer): boolean {
  return body.includes('rror"') && body.includes('"error"')
}

/**
 * The results of `count` calls whose ids were 0 to count - 1, from one body or several, in the order of the calls.
 * Throws an UnreadableAnswer where a body is not JSON or an answer is missing. A tolerated refusal gives null. `amend`
 * changes a body's text before it is parsed.
 */
export function readAnswers(
  bodies: readonly Uint8Array[],
  count: number,
  tolerated?: Tolerated,
  amend?: (text: string) => string,
): ReadAnswers {
  const values = new Array<unknown>(count)
  const seen = new Set<number>()
  for (const body of bodies) {
    const parsed = parse(body, amend)
    for (const answer of Array.isArray(parsed) ? parsed : [parsed]) {
      if (typeof answer !== 'object' || answer === null) throw new UnreadableAnswer('an answer that is not an object')
      const { id, result, error } = answer as { id?: unknown; result?: unknown; error?: unknown }
      const call = Number.isInteger(id) && (id as number) >= 0 && (id as number) < count ? (id as number) : undefined
      const isTolerated = isError(error) && tolerated?.(refusalOf(error)) === true
      if (isError(error) && !isTolerated) return { refusal: refusalOf(error), call }
      if (call === undefined || (result === undefined && !isTolerated) || seen.has(call)) {
        throw new UnreadableAnswer('an answer without a known id and a result')
      }
      seen.add(call)
      values[call] = isTolerated ? null : result
    }
  }
  if (seen.size !== count) throw new UnreadableAnswer(`${seen.size} answers to ${count} calls`)
  return { values }
}

/** The JSON-RPC error in a body that came with an HTTP error status; undefined where it holds none. */
export function refusalIn(body: Buffer): RpcRefusal | undefined {
  if (lookUnreadable(body) !== undefined) return undefined
  try {
    const parsed = parse(body)
    const first = (Array.isArray(parsed) ? parsed[0] : parsed) as { error?: unknown } | null
    return first?.error === undefined ? undefined : refusalOf(first.error)
  } catch {
    return undefined
  }
}

/** Some nodes send `"error": null` with a result. */
export function isError(error: unknown): boolean {
  return error !== undefined && error !== null
}

function refusalOf(error: unknown): RpcRefusal {
  if (typeof error !== 'object' || error === null) return { rpcCode: undefined, text: String(error) }
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown }
  const more = data === undefined || data === null ? '' : `: ${typeof data === 'string' ? data : JSON.stringify(data)}`
  const text = `${String(message ?? 'no message')}${more}`.slice(0, 1_000)
  return { rpcCode: typeof code === 'number' ? code : undefined, text }
}

function parse(body: Uint8Array, amend?: (text: string) => string): unknown {
  try {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
    return JSON.parse(amend === undefined ? text : amend(text))
  } catch (error) {
    throw new UnreadableAnswer(`a body of ${body.length} bytes that is not JSON`, { cause: error })
  }
}

const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const lessThan = 0x3c

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

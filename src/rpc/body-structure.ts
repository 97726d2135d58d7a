// The structure of a JSON body, seen in one pass over its bytes: how many values it holds, how deep they lie, and where
// the answers of a batch begin and end. It makes no value of them, so it is safe to call on anything that a node sends.

/** The body is not an answer: cut off, an error page, or something else. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer'
}

/** 64 MB of receipts hold 1.6 million values, 20 levels deep at most. */
const valuesMax = 3_000_000
const depthMax = 128

/**
 * Below this size even a body of nothing but brackets is parsed in 0.1 s. Above it a pass takes 7 ms beside the 19 ms
 * of JSON.parse, for 5 MB of receipts; most answers are smaller, because ranges aim at 1 MB.
 */
const bytesUnchecked = 2 * 2 ** 20

/** Throws where parsing the body would take more time and memory than any honest answer does. */
export function checkStructure(body: Uint8Array | string): void {
  if (body.length > bytesUnchecked) walk(typeof body === 'string' ? Buffer.from(body) : body, () => {})
}

/** The bytes of each answer: the elements of a batch, or the whole body. */
export function splitAnswers(body: Uint8Array, answersMax: number): Uint8Array[] {
  const answers: Uint8Array[] = []
  const isBatch = walk(body, (from, to) => {
    if (answers.push(body.subarray(from, to)) > answersMax) throw new UnreadableAnswer('more answers than calls')
  })
  return isBatch ? answers : [body]
}

/** Calls back for each element of the outermost array. Returns whether there is one. */
function walk(body: Uint8Array, onElement: (from: number, to: number) => void): boolean {
  const { length } = body
  const isBatch = body[firstByte(body)] === openBracket
  let values = 0
  let depth = 0
  let elementAt = 0
  for (let at = 0; at < length; at++) {
    const byte = body[at]!
    if (byte === quote) at = endOfString(body, at)
    else if (byte === comma) {
      if (depth === 1 && isBatch) {
        onElement(elementAt, at)
        elementAt = at + 1
      }
      values++
    } else if ((byte | 0x20) === openBrace) {
      values++
      if (depth++ === 0) elementAt = at + 1
      if (depth > depthMax) throw new UnreadableAnswer(`a body with more than ${depthMax} levels of nesting`)
    } else if ((byte | 0x20) === closeBrace && --depth === 0 && isBatch) onElement(elementAt, at)
    if (values > valuesMax) throw new UnreadableAnswer(`a body with more than ${valuesMax} values`)
  }
  return isBatch
}

/** Most strings are long: a native search for their end takes half the time of a loop. */
function endOfString(body: Uint8Array, start: number): number {
  for (let at = body.indexOf(quote, start + 1); at >= 0; at = body.indexOf(quote, at + 1)) {
    let slashes = 0
    while (body[at - 1 - slashes] === backslash) slashes++
    if (slashes % 2 === 0) return at
  }
  return body.length
}

/** More spaces than this around an answer make it unreadable: they could go on for 64 MB. */
export const spacesMax = 2 ** 16

/** The place of the first byte that is not a space. */
export function firstByte(body: Uint8Array): number {
  let at = 0
  while (at < spacesMax && isSpace(body[at])) at++
  return at
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

export const openBrace = 0x7b
export const closeBrace = 0x7d
export const openBracket = 0x5b
const quote = 0x22
const comma = 0x2c
const backslash = 0x5c

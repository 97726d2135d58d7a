// Makes names fit to be shown, as one line of visible text, and reads text, flags, numbers and addresses from the
// answers of contracts. Pure.

export const labelCharactersMax = 200

/** `notes` tell what was changed; `problem` why nothing can be shown. */
export type LabelText = { label: string; notes: readonly string[] } | { problem: string }

const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const whiteSpace = /[\s\u0085]+/gu
const control = /\p{Cc}/gu
/** Characters that show nothing and can make one name look like another; joiners stay, emoji are made with them. */
const invisible =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]/gu

export function cleanLabel(given: string): LabelText {
  if (given.length <= labelCharactersMax && plain.test(given) && !given.includes('  '))
    return { label: given, notes: [] }
  if (!given.isWellFormed() || given.includes('\ufffd')) return { problem: 'the name is not UTF-8 text' }
  const notes: string[] = []
  const oneLine = given.replace(whiteSpace, ' ').trim()
  const visible = oneLine.replace(control, '').replace(invisible, '').normalize('NFC').replace(/ {2,}/g, ' ').trim()
  if (control.test(oneLine) || /[\r\n\v\f\u0085\u2028\u2029]/u.test(given.trim()))
    notes.push('control characters were removed')
  if (oneLine.search(invisible) !== -1) notes.push('invisible characters were removed')
  if (visible === '') return { problem: given === '' ? 'the name is empty' : 'nothing of the name can be seen' }
  const characters = [...visible]
  if (characters.length <= labelCharactersMax) return { label: visible, notes }
  notes.push(`cut to ${labelCharactersMax} characters`)
  return { label: characters.slice(0, labelCharactersMax).join('').trimEnd(), notes }
}

// Reads what contracts answer to `name()` and the like: ABI text, bytes32, or anything else. It never throws and reads
// a bounded part.

/** Longer texts are cut: every row of every page holds them. */
export const textCharactersMax = 256
const textBytesMax = textCharactersMax * 4
const wordDigits = 64

/** Undefined where the answer is not text. Invalid UTF-8 becomes U+FFFD; trailing zero bytes are dropped. */
export function textOfAnswer(answer: unknown): string | undefined {
  // Tokens from before the ABI had text answer with one padded word.
  const isWord = typeof answer === 'string' && /^0x[0-9a-fA-F]{64}$/.test(answer)
  return shown(isWord ? bytesAt(answer, 0, 32) : bytesOfAnswer(answer, textBytesMax))
}

/** The bytes of ABI text, of which at most `bytesMax`; undefined where the answer is not text. */
export function bytesOfAnswer(answer: unknown, bytesMax: number): Buffer | undefined {
  if (typeof answer !== 'string' || !answer.startsWith('0x')) return undefined
  const digits = answer.length - 2
  if (digits < wordDigits || digits % 2 !== 0) return undefined
  const offset = wordNumber(answer, 0)
  if (offset === undefined || 2 * offset + wordDigits > digits) return undefined
  const length = wordNumber(answer, 2 * offset)
  if (length === undefined || 2 * (offset + 32 + length) > digits) return undefined
  return bytesAt(answer, 2 * (offset + 32), Math.min(length, bytesMax))
}

/** Undefined where the answer is not a boolean. */
export function flagOfAnswer(answer: unknown): boolean | undefined {
  const value = numberOfAnswer(answer)
  return value === 0n ? false : value === 1n ? true : undefined
}

/** The first word of the answer; undefined where it has none. */
export function numberOfAnswer(answer: unknown): bigint | undefined {
  return typeof answer === 'string' && /^0x[0-9a-fA-F]{64}/.test(answer) ? BigInt(answer.slice(0, 66)) : undefined
}

/** The address in the first word, in lower case; undefined where that is not an address. */
export function addressOfAnswer(answer: unknown): string | undefined {
  return typeof answer === 'string' && /^0x0{24}[0-9a-fA-F]{40}/.test(answer)
    ? `0x${answer.slice(26, 66).toLowerCase()}`
    : undefined
}

/** Undefined where the word is not hex or larger than any answer. `at` counts digits after `0x`. */
function wordNumber(answer: string, at: number): number | undefined {
  const word = answer.slice(2 + at, 2 + at + wordDigits)
  return /^0{56}[0-9a-fA-F]{8}$/.test(word) ? Number.parseInt(word, 16) : undefined
}

/** Undefined where the digits are not hex. */
function bytesAt(answer: string, at: number, length: number): Buffer | undefined {
  const bytes = Buffer.from(answer.slice(2 + at, 2 + at + 2 * length), 'hex')
  return bytes.length === length ? bytes : undefined
}

function shown(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return undefined
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  // By code points, so that no surrogate pair is cut in half.
  return [...bytes.subarray(0, end).toString('utf8')].slice(0, textCharactersMax).join('')
}

// Hex digits, quantities and bytes: reads and writes the hex text of nodes and of the model. It knows nothing of their
// meaning.

/** The value of any other character: above all that two digits can make. */
export const noNibble = 0x100

/** The values of digits by their character codes, for loops over digits; undefined beyond ASCII. */
export const nibbles = new Uint16Array(128).fill(noNibble)
for (let digit = 0; digit < 16; digit++) {
  nibbles[digit.toString(16).charCodeAt(0)] = digit
  nibbles[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

// The text of JSON-RPC answers, read without throwing.

/**
 * A quantity as a number, or -1 where the text is not one or exceeds `max`. Accepts leading zeros, which some nodes
 * write. By hand, because `parseInt` accepts garbage and a pattern plus `Number` takes twice as long.
 */
export function quantityOf(text: unknown, max: number): number {
  if (typeof text !== 'string' || text.length < 3 || text.length > 66) return -1
  if (text.charCodeAt(0) !== 0x30 || text.charCodeAt(1) !== 0x78) return -1
  let number = 0
  for (let at = 2; at < text.length; at++) {
    const nibble = nibbles[text.charCodeAt(at)] ?? noNibble
    if (nibble === noNibble) return -1
    number = number * 16 + nibble
    if (number > max) return -1
  }
  return number
}

const scratch = new Uint8Array(32)

/** Whether the text is `0x` and exactly this many bytes, at most 32, of hex digits in any case. */
export function isHexOf(text: unknown, bytes: number): text is string {
  if (typeof text !== 'string' || text.length !== 2 + 2 * bytes) return false
  if (text.charCodeAt(0) !== 0x30 || text.charCodeAt(1) !== 0x78) return false
  try {
    // A third of the time of a loop.
    scratch.setFromHex(text.slice(2))
    return true
  } catch {
    return false
  }
}

/** The bytes of `0x…` text; undefined where that is not whole bytes of hex digits. */
export function parseHex(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || text.length % 2 !== 0 || !text.startsWith('0x')) return undefined
  const bytes = Buffer.allocUnsafe(text.length / 2 - 1)
  try {
    // Buffer's own decoder takes a character beyond Latin-1 for the digit of its low byte.
    bytes.setFromHex(text.slice(2))
    return bytes
  } catch {
    return undefined
  }
}

/** The big-endian bytes of a quantity without leading zeros, as RLP wants them; undefined where it is none. */
export function quantityBytes(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || text.length < 3 || !text.startsWith('0x')) return undefined
  let start = 2
  while (start < text.length && text.charCodeAt(start) === 0x30) start++
  const digits = text.slice(start)
  return parseHex(digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`)
}

/**
 * The low 20 bytes of a 32-byte word as 40 digits. The upper twelve bytes are ignored, as the EVM does wherever it
 * takes a word for an address.
 */
export function addressDigits(text: string, wordStart: number): string {
  return text.slice(wordStart + 24, wordStart + 64)
}

/** A number as nodes write it. */
export function quantityHex(number: number): string {
  return `0x${number.toString(16)}`
}

// Between the model's hex text, which was checked at the edge, and stored bytes.

export function bytesOfHex(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

export function hexOf<T extends string>(bytes: Uint8Array): T {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}` as T
}

/** Bytes as the key of a map. */
export function textOfKey(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}

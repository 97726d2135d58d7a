// Reads `data:` URIs, which hold their content themselves. Pure; what cannot be read is undefined.

/** Contracts write more than this only to cost whoever reads it: 1 MB of JSON in base64 is 1.4 MB. */
const contentBytesMax = 2 ** 20
const headerCharactersMax = 200

type DataUri = {
  /** In lower case, without parameters. */
  type: string
  charset: string
  /** Undefined where they are more than 1 MB. */
  bytes: () => Buffer<ArrayBuffer> | undefined
  /** As it stands: contracts often write JSON and SVG as they are, with percent signs in them. */
  content: string
}

/** Undefined for any other URI. */
export function dataUriOf(uri: string): DataUri | undefined {
  if (!/^data:/i.test(uri)) return undefined
  const comma = uri.slice(0, headerCharactersMax).indexOf(',')
  if (comma === -1) return undefined
  const [type = '', ...parameters] = uri
    .slice('data:'.length, comma)
    .split(';')
    .map(part => part.trim().toLowerCase())
  const content = uri.slice(comma + 1)
  const charset = parameters.find(part => part.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8'
  const bytes = () => {
    const decoded = percentDecoded(content)
    const plain = parameters.includes('base64') ? Buffer.from(decoded.toString('latin1'), 'base64') : decoded
    return plain.length > contentBytesMax ? undefined : plain
  }
  return { type: type || 'text/plain', charset, bytes, content }
}

/** Undefined where the bytes are too many or not of their character set. */
export function textOfData({ bytes, charset }: DataUri): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes())
  } catch {
    return undefined
  }
}

/** By bytes: a sequence of escapes may be one character. A percent sign without two digits stays. */
function percentDecoded(text: string): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(text) as Buffer<ArrayBuffer>
  const percent = 0x25
  if (!bytes.includes(percent)) return bytes
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const high = bytes[at] === percent ? hexDigit(bytes[at + 1]) : -1
    const low = high === -1 ? -1 : hexDigit(bytes[at + 2])
    bytes[length++] = low === -1 ? bytes[at]! : high * 16 + low
    if (low !== -1) at += 2
  }
  return bytes.subarray(0, length)
}

/** The value of a character; -1 where it is not a digit. No text for each: a page may have a million escapes. */
function hexDigit(character = 0): number {
  if (character >= 0x30 && character <= 0x39) return character - 0x30
  const letter = (character | 0x20) - 0x61
  return letter >= 0 && letter < 6 ? letter + 10 : -1
}

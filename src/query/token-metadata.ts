// What a token URI says by itself: the JSON of a `data:` URI, and the fields of it that clients know. Pure; it fetches
// nothing, and what cannot be read is undefined.

/** Answers hold a hundred of them. */
const metadataBytesMax = 64 * 1_024

/** The JSON object of a `data:` URI as text; undefined for any other URI. */
export function metadataOf(uri: string): string | undefined {
  const [, parameters = '', content] = /^data:application\/json([^,]*),(.*)$/is.exec(uri) ?? []
  if (content === undefined) return undefined
  const isBase64 = /;\s*base64\s*$/i.test(parameters)
  const decoded = percentDecoded(content)
  if (isBase64) return jsonObject(textOf(Buffer.from(decoded.toString('latin1'), 'base64')))
  // Contracts often write the JSON as it is, with percent signs in it.
  return jsonObject(textOf(decoded)) ?? jsonObject(content)
}

/** By bytes: a sequence of escapes may be one character. A percent sign without two digits stays. */
function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text)
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

/** Undefined where the bytes are too many or not UTF-8. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.length > metadataBytesMax) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function jsonObject(text: string | undefined): string | undefined {
  if (text === undefined || text.length > metadataBytesMax || parsed(text) === undefined) return undefined
  return text.trim()
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** A value of any other type could be nested without end. */
type Plain = string | number | boolean | null

export type NormalizedMetadata = {
  name: Plain
  description: Plain
  image: Plain
  external_link: Plain
  external_url: Plain
  animation_url: Plain
  attributes: {
    trait_type: Plain
    value: Plain
    display_type: Plain
    max_value: Plain
    trait_count: number
    order: Plain
  }[]
}

/** The fields that clients know, of metadata that `metadataOf` gave. */
export function normalizedMetadataOf(metadata: string): NormalizedMetadata {
  const known = parsed(metadata) ?? {}
  const field = (...names: string[]) => plainOf(names.map(name => known[name]).find(value => value != null))
  return {
    name: field('name'),
    description: field('description'),
    image: field('image', 'image_url', 'image_data'),
    external_link: field('external_link', 'external_url'),
    external_url: field('external_url', 'external_link'),
    animation_url: field('animation_url'),
    attributes: Array.isArray(known.attributes) ? known.attributes.flatMap(attributeOf) : [],
  }
}

function attributeOf(given: unknown): NormalizedMetadata['attributes'] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return []
  const { trait_type, value, display_type, max_value, order } = given as Record<string, unknown>
  return [
    {
      ...{ trait_type: plainOf(trait_type), value: plainOf(value), display_type: plainOf(display_type) },
      // How many tokens have a trait is not known from one token; the hosted service says 0 then.
      ...{ max_value: plainOf(max_value), trait_count: 0, order: plainOf(order) },
    },
  ]
}

function plainOf(value: unknown): Plain {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

// What a token URI says by itself: the JSON of a `data:` URI, and the fields of it that clients know. Pure; it fetches
// nothing, and what cannot be read is undefined.
import { dataUriOf, textOfData } from './data-uri.ts'

/** Characters: as much as a `data:` URI may hold. */
const metadataLengthMax = 2 ** 20
/** Marketplaces show some dozens. Each takes ten times the room that it has in hostile JSON. */
const attributesMax = 1_000

/** The JSON object of a `data:` URI as text; undefined for any other URI. Some contracts name no type, or text. */
export function metadataOf(uri: string): string | undefined {
  const data = dataUriOf(uri)
  if (data === undefined || !metadataTypes.has(data.type)) return undefined
  // Contracts often write the JSON as it is, with percent signs in it.
  return jsonObject(textOfData(data)) ?? jsonObject(data.content)
}

const metadataTypes: ReadonlySet<string> = new Set(['application/json', 'text/json', 'text/plain'])

export function jsonObject(text: string | undefined): string | undefined {
  if (text === undefined || text.length > metadataLengthMax || parsedMetadata(text) === undefined) return undefined
  return text.trim()
}

export function parsedMetadata(text: string): Readonly<Record<string, unknown>> | undefined {
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
  const known = parsedMetadata(metadata) ?? {}
  const field = (...names: string[]) => plainOf(names.map(name => known[name]).find(value => value != null))
  return {
    name: field('name'),
    description: field('description'),
    image: field('image', 'image_url', 'image_data'),
    external_link: field('external_link', 'external_url'),
    external_url: field('external_url', 'external_link'),
    animation_url: field('animation_url'),
    attributes: Array.isArray(known.attributes) ? known.attributes.slice(0, attributesMax).flatMap(attributeOf) : [],
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

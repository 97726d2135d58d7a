// Which operation a path means that somebody pasted, and with which values: with or without its method, host, version and
// query, or a whole command around it. Pure.

/** Of those whose places, such as `GET /nft/{address}`, it means, the one with its method first. */
export function atPath<Item>(
  items: readonly Item[],
  text: string,
  placesOf: (item: Item) => readonly string[],
): Item[] {
  const [, named] = /(?:^|\s-X\s*|\s--request\s+)(get|post|put|delete)\b/i.exec(text.trim()) ?? []
  // As curl decides, where nothing names it.
  const method = named ?? (bodyIn(text) === undefined ? undefined : 'post')
  const isOther = (item: Item) => Number(!placesOf(item).some(place => place.startsWith(`${method?.toUpperCase()} `)))
  return items
    .filter(item => placesOf(item).some(place => isAtPath(place.slice(place.indexOf('/')), text)))
    .toSorted((one, other) => isOther(one) - isOther(other))
}

/** A path stands below each version. */
export function withoutMethod(text: string): string {
  return text
    .trim()
    .replace(/^(get|post|put|delete)\s+(?=\/)/i, '')
    .replace(/^\/api\/v2(\.\d)?(?=\/)/i, '')
}

/** What stands for a parameter in an address that somebody has: a name, an address, a number, or a text cut short. */
const givenSegment =
  /^(\{.+\}|:.+|\$\{?.+|0x[\da-f]*.*|\d+|[1-9a-z]{32,44}|.*(…|\.\.\.)|mainnet|devnet|[\w-]+\.[a-z]+)$/i

/** Whether a path or a whole address, with or without its host, version and query, is one of this operation. */
function isAtPath(path: string, text: string): boolean {
  const [address = ''] = addressIn(text)
  if (!address.includes('/')) return false
  const [own, asked] = [segmentsOf(path), segmentsOf(address)]
  return (
    own.length === asked.length &&
    own.every((segment, at) =>
      segment.startsWith('{') ? givenSegment.test(asked[at]!) : segment.toLowerCase() === asked[at]!.toLowerCase(),
    )
  )
}

/** Path and query, without the host. */
function addressIn(text: string): string[] {
  // With a command around it too.
  const address = /https?:\/\/[^\s'"]+/i.exec(text)?.[0] ?? text
  return withoutMethod(address)
    .replace(/^https?:\/\/[^/]+/i, '')
    .replace(/#.*$/, '')
    .split('?')
}

function segmentsOf(path: string): string[] {
  return withoutMethod(`/${path.replace(/^\//, '')}`)
    .split('/')
    .filter(Boolean)
}

/** A value that is still to be filled in, or that was cut short. */
const openValue = /^[{:$<]|…|\.\.\./

/** In the place of a parameter: what a pasted command sends as its body. */
export const bodyName = 'body'

/** What a pasted address gives those of `names`: nothing where its path is not `path`, or leaves something open. */
export function valuesAt(path: string, text: string, names: readonly string[]): Record<string, string> {
  if (!isAtPath(path, text)) return {}
  const [address = '', query = ''] = addressIn(text)
  const asked = segmentsOf(address)
  const inPath = segmentsOf(path).flatMap((segment, at) =>
    segment.startsWith('{') ? [[segment.slice(1, -1), decoded(asked[at]!)] as const] : [],
  )
  if (inPath.some(([, value]) => openValue.test(value))) return {}
  const values: Record<string, string> = {}
  for (const [given, value] of [...inPath, ...new URLSearchParams(query)]) {
    // A list is also written as `name[]=a&name[]=b`.
    const name = given.replace(/\[\d*\]$/, '')
    if (!names.includes(name) || openValue.test(value)) continue
    values[name] = values[name] === undefined ? value : `${values[name]},${value}`
  }
  const body = names.includes(bodyName) ? bodyIn(text) : undefined
  return body === undefined ? values : { ...values, [bodyName]: body }
}

const sent = /\s(?:-d|--data(?:-raw|-binary|-ascii)?|--json)(?:\s+|=)?(?=\$?['"])/

/** The body of a pasted curl command, as its shell reads it; undefined without one that is written out. */
function bodyIn(text: string): string | undefined {
  const [flag] = sent.exec(text) ?? []
  if (flag === undefined) return undefined
  const given = text.slice(text.indexOf(flag) + flag.length)
  // Within single quotes nothing is escaped: one is written as '\''.
  const [, single] = /^\$?'((?:[^']|'\\'')*)'/.exec(given) ?? []
  if (single !== undefined) return single.replaceAll("'\\''", "'")
  const [, double] = /^"((?:[^"\\]|\\.)*)"/s.exec(given) ?? []
  return double?.replaceAll(/\\(["\\$`])/g, '$1')
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

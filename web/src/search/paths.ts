// Which operation a path means that somebody pasted: with or without its method, host, version and query, or a whole
// command around it. Pure.

/** Of those whose places, such as `GET /nft/{address}`, it means, the one with its method first. */
export function atPath<Item>(
  items: readonly Item[],
  text: string,
  placesOf: (item: Item) => readonly string[],
): Item[] {
  const [, method] = /(?:^|\s-X\s*|\s--request\s+)(get|post|put|delete)\b/i.exec(text.trim()) ?? []
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
  // With a command around it too.
  const address = withoutMethod(/https?:\/\/[^\s'"]+/i.exec(text)?.[0] ?? text)
    .replace(/^https?:\/\/[^/]+/i, '')
    .replace(/[?#].*$/, '')
  if (!address.includes('/')) return false
  const segmentsOf = (of: string): string[] =>
    withoutMethod(`/${of.replace(/^\//, '')}`)
      .split('/')
      .filter(Boolean)
  const [own, asked] = [segmentsOf(path), segmentsOf(address)]
  return (
    own.length === asked.length &&
    own.every((segment, at) =>
      segment.startsWith('{') ? givenSegment.test(asked[at]!) : segment.toLowerCase() === asked[at]!.toLowerCase(),
    )
  )
}

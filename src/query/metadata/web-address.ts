// Where URIs of tokens point, as wallets read them: content by its hash, by a name of IPNS, on Arweave, or a web
// server. Pure; it fetches nothing.
import { contentIdOf } from './content-hash.ts'

export type WebAddress = {
  kind: 'ipfs' | 'ipns' | 'ar' | 'https'
  /** The same for the same place, however it was written. */
  name: string
  /** Of the first three: the hash or name, and what follows it, which begins with a slash where there is anything. */
  root: string
  path: string
  /** The web server that the URI itself names. */
  url: string | undefined
}

const charactersMax = 2_048

/** Undefined for anything that no wallet would load. `within`: where the metadata lies that says so. */
export function webAddressOf(text: string, { tokenId, within }: { tokenId?: bigint; within?: WebAddress } = {}) {
  const given = text.trim()
  if (given === '' || given.length > charactersMax) return undefined
  return addressOf(tokenId === undefined ? given : given.replaceAll('{id}', wordOf(tokenId)), within)
}

/** As ERC-1155 puts an id into a URI. */
function wordOf(tokenId: bigint): string {
  return tokenId.toString(16).padStart(64, '0')
}

function addressOf(text: string, within: WebAddress | undefined): WebAddress | undefined {
  const [, scheme, rest = ''] = /^(ipfs|ipns|ar):\/{0,3}(.*)$/is.exec(text) ?? []
  if (scheme !== undefined) return ofRoot(scheme.toLowerCase() as 'ipfs', rest)
  if (/^https?:\/\//i.test(text)) return ofWebServer(text)
  const [, kind, path] = /^\/?(ipfs|ipns)\/(.+)$/is.exec(text) ?? []
  if (kind !== undefined) return ofRoot(kind.toLowerCase() as 'ipfs', path!)
  if (contentIdOf(text.split('/', 1)[0]!) !== undefined) return ofRoot('ipfs', text)
  // Markup, a word with a scheme, and the root of what has none are no names of files.
  if (within === undefined || /^[a-z][a-z\d+.-]*:|^\/\/|[<>\n]/i.test(text)) return undefined
  return relative(text, within)
}

function ofWebServer(text: string): WebAddress | undefined {
  const url = URL.parse(text)
  if (url === null || url.hostname === '') return undefined
  // As wallets do: a page over TLS loads nothing without it.
  if (url.protocol === 'http:') url.protocol = 'https:'
  url.hash = ''
  const [, kind, inPath] = /^\/(ipfs|ipns)\/(.+)$/.exec(url.pathname) ?? []
  if (kind !== undefined) return ofRoot(kind as 'ipfs', inPath!, url.href, true)
  const [, root, inHost] = /^([a-z\d-]+)\.(ipfs|ipns)\./.exec(url.hostname) ?? []
  if (root !== undefined) return ofRoot(inHost as 'ipfs', root + url.pathname, url.href, true)
  if (/^(www\.)?arweave\.net$/.test(url.hostname)) {
    const onArweave = ofRoot('ar', url.pathname.slice(1), url.href, true)
    if (onArweave !== undefined) return onArweave
  }
  return { kind: 'https', name: url.href, root: url.origin, path: url.pathname + url.search, url: url.href }
}

const roots = {
  ipfs: /^[a-zA-Z\d]{40,100}$/,
  ipns: /^[a-zA-Z\d.-]{1,253}$/,
  ar: /^[\w-]{43}$/,
} as const

function ofRoot(kind: keyof typeof roots, text: string, url?: string, isEscaped = false): WebAddress | undefined {
  // Some contracts say ipfs://ipfs/Qm….
  const given = kind === 'ar' ? text : text.replace(new RegExp(`^/*(?:${kind}/+)?`), '')
  const [root = ''] = given.split(/[/?#]/, 1)
  if (!roots[kind].test(root)) return undefined
  const path = plainPath(given.slice(root.length), isEscaped)
  return path === undefined ? undefined : { kind, name: `${kind}://${root}${path}`, root, path, url }
}

/** Escaped once, without a query; undefined where it would leave its folder. */
function plainPath(text: string, isEscaped: boolean): string | undefined {
  try {
    const unescaped =
      isEscaped || /%[\da-f]{2}/i.test(text) ? decodeURIComponent(text.split('?', 1)[0]!) : text.split('?', 1)[0]!
    const parts = unescaped.split('/').filter(part => part !== '' && part !== '.')
    if (parts.includes('..')) return undefined
    return parts.map(part => `/${encodeURIComponent(part)}`).join('')
  } catch {
    return undefined
  }
}

function relative(text: string, within: WebAddress): WebAddress | undefined {
  const base = within.kind === 'https' ? within.name : `https://x/${within.kind}/${within.root}${within.path}`
  const url = URL.parse(text, base)
  if (url === null) return undefined
  if (within.kind === 'https') return ofWebServer(url.href)
  const [, root, path = ''] = /^\/[a-z]+\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? []
  return root === within.root ? ofRoot(within.kind, root + path, undefined, true) : undefined
}

// An endpoint's URL, taken apart: what may be shown, and what is secret. Keys are in paths, queries and credentials,
// and providers repeat them in their errors.
import { isIP } from 'node:net'
import { isLocalName, isPublicAddress } from '../guarded-fetch.ts'
import { type Redactor, redactorOf } from '../redact.ts'

export type EndpointAddress = {
  /** Safe to log. It ends in a number where several endpoints would share it. */
  name: string
  origin: string
  /** Path and query: a secret. */
  path: string
  authorization: string | undefined
  isPrivate: boolean
  redact: Redactor
}

export type AddressOptions = { isPrivate?: (hostname: string) => boolean; nameOf?: (url: URL) => string }

export function endpointAddresses(
  urls: readonly string[],
  { isPrivate = isPrivateHost, nameOf = url => url.host }: AddressOptions = {},
): EndpointAddress[] {
  const seen = new Map<string, number>()
  return urls.map(text => {
    const url = new URL(text)
    const name = nameOf(url)
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    const login = `${decode(url.username)}:${decode(url.password)}`
    return {
      name: count === 1 ? name : `${name}#${count}`,
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      authorization: login === ':' ? undefined : `Basic ${Buffer.from(login).toString('base64')}`,
      isPrivate: isPrivate(url.hostname),
      redact: redactorOf(url),
    }
  })
}

/** The host in an endpoint's name. Two URLs of one host are one provider's word. */
export function hostOf(name: string): string {
  return name.replace(/#\d+$/, '')
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** An address that is not public, or a name that only a local resolver knows. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? isLocalName(host) : !isPublicAddress(host)
}

// The address by which a client reached this service, written into texts in place of the usual one. It decides nothing:
// a client that sends another name reads that name in its own answer.
import type { ApiRequest } from '../request.ts'

/** What pages and documents say, as they are kept. */
export const usualOrigin = 'http://127.0.0.1:8080'

const hostName = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i

export function originOf(request: ApiRequest): string {
  const host = request.header('host')
  if (host === undefined || !hostName.test(host)) return usualOrigin
  // A proxy that ends TLS says so. Nothing else is taken from it.
  return `${request.header('x-forwarded-proto') === 'https' ? 'https' : 'http'}://${host}`
}

/** Code that is the usual address and no more names just that. */
export function atOrigin(text: string, origin: string): string {
  return text.replaceAll(/http:\/\/127\.0\.0\.1:8080(?!\d|`|<\/code>)/g, origin)
}

// The headers of everything that a browser shows from this service: what a page may load, and what others may do with it.

/** Scripts, styles and data come from here alone, and nothing is embedded. */
const ownContentOnly = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]

/** `further`: directives beside those of every page. */
export function pageHeaders(further: readonly string[] = []): Record<string, string> {
  return {
    'Content-Security-Policy': [...ownContentOnly, ...further].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
  }
}

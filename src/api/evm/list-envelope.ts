// What the lists of EVM operations have around their rows.
import type { Dialect } from '../params.ts'
import type { ApiVersion } from '../request.ts'

/** `disable_total` was announced as deprecated on 2023-01-12, as RFC 9745 writes it. */
const deprecation = { Deprecation: '@1673481600' }

export function deprecationHeaders(isGiven: boolean): Record<string, string> {
  return isGiven ? deprecation : {}
}

export type Envelope = {
  dialect: Dialect
  version: ApiVersion
  /** Undefined where it was not counted. Only `/api/v2` has it. */
  total: number | undefined
  page: number
  pageSize: number
  /** Undefined on the last page. */
  cursor: string | undefined
}

/** The fields before the rows, without the brackets around them. */
export function envelopeText({ dialect, version, total, page, pageSize, cursor }: Envelope): string {
  const number = (value: number) => (dialect === 'live' ? `${value}` : `"${value}"`)
  const totalText = version === 'v2' ? `"total":${total === undefined ? 'null' : number(total)},` : ''
  const cursorText = cursor === undefined ? (dialect === 'live' ? 'null' : '""') : `"${cursor}"`
  return `${totalText}"page":${number(page)},"page_size":${number(pageSize)},"cursor":${cursorText}`
}

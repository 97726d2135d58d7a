// The two ways of writing an answer, and the rule that picks one.

export const dialects = ['reference', 'live'] as const
/** `reference` writes numbers and flags as the reference's samples do, `live` as the hosted service does. */
export type Dialect = (typeof dialects)[number]

export const apiVersions = ['v2', 'v2.1', 'v2.2'] as const
export type ApiVersion = (typeof apiVersions)[number]

/** The header that the public SDKs send with every request. */
export const platformHeader = 'x-moralis-platform'

export function pickDialect(options: {
  setting: Dialect | undefined
  version: ApiVersion
  hasPlatformHeader: boolean
}): Dialect {
  if (options.setting !== undefined) return options.setting
  return options.version !== 'v2' || options.hasPlatformHeader ? 'live' : 'reference'
}

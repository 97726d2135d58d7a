// What the schemas of both engines share: how steps and versions relate, and which stores are refused. No SQL here.
import { AlmanacError } from '../errors.ts'

/** Kept counts are summed over this many blocks. */
export const bucketBlocks = 4096

/** The version of 0.1.0, the first release. Versions below it were never released. */
export const firstVersion = 7

/** The version that a list of steps leads to. */
export function versionAfter(steps: readonly string[]): number {
  return firstVersion + steps.length - 1
}

/**
 * The step that a store of this version needs next, and the version that it leads to; undefined where it needs none.
 */
export function nextStep(steps: readonly string[], version: number): { sql: string; version: number } | undefined {
  const at = version === 0 ? 0 : version - firstVersion + 1
  const sql = steps[at]
  return sql === undefined ? undefined : { sql, version: firstVersion + at }
}

/** For a caller that must not create a store: a typo in its address would look like an empty one. */
export function noStoreAt(location: string): AlmanacError {
  return new AlmanacError('not_found', `There is no store at ${location.replace(/^file:/, '')}.`, {
    hint: 'start the service once, which creates it; if it runs, run this in its folder, or give --store or --config.',
  })
}

/** Refuses a store, 0 being an empty one, that this version of Almanac cannot use. */
export function requireKnown(version: number, steps: readonly string[], location: string): void {
  const known = versionAfter(steps)
  const has = `The store ${location} has schema version ${version}; this version of Almanac knows`
  if (version > known)
    throw new AlmanacError('store_newer', `${has} up to ${known}.`, {
      hint: 'start the newer version of Almanac that wrote it, or name another store under store.',
    })
  if (version !== 0 && version < firstVersion)
    throw new AlmanacError('store_corrupt', `${has} ${firstVersion} and later. A version before 0.1.0 wrote it.`, {
      hint: 'name an empty store under store and index again; this one was left as it is.',
    })
}

// What the stores of both engines share: their format, and which stores are refused. No SQL here.
import { AlmanacError } from '../errors.ts'

/** Kept counts are summed over this many blocks. */
export const bucketBlocks = 4096

/** Of the tables and of what is packed in them. Who changes either raises it: no store changes its format. */
export const storeFormat = 18

/** For a caller that must not create a store: a typo in its address would look like an empty one. */
export function noStoreAt(location: string): AlmanacError {
  return new AlmanacError('not_found', `There is no store at ${location.replace(/^file:/, '')}.`, {
    hint: 'start the service once, which creates it; if it runs, run this in its folder, or give --store or --config.',
  })
}

/** Refuses a store of another format, which is left as it is. `what` begins the sentence: "The store file:a.db". */
export function requireFormat(format: number, what: string): void {
  const has = `${what} has format ${format}; this version of Almanac reads and writes ${storeFormat}.`
  if (format > storeFormat)
    throw new AlmanacError('store_newer', has, {
      hint: 'start the newer version of Almanac that wrote it, or name another store under store.',
    })
  if (format < storeFormat)
    throw new AlmanacError('store_older', has, {
      hint: 'name an empty store under store and index again, or go on with the version that wrote it; it was left as it is.',
    })
}

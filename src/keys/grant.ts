// What one key may give to another over HTTP: never more than it has itself. The command line is not bound by this.
import { AlmanacError } from '../errors.ts'
import type { KeyRecord } from '../store/key-store.ts'
import type { NewKey } from './keys.ts'

/** Throws `forbidden` where the wanted key could do something, or could do it longer or more often, that its giver cannot. */
export function checkGrant(giver: KeyRecord, wanted: NewKey): void {
  const beyond = wanted.scopes.filter(scope => !giver.scopes.includes(scope))
  if (beyond.length > 0) refuse('scopes', `the scope ${beyond.join(', ')}`)
  const limits = [
    ['expires', 'no end or a later one', giver.expiresAt, wanted.expiresAt],
    ['rate_per_second', 'a higher rate', giver.ratePerSecond, wanted.ratePerSecond],
    ['quota_per_day', 'a higher quota', giver.quotaPerDay, wanted.quotaPerDay],
    ['index_per_day', 'a higher allowance for indexing', giver.indexPerDay, wanted.indexPerDay],
  ] as const
  for (const [parameter, what, own, asked] of limits) {
    if (own !== undefined && (asked === undefined || asked > own)) refuse(parameter, what)
  }
}

function refuse(parameter: string, what: string): never {
  throw new AlmanacError('forbidden', `This key cannot give ${what}: it gives no more than it has`, {
    details: { parameter },
  })
}

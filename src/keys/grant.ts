// What one key may give to another over HTTP: never more than it has itself. The command line is not bound by this.
import { AlmanacError } from '../errors.ts'
import type { KeyRecord } from '../store/key-store.ts'
import type { NewKey } from './keys.ts'

/** Throws `forbidden` where the wanted key, alone or with others like it, could do something that its giver cannot. */
export function checkGrant(giver: KeyRecord, wanted: NewKey): void {
  const beyond = wanted.scopes.filter(scope => !giver.scopes.includes(scope))
  if (beyond.length > 0) refuse('scopes', `the scope ${beyond.join(', ')}: it gives no more than it has`)
  if (giver.expiresAt !== undefined && (wanted.expiresAt === undefined || wanted.expiresAt > giver.expiresAt))
    refuse('expires', 'no end or a later one: it gives no more than it has')
  const limits = [
    ['rate_per_second', giver.ratePerSecond],
    ['quota_per_day', giver.quotaPerDay],
    ['index_per_day', giver.indexPerDay],
  ] as const
  for (const [parameter, limit] of limits) {
    if (limit !== undefined) refuse(parameter, 'keys: it has a limit, which each of them would have anew')
  }
}

function refuse(parameter: string, what: string): never {
  throw new AlmanacError('forbidden', `This key cannot give ${what}`, { details: { parameter } })
}

// The shapes of keys over HTTP: what a list shows, what a new key is asked for with, and what is answered once.
import { z } from 'zod'
import { keyNamePattern } from '../keys/keys.ts'
import { scopes } from '../keys/scopes.ts'

const moment = z.iso.datetime()

export const shownKey = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(['active', 'expired', 'revoked']),
  scopes: z.array(z.string()),
  rate_per_second: z.int().nullable(),
  quota_per_day: z.int().nullable(),
  index_per_day: z.int().nullable(),
  used_today: z.int(),
  created_at: moment.nullable(),
  expires_at: moment.nullable(),
  revoked_at: moment.nullable(),
})

export const keyList = z.object({ keys: z.array(shownKey) })

export const issuedKey = z.object({
  ...shownKey.shape,
  secret: z.string().describe('Shown only in this answer; the service keeps a hash of it.'),
})

const countMax = 999_999_999_999

/** A limit that is left out is none. */
export const newKey = z.strictObject({
  name: z.string().regex(keyNamePattern),
  scopes: z.array(z.enum(scopes)).min(1),
  expires: z.string().max(40).optional().describe('A span such as 12h or 90d, or a date. Without it: never.'),
  rate_per_second: z.int().min(1).max(countMax).optional(),
  quota_per_day: z.int().min(1).max(countMax).optional(),
  index_per_day: z
    .int()
    .min(0)
    .max(countMax)
    .optional()
    .describe('Contracts and wallets a day that are indexed because this key asks for them.'),
})

/** Ends the sentence "<field> must be …". */
export const newKeyAccepts: Record<keyof z.output<typeof newKey>, string> = {
  name: '1 to 100 characters on one line',
  scopes: `some of ${scopes.join(', ')}`,
  expires: 'a span such as 12h or 90d, or a date such as 2027-01-31',
  rate_per_second: 'a whole number from 1 on',
  quota_per_day: 'a whole number from 1 on',
  index_per_day: 'a whole number from 0 on',
}

// The schemas of keys, as operators ask for them, make them and change them.
import { z } from 'zod'
import { keyNamePattern, scopes, usualLimits } from '../keys/keys.ts'
import { usualGrace } from '../keys/rotate-key.ts'

const moment = z.iso.datetime()

const limits = {
  rate_per_second: z.int().nullable().describe('Requests that it may send in a second; null: no limit.'),
  quota_per_day: z.int().nullable().describe('Requests that it may send in a day (UTC); null: no limit.'),
  index_per_day: z
    .int()
    .nullable()
    .describe('Contracts, wallets and Solana owners that it may have indexed in a day (UTC); null: no limit.'),
  index_waiting: z.int().nullable().describe('How many of these may wait at once on a chain; null: no limit.'),
}

const requestsOfClients =
  'Requests of clients, in UTC: not those for operators, nor those that a browser sends from pages of this service with a key that has the scope `ops`.'

export const key = z.object({
  id: z.string().describe('Names the key in requests for operators. It is not the secret.'),
  name: z.string().describe('For people.'),
  state: z.enum(['active', 'expired', 'revoked']).describe('Whether it works now, and if not, why.'),
  scopes: z.array(z.string()).describe('What it may ask for.'),
  ...limits,
  unlimited: z.boolean().describe('Whether it has none of these limits.'),
  used_today: z.int().describe('All requests, as the quota counts them.'),
  requests_today: z.int().describe(requestsOfClients),
  last_used_on: z.iso.date().nullable().describe('The last day in UTC; null where it is more than 30 days ago.'),
  created_at: moment.nullable().describe('When it was issued; null where that is not known.'),
  expires_at: moment.nullable().describe('When it stops working; null: never.'),
  revoked_at: moment.nullable().describe('When it was revoked; null where it was not.'),
  replaces_id: z.string().nullable().describe('The id of the key that it was made to replace.'),
  from_environment: z
    .boolean()
    .describe("Whether it is the operator's own key (`ALMANAC_KEY`), which is neither rotated nor revoked here."),
})

export const keyList = z.object({
  keys: z.array(key).describe('Every key, those that expired or were revoked included.'),
  asked_by: z.string().describe('Id of the key that was sent with this request.'),
})

export const issuedKey = z.object({
  ...key.shape,
  secret: z.string().describe('Shown only in this answer; the service keeps a hash.'),
})

export const rotatedKey = z.object({ ...issuedKey.shape, replaces: key.describe('The old key, with its new end.') })

export const newRotation = z.strictObject({
  grace: z
    .string()
    .max(10)
    .optional()
    .describe(`How long the old key works on: a span such as 24h or 7d, or 0. Defaults to ${usualGrace}.`),
})

const countMax = 999_999_999_999

/** Usual where it is left out, none where it is null. */
const limit = (least: number) => z.int().min(least).max(countMax).nullish()

export const newKey = z.strictObject({
  name: z.string().regex(keyNamePattern).describe('For people: 1 to 100 characters on one line.'),
  scopes: z.array(z.enum(scopes)).min(1).describe('What the key may ask for.'),
  expires: z.string().max(40).optional().describe('A span such as 12h or 90d, or a date. Defaults to never.'),
  rate_per_second: limit(1).describe(
    `Requests that the key may send in a second. Defaults to ${usualLimits.ratePerSecond}; null: no limit.`,
  ),
  quota_per_day: limit(1).describe('Requests that the key may send in a day (UTC). Left out or null: no limit.'),
  index_per_day: limit(0).describe(
    `Contracts, wallets and Solana owners a day, not kept yet, that are indexed on request of this key. Defaults to ${usualLimits.indexPerDay}; null: no limit.`,
  ),
  index_waiting: limit(1).describe(
    `How many of them may wait at once. Defaults to ${usualLimits.indexWaiting}; null: no limit.`,
  ),
})

const changed = (least: number) => limit(least).describe('Stays as it is where it is left out; null: no limit.')

export const keyChange = z.strictObject({
  name: newKey.shape.name.optional(),
  expires: newKey.shape.expires
    .unwrap()
    .nullish()
    .describe('A span from now such as 12h or 90d, or a date; null: never. Stays as it is where it is left out.'),
  rate_per_second: changed(1),
  quota_per_day: changed(1),
  index_per_day: changed(0),
  index_waiting: changed(1),
})

export const keyUse = z.object({
  id: z.string().describe('Id of the key.'),
  last_hour: z
    .object({
      answered: z.int().describe('With a status below 400.'),
      limited: z.int().describe('With 429.'),
      forbidden: z.int().describe('With 403.'),
      refused: z.int().describe('With another status from 400 to 499, or with 501.'),
      failed: z.int().describe('With a status of 500 or more, except 501.'),
    })
    .describe('Answers of this process to the operations; zeros where the key is none of the last 200 that were sent.'),
  today: z
    .array(
      z.object({
        use: z.string().describe('The scope, `any` or `console`.'),
        requests: z.int().describe('How many were sent.'),
      }),
    )
    .describe(
      'Requests of the day in UTC by the scope that they needed, of all processes, most first. `any`: every key may; `console`: of this console.',
    ),
  refusals: z
    .array(
      z.object({
        at: moment.describe('When it was answered.'),
        status: z.int().describe('The HTTP status.'),
        code: z.string().describe('The code of the error.'),
        route: z.string().describe('The route that was asked, with names in the place of values.'),
      }),
    )
    .describe('The last 20 that this process refused or failed to answer, newest first. Those not found are left out.'),
})

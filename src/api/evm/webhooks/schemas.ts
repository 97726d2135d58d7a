// The schemas of webhooks, as their owners make, change and see them.
import { z } from 'zod'
import { keyNamePattern } from '../../../keys/keys.ts'
import { positionLengthMax } from '../../../query/changes/position.ts'
import { kinds } from '../changes/change-filter.ts'

const moment = z.iso.datetime()
const kindList = z.array(z.enum(kinds as [string, ...string[]]))

const delivery = z.object({
  at: moment.describe('When it was sent.'),
  id: z.string().describe('The header `webhook-id`: the same for each attempt of the same batch.'),
  changes: z.int().describe('Changes in it; 0 for one that says from which block to forget.'),
  status: z.int().nullable().describe('What the receiver answered; null where it did not.'),
  error: z.string().nullable().describe('Why it failed; null where it did not.'),
  milliseconds: z.int().describe('Until the answer, or until it was given up.'),
})

export const webhook = z.object({
  id: z.string().describe('Names the webhook.'),
  name: z.string().describe('For people.'),
  url: z.string().describe('Where it sends; of webhooks of other keys without path and query.'),
  key_id: z.string().describe('The key that made it. It ends with the key, unless that was rotated.'),
  chain: z.string().describe('The chain whose changes it is told.'),
  contract: z.string().nullable().describe('Changes of this contract alone; null: of all.'),
  wallet: z.string().nullable().describe('Transfers to and from this wallet alone; null: of all.'),
  token_id: z.string().nullable().describe('Transfers of this token of the contract alone; null: of all.'),
  kinds: kindList.describe('What it is told.'),
  finality: z.enum(['seen', 'final']).describe('`final`: what is final alone.'),
  state: z.enum(['active', 'retrying', 'paused']).describe('Whether it sends; `retrying` after a failure.'),
  reason: z.string().nullable().describe('Why it is not active; null while it is.'),
  attempts: z.int().describe('Failed attempts of what it sends now.'),
  position: z.string().describe('What was acknowledged, as `after` of `GET /changes` takes it.'),
  lag_seconds: z.int().describe('For how long there is something that was not acknowledged; 0: nothing is.'),
  next_attempt_at: moment.nullable().describe('When it is tried again; null where nothing failed.'),
  created_at: moment.describe('When it was made.'),
  old_secret_until: moment.nullable().describe('Until when the secret before signs too; null: it does not.'),
})

export const webhookList = z.object({ webhooks: z.array(webhook).describe('The oldest first.') })

export const webhookDetails = z.object({
  ...webhook.shape,
  deliveries: z.array(delivery).describe('The last 20, the newest first.'),
})

export const issuedWebhook = z.object({
  ...webhook.shape,
  secret: z.string().describe('Verifies what it sends. Shown only in this answer.'),
})

const position = {
  after: z.string().max(positionLengthMax).optional().describe('Position to begin from: `next` of `GET /changes`.'),
  from_block: z.int().min(0).optional().describe('Instead of `after`: everything from this block on that is indexed.'),
}

export const newWebhook = z.strictObject({
  name: z.string().regex(keyNamePattern).optional().describe('For people: 1 to 100 characters on one line.'),
  url: z.string().max(2_048).describe('Where to send: https, a public host, no credentials.'),
  chain: z.string().max(100).describe('Chain, by name or hex id.'),
  contract: z.string().max(42).optional().describe('Changes of this contract.'),
  wallet: z.string().max(42).optional().describe('Transfers to and from this wallet.'),
  token_id: z.string().max(78).optional().describe('Transfers of this token of `contract`.'),
  kinds: kindList.min(1).optional().describe('What is told. Defaults to `nft_transfer`.'),
  finality: z.enum(['seen', 'final']).optional().describe('`final`: what is final alone. Defaults to `seen`.'),
  ...position,
})

export const webhookChange = z.strictObject({
  name: newWebhook.shape.name,
  url: newWebhook.shape.url.optional(),
  paused: z.boolean().optional().describe('`false` also resumes one that was paused after failures.'),
})

export const webhookPosition = z.strictObject(position)

export const webhookTest = z.object({
  delivered: z.boolean().describe('Whether the receiver answered with a status from 200 to 299.'),
  status: z.int().nullable().describe('What it answered; null where it did not.'),
  error: z.string().nullable().describe('Why it failed; null where it did not.'),
  milliseconds: z.int().describe('Until the answer, or until it was given up.'),
})

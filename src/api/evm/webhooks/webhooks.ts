// The routes of webhooks: who has the scope sees and changes its own, and operators see all of them.
import type { z } from 'zod'
import { AlmanacError, type ErrorCode } from '../../../errors.ts'
import { hasScope, keysInForce, replacedBy, scopeLacking } from '../../../keys/keys.ts'
import { parseGrace, usualGrace } from '../../../keys/rotate-key.ts'
import type { KeyRecord } from '../../../store/key-store.ts'
import type { StoredWebhook } from '../../../store/webhook-store.ts'
import { jsonAnswer } from '../../answer.ts'
import type { Context } from '../../context.ts'
import { newRotation } from '../../key-schemas.ts'
import {
  type ExampleName,
  type Json,
  jsonSuccess,
  type OperationFacts,
  reference,
  textInPath,
} from '../../openapi-parts.ts'
import { unacceptable } from '../../params.ts'
import type { ApiRequest } from '../../request.ts'
import type { RouteParts } from '../../responder.ts'
import { followContract } from '../changes/change-filter.ts'
import { requireConfigured } from '../not-indexed.ts'
import { WebhookManager } from './manage-webhooks.ts'
import { Places } from './places.ts'
import { newWebhook as newWebhookSchema, webhookChange, webhookPosition } from './schemas.ts'
import { shownDelivery, shownWebhook } from './shown-webhook.ts'

const bodyBytesMax = 8_192
const errors: ErrorCode[] = ['unauthorized', 'forbidden', 'rate_limited', 'quota_exceeded', 'internal']
/** Tests that are under way. */
const testsMax = { all: 16, ofKey: 2, bytes: Number.POSITIVE_INFINITY, patienceMs: Number.POSITIVE_INFINITY }

const needs = 'needs the scope `webhooks`'

/** One of each for an app. */
const managers = new WeakMap<Context, { manager: WebhookManager; tests: Places }>()

function toolsOf(context: Context) {
  const known = managers.get(context)
  if (known !== undefined) return known
  const made = { manager: new WebhookManager(context, context.settings.webhooks), tests: new Places(testsMax) }
  managers.set(context, made)
  return made
}

type Asker = { key: KeyRecord; keys: readonly KeyRecord[]; own: readonly string[]; seesAll: boolean }

/** Operators may look without the scope. */
async function admit({ gatekeeper, store }: Context, request: ApiRequest, looks = false): Promise<Asker> {
  const secret = request.header('x-api-key')
  const { key, rateLimit } = await gatekeeper.admit(secret, 'any', request.isOwnPage)
  request.rateLimit = rateLimit
  request.keyId = key.id
  const seesAll = hasScope(key, 'ops')
  if (!hasScope(key, 'webhooks') && !(looks && seesAll)) throw scopeLacking('webhooks')
  const keys = await store.keys()
  return { key, keys, own: [key.id, ...replacedBy(key, keys)], seesAll }
}

function shown({ chains }: Context, { own, keys }: Asker, stored: StoredWebhook) {
  const inForce = keysInForce(keys, 'webhooks')
  return shownWebhook(stored, { chains, isOwn: own.includes(stored.webhook.keyId), inForce })
}

/** That of another key is not there for one that is not an operator's. */
async function found(context: Context, request: ApiRequest, { own, seesAll }: Asker): Promise<StoredWebhook> {
  const stored = await toolsOf(context).manager.find(request.pathParameter('id'))
  if (stored !== undefined && (seesAll || own.includes(stored.webhook.keyId))) return stored
  throw noSuchWebhook()
}

function noSuchWebhook(): AlmanacError {
  return new AlmanacError('not_found', 'There is no webhook with this id')
}

/** Names the first field that is wrong. */
function read<Schema extends z.ZodObject>(schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const field = result.error.issues.find(({ path }) => path.length > 0)?.path[0]
  if (field === undefined)
    throw new AlmanacError('bad_request', 'The body must be an object with known fields', {
      details: { accepted: Object.keys(schema.shape) },
    })
  throw unacceptable(String(field), accepted[String(field)] ?? 'as the reference says')
}

/** Ends the sentence "<field> must be …". */
const accepted: Readonly<Record<string, string>> = {
  name: '1 to 100 characters on one line',
  url: 'an https URL of at most 2048 characters',
  chain: 'a chain, by name or hex id',
  contract: '0x and 40 hex digits, in any case',
  wallet: '0x and 40 hex digits, in any case',
  token_id: 'a decimal number as text',
  kinds: 'a list of nft_transfer, erc20_transfer',
  finality: 'seen or final',
  after: 'the next of an answer of GET /changes to the same question',
  from_block: 'a whole number from 0 on',
  paused: 'true or false',
}

const idInPath = textInPath('id', 'Id of the webhook, as `GET /webhooks` lists it.', 'wh_5f0c3a9be2d45f0c3a')

function body(schema: string, name: string, value: unknown): Json {
  const content = { 'application/json': { schema: reference(schema), examples: { [name]: { value } } } }
  return { required: true, content }
}

function ofOne(
  facts: Omit<OperationFacts, 'parameters' | 'errors' | 'failures' | 'answers'> & {
    schema: ExampleName
    told: string
    status?: number
  },
): OperationFacts {
  const { schema, told, status = 200, ...rest } = facts
  return {
    ...rest,
    parameters: [idInPath],
    answers: { [status]: jsonSuccess(schema, told) },
    errors: [...(rest.requestBody === undefined ? [] : (['bad_request'] as const)), 'not_found', ...errors],
    failures: [noSuchWebhook()],
  }
}

export const webhookList: RouteParts = {
  answer: context => async request => {
    const asker = await admit(context, request, true)
    const stored = await context.store.webhooks(asker.seesAll ? {} : { keys: asker.own })
    return jsonAnswer({ webhooks: stored.map(each => shown(context, asker, each)) })
  },
  document: {
    id: 'listWebhooks',
    summary: `List webhooks; ${needs}, or \`ops\` to see those of all keys`,
    description: 'The webhooks of the key: what they listen to, their states and how far they are. Without secrets.',
    answers: { 200: jsonSuccess('WebhookList', 'The webhooks, the oldest first.') },
    errors,
  },
}

export const newWebhook: RouteParts = {
  answer: context => async request => {
    const { manager } = toolsOf(context)
    const { key, own, keys, seesAll } = await admit(context, request)
    const wanted = read(newWebhookSchema, await request.readJson(bodyBytesMax))
    const filter = await manager.filter(wanted)
    await requireConfigured(context, { query: `${new URLSearchParams({ chain: wanted.chain })}` }, 'indexed')
    const { stored, secret } = await manager.create(wanted, filter, { keyId: key.id, ofKeys: own })
    context.log.info({ webhook: stored.webhook.id, by: key.id }, 'Webhook created')
    await followContract(context, filter, key)
    return jsonAnswer({ ...shown(context, { key, own, keys, seesAll }, stored), secret }, { status: 201 })
  },
  document: {
    id: 'createWebhook',
    summary: `Create a webhook; ${needs}`,
    description:
      'Changes of transfers are sent to a URL as they happen, at least once and in order: `seen`, `retracted` and `final` with one `id`, as `GET /changes` has them. ' +
      'Each request is signed with the secret that this answer alone shows, as Standard Webhooks has it. Without `after` and `from_block` it begins now. ' +
      '[React to transfers](/docs/guides/react-to-transfers.html) has a whole receiver.',
    requestBody: body('NewWebhook', 'collection', {
      ...{ name: 'shop', url: 'https://shop.example/transfers', chain: 'eth' },
      contract: '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d',
    }),
    answers: { 201: jsonSuccess('IssuedWebhook', 'The webhook with its secret.') },
    errors: ['bad_request', 'chain_not_configured', 'not_configured', ...errors],
    failures: [unacceptable('url', accepted.url!)],
  },
}

export const webhookDetails: RouteParts = {
  answer: context => async request => {
    const asker = await admit(context, request, true)
    const stored = await found(context, request, asker)
    const deliveries = (await context.store.deliveries(stored.webhook.id)).map(shownDelivery)
    return jsonAnswer({ ...shown(context, asker, stored), deliveries })
  },
  document: ofOne({
    id: 'getWebhook',
    summary: `A webhook; ${needs}, or \`ops\``,
    description:
      'What it listens to, its state and its last deliveries: times, statuses and ids, never what was sent or answered.',
    ...{ schema: 'WebhookDetails', told: 'The webhook with its last deliveries.' },
  }),
}

export const changedWebhook: RouteParts = {
  answer: context => async request => {
    const asker = await admit(context, request)
    const { webhook } = await found(context, request, asker)
    const wanted = read(webhookChange, await request.readJson(bodyBytesMax))
    await toolsOf(context).manager.change(webhook.id, wanted)
    context.log.info({ webhook: webhook.id, by: asker.key.id }, 'Webhook changed')
    return jsonAnswer(shown(context, asker, await found(context, request, asker)))
  },
  document: ofOne({
    id: 'changeWebhook',
    summary: `Change or pause a webhook; ${needs}`,
    description:
      'Another name or URL, or a pause. It goes on where it was; nothing is lost meanwhile. What is left out stays.',
    ...{ schema: 'Webhook', told: 'The webhook as it is now.' },
    requestBody: body('WebhookChange', 'pause', { paused: true }),
  }),
}

export const webhookResumption: RouteParts = {
  answer: context => async request => {
    const asker = await admit(context, request)
    const stored = await found(context, request, asker)
    await toolsOf(context).manager.resume(stored, read(webhookPosition, await request.readJson(bodyBytesMax)))
    context.log.info({ webhook: stored.webhook.id, by: asker.key.id }, 'Webhook resumed')
    return jsonAnswer(shown(context, asker, await found(context, request, asker)))
  },
  document: ofOne({
    id: 'resumeWebhook',
    summary: `Resume a webhook; ${needs}`,
    description:
      'It sends at once, from a position or a block, or from where it was. Use it after a receiver was down, or to send again.',
    ...{ schema: 'Webhook', told: 'The webhook as it is now.' },
    requestBody: body('WebhookPosition', 'block', { from_block: 16_220_200 }),
  }),
}

export const webhookRotation: RouteParts = {
  answer: context => async request => {
    const asker = await admit(context, request)
    const stored = await found(context, request, asker)
    const graceMs = graceOf(await request.readJson(bodyBytesMax))
    const secret = await toolsOf(context).manager.rotate(stored, graceMs)
    context.log.info({ webhook: stored.webhook.id, by: asker.key.id }, 'Secret of webhook rotated')
    return jsonAnswer({ ...shown(context, asker, await found(context, request, asker)), secret }, { status: 201 })
  },
  document: ofOne({
    id: 'rotateWebhook',
    summary: `Rotate the secret of a webhook; ${needs}`,
    description: `A new secret, which this answer alone shows. The old one signs too for the grace period, ${usualGrace} if it is left out: both signatures are sent.`,
    ...{ schema: 'IssuedWebhook', told: 'The webhook with its new secret.', status: 201 },
    requestBody: body('NewRotation', 'usual', { grace: usualGrace }),
  }),
}

function graceOf(given: unknown): number {
  const result = newRotation.safeParse(given)
  try {
    return parseGrace(result.data?.grace ?? (result.success ? usualGrace : ''))
  } catch {
    throw unacceptable('grace', 'a span of at most 365d such as 30m, 24h or 7d, or 0')
  }
}

export const webhookTest: RouteParts = {
  answer: context => async request => {
    const { manager, tests } = toolsOf(context)
    const asker = await admit(context, request)
    const stored = await found(context, request, asker)
    const place = tests.take(asker.key.id, () => {})
    if (place === undefined)
      throw new AlmanacError('rate_limited', 'Too many tests of webhooks are under way', {
        ...{ retryable: true, retryAfterMs: 5_000, details: { limit: `${testsMax.ofKey} tests at once` } },
      })
    try {
      const { status = null, error = null, tookMs } = await manager.test(stored, request.signal)
      return jsonAnswer({ delivered: error === null, status, error, milliseconds: tookMs })
    } finally {
      place.free()
    }
  },
  document: ofOne({
    id: 'testWebhook',
    summary: `Send a test; ${needs}`,
    description:
      'One signed request of the type `test`, without changes, which is not repeated. Answers what became of it.',
    ...{ schema: 'WebhookTest', told: 'What became of it.' },
  }),
}

export const webhookDeletion: RouteParts = {
  answer: context => async request => {
    const asker = await admit(context, request)
    const stored = await found(context, request, asker)
    await context.store.removeWebhook(stored.webhook.id)
    context.log.info({ webhook: stored.webhook.id, by: asker.key.id }, 'Webhook deleted')
    return jsonAnswer(shown(context, asker, stored))
  },
  document: ofOne({
    id: 'deleteWebhook',
    summary: `Delete a webhook; ${needs}`,
    description: 'Nothing more is sent, and its deliveries are forgotten.',
    ...{ schema: 'Webhook', told: 'The webhook as it was.' },
  }),
}

// Webhooks, how far each was told, and its last deliveries.
import {
  type Engine,
  lastOfEach,
  lockNames,
  plain,
  plainUnseen,
  put,
  type Row,
  row,
  rows,
  run,
  type Work,
} from '../core/work.ts'
import {
  deliveriesKept,
  type StoredWebhook,
  type WebhookChange,
  type WebhookDelivery,
  type WebhookProgress,
  type WebhookProgressWriter,
  type WebhookRecord,
  type WebhookStore,
  type WebhookTurn,
  webhooksMax,
} from '../webhook-store.ts'

export function webhookStore(engine: Engine): WebhookStore {
  return {
    addWebhook: (webhook, position, max) => engine.write(() => addWebhook(webhook, position, max), plain),
    webhooks: asked => engine.read(() => webhooks(asked)),
    changeWebhook: (id, change, turn) => engine.write(() => changeWebhook(id, change, turn), plain),
    removeWebhook: id => engine.write(() => removeWebhook(id), plain),
    deliveries: webhook => engine.read(() => deliveries(webhook)),
  }
}

export function webhookProgressWriter(engine: Engine): WebhookProgressWriter {
  return {
    putProgress: (progress, sent) => engine.write(() => putProgress(progress, sent), plainUnseen),
  }
}

const columnOf = {
  ...{ id: 'id', keyId: 'key_id', name: 'name', url: 'url', filter: 'filter', createdAt: 'created_at' },
  ...{ paused: 'paused', secret: 'secret', oldSecretUntil: 'old_secret_until' },
} as const satisfies Record<keyof WebhookRecord, string>
const fields = Object.keys(columnOf) as (keyof WebhookRecord)[]

const progressColumns = [
  ...['turn', 'restart', 'position', 'batch', 'batch_end', 'batch_digest', 'batch_changes', 'attempts'],
  ...['failing_since', 'next_attempt_at', 'behind_since', 'stopped', 'reason', 'sent'],
]

function cellsOf(progress: WebhookProgress) {
  const { batch } = progress
  return {
    ...{ turn: progress.turn, restart: Number(progress.restart), position: progress.position },
    ...{ batch: batch?.id, batch_end: batch?.end, batch_digest: batch?.digest, batch_changes: batch?.changes },
    ...{ attempts: progress.attempts, failing_since: progress.failingSince, next_attempt_at: progress.nextAttemptAt },
    ...{ behind_since: progress.behindSince, stopped: Number(progress.stopped), reason: progress.reason },
    sent: progress.sent,
  }
}

function storedOf(cells: Row): StoredWebhook {
  const values = cells.map(cell => cell ?? undefined)
  const webhook = Object.fromEntries(fields.map((field, at) => [field, values[at]])) as WebhookRecord
  const [turn, restart, position, batch, end, digest, changes, attempts, ...times] = values.slice(fields.length)
  const [failingSince, nextAttemptAt, behindSince, stopped, reason, sent] = times
  return {
    webhook: { ...webhook, paused: Boolean(webhook.paused) },
    progress: {
      ...{ id: webhook.id, turn, restart: restart === 1, position, attempts, failingSince, nextAttemptAt, behindSince },
      ...{
        reason,
        stopped: stopped === 1,
        sent,
        batch: batch === undefined ? undefined : { id: batch, end, digest, changes },
      },
    },
  }
}

type Max = Parameters<WebhookStore['addWebhook']>[2]

function* addWebhook(webhook: WebhookRecord, position: string, { ofKeys, count }: Max): Work<boolean> {
  // One at a time: two processes must not both take the last place.
  yield* lockNames(['webhooks'])
  const [all] = (yield* row('SELECT count(*) FROM webhooks'))!
  const [its] = (yield* row('SELECT count(*) FROM webhooks WHERE key_id IN $1:texts', [...ofKeys]))!
  if (its >= count || all >= webhooksMax) return false
  const cells = { ...webhook, paused: Number(webhook.paused) }
  yield* put('webhooks', [Object.fromEntries(fields.map(field => [columnOf[field], cells[field]]))])
  yield* put('webhook_progress', [{ id: webhook.id, turn: 0, position }])
  return true
}

const find = `SELECT ${Object.values(columnOf).map(name => `webhooks.${name}`)}, ${progressColumns}
  FROM webhooks JOIN webhook_progress ON webhook_progress.id = webhooks.id`
const oldestFirst = 'ORDER BY webhooks.created_at, webhooks.id'

function* webhooks({ keys, id }: { keys?: readonly string[] | undefined; id?: string } = {}): Work<StoredWebhook[]> {
  const found = yield* id !== undefined
    ? rows(`${find} WHERE webhooks.id = $1`, id)
    : keys !== undefined
      ? rows(`${find} WHERE webhooks.key_id IN $1:texts ${oldestFirst}`, [...keys])
      : rows(`${find} ${oldestFirst}`)
  return found.map(storedOf).filter(({ webhook }) => keys === undefined || keys.includes(webhook.keyId))
}

const begin = `UPDATE webhook_progress SET turn = turn + 1, attempts = 0, failing_since = NULL, next_attempt_at = NULL,
  stopped = 0, reason = NULL WHERE id = $1`
const beginAt = `UPDATE webhook_progress SET position = $2, batch = NULL, batch_end = NULL, batch_digest = NULL,
  batch_changes = NULL, behind_since = NULL, restart = 0 WHERE id = $1`
const beginAnew = `UPDATE webhook_progress SET batch = NULL, batch_end = NULL, batch_digest = NULL, batch_changes = NULL,
  restart = 1 WHERE id = $1`

function* changeWebhook(id: string, change: WebhookChange, turn?: WebhookTurn): Work<boolean> {
  const known = yield* row('SELECT 1 FROM webhooks WHERE id = $1 FOR CHANGE', id)
  if (known === undefined) return false
  for (const [field, value] of Object.entries(change) as [keyof WebhookChange, string | number | boolean][]) {
    if (value === undefined) continue
    const cell = typeof value === 'boolean' ? Number(value) : value
    yield* run(`UPDATE webhooks SET ${columnOf[field]} = $2 WHERE id = $1`, id, cell)
  }
  if (turn === undefined) return true
  yield* run(begin, id)
  if (turn.position !== undefined) yield* run(beginAt, id, turn.position)
  if (turn.restart === true) yield* run(beginAnew, id)
  return true
}

function* removeWebhook(id: string): Work<boolean> {
  yield* run('DELETE FROM webhook_deliveries WHERE webhook = $1', id)
  yield* run('DELETE FROM webhook_progress WHERE id = $1', id)
  return (yield* run('DELETE FROM webhooks WHERE id = $1', id)) > 0
}

const findDeliveries = `SELECT number, at, batch, changes, status, error, took_ms FROM webhook_deliveries
  WHERE webhook = $1 ORDER BY number DESC`

function* deliveries(webhook: string): Work<WebhookDelivery[]> {
  const found = yield* rows(findDeliveries, webhook)
  return found.map(([number, at, batch, changes, status, error, tookMs]) => {
    return { webhook, number, at, batch, changes, status: status ?? undefined, error: error ?? undefined, tookMs }
  })
}

const ofTurn = `UPDATE webhook_progress SET ${progressColumns.map((name, at) => `${name} = $${at + 2}`)}
  WHERE id = $1 AND turn = $2`

function* putProgress(progress: readonly WebhookProgress[], sent: readonly WebhookDelivery[]): Work<void> {
  const held = new Set<string>()
  // In the order of ids: who changes one waits for it.
  for (const each of progress.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const cells = Object.values(cellsOf(each)).map(cell => cell ?? null)
    if ((yield* run(ofTurn, each.id, ...cells)) > 0) held.add(each.id)
  }
  const told = lastOfEach(
    sent.filter(({ webhook }) => held.has(webhook)),
    ({ webhook, number }) => `${webhook} ${number % deliveriesKept}`,
  )
  yield* put(
    'webhook_deliveries',
    told.map(({ webhook, number, at, batch, changes, status, error, tookMs }) => {
      return { webhook, slot: number % deliveriesKept, number, at, batch, changes, status, error, took_ms: tookMs }
    }),
  )
}

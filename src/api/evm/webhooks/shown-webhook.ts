// A webhook as its owner and operators see it. It shows no secret and nothing that receivers answered.
import type { z } from 'zod'
import type { ChainTable } from '../../../chains.ts'
import { keysInForce } from '../../../keys/keys.ts'
import { redactUrl } from '../../../redact.ts'
import type { WebhookStatus } from '../../../status.ts'
import type { Store } from '../../../store/store.ts'
import type { StoredWebhook, WebhookDelivery } from '../../../store/webhook-store.ts'
import type { webhook } from './schemas.ts'
import { filterOf, shownFilter } from './webhook-filter.ts'

type ShownWebhook = z.output<typeof webhook>

type Seen = { chains: ChainTable; isOwn: boolean; inForce: ReadonlyMap<string, unknown>; nowMs?: number }

export function shownWebhook(
  { webhook, progress }: StoredWebhook,
  { chains, isOwn, inForce, nowMs = Date.now() }: Seen,
): ShownWebhook {
  const { id, name, url, keyId, createdAt, oldSecretUntil } = webhook
  const { attempts, position, behindSince, nextAttemptAt } = progress
  const moment = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString())
  return {
    ...{ id, name, url: isOwn ? url : redactUrl(url), key_id: keyId },
    ...shownFilter(filterOf(webhook.filter), chains),
    ...stateOf({ webhook, progress }, inForce),
    ...{ attempts, position },
    lag_seconds: behindSince === undefined ? 0 : Math.max(0, Math.round((nowMs - behindSince) / 1_000)),
    next_attempt_at: moment(nextAttemptAt),
    created_at: moment(createdAt)!,
    old_secret_until: oldSecretUntil !== undefined && oldSecretUntil > nowMs ? moment(oldSecretUntil) : null,
  }
}

function stateOf(
  { webhook, progress }: StoredWebhook,
  inForce: ReadonlyMap<string, unknown>,
): Pick<ShownWebhook, 'state' | 'reason'> {
  if (webhook.paused) return { state: 'paused', reason: 'Its owner paused it' }
  if (!inForce.has(webhook.keyId)) return { state: 'paused', reason: 'Its key was revoked, or has expired' }
  if (progress.stopped) return { state: 'paused', reason: progress.reason ?? null }
  if (progress.reason !== undefined) return { state: 'retrying', reason: progress.reason }
  return { state: 'active', reason: null }
}

export function shownDelivery({ at, batch, changes, status, error, tookMs }: WebhookDelivery) {
  return {
    at: new Date(at).toISOString(),
    id: batch,
    changes,
    ...{ status: status ?? null, error: error ?? null, milliseconds: tookMs },
  }
}

const behindMax = 100
const behindFromSeconds = 60

/** Undefined where there are none. */
export async function webhookStatusOf(
  store: Pick<Store, 'webhooks' | 'keys'>,
  chains: ChainTable,
): Promise<WebhookStatus | undefined> {
  const all = await store.webhooks()
  if (all.length === 0) return undefined
  const inForce = keysInForce(await store.keys(), 'webhooks')
  const shown = all.map(stored => ({ ...shownWebhook(stored, { chains, isOwn: false, inForce }), stored }))
  const sending = shown.filter(({ state }) => state !== 'paused')
  const paused = shown.filter(({ state }) => state === 'paused')
  const stopped = paused.filter(({ stored }) => stored.progress.stopped)
  const behind = [
    ...stopped,
    ...sending.filter(each => each.state === 'retrying' || each.lag_seconds > behindFromSeconds),
  ]
  return {
    active: sending.filter(({ state }) => state === 'active').length,
    retrying: sending.filter(({ state }) => state === 'retrying').length,
    paused: paused.length - stopped.length,
    stopped: stopped.length,
    lag_seconds: Math.max(0, ...sending.map(({ lag_seconds }) => lag_seconds)),
    behind: behind
      .sort((a, b) => b.lag_seconds - a.lag_seconds)
      .slice(0, behindMax)
      .map(({ id, name, state, reason, attempts, lag_seconds }) => ({
        id,
        name,
        state,
        reason,
        attempts,
        lag_seconds,
      })),
  }
}

// Webhooks: who is told of changes by HTTP, how far each was told, and its last deliveries. Positions and filters are
// texts that their writers read. No secret is stored: those of webhooks are made of that of the store.

/** Times are unix milliseconds. */
export type WebhookRecord = {
  id: string
  /** Of the key that made it. */
  keyId: string
  name: string
  url: string
  filter: string
  createdAt: number
  /** By who owns it. */
  paused: boolean
  /** Counts its secrets. */
  secret: number
  /** Until when the secret before signs too. */
  oldSecretUntil: number | undefined
}

/** What is sent, or was sent and not acknowledged. */
export type WebhookBatch = {
  id: string
  /** The position behind it. */
  end: string
  /** Of what is in it, to know whether another reading has the same. */
  digest: string
  changes: number
}

export type WebhookProgress = {
  id: string
  /** Counted up by who changes it: what a sender writes of an earlier turn is dropped. */
  turn: number
  /** The receiver is told to forget what is not final at the position, as after a backup was restored. */
  restart: boolean
  /** Everything up to it was acknowledged. */
  position: string
  batch: WebhookBatch | undefined
  /** Of the batch, that failed. */
  attempts: number
  failingSince: number | undefined
  nextAttemptAt: number | undefined
  /** Since when there is something that was not acknowledged. */
  behindSince: number | undefined
  /** Nothing is sent until it is resumed. */
  stopped: boolean
  /** Why the last attempt failed. */
  reason: string | undefined
  /** All attempts. */
  sent: number
}

export type WebhookDelivery = {
  webhook: string
  /** Which attempt of the webhook it was; the last `deliveriesKept` are there. */
  number: number
  at: number
  batch: string
  changes: number
  /** Undefined where there was no answer. */
  status: number | undefined
  error: string | undefined
  tookMs: number
}

export const deliveriesKept = 20
/** Of all keys: a sender has each of them in memory. */
export const webhooksMax = 10_000

export type StoredWebhook = { webhook: WebhookRecord; progress: WebhookProgress }
/** What is undefined stays. */
export type WebhookChange = {
  [Field in 'name' | 'url' | 'paused' | 'secret' | 'oldSecretUntil']?: WebhookRecord[Field] | undefined
}
/** Where a new turn begins; left out: where the last one ended. */
export type WebhookTurn = { position?: string | undefined; restart?: boolean }

export interface WebhookStore {
  /** False: these keys have as many as they may, or there are too many in all. */
  addWebhook(
    webhook: WebhookRecord,
    position: string,
    max: { ofKeys: readonly string[]; count: number },
  ): Promise<boolean>
  /** Of some keys or of all, or one of them; the oldest first. */
  webhooks(asked?: { keys?: readonly string[] | undefined; id?: string }): Promise<StoredWebhook[]>
  /** `turn`: it is tried again at once, whatever failed before. False: there is none. */
  changeWebhook(id: string, change: WebhookChange, turn?: WebhookTurn): Promise<boolean>
  removeWebhook(id: string): Promise<boolean>
  /** The newest first. */
  deliveries(webhook: string): Promise<WebhookDelivery[]>
}

/** What a sender writes, many at once. What changed hands or turn meanwhile stays as it is. */
export interface WebhookProgressWriter {
  putProgress(progress: readonly WebhookProgress[], deliveries: readonly WebhookDelivery[]): Promise<void>
}

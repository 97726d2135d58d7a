// Makes and changes webhooks: what the routes and the command have in common. It sends nothing but a test.
import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import { AlmanacError } from '../../../errors.ts'
import type { FetchRules } from '../../../guarded-fetch.ts'
import { Changes } from '../../../query/changes/changes.ts'
import { type ChangeFilter, PositionSigner } from '../../../query/changes/position.ts'
import type { StoredWebhook, WebhookRecord } from '../../../store/webhook-store.ts'
import type { Context } from '../../context.ts'
import { QueryText, unacceptable } from '../../params.ts'
import { changeParameters, openedPosition, readFilter } from '../changes/change-filter.ts'
import { type Attempted, attempt, checkedUrl, reachRules, type WebhookSettings } from './delivery.ts'
import { testBody } from './next-batch.ts'
import type { newWebhook, webhookChange, webhookPosition } from './schemas.ts'
import { secretOf } from './signature.ts'
import { chainNameOf, filterOf, filterText } from './webhook-filter.ts'

type Parts = Pick<Context, 'store' | 'chains' | 'indexModes' | 'claims' | 'contracts' | 'labels'>

type Begin = z.output<typeof webhookPosition>

export class WebhookManager {
  readonly #parts: Parts
  readonly #settings: WebhookSettings
  readonly #positions: PositionSigner
  readonly #changes: Changes
  readonly rules: FetchRules

  constructor(parts: Parts, settings: WebhookSettings) {
    this.#parts = parts
    this.#settings = settings
    this.#positions = new PositionSigner(parts.store.secret)
    this.#changes = new Changes(parts.store, parts)
    this.rules = reachRules(settings)
  }

  /** What it listens to, as it is stored; throws where that is refused. */
  async filter(wanted: z.output<typeof newWebhook>): Promise<ChangeFilter> {
    const { chain, contract, wallet, token_id, finality, kinds = [] } = wanted
    const given = Object.entries({ chain, contract, wallet, token_id, finality })
    const query = new URLSearchParams(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
    for (const kind of kinds) query.append('kinds', kind)
    return await readFilter(this.#parts, changeParameters(this.#parts.chains), new QueryText(`${query}`))
  }

  /** `ofKeys`: whose webhooks count with those of the key. */
  async create(
    wanted: z.output<typeof newWebhook>,
    filter: ChangeFilter,
    { keyId, ofKeys }: { keyId: string; ofKeys: readonly string[] },
  ): Promise<{ stored: StoredWebhook; secret: string }> {
    const webhook: WebhookRecord = {
      ...{ id: `wh_${randomBytes(9).toString('hex')}`, keyId, name: wanted.name ?? 'unnamed' },
      ...{ url: checkedUrl(wanted.url, this.rules), filter: filterText(filter), createdAt: Date.now() },
      ...{ paused: false, secret: 1, oldSecretUntil: undefined },
    }
    await this.#changes.requireKept(filter)
    const position = await this.#begin(filter, wanted)
    const { maxPerKey } = this.#settings
    const { store } = this.#parts
    if (!(await store.addWebhook(webhook, position, { ofKeys, count: maxPerKey })))
      throw new AlmanacError('forbidden', `This key has ${maxPerKey} webhooks, or there are too many in all`, {
        details: { limit: `${maxPerKey} webhooks of a key`, raise: 'raise webhooks.max_per_key.' },
      })
    return { stored: (await this.find(webhook.id))!, secret: secretOf(store.secret, webhook) }
  }

  async find(id: string): Promise<StoredWebhook | undefined> {
    return (await this.#parts.store.webhooks({ id }))[0]
  }

  async change(id: string, { name, url, paused }: z.output<typeof webhookChange>): Promise<void> {
    const change = { name, paused, url: url === undefined ? undefined : checkedUrl(url, this.rules) }
    const isTurn = url !== undefined || paused === false
    await this.#parts.store.changeWebhook(id, change, isTurn ? {} : undefined)
  }

  /** From a position, or from where it was. */
  async resume({ webhook }: StoredWebhook, begin: Begin): Promise<void> {
    const isSaid = begin.after !== undefined || begin.from_block !== undefined
    const position = isSaid ? await this.#begin(filterOf(webhook.filter), begin) : undefined
    await this.#parts.store.changeWebhook(webhook.id, { paused: false }, { position })
  }

  /** The new secret; the one before signs too for the grace period. */
  async rotate({ webhook }: StoredWebhook, graceMs: number): Promise<string> {
    const { store } = this.#parts
    const secret = webhook.secret + 1
    await store.changeWebhook(webhook.id, { secret, oldSecretUntil: Date.now() + graceMs })
    return secretOf(store.secret, { id: webhook.id, secret })
  }

  async test({ webhook }: StoredWebhook, signal?: AbortSignal): Promise<Attempted> {
    const body = testBody(webhook.id, chainNameOf(filterOf(webhook.filter), this.#parts.chains))
    const id = `msg_test_${randomBytes(9).toString('hex')}`
    const parts = { rules: this.rules, storeSecret: this.#parts.store.secret }
    return await attempt(webhook, { id, body, signal, nowMs: Date.now() }, parts)
  }

  async #begin(filter: ChangeFilter, { after, from_block }: Begin): Promise<string> {
    if (after !== undefined && from_block !== undefined)
      throw unacceptable('from_block', 'left out where after is given')
    const position =
      after === undefined
        ? await this.#changes.begin(filter, from_block)
        : openedPosition(this.#positions, filter, after)
    return this.#positions.seal(filter, position)
  }
}

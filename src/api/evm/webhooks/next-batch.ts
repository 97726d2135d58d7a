// What a webhook is sent next: the changes after its position, or the batch that was sent and not acknowledged, as it
// was. It sends and writes nothing.
import { createHash, randomBytes } from 'node:crypto'
import type { ChainTable } from '../../../chains.ts'
import {
  type ChangeMark,
  type ChangePage,
  Changes,
  type ChangesGone,
  quietMark,
} from '../../../query/changes/changes.ts'
import { type ChangeFilter, type ChangePosition, maybeTold, PositionSigner } from '../../../query/changes/position.ts'
import type { TransferReads } from '../../../query/nft-transfers.ts'
import type { Store } from '../../../store/store.ts'
import type { StoredWebhook, WebhookBatch, WebhookProgress } from '../../../store/webhook-store.ts'
import type { Dialect } from '../../params.ts'
import { changesMax } from '../changes/change-filter.ts'
import { changeTexts } from '../changes/change-json.ts'
import { chainNameOf, filterOf } from './webhook-filter.ts'

const bodyBytesMax = 256 * 1_024
/** Of a body, beside its changes. */
const frameBytesMax = 4 * 1_024

/**
 * `progress`: with the batch, or without one, further on. `more`: there may be something else at once. `quiet`: what to
 * keep of the mark from before where there is nothing more, once the batch has arrived.
 */
type NextBatch = {
  progress: WebhookProgress
  body: Buffer | undefined
  more: boolean
  quiet?: (mark: ChangeMark) => ChangeMark
}

type Written = { batch: WebhookBatch; body: Buffer; more: boolean }

export class NextBatches {
  readonly #changes: Changes
  readonly #positions: PositionSigner
  readonly #chains: ChainTable
  readonly #dialect: Dialect

  constructor(store: Store, reads: TransferReads, { chains, dialect }: { chains: ChainTable; dialect: Dialect }) {
    this.#changes = new Changes(store, reads)
    this.#positions = new PositionSigner(store.secret)
    this.#chains = chains
    this.#dialect = dialect
  }

  /** `known` while there is nothing new to read. */
  async mark({ webhook }: StoredWebhook, known: ChangeMark | undefined): Promise<ChangeMark> {
    return await this.#changes.mark(filterOf(webhook.filter), known)
  }

  async next({ webhook, progress }: StoredWebhook): Promise<NextBatch> {
    const filter = filterOf(webhook.filter)
    const { batch, restart } = progress
    const writer = new BodyWriter(webhook.id, chainNameOf(filter, this.#chains))
    const position = this.#opened(filter, progress.position)
    if (batch !== undefined) {
      const gone = goneBlockIn(batch)
      if (gone !== undefined) return { progress, body: writer.gone(gone, batch.end), more: true }
      const end = this.#opened(filter, batch.end)
      const same = await this.#changes.after(filter, position, batch.changes, end)
      const again = 'told' in same ? this.#written(writer, filter, same, batch) : undefined
      if (again?.batch.digest === batch.digest) return { progress, body: again.body, more: true }
      // Its receiver may have it. What of it is not so any more is retracted, and the rest told again.
      const unsure = maybeTold(filter, position, end)
      if (unsure === undefined) return this.#told(progress, await this.#restarted(writer, filter, position))
      const from = { ...progress, position: this.#positions.seal(filter, unsure), batch: undefined }
      return await this.#read(writer, filter, from)
    }
    if (!restart) return await this.#read(writer, filter, progress)
    return this.#told(progress, await this.#restarted(writer, filter, position))
  }

  async #restarted(writer: BodyWriter, filter: ChangeFilter, position: ChangePosition): Promise<Written> {
    return this.#goneBatch(writer, filter, await this.#changes.restart(filter, position))
  }

  async #read(writer: BodyWriter, filter: ChangeFilter, progress: WebhookProgress): Promise<NextBatch> {
    const page = await this.#changes.after(filter, this.#opened(filter, progress.position), changesMax)
    if ('fromBlock' in page) return this.#told(progress, this.#goneBatch(writer, filter, page))
    const quiet = (mark: ChangeMark): ChangeMark => quietMark(mark, page.next, filter)
    if (page.told.length > 0) return { ...this.#told(progress, this.#written(writer, filter, page)), quiet }
    const further = { ...progress, position: this.#positions.seal(filter, page.next) }
    return { progress: further, body: undefined, more: page.more, quiet }
  }

  #told(progress: WebhookProgress, { batch, body, more }: Written): NextBatch {
    return { progress: { ...progress, batch, restart: false }, body, more }
  }

  #goneBatch(writer: BodyWriter, filter: ChangeFilter, { fromBlock, next }: ChangesGone): Written {
    const end = this.#positions.seal(filter, next)
    const batch = { id: newBatchId(), end, digest: `${gonePrefix}${fromBlock}`, changes: 0 }
    return { batch, body: writer.gone(fromBlock, end), more: true }
  }

  /** As many changes of a page as one body takes; at least one. `known`: what it is read again for. */
  #written(writer: BodyWriter, filter: ChangeFilter, page: ChangePage, known?: WebhookBatch): Written {
    const all = page.told.flatMap(told => {
      return changeTexts(told, this.#dialect, this.#chains).map((text, at) => ({ text, told, at }))
    })
    let bytes = frameBytesMax
    const beyond = all.findIndex(({ text }, index) => {
      bytes += Buffer.byteLength(text) + 1
      return bytes > bodyBytesMax && index > 0
    })
    const sent = beyond === -1 ? all : all.slice(0, beyond)
    const last = beyond === -1 ? undefined : sent.at(-1)!
    const end = known?.end ?? this.#positions.seal(filter, last?.told.behind(last.at) ?? page.next)
    const hash = createHash('sha256')
    for (const { text, told } of sent) hash.update(`${told.state} ${idIn(text)}\n`)
    const digest = hash.digest('base64url').slice(0, 22)
    const batch = { id: known?.id ?? newBatchId(), end, digest, changes: sent.length }
    const texts = sent.map(({ text }) => text)
    return { batch, body: writer.changes(texts, end), more: page.more || last !== undefined }
  }

  #opened(filter: ChangeFilter, text: string): ChangePosition {
    // Stored as it was sealed, by this store's secret.
    return this.#positions.open(filter, text) as ChangePosition
  }
}

const gonePrefix = 'gone '

/** Of a batch that says so, the block from which everything is to be forgotten. */
function goneBlockIn({ digest }: WebhookBatch): number | undefined {
  return digest.startsWith(gonePrefix) ? Number(digest.slice(gonePrefix.length)) : undefined
}

function newBatchId(): string {
  return `msg_${randomBytes(16).toString('base64url')}`
}

function idIn(text: string): string {
  return text.slice(text.indexOf('"id":"') + 6, text.indexOf('","'))
}

/** The bodies that one webhook is sent. */
class BodyWriter {
  readonly #facts: string

  constructor(webhook: string, chain: string) {
    this.#facts = `"webhook":${JSON.stringify(webhook)},"chain":${JSON.stringify(chain)}`
  }

  changes(texts: readonly string[], position: string): Buffer {
    return Buffer.from(`{"type":"changes",${this.#facts},"changes":[${texts.join()}],"position":"${position}"}`)
  }

  gone(fromBlock: number, position: string): Buffer {
    return Buffer.from(`{"type":"gone",${this.#facts},"from_block":${fromBlock},"position":"${position}"}`)
  }
}

/** Of a webhook that is tried out. */
export function testBody(webhook: string, chain: string): Buffer {
  return Buffer.from(JSON.stringify({ type: 'test', webhook, chain, changes: [] }))
}

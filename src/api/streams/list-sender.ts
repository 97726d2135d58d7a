// Sends a whole list: a batch is read when the client has taken the one before. The last line says that the list is
// whole; where that is not so, the connection is cut, which a client sees as a body that broke off.
import type { ServerResponse } from 'node:http'
import { AlmanacError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { LentBytes } from '../answer-memory.ts'
import { CsvLines } from './csv-lines.ts'
import type { ListStream, StreamBatch } from './list-stream.ts'
import { type MinimumRate, ReaderRate } from './reader-rate.ts'
import type { StreamForm } from './stream-form.ts'

export type ListSenderOptions = {
  metrics: Metrics['streams']
  log: Log
  requestId: string
  /** Every N rows, or part of them, count as one request of the key. */
  pageSize: number
  /** How fast a client has to take the list. Absent: the usual. */
  rate?: MinimumRate | undefined
  /** Waits until others had theirs. */
  turn: () => Promise<void>
  /** Counts requests beside the first, which was counted when it was admitted. */
  spend: (requests: number) => Promise<void>
}

type CutReason = 'disconnected' | 'stalled' | 'slow' | 'changed' | 'key' | 'failed'

/** A batch may take a slow client longer than it may take nothing: each slice counts once it is taken. */
const sliceBytes = 64 * 1_024

export class ListSender {
  readonly #block: number
  readonly #batches: AsyncIterator<StreamBatch>
  readonly #csv: CsvLines | undefined
  readonly #options: ListSenderOptions
  #first: Promise<StreamBatch | undefined> | undefined
  #rows = 0
  #counted = 1
  #cutFor: CutReason | undefined
  readonly #rate: ReaderRate
  /** Ends the wait for the client. */
  #giveUp: ((error: unknown) => void) | undefined

  constructor({ block, batches, columns }: ListStream, form: StreamForm, options: ListSenderOptions) {
    this.#block = block
    this.#batches = batches[Symbol.asyncIterator]()
    this.#csv = form === 'csv' ? new CsvLines(columns) : undefined
    this.#options = options
    this.#rate = new ReaderRate(options.rate)
  }

  /** Begins to make the first batch, and waits for it so long. Where it fails until then, the list is stopped. */
  async start(waitMs: number): Promise<void> {
    this.#first = this.#next()
    const { promise: waited, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, waitMs)
    try {
      await Promise.race([this.#first, waited])
    } catch (error) {
      await this.stop()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Never fails. */
  async send(outgoing: ServerResponse): Promise<void> {
    // A write after the end of the connection would emit it beside the callback.
    outgoing.on('error', () => undefined)
    outgoing.once('close', () => this.#giveUp?.(new Error('The connection was closed')))
    // The server's bound on a connection that stands still: reading for the client may take longer.
    outgoing.on('timeout', () => {
      if (this.#giveUp !== undefined) this.#cutFor = 'stalled'
      this.#giveUp?.(new Error('The client takes nothing'))
    })
    try {
      if (this.#csv !== undefined) await this.#write(outgoing, Buffer.from(this.#csv.header))
      let batch = await this.#first
      this.#first = undefined
      for (; batch !== undefined; batch = await this.#next()) await this.#sendBatch(outgoing, batch)
      await this.#taken(outgoing, done => outgoing.end(this.#lastLine(), done))
    } catch (error) {
      this.#cut(outgoing, error)
    }
  }

  /** What was not sent is given back. Done once nothing is read for the list any more. */
  async stop(): Promise<void> {
    const first = await this.#first?.catch(() => undefined)
    first?.lines.release()
    await this.#batches.return?.().catch(() => undefined)
  }

  /** Undefined at the end of the list. */
  async #next(): Promise<StreamBatch | undefined> {
    await this.#options.turn()
    const { value: batch, done } = await this.#batches.next()
    if (done) return undefined
    await this.#count(batch.rows).catch(error => {
      batch.lines.release()
      throw error
    })
    return batch
  }

  /** Before rows are sent: those that a key does not pay for are not. */
  async #count(rows: number): Promise<void> {
    this.#rows += rows
    const requests = Math.ceil(this.#rows / this.#options.pageSize) - this.#counted
    if (requests <= 0) return
    this.#counted += requests
    await this.#options.spend(requests)
  }

  async #sendBatch(outgoing: ServerResponse, { rows, lines }: StreamBatch): Promise<void> {
    let sent: LentBytes = lines
    try {
      requireOpen(outgoing)
      if (this.#csv !== undefined) sent = this.#csv.of(rows, lines)
      await this.#write(outgoing, sent.bytes)
    } finally {
      sent.release()
    }
    this.#options.metrics.rows.inc(rows)
  }

  async #write(outgoing: ServerResponse, bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length; from += sliceBytes) {
      const slice = bytes.subarray(from, from + sliceBytes)
      await this.#taken(outgoing, done => outgoing.write(slice, done))
      this.#rate.took(slice.length)
    }
  }

  /** Done once the system has taken all of it. */
  async #taken(outgoing: ServerResponse, give: (done: (error?: Error | null) => void) => void): Promise<void> {
    requireOpen(outgoing)
    const onSlow = () => {
      this.#cutFor = 'slow'
      this.#giveUp?.(new Error('The client takes too little'))
    }
    const stopWatch = this.#rate.watch(onSlow)
    try {
      await new Promise<void>((resolve, reject) => {
        this.#giveUp = reject
        give(error => (error ? reject(error) : resolve()))
      })
    } finally {
      this.#giveUp = undefined
      stopWatch()
    }
  }

  #lastLine(): string {
    const [rows, block] = [this.#rows, this.#block]
    return this.#csv === undefined
      ? `${JSON.stringify({ complete: true, rows, block })}\n`
      : `# complete rows=${rows} block=${block}\n`
  }

  #cut(outgoing: ServerResponse, error: unknown): void {
    const reason = this.#cutFor ?? (isGone(outgoing) ? 'disconnected' : reasonOf(error))
    outgoing.destroy()
    const { metrics, log, requestId: request_id } = this.#options
    metrics.cut.inc({ reason })
    const facts = { reason, rows: this.#rows, block: this.#block, request_id }
    if (reason === 'failed') log.error({ ...facts, err: error }, 'Stream cut')
    else log.info(facts, 'Stream cut')
  }
}

/** The response itself says so only some turns later, when the store of a service that stops may be closed. */
function isGone({ socket }: ServerResponse): boolean {
  return socket?.destroyed ?? true
}

function requireOpen(outgoing: ServerResponse): void {
  if (isGone(outgoing)) throw new Error('The connection was closed')
}

function reasonOf(error: unknown): CutReason {
  const code = error instanceof AlmanacError ? error.code : undefined
  if (code === 'stream_cut') return 'changed'
  return code === 'quota_exceeded' || code === 'unauthorized' || code === 'forbidden' ? 'key' : 'failed'
}

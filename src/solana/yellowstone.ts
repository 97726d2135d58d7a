// A Yellowstone gRPC feed of everything that portfolios are made of. After a disconnect it asks for a replay from the
// last stored slot; where the server cannot go back that far, it counts as complete again only above a newer snapshot.
import type { SubscribeRequest, SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import { AlmanacError, messageOf } from '../errors.ts'
import { type Log, LogThrottle } from '../log.ts'
import type { SolanaNetwork } from '../model.ts'
import { type Redactor, redactorOf, redactUrl } from '../redact.ts'
import type { Store } from '../store/store.ts'
import { type AccountRows, addRows, type StoredAccount } from './account-rows.ts'
import { metadataProgram, programKeys, systemProgram, tokenProgramAddresses } from './decode.ts'
import {
  beginningAt,
  type FeedCoverage,
  feedCoverage,
  importedSnapshots,
  isBased,
  joins,
  putFeedCoverage,
  replayCandidates,
  replaySlots,
} from './snapshot.ts'
import { WorkLoop } from './update-queue.ts'

const confirmed = 1
const flushMs = 100
const silenceMs = 30_000
const pauseMsMin = 500
const pauseMsMax = 30_000

export type YellowstoneOptions = {
  network: SolanaNetwork
  store: Store
  log: Log
  url: string
  token?: string | undefined
  /** With this many rows gathered, the stream pauses until the write under way is done. */
  rowsMax?: number
  /** How often to look for a newly imported snapshot. */
  snapshotReadMs?: number
}

type Stream = {
  write(request: SubscribeRequest): boolean
  on(event: 'data', listener: (update: SubscribeUpdate) => void): unknown
  on(event: 'error' | 'end' | 'close', listener: (error?: Error) => void): unknown
  pause(): unknown
  resume(): unknown
  destroy(error?: Error): unknown
}

/** Token accounts, mints, metadata, and closed accounts, which the System program owns with nothing in them. */
function subscribeRequest(fromSlot: number | undefined): SubscribeRequest {
  const owned = (owner: string[], filters: SubscribeRequest['accounts'][string]['filters'] = []) => ({
    account: [],
    owner,
    filters,
  })
  return {
    accounts: {
      tokens: owned(Object.values(tokenProgramAddresses)),
      metadata: owned([metadataProgram]),
      closed: owned([systemProgram], [{ lamports: { eq: '0' } }]),
    },
    slots: { slots: { filterByCommitment: true } },
    transactions: {},
    transactionsStatus: {},
    blocks: {},
    blocksMeta: {},
    entry: {},
    accountsDataSlice: [],
    commitment: confirmed,
    ...(fromSlot === undefined ? {} : { fromSlot: String(fromSlot) }),
  }
}

export class YellowstoneFeed {
  readonly #options: YellowstoneOptions
  readonly #redact: Redactor
  readonly #throttle = new LogThrottle()
  readonly #timer: NodeJS.Timeout
  #stream: Stream | undefined
  readonly #gathered: AccountRows = { holdings: [], mints: [], readAtMs: 0, copy: key => key }
  /** One write at a time: what comes meanwhile waits for the next. */
  readonly #writing = new WorkLoop({
    hasWork: () => this.#isDue && (this.#rows > 0 || this.#slot > (this.#coverage?.to ?? 0)),
    work: () => this.#write(),
  })
  #isDue = false
  #paused = false
  #slot = 0
  #coverage: FeedCoverage | undefined
  #snapshotSlot: number | undefined
  /** The open stream has sent its first slot. */
  #begun = false
  /** The replay must begin at this slot or before; undefined once it has, or where none was asked for. */
  #replayTo: number | undefined
  /** How many of the replay candidates are out of the server's reach. */
  #outOfReach = 0
  #heardAtMs = 0
  #snapshotReadAtMs = 0
  #failures = 0
  #retry: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: YellowstoneOptions) {
    this.#options = options
    this.#redact = redactorOf(options.url, options.token === undefined ? [] : [options.token])
    this.#timer = setInterval(() => this.#tick(), flushMs)
    this.#timer.unref()
    void this.#connect()
  }

  /** The slot up to which the store holds every token account; undefined while that is not certain. */
  get completeSlot(): number | undefined {
    const coverage = this.#coverage
    const isQuiet = Date.now() - this.#heardAtMs > silenceMs
    // Whether the replay joins what is stored shows only once it has begun.
    if (this.#stream === undefined || isQuiet || !this.#begun || coverage === undefined) return undefined
    return isBased(coverage, this.#snapshotSlot) && coverage.to >= this.#snapshotSlot! ? coverage.to : undefined
  }

  status() {
    return { connected: this.#stream !== undefined, slot: this.#slot, complete: this.completeSlot !== undefined }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    clearTimeout(this.#retry)
    const stream = this.#stream
    this.#stream = undefined
    stream?.destroy()
    this.#flush()
    await this.#writing.idle()
  }

  async #connect(): Promise<void> {
    const { store, network, url, token } = this.#options
    try {
      this.#coverage = await feedCoverage(store, network)
      await this.#readSnapshotSlot()
      const Client = await loadClient()
      const client = new Client(url, token, { 'grpc.max_receive_message_length': 64 * 2 ** 20 })
      const stream = (await client.subscribe()) as Stream
      if (this.#closed) return void stream.destroy()
      this.#stream = stream
      this.#begun = false
      this.#heardAtMs = Date.now()
      stream.on('data', update => this.#hear(stream, update))
      for (const event of ['error', 'end', 'close'] as const)
        stream.on(event, error => this.#lost(stream, error ?? new Error('it was closed')))
      this.#replayTo = replayCandidates(this.#coverage, this.#snapshotSlot)[this.#outOfReach]
      const fromSlot = this.#replayTo === undefined ? undefined : Math.max(0, this.#replayTo - replaySlots)
      stream.write(subscribeRequest(fromSlot))
    } catch (error) {
      this.#retryLater(error)
    }
  }

  /** An operator may import a newer snapshot at any time. */
  async #readSnapshotSlot(): Promise<void> {
    const { store, network } = this.#options
    this.#snapshotReadAtMs = Date.now()
    this.#snapshotSlot = (await importedSnapshots(store, network))?.slot
  }

  #hear(stream: Stream, { account, slot, ping }: SubscribeUpdate): void {
    if (this.#stream !== stream) return
    this.#heardAtMs = Date.now()
    this.#failures = 0
    if (account?.account !== undefined) {
      const { pubkey, lamports, owner, data, writeVersion } = account.account
      const program = BigInt(lamports) === 0n ? 'gone' : programOf(owner)
      const fed = { key: pubkey, program, data, writeVersion: BigInt(writeVersion) }
      this.#gathered.readAtMs = this.#heardAtMs
      if (!addRows(this.#gathered, fed, Number(account.slot)))
        addRows(this.#gathered, { ...fed, program: 'gone' }, Number(account.slot))
      if (this.#rows >= (this.#options.rowsMax ?? 50_000)) {
        this.#paused = true
        stream.pause()
        this.#flush()
      }
    }
    if (slot !== undefined) this.#hearSlot(Number(slot.slot))
    // Proxies close streams on which the client stays silent.
    if (ping !== undefined) stream.write({ ...subscribeRequest(undefined), accounts: {}, slots: {}, ping: { id: 1 } })
  }

  #hearSlot(slot: number): void {
    if (!this.#begun) {
      this.#begun = true
      this.#outOfReach = 0
      // A server that cannot replay may say so, or silently begin later.
      if (this.#replayTo !== undefined && slot > this.#replayTo)
        this.#sayGap(`it begins at slot ${slot} instead of ${this.#replayTo}`)
      this.#replayTo = undefined
      if (!joins(this.#coverage, slot)) this.#coverage = beginningAt(slot)
    }
    this.#slot = Math.max(this.#slot, slot)
  }

  #sayGap(reason: string): void {
    this.#options.log.error(
      { network: this.#options.network, reason: this.#redact(reason) },
      'Yellowstone replay incomplete; import a newer snapshot unless the feed becomes complete again',
    )
  }

  #tick(): void {
    this.#flush()
    const stream = this.#stream
    if (stream !== undefined && !this.#paused && Date.now() - this.#heardAtMs > silenceMs)
      this.#down(stream, new Error(`it said nothing for ${silenceMs} ms`))
  }

  get #rows(): number {
    return this.#gathered.holdings.length + this.#gathered.mints.length
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#heardAtMs = Date.now()
    this.#stream?.resume()
  }

  #flush(): void {
    this.#isDue = true
    this.#writing.wake()
  }

  /** Rows first, then the slot up to which they are complete. */
  async #write(): Promise<void> {
    const { store, network } = this.#options
    const { holdings, mints } = this.#gathered
    const [slot, coverage] = [this.#slot, this.#coverage]
    this.#isDue = false
    this.#clear()
    this.#resume()
    try {
      if (mints.length + holdings.length > 0) await store.updateAccounts(network, { mints, holdings })
      // The coverage changed where the stream started again meanwhile: these rows say nothing of it.
      if (coverage !== undefined && coverage === this.#coverage && slot > coverage.to) {
        this.#coverage = { ...coverage, to: slot }
        await putFeedCoverage(store, network, this.#coverage)
      }
      const isReadDue = Date.now() - this.#snapshotReadAtMs > (this.#options.snapshotReadMs ?? 5_000)
      if (this.completeSlot === undefined && isReadDue) await this.#readSnapshotSlot()
    } catch (error) {
      // The replay brings what was not written, and all that came since.
      this.#drop()
      if (this.#stream !== undefined) this.#down(this.#stream, error)
    }
  }

  #clear(): void {
    this.#gathered.holdings = []
    this.#gathered.mints = []
  }

  /** Forgets what was heard and not stored. */
  #drop(): void {
    this.#clear()
    this.#slot = this.#coverage?.to ?? 0
  }

  /** The server ended the stream. */
  #lost(stream: Stream, error: unknown): void {
    if (this.#stream === stream && this.#replayTo !== undefined && isOutOfReach(error)) {
      this.#outOfReach++
      this.#sayGap(messageOf(error))
    }
    this.#down(stream, error)
  }

  #down(stream: Stream, error: unknown): void {
    if (this.#stream !== stream) return
    this.#stream = undefined
    this.#paused = false
    this.#drop()
    stream.destroy()
    this.#retryLater(error)
  }

  #retryLater(error: unknown): void {
    if (this.#closed) return
    const { log, network, url } = this.#options
    this.#throttle.say('down', repeated => {
      const facts = { network, endpoint: redactUrl(url), reason: this.#redact(messageOf(error)), repeated }
      log.warn(facts, 'Yellowstone feed down; reconnecting')
    })
    const pauseMs = Math.min(pauseMsMax, pauseMsMin * 2 ** this.#failures++)
    this.#retry = setTimeout(() => void this.#connect(), pauseMs)
  }
}

/** Whatever left the token programs counts as closed. */
function programOf(owner: Uint8Array): StoredAccount['program'] {
  for (const name of ['token', 'token-2022', 'metadata'] as const)
    if (Buffer.compare(owner, programKeys[name]) === 0) return name
  return 'gone'
}

/** Servers keep a few minutes of slots and answer that an older one is not available. */
function isOutOfReach(error: unknown): boolean {
  return /from_slot|from slot|not available|too old/i.test(messageOf(error))
}

type Client = { subscribe(): Promise<unknown> }
type ClientClass = new (endpoint: string, token: string | undefined, options: Record<string, number>) => Client

async function loadClient(): Promise<ClientClass> {
  try {
    // Its types describe CommonJS, its file is a module.
    return ((await import('@triton-one/yellowstone-grpc')) as unknown as { default: ClientClass }).default
  } catch (error) {
    throw new AlmanacError('not_configured', 'The Yellowstone feed needs the package @triton-one/yellowstone-grpc.', {
      cause: error,
      hint: 'run npm install @triton-one/yellowstone-grpc where almanac is installed, or remove the yellowstone setting.',
    })
  }
}

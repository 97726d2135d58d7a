// Bounds what lists and counts of who owns what take: one bound on the bytes of all that is kept, made, shown and sent,
// counted while it is made; few pieces of work at once, in turns between keys; and an end to work whose clients have
// left. It makes and reads nothing itself.
import { totalmem } from 'node:os'
import { untilAborted } from '../../abort.ts'
import { AlmanacError } from '../../errors.ts'
import type { Metrics } from '../../metrics.ts'
import { once } from '../../once.ts'
import { KeyQueue, type Place } from '../key-queue.ts'
import { Pace } from '../pace.ts'

/** Who asks. `signal` fires once the client has left or its request timed out. */
export type HoldingsAsker = { key: { id: string }; signal?: AbortSignal | undefined }

/** The largest collections have some three million holders, whose sheet takes 200 MB; most take less than one. */
const usualBytesMax = 2 ** 30
/** Of the memory that this process may use. */
const usualShare = 1 / 4
const lingerMs = 60_000

/** Large work is refused what is left beyond: small work, a page of a few records, finds room beside it. */
const largeShare = 7 / 8
/** What whole lists hold while they are sent, in all and of one key: pages need room too. */
const listsShare = 3 / 4
const listsOfKeyShare = 1 / 2
const retryAfterMs = 5_000

const of = 'lists or counts'
/** Large: takes a tenth of a second and more. One at a time of a key: side by side they would take as long. */
const queueLimits = {
  small: { of, places: 16, placesOfKey: 8, waiting: 4_096, waitingOfKey: 2_048, retryAfterMs: 1_000 },
  large: { of, places: 2, placesOfKey: 1, waiting: 64, waitingOfKey: 16, retryAfterMs },
} as const
export type WorkSize = keyof typeof queueLimits

type Sized = { readonly byteLength: number }
/** `lists`: the keys of those whose whole lists hold it. */
type Hold = { bytes: number; holders: number; lists: string[] }

export type AdmissionParts = {
  /** Absent: a part of the memory that the process may use. */
  bytesMax?: number | undefined
  metrics?: Metrics['holdings'] | undefined
  /** Frees what a request holds, such as a slot of a queue, while it waits for work here. */
  whileWaiting?: (<Result>(wait: () => Promise<Result>) => Promise<Result>) | undefined
}

export class HoldingsAdmission {
  readonly bytesMax: number
  /** Lets go of what was kept without use for longest. False where nothing is kept. */
  evict: () => boolean = () => false
  readonly #queues = { small: new KeyQueue(queueLimits.small), large: new KeyQueue(queueLimits.large) }
  readonly #shared = new Map<string, SharedWork<unknown>>()
  readonly #works = new Set<Work>()
  readonly #holds = new Map<Sized, Hold>()
  readonly #metrics: Metrics['holdings'] | undefined
  readonly #whileWaiting: NonNullable<AdmissionParts['whileWaiting']>
  #heldBytes = 0
  #makingBytes = 0

  constructor({ bytesMax = usualBytes(), metrics, whileWaiting = wait => wait() }: AdmissionParts = {}) {
    this.bytesMax = bytesMax
    this.#metrics = metrics
    this.#whileWaiting = whileWaiting
  }

  /** What large work may take. */
  get workBytesMax(): number {
    return Math.floor(this.bytesMax * largeShare)
  }

  /** For metrics and tests. */
  get figures() {
    const waiting = this.#queues.small.waiting + this.#queues.large.waiting
    return { heldBytes: this.#heldBytes, makingBytes: this.#makingBytes, waiting, working: this.#works.size }
  }

  /**
   * Does a piece of work once for all that ask for it at the same time. It ends when the last of them leaves. One that
   * has begun outlasts a request that timed out for a while: what takes longer than a request may would else never be
   * answered, however often it is asked for.
   */
  async shared<Result>(
    name: string,
    { key, signal }: HoldingsAsker,
    size: WorkSize,
    make: (work: Work) => Promise<Result>,
  ): Promise<Result> {
    signal?.throwIfAborted()
    let shared = this.#shared.get(name) as SharedWork<Result> | undefined
    if (shared === undefined || shared.work.signal.aborted) shared = this.#begin(name, key.id, size, make)
    const { work, result } = shared
    work.enter(key.id)
    try {
      return await this.#whileWaiting(() => (signal ? untilAborted(result, signal) : result))
    } finally {
      if (work.leave(key.id, isTimeout(signal?.reason) ? lingerMs : 0)) this.#metrics?.cancelled.inc()
    }
  }

  /**
   * Holds a finished sheet; returns how to let go of it. However many hold it, its bytes count once. For a whole list
   * of a key within the share of lists and of the key.
   */
  hold(sheet: Sized, listOfKey?: string): () => void {
    if (listOfKey !== undefined) this.#requireListRoom(sheet, listOfKey)
    const hold = this.#holdOf(sheet)
    hold.holders++
    if (listOfKey !== undefined) hold.lists.push(listOfKey)
    return once(() => {
      if (listOfKey !== undefined) hold.lists.splice(hold.lists.indexOf(listOfKey), 1)
      if (--hold.holders > 0) return
      this.#holds.delete(sheet)
      this.#heldBytes -= hold.bytes
    })
  }

  /** What a request shows is held until it is disposed of. */
  request(asker: HoldingsAsker): HoldingsRequest {
    return new HoldingsRequest(this, asker, undefined)
  }

  /** The same for a whole list. Fails before anything is made where its key holds too much already. */
  listRequest(asker: HoldingsAsker): HoldingsRequest {
    this.#requireListRoom({ byteLength: 1 }, asker.key.id)
    return new HoldingsRequest(this, asker, asker.key.id)
  }

  /** The first list of a key is held however large it is, and the first of all. */
  #requireListRoom(sheet: Sized, keyId: string): void {
    const { bytesMax } = this
    let [all, ofKey] = [0, 0]
    for (const [other, { bytes, lists }] of this.#holds) {
      if (lists.length === 0 || other === sheet) continue
      all += bytes
      if (lists.includes(keyId)) ofKey += bytes
    }
    const ofKeyMax = Math.floor(bytesMax * listsOfKeyShare)
    if (ofKey > 0 && ofKey + sheet.byteLength > ofKeyMax)
      throw this.#refused(
        new AlmanacError('rate_limited', "This key's open lists use all the memory one key may use", {
          ...{ retryable: true, retryAfterMs: 2 * retryAfterMs, details: { bytesMax: ofKeyMax } },
        }),
      )
    if (all > 0 && all + sheet.byteLength > bytesMax * listsShare) throw this.#refused(noRoom())
  }

  #holdOf(sheet: Sized): Hold {
    const known = this.#holds.get(sheet)
    if (known !== undefined) return known
    const hold: Hold = { bytes: sheet.byteLength, holders: 0, lists: [] }
    if (!this.#hasRoom(hold.bytes, this.bytesMax)) throw this.#refused(noRoom())
    this.#holds.set(sheet, hold)
    this.#heldBytes += hold.bytes
    return hold
  }

  /** What work takes from now on. Of several that do not fit side by side, the one that takes most ends. */
  resize(work: Work, bytes: number): void {
    const more = bytes - work.bytes
    const bytesMax = work.size === 'large' ? this.workBytesMax : this.bytesMax
    while (more > 0 && !this.#hasRoom(more, bytesMax)) {
      const largest = [...this.#works].reduce((a, b) => (b.bytes > a.bytes ? b : a))
      if (largest.bytes <= bytes) throw this.#refused(noRoom())
      largest.fail(this.#refused(noRoom()))
    }
    this.#makingBytes += more
    work.bytes = bytes
  }

  #hasRoom(more: number, bytesMax: number): boolean {
    while (this.#heldBytes + this.#makingBytes + more > bytesMax) if (!this.evict()) return false
    return true
  }

  #refused(error: AlmanacError): AlmanacError {
    this.#metrics?.refused.inc({ code: error.code })
    return error
  }

  #begin<Result>(
    name: string,
    keyId: string,
    size: WorkSize,
    make: (work: Work) => Promise<Result>,
  ): SharedWork<Result> {
    const work = new Work(this, keyId, size)
    const run = async (): Promise<Result> => {
      this.#works.add(work)
      try {
        await work.begin()
        return await make(work)
      } finally {
        this.#works.delete(work)
        work.end()
        if (this.#shared.get(name) === shared) this.#shared.delete(name)
      }
    }
    const shared = { work, result: run() }
    // All that waited for it may have left.
    shared.result.catch(() => undefined)
    this.#shared.set(name, shared)
    return shared
  }

  /** Fails where too many wait already. */
  ask(keyIds: readonly string[], size: WorkSize): Place {
    try {
      return this.#queues[size].ask(keyIds)
    } catch (error) {
      throw this.#refused(error as AlmanacError)
    }
  }
}

/** One request, with the sheets that it holds. */
export class HoldingsRequest implements Disposable {
  readonly key: HoldingsAsker['key']
  readonly signal: AbortSignal | undefined
  readonly #admission: HoldingsAdmission
  readonly #listOfKey: string | undefined
  readonly #letGo: (() => void)[] = []
  #isOver = false

  constructor(admission: HoldingsAdmission, { key, signal }: HoldingsAsker, listOfKey: string | undefined) {
    this.key = key
    this.signal = signal
    this.#admission = admission
    this.#listOfKey = listOfKey
  }

  hold(sheet: Sized): void {
    // Where one of several reads of a request fails, the request is over before the others find their sheets.
    if (!this.#isOver) this.#letGo.push(this.#admission.hold(sheet, this.#listOfKey))
  }

  /** What the sheet was made of: pages look at it too. A whole list lets go of it. */
  holdBase(sheet: Sized): void {
    if (this.#listOfKey === undefined) this.hold(sheet)
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    for (const letGo of this.#letGo) letGo()
  }
}

type SharedWork<Result> = { work: Work; result: Promise<Result> }

/** One piece of work: its place, what it takes, and who waits for it. */
export class Work {
  readonly pace: Pace
  /** What it takes while it makes something. Changed by the admission alone. */
  bytes = 0
  readonly #admission: HoldingsAdmission
  readonly #controller = new AbortController()
  readonly #firstKeyId: string
  /** How many requests of each key wait for it. */
  readonly #askersOf = new Map<string, number>()
  readonly #letGo: (() => void)[] = []
  #size: WorkSize
  #place: Place | undefined
  #hasBegun = false
  #isOver = false
  #lingering: NodeJS.Timeout | undefined

  constructor(admission: HoldingsAdmission, keyId: string, size: WorkSize) {
    this.#admission = admission
    this.#firstKeyId = keyId
    this.#size = size
    this.pace = new Pace(this.signal)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get size(): WorkSize {
    return this.#size
  }

  /** What it may take at most. */
  get bytesMax(): number {
    return this.#admission.workBytesMax
  }

  /** Those who wait for it. The first one enters once it has begun to wait; all have left where it lingers. */
  get #keyIds(): string[] {
    return this.#askersOf.size === 0 ? [this.#firstKeyId] : [...this.#askersOf.keys()]
  }

  /** Waits for its place. */
  async begin(): Promise<void> {
    const place = this.#admission.ask(this.#keyIds, this.#size)
    this.#place = place
    await untilAborted(place.begun, this.signal)
    this.#hasBegun = true
  }

  /** Goes on as large work, if it can at once. */
  mayBeLarge(): boolean {
    if (this.#size === 'large') return true
    const place = this.#admission.ask(this.#keyIds, 'large')
    const hasBegun = place.hasBegun()
    if (hasBegun) this.#goOnWith(place)
    else place.end()
    return hasBegun
  }

  /** Goes on once it has a place for large work. */
  async becomeLarge(): Promise<void> {
    const place = this.#admission.ask(this.#keyIds, 'large')
    this.#goOnWith(place)
    await untilAborted(place.begun, this.signal)
  }

  #goOnWith(place: Place): void {
    this.#place?.end()
    this.#place = place
    this.#size = 'large'
  }

  /** What it takes from now on, all in all. Fails where there is no room, and where all clients have left. */
  takes(bytes: number): void {
    this.signal.throwIfAborted()
    this.#admission.resize(this, bytes)
  }

  /** What it is made of counts until it ends. */
  hold(sheet: Sized): void {
    this.#letGo.push(this.#admission.hold(sheet))
  }

  /** The sheet counts from now on, and not what making it took. */
  made(sheet: Sized): void {
    this.takes(0)
    this.hold(sheet)
  }

  /** Gives back what it takes at once, although it goes on until its next step. */
  fail(error: AlmanacError): void {
    this.#admission.resize(this, 0)
    this.#controller.abort(error)
  }

  enter(keyId: string): void {
    this.#askersOf.set(keyId, (this.#askersOf.get(keyId) ?? 0) + 1)
    this.#place?.join(keyId)
    clearTimeout(this.#lingering)
  }

  /** True where the work ends with it. */
  leave(keyId: string, lingerMs: number): boolean {
    const left = this.#askersOf.get(keyId)! - 1
    if (left > 0) this.#askersOf.set(keyId, left)
    else this.#askersOf.delete(keyId)
    if (this.#askersOf.size > 0 || this.#isOver) return false
    if (lingerMs > 0 && this.#hasBegun) {
      this.#lingering = setTimeout(() => this.fail(abandoned()), lingerMs).unref()
      return false
    }
    this.fail(abandoned())
    return true
  }

  end(): void {
    this.#isOver = true
    clearTimeout(this.#lingering)
    this.#place?.end()
    this.#admission.resize(this, 0)
    // Requests that wait for the sheet hold it themselves by then.
    setImmediate(() => {
      for (const letGo of this.#letGo) letGo()
    })
  }
}

/** Of the control group, where the process is in one, or of the machine. */
function usualBytes(): number {
  const bytes = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
  return Math.min(usualBytesMax, Math.floor(bytes * usualShare))
}

function abandoned(): AlmanacError {
  return new AlmanacError('interrupted', 'All clients of the list or count have left')
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof AlmanacError && reason.code === 'timeout'
}

function noRoom(): AlmanacError {
  return new AlmanacError(
    'overloaded',
    'No memory left for holdings lists: ask again later, or have the operator raise limits.holdings_bytes_max',
    { retryable: true, retryAfterMs },
  )
}

// Keeps owners that are asked for fresh by subscriptions: on the owner itself, on each of its token accounts (only that
// shows a close), and on both token programs filtered by owner (only that shows a new token account). An owner counts as
// fresh from a whole reading that began after every subscription was confirmed, until the socket goes down.
import { base58 } from '@scure/base'
import { encodeKey } from '../base58.ts'
import { messageOf } from '../errors.ts'
import { type Log, LogThrottle } from '../log.ts'
import type { HoldingUpdate, SolanaStore, TokenProgram } from '../store/store.ts'
import { ChainClock } from './chain-clock.ts'
import { decodeTokenAccount } from './decode.ts'
import { isVolatile, mintAccountOf } from './mints.ts'
import type { Freshness, OnDemand } from './on-demand.ts'
import { clockSysvar, tokenProgramAddresses, tokenProgramAt, tokenPrograms } from './programs.ts'
import { type AccountInfo, accountsPerCallMax, readAccount, type SolanaRpc } from './rpc.ts'
import type { OwnerReading } from './source.ts'
import { type Subject, Subscriptions } from './subscriptions.ts'
import { UpdateQueue } from './update-queue.ts'

const commitment = 'confirmed'
/** An owner that nobody asked for in this time leaves. */
const idleMs = 10 * 60_000
const startsAtOnce = 4
const restartPauseMs = 2_000
const sweepMs = 500
/** A chain has two slots a second: after so long without one, the socket's silence about an owner means nothing. */
const quietMsMax = 2_000
/** Readings that a start may need until one finds no token account that was not subscribed to before. */
const startReadingsMax = 4

export type FollowerOptions = {
  rpc: SolanaRpc
  store: SolanaStore
  onDemand: OnDemand
  log: Log
  ws: string
  subscriptionsMax: number
  reconcileMs: number
  onReconciled?: (differences: number) => void
}

type Watch = {
  owner: Uint8Array
  address: string
  live: boolean
  /** A start or a reconciliation is under way. */
  busy: boolean
  /** Not started again before this moment. */
  notBeforeMs: number
  askedAtMs: number
  readAtMs: number
  slot: number
  tokenAccounts: Set<string>
  mints: Set<string>
  /** Something that it holds shows another amount as time goes by. */
  needsClock: boolean
}

export class Follower {
  readonly #options: FollowerOptions
  readonly #socket: Subscriptions
  readonly #queue: UpdateQueue
  readonly #clock: ChainClock
  readonly #throttle = new LogThrottle()
  /** Least recently asked first. */
  readonly #watches = new Map<string, Watch>()
  readonly #byTokenAccount = new Map<string, Watch>()
  readonly #byMint = new Map<string, Set<Watch>>()
  readonly #confirmed = new Set<string>()
  /** The slot as of which an account that is subscribed to is known. */
  readonly #knownSlots = new Map<string, number>()
  /** Accounts to be read because a notification of them seemed older than what is known. */
  readonly #doubted = new Set<string>()
  #readingDoubted: Promise<void> | undefined
  readonly #sweeper: NodeJS.Timeout
  #root = 0
  #headSlot = 0
  #headAtMs = 0
  #closed = false

  constructor(options: FollowerOptions) {
    this.#options = options
    const { rpc, store, log, ws } = options
    this.#clock = new ChainClock(rpc)
    this.#queue = new UpdateQueue({ rpc, store, onLost: reason => this.#socket.reset(reason) })
    this.#socket = new Subscriptions({
      network: rpc.network,
      url: ws,
      log,
      onUp: () => this.#onUp(),
      onDown: () => this.#onDown(),
      onNotification: (key, result) => this.#onNotification(key, result),
    })
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs)
    this.#sweeper.unref()
  }

  /** What the stored portfolio of an owner stands for, if subscriptions keep it fresh; undefined: it must be read. */
  async liveAt(owner: Uint8Array): Promise<Freshness | undefined> {
    const address = encodeKey(owner)
    const watch = this.#watches.get(address)
    if (watch === undefined) return undefined
    watch.askedAtMs = Date.now()
    this.#watches.delete(address)
    this.#watches.set(address, watch)
    if (!watch.live) return undefined
    const clock = watch.needsClock ? await this.#clock.now() : this.#clock.last
    await this.#readingDoubted
    await this.#queue.drained()
    if (!watch.live || Date.now() - this.#headAtMs > quietMsMax) return undefined
    return {
      slot: Math.max(watch.slot, this.#root, this.#clock.pushedSlot - 1),
      chainTime: clock.chainTime,
      readAtMs: this.#headAtMs,
    }
  }

  /** Begins to keep an owner fresh that was just read. */
  watch(owner: Uint8Array): void {
    const address = encodeKey(owner)
    if (this.#closed || this.#watches.has(address) || !this.#makeRoom(3)) return
    this.#watches.set(address, {
      owner,
      address,
      live: false,
      busy: false,
      notBeforeMs: 0,
      askedAtMs: Date.now(),
      readAtMs: 0,
      slot: 0,
      tokenAccounts: new Set(),
      mints: new Set(),
      needsClock: false,
    })
    this.#sweep()
  }

  status() {
    const watches = [...this.#watches.values()]
    return {
      connected: this.#socket.up,
      slot: this.#headSlot,
      headAtMs: this.#headAtMs,
      watched: {
        owners: watches.length,
        live: watches.filter(({ live }) => live).length,
        subscriptions: this.#socket.size,
        reconnects: this.#socket.reconnects,
        connected: this.#socket.up,
      },
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#sweeper)
    this.#socket.close()
    await this.#queue.drained()
  }

  // ---- the socket

  #onUp(): void {
    this.#clock.reset()
    const heartbeats = [{ key: 'slot', method: 'slotSubscribe', params: [] }, accountSubject(clockSysvar)]
    for (const subject of heartbeats)
      this.#socket.add(subject).catch((error: unknown) => this.#say('heartbeat', error, 'A heartbeat was refused.'))
    this.#sweep()
  }

  #onDown(): void {
    this.#confirmed.clear()
    this.#knownSlots.clear()
    this.#doubted.clear()
    for (const watch of this.#watches.values()) this.#doubt(watch)
  }

  #onNotification(key: string, result: unknown): void {
    if (key === 'slot') {
      const { slot, root } = result as { slot?: unknown; root?: unknown }
      if (typeof slot === 'number') this.#headSlot = Math.max(this.#headSlot, slot)
      if (typeof root === 'number') this.#root = Math.max(this.#root, root)
      this.#headAtMs = Date.now()
      return
    }
    const { context, value } = (result ?? {}) as { context?: { slot?: unknown }; value?: unknown }
    const slot = context?.slot
    if (typeof slot !== 'number' || !Number.isSafeInteger(slot)) this.#socket.reset('a notification has no slot')
    else if (key.startsWith('account:')) this.#onAccount(key.slice('account:'.length), value, slot)
    else this.#onTokenAccountOfOwner(value, slot)
  }

  #onAccount(address: string, value: unknown, slot: number): void {
    if (address === clockSysvar) {
      this.#headAtMs = Date.now()
      this.#clock.push(value, slot)
      return
    }
    // A late notification is rare and a node that counts wrongly is not: neither may hide a change.
    if (slot < (this.#knownSlots.get(address) ?? 0)) {
      this.#doubted.add(address)
      this.#readingDoubted ??= this.#readDoubted().finally(() => {
        this.#readingDoubted = undefined
      })
      return
    }
    // Nodes say null, or an account without lamports, for one that is gone.
    const info = value === null ? undefined : readAccount(value)
    if (value !== null && info === undefined) {
      this.#socket.reset(`a notification of ${address} is no account`)
      return
    }
    this.#onAccountInfo(address, info, slot)
  }

  #onAccountInfo(address: string, info: AccountInfo | undefined, slot: number): void {
    this.#knownSlots.set(address, slot)
    const watch = this.#watches.get(address)
    if (watch !== undefined) this.#onOwner(watch, info, slot)
    if (this.#byTokenAccount.has(address)) this.#onTokenAccount(address, info, slot)
    if (this.#byMint.has(address)) this.#onMint(address, info, slot)
  }

  async #readDoubted(): Promise<void> {
    try {
      while (this.#doubted.size > 0) {
        const addresses = [...this.#doubted].slice(0, accountsPerCallMax)
        for (const address of addresses) this.#doubted.delete(address)
        const least = Math.max(...addresses.map(address => this.#knownSlots.get(address) ?? 0))
        const { slot, value } = await this.#options.rpc.accounts(addresses, least)
        for (const [index, address] of addresses.entries()) this.#onAccountInfo(address, value[index], slot)
      }
    } catch (error) {
      this.#socket.reset(messageOf(error))
    }
  }

  #onOwner({ owner }: Watch, info: AccountInfo | undefined, slot: number): void {
    const { chainTime } = this.#clock.last
    const account = { owner, lamports: info?.lamports ?? 0n, slot, chainTime, readAtMs: Date.now() }
    this.#queue.add({ kind: 'lamports', account })
  }

  #onMint(address: string, info: AccountInfo | undefined, slot: number): void {
    const mint = base58.decode(address)
    const account = mintAccountOf(mint, info)
    if (account !== undefined) this.#queue.add({ kind: 'mint', mint: { mint, slot, readAtMs: Date.now(), account } })
  }

  #onTokenAccount(address: string, info: AccountInfo | undefined, slot: number): void {
    const holding = holdingUpdateOf(base58.decode(address), info, slot)
    this.#queue.add({ kind: 'holding', holding })
    if (!('closed' in holding)) this.#afterHolding(address, holding)
  }

  /** Only for accounts that have no subscription of their own yet: two streams of one account may overtake each other. */
  #onTokenAccountOfOwner(value: unknown, slot: number): void {
    const { pubkey, account } = (value ?? {}) as { pubkey?: unknown; account?: unknown }
    const info = readAccount(account)
    if (typeof pubkey !== 'string' || info === undefined) {
      this.#socket.reset('a notification is no account')
      return
    }
    if (this.#confirmed.has(accountSubject(pubkey).key)) return
    const holding = holdingUpdateOf(base58.decode(pubkey), info, slot)
    this.#queue.add({ kind: 'holding', holding })
    if (!('closed' in holding)) this.#afterHolding(pubkey, holding)
  }

  /** A token account may be new, or have moved to another owner; and what it holds may be a mint that moves amounts. */
  #afterHolding(address: string, holding: Extract<HoldingUpdate, { owner: Uint8Array }>): void {
    const before = this.#byTokenAccount.get(address)
    const now = this.#watches.get(encodeKey(holding.owner))
    if (before !== undefined && before !== now) {
      before.tokenAccounts.delete(address)
      this.#byTokenAccount.delete(address)
      if (now === undefined) this.#release(address)
    }
    if (now === undefined) return
    if (before !== now) {
      now.tokenAccounts.add(address)
      this.#byTokenAccount.set(address, now)
    }
    const mint = encodeKey(holding.mint)
    const isNew = !this.#confirmed.has(accountSubject(address).key)
    const maybeNewMint = holding.amount > 0n && !now.mints.has(mint)
    if (isNew || maybeNewMint) void this.#adopt(now, { address, mint: maybeNewMint ? mint : undefined })
  }

  /** Subscribes to what a notification brought up, then reads it once more for what happened in between. */
  async #adopt(watch: Watch, { address, mint }: { address: string; mint: string | undefined }): Promise<void> {
    try {
      if (!this.#makeRoom(2, watch)) throw new Error('there are too many subscriptions')
      await this.#subscribe(accountSubject(address))
      const { slot, value } = await this.#options.rpc.accounts([address], watch.slot)
      this.#onAccountInfo(address, value[0], slot)
      await this.#queue.drained()
      if (mint !== undefined) await this.#followMints(watch, [mint])
    } catch (error) {
      // Whatever could not be subscribed to makes the owner one that must be read.
      this.#doubt(watch)
      watch.notBeforeMs = Date.now() + restartPauseMs
      this.#say('adopt', error, 'A new token account could not be subscribed to; its owner is read again.')
    }
  }

  // ---- watches

  #sweep(): void {
    if (this.#closed) return
    const now = Date.now()
    for (const watch of this.#watches.values()) if (now - watch.askedAtMs > idleMs) this.#unwatch(watch)
    if (!this.#socket.up) return
    let busy = [...this.#watches.values()].filter(watch => watch.busy).length
    // The most recently asked come first.
    for (const watch of [...this.#watches.values()].reverse()) {
      if (busy >= startsAtOnce) return
      const due = watch.live ? now - watch.readAtMs > this.#options.reconcileMs : now >= watch.notBeforeMs
      if (watch.busy || !due) continue
      busy++
      void this.#bringUp(watch)
    }
  }

  /** Both the start and the reconciliation: subscribe to all that is known, read everything, until nothing is new. */
  async #bringUp(watch: Watch): Promise<void> {
    const wasLive = watch.live
    watch.busy = true
    try {
      await this.#subscribeAll(watch)
      for (let readings = 0; ; readings++) {
        if (readings === startReadingsMax) throw new Error('its token accounts change faster than they can be read')
        const differences = wasLive && readings === 0 ? await this.#storedFor(watch) : undefined
        const reading = await this.#options.onDemand.read(watch.owner, { anew: true })
        if (differences !== undefined) this.#options.onReconciled?.(differences(reading))
        watch.slot = reading.account.slot
        this.#knownSlots.set(watch.address, reading.account.slot)
        for (const { account, slot } of reading.holdings) this.#knownSlots.set(encodeKey(account), slot)
        watch.readAtMs = Date.now()
        if (!(await this.#follow(watch, reading))) break
      }
      if (this.#socket.up && this.#watches.get(watch.address) === watch) watch.live = true
    } catch (error) {
      this.#doubt(watch)
      watch.notBeforeMs = Date.now() + restartPauseMs
      this.#say('bring-up', error, 'An owner cannot be kept fresh now; it is read when asked for.')
    } finally {
      watch.busy = false
    }
  }

  /** From now on the owner must be read to be answered for. */
  #doubt(watch: Watch): void {
    watch.live = false
    this.#options.onDemand.forget(watch.owner)
  }

  async #subscribeAll(watch: Watch): Promise<void> {
    const subjects = [
      accountSubject(watch.address),
      ...tokenPrograms.map(program => ownerSubject(program, watch.address)),
    ]
    for (const address of watch.tokenAccounts) {
      this.#byTokenAccount.set(address, watch)
      subjects.push(accountSubject(address))
    }
    for (const mint of watch.mints) subjects.push(accountSubject(mint))
    await Promise.all(subjects.map(subject => this.#subscribe(subject)))
  }

  /** Takes over the token accounts of a reading; true where one of them was not subscribed to before. */
  async #follow(watch: Watch, { holdings }: OwnerReading): Promise<boolean> {
    const listed = new Set(holdings.map(({ account }) => encodeKey(account)))
    for (const address of watch.tokenAccounts) {
      if (listed.has(address)) continue
      watch.tokenAccounts.delete(address)
      this.#byTokenAccount.delete(address)
      this.#release(address)
    }
    const fresh = [...listed].filter(address => !this.#confirmed.has(accountSubject(address).key))
    if (!this.#makeRoom(fresh.length, watch)) throw new Error('there are too many subscriptions')
    for (const address of listed) {
      watch.tokenAccounts.add(address)
      this.#byTokenAccount.set(address, watch)
    }
    await Promise.all(fresh.map(address => this.#subscribe(accountSubject(address))))
    const held = new Set(holdings.filter(({ amount }) => amount > 0n).map(({ mint }) => encodeKey(mint)))
    await this.#followMints(watch, [...held])
    return fresh.length > 0
  }

  /** Mints whose own account decides what is shown are subscribed to as well, and read once more after that. */
  async #followMints(watch: Watch, mints: readonly string[]): Promise<void> {
    const { store, rpc } = this.#options
    const facts = await store.mintsOf(
      rpc.network,
      mints.map(mint => base58.decode(mint)),
    )
    watch.needsClock ||= facts.some(({ amountRule }) => amountRule !== undefined)
    const volatile = facts.filter(isVolatile).map(({ mint }) => encodeKey(mint))
    const added = volatile.filter(mint => !this.#confirmed.has(accountSubject(mint).key))
    for (const mint of volatile) {
      watch.mints.add(mint)
      this.#byMint.set(mint, (this.#byMint.get(mint) ?? new Set()).add(watch))
    }
    if (added.length === 0) return
    if (!this.#makeRoom(added.length, watch)) throw new Error('there are too many subscriptions')
    await Promise.all(added.map(mint => this.#subscribe(accountSubject(mint))))
    for (let first = 0; first < added.length; first += accountsPerCallMax) {
      const chunk = added.slice(first, first + accountsPerCallMax)
      const { slot, value } = await rpc.accounts(chunk, watch.slot)
      for (const [index, mint] of chunk.entries()) this.#onAccountInfo(mint, value[index], slot)
    }
  }

  async #subscribe(subject: Subject): Promise<void> {
    if (this.#confirmed.has(subject.key)) return
    await this.#socket.add(subject)
    this.#confirmed.add(subject.key)
  }

  #release(address: string): void {
    if (this.#watches.has(address) || this.#byTokenAccount.has(address) || this.#byMint.has(address)) return
    this.#unsubscribe(accountSubject(address).key)
  }

  #unsubscribe(key: string): void {
    this.#confirmed.delete(key)
    this.#knownSlots.delete(key.slice('account:'.length))
    this.#socket.remove(key)
  }

  #unwatch(watch: Watch): void {
    watch.live = false
    this.#watches.delete(watch.address)
    for (const program of tokenPrograms) this.#unsubscribe(ownerSubject(program, watch.address).key)
    for (const address of watch.tokenAccounts) {
      if (this.#byTokenAccount.get(address) === watch) this.#byTokenAccount.delete(address)
      this.#release(address)
    }
    for (const mint of watch.mints) {
      const watches = this.#byMint.get(mint)
      watches?.delete(watch)
      if (watches?.size === 0) this.#byMint.delete(mint)
      this.#release(mint)
    }
    this.#release(watch.address)
  }

  /** Lets the least recently asked owners go until `wanted` more subscriptions fit; never the one that they are for. */
  #makeRoom(wanted: number, keep?: Watch): boolean {
    const { subscriptionsMax } = this.#options
    const size = () =>
      [...this.#watches.values()].reduce((sum, watch) => sum + 3 + watch.tokenAccounts.size + watch.mints.size, 0)
    if (wanted > subscriptionsMax) return false
    for (const watch of this.#watches.values()) {
      if (size() + wanted <= subscriptionsMax) return true
      if (watch !== keep) this.#unwatch(watch)
    }
    return size() + wanted <= subscriptionsMax
  }

  /** How many holdings a later reading shows otherwise than they are stored, though nothing newer came in between. */
  async #storedFor(watch: Watch): Promise<(reading: OwnerReading) => number> {
    const { store, rpc } = this.#options
    await this.#queue.drained()
    const stored = await store.portfolioOf(rpc.network, watch.owner)
    return reading => {
      const read = new Map(reading.holdings.map(({ account, amount }) => [encodeKey(account), amount]))
      const held = (stored?.holdings ?? []).filter(({ amount }) => amount > 0n)
      const wrong = held.filter(({ account, amount }) => read.get(encodeKey(account)) !== amount).length
      const missing = [...read].filter(([, amount]) => amount > 0n).length - (held.length - wrong)
      return Math.max(wrong, missing)
    }
  }

  #say(subject: string, error: unknown, message: string): void {
    if (this.#closed) return
    const { log, rpc } = this.#options
    this.#throttle.say(subject, repeated =>
      log.warn({ network: rpc.network, reason: messageOf(error), repeated }, message),
    )
  }
}

function accountSubject(address: string): Subject {
  return {
    key: `account:${address}`,
    method: 'accountSubscribe',
    params: [address, { commitment, encoding: 'base64' }],
  }
}

/** The owner stands at byte 32 of every token account of both programs. */
function ownerSubject(program: TokenProgram, owner: string): Subject {
  const filters = [{ memcmp: { offset: 32, bytes: owner } }]
  return {
    key: `owner:${program}:${owner}`,
    method: 'programSubscribe',
    params: [tokenProgramAddresses[program], { commitment, encoding: 'base64', filters }],
  }
}

/** Whatever is no token account any more is a closed one: gone, emptied, or taken by another program. */
function holdingUpdateOf(account: Uint8Array, info: AccountInfo | undefined, slot: number): HoldingUpdate {
  const program = info === undefined || info.lamports === 0n ? undefined : tokenProgramAt(info.program)
  const decoded = info === undefined || program === undefined ? undefined : decodeTokenAccount(info.data)
  if (decoded === undefined || program === undefined) return { account, closed: true, slot, writeVersion: 0n }
  return { account, owner: decoded.owner, mint: decoded.mint, amount: decoded.amount, program, slot, writeVersion: 0n }
}

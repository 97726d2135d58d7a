// Keeps owners that are asked for fresh by subscriptions: on the owner itself, on each of its token accounts (only that
// shows a close), and on both token programs filtered by owner (only that shows a new token account). An owner counts as
// fresh from a whole reading that began after every subscription was confirmed, until the socket goes down.
import { base58 } from '@scure/base'
import { encodeKey, keyBytes } from '../base58.ts'
import { messageOf } from '../errors.ts'
import { type Log, LogThrottle } from '../log.ts'
import type { HoldingColumns, HoldingUpdate, SolanaStore } from '../store/solana-store.ts'
import { clockSysvar, tokenPrograms } from './decode.ts'
import { isVolatile, mintAccountOf } from './mints.ts'
import { type AccountInfo, accountsPerCallMax, readAccount, type SolanaRpc } from './rpc.ts'
import type { Freshness, OnDemand, OwnerReading } from './source.ts'
import { ChainClock, type Subject, Subscriptions } from './subscriptions.ts'
import { holdingUpdateOf, UpdateQueue, WorkLoop } from './update-queue.ts'
import {
  accountKey,
  accountSubject,
  addressOfKey,
  ConfirmedAccounts,
  ownerSubject,
  slotSubject,
  type Watch,
  Watches,
} from './watches.ts'

/** An owner that nobody asked for in this time leaves. */
const idleMs = 10 * 60_000
const startsAtOnce = 4
const restartPauseMsMin = 1_000
const restartPauseMsMax = 5 * 60_000
const sweepMs = 500
/** A chain has two slots a second: after so long without one, the socket's silence about an owner means nothing. */
const quietMsMax = 2_000
/** Readings that a start may need until one finds no token account that was not subscribed to before. */
const startReadingsMax = 4

export type OwnerFollowerOptions = {
  rpc: SolanaRpc
  store: SolanaStore
  onDemand: OnDemand
  log: Log
  ws: string
  subscriptionsMax: number
  reconcileMs: number
  onReconciled?: (differences: number) => void
}

export class OwnerFollower {
  readonly #options: OwnerFollowerOptions
  readonly #socket: Subscriptions
  readonly #queue: UpdateQueue
  readonly #clock: ChainClock
  readonly #throttle = new LogThrottle()
  readonly #watches: Watches
  readonly #accounts: ConfirmedAccounts
  /** Accounts to be read because a notification of them seemed older than what is known. */
  readonly #doubted = new Set<string>()
  readonly #readingDoubted = new WorkLoop({ hasWork: () => this.#doubted.size > 0, work: () => this.#readDoubted() })
  readonly #sweeper: NodeJS.Timeout
  #root = 0
  #headSlot = 0
  #headAtMs = 0
  #closed = false

  constructor(options: OwnerFollowerOptions) {
    this.#options = options
    const { rpc, store, log, ws } = options
    this.#watches = new Watches(options.subscriptionsMax)
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
    this.#accounts = new ConfirmedAccounts(this.#socket)
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs)
    this.#sweeper.unref()
  }

  /** What the stored portfolio of an owner stands for, if subscriptions keep it fresh; undefined: it must be read. */
  async liveAt(owner: Uint8Array): Promise<Freshness | undefined> {
    const watch = this.#watches.ofOwner(encodeKey(owner))
    if (watch === undefined) return undefined
    this.#watches.touch(watch)
    if (!watch.live) return undefined
    const clock = watch.needsClock ? await this.#clock.now() : this.#clock.last
    await this.#readingDoubted.idle()
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
    if (this.#closed || this.#watches.ofOwner(address) !== undefined || !this.#makeRoom(3)) return
    this.#watches.add(owner, address)
    this.#sweep()
  }

  status() {
    const watches = this.#watches.all
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
    for (const subject of [slotSubject, accountSubject(clockSysvar)])
      this.#socket.add(subject).catch((error: unknown) => this.#say('heartbeat', error, 'A heartbeat was refused.'))
    this.#sweep()
  }

  #onDown(): void {
    this.#accounts.clear()
    this.#doubted.clear()
    for (const watch of this.#watches.all) this.#doubt(watch)
  }

  #onNotification(key: string, result: unknown): void {
    if (key === slotSubject.key) {
      const { slot, root } = result as { slot?: unknown; root?: unknown }
      if (typeof slot === 'number') this.#headSlot = Math.max(this.#headSlot, slot)
      if (typeof root === 'number') this.#root = Math.max(this.#root, root)
      this.#headAtMs = Date.now()
      return
    }
    const { context, value } = (result ?? {}) as { context?: { slot?: unknown }; value?: unknown }
    const slot = context?.slot
    const address = addressOfKey(key)
    if (typeof slot !== 'number' || !Number.isSafeInteger(slot)) this.#socket.reset('a notification has no slot')
    else if (address !== undefined) this.#onAccount(address, value, slot)
    else this.#onTokenAccountOfOwner(value, slot)
  }

  #onAccount(address: string, value: unknown, slot: number): void {
    if (address === clockSysvar) {
      this.#headAtMs = Date.now()
      this.#clock.push(value, slot)
      return
    }
    // A late notification is rare and a node that counts wrongly is not: neither may hide a change.
    if (slot < this.#accounts.knownSlot(address)) {
      this.#doubted.add(address)
      this.#readingDoubted.wake()
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
    if (!this.#watches.needs(address)) return
    this.#accounts.know(address, slot)
    const watch = this.#watches.ofOwner(address)
    if (watch !== undefined) this.#onOwner(watch, info, slot)
    if (this.#watches.ofTokenAccount(address) !== undefined) this.#onTokenAccount(address, info, slot)
    if (this.#watches.isMint(address)) this.#onMint(address, info, slot)
  }

  async #readDoubted(): Promise<void> {
    try {
      const addresses = [...this.#doubted].slice(0, accountsPerCallMax)
      for (const address of addresses) this.#doubted.delete(address)
      const least = Math.max(...addresses.map(address => this.#accounts.knownSlot(address)))
      const { slot, value } = await this.#options.rpc.accounts(addresses, least)
      for (const [index, address] of addresses.entries()) this.#onAccountInfo(address, value[index], slot)
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
    if (this.#accounts.has(pubkey)) return
    this.#onTokenAccount(pubkey, info, slot)
  }

  /** A token account may be new, or have moved to another owner; and what it holds may be a mint that moves amounts. */
  #afterHolding(address: string, holding: Extract<HoldingUpdate, { owner: Uint8Array }>): void {
    const before = this.#watches.ofTokenAccount(address)
    const now = this.#watches.ofOwner(encodeKey(holding.owner))
    if (now === undefined) {
      if (before !== undefined) this.#watches.removeTokenAccount(address)
      this.#release([address])
      return
    }
    if (before !== now) this.#watches.addTokenAccount(now, address)
    const mint = encodeKey(holding.mint)
    const newMint = holding.amount > 0n && !now.mintsSeen.has(mint) ? mint : undefined
    if (newMint !== undefined || !this.#accounts.has(address)) void this.#adopt(now, address, newMint)
  }

  /** Subscribes to what a notification brought up, then reads it once more for what happened in between. */
  async #adopt(watch: Watch, address: string, mint: string | undefined): Promise<void> {
    try {
      if (!this.#makeRoom(2, watch)) throw new Error('there are too many subscriptions')
      await this.#subscribe(watch, [accountSubject(address)])
      const { slot, value } = await this.#while(watch, this.#options.rpc.accounts([address], watch.slot))
      this.#onAccountInfo(address, value[0], slot)
      await this.#while(watch, this.#queue.drained())
      if (mint !== undefined) await this.#followMints(watch, [mint])
    } catch (error) {
      // Whatever could not be subscribed to makes the owner one that must be read.
      this.#giveUp(watch, 'adopt', error, 'A new token account could not be subscribed to; its owner is read again.')
    }
  }

  // ---- watches

  #sweep(): void {
    if (this.#closed) return
    const now = Date.now()
    for (const watch of this.#watches.all) if (now - watch.askedAtMs > idleMs) this.#unwatch(watch)
    if (!this.#socket.up) return
    let busy = this.#watches.all.filter(watch => watch.busy).length
    // The most recently asked come first.
    for (const watch of this.#watches.all.reverse()) {
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
        const stored = wasLive && readings === 0 ? await this.#storedOf(watch) : undefined
        const reading = await this.#while(watch, this.#options.onDemand.read(watch.owner, { anew: true }))
        if (stored !== undefined) this.#options.onReconciled?.(differencesOf(stored.holdings, reading))
        watch.slot = reading.account.slot
        this.#accounts.know(watch.address, reading.account.slot)
        for (const { account, slot } of reading.holdings) this.#accounts.know(encodeKey(account), slot)
        watch.readAtMs = Date.now()
        if (!(await this.#follow(watch, reading))) break
      }
      watch.live = this.#socket.up
      watch.failures = 0
    } catch (error) {
      this.#giveUp(watch, 'bring-up', error, 'An owner cannot be kept fresh now; it is read when asked for.')
    } finally {
      watch.busy = false
    }
  }

  /** The owner may leave while something is under way for it: then what was begun must not go on. */
  async #while<T>(watch: Watch, work: Promise<T>): Promise<T> {
    const result = await work
    if (!this.#watches.has(watch)) throw new Error('it is no longer watched')
    return result
  }

  #giveUp(watch: Watch, subject: string, error: unknown, message: string): void {
    if (!this.#watches.has(watch)) {
      this.#unwatch(watch)
      return
    }
    this.#fail(watch)
    this.#say(subject, error, message)
  }

  #fail(watch: Watch): void {
    this.#doubt(watch)
    watch.notBeforeMs = Date.now() + Math.min(restartPauseMsMax, restartPauseMsMin * 2 ** watch.failures++)
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
    for (const address of [...watch.tokenAccounts, ...watch.mints]) subjects.push(accountSubject(address))
    await this.#subscribe(watch, subjects)
  }

  /** Where the owner left meanwhile, what only it needed is ended again. */
  async #subscribe(watch: Watch, subjects: readonly Subject[]): Promise<void> {
    await Promise.all(subjects.map(subject => this.#accounts.subscribe(subject)))
    if (!this.#watches.has(watch)) this.#release(subjects.flatMap(({ key }) => addressOfKey(key) ?? []))
    await this.#while(watch, Promise.resolve())
  }

  /** Takes over the token accounts of a reading; true where one of them was not subscribed to before. */
  async #follow(watch: Watch, { holdings }: OwnerReading): Promise<boolean> {
    const listed = new Set(holdings.map(({ account }) => encodeKey(account)))
    for (const address of watch.tokenAccounts) {
      if (listed.has(address)) continue
      this.#watches.removeTokenAccount(address)
      this.#release([address])
    }
    const fresh = [...listed].filter(address => !this.#accounts.has(address))
    if (!this.#makeRoom(fresh.length, watch)) throw new Error('there are too many subscriptions')
    for (const address of listed) this.#watches.addTokenAccount(watch, address)
    await this.#subscribe(watch, fresh.map(accountSubject))
    const held = new Set(holdings.filter(({ amount }) => amount > 0n).map(({ mint }) => encodeKey(mint)))
    await this.#followMints(watch, [...held])
    return fresh.length > 0
  }

  /** Mints whose own account decides what is shown are subscribed to as well, and read once more after that. */
  async #followMints(watch: Watch, mints: readonly string[]): Promise<void> {
    const { store, rpc } = this.#options
    const keys = mints.map(mint => base58.decode(mint))
    const facts = await this.#while(watch, store.mintsOf(rpc.network, keys))
    watch.needsClock ||= facts.some(({ amountRule }) => amountRule !== undefined)
    const volatile = facts.filter(isVolatile).map(({ mint }) => encodeKey(mint))
    const added = volatile.filter(mint => !this.#accounts.has(mint))
    if (!this.#makeRoom(added.length, watch)) throw new Error('there are too many subscriptions')
    for (const mint of mints) watch.mintsSeen.add(mint)
    for (const mint of volatile) this.#watches.addMint(watch, mint)
    await this.#subscribe(watch, added.map(accountSubject))
    for (let first = 0; first < added.length; first += accountsPerCallMax) {
      const chunk = added.slice(first, first + accountsPerCallMax)
      const { slot, value } = await this.#while(watch, rpc.accounts(chunk, watch.slot))
      for (const [index, mint] of chunk.entries()) this.#onAccountInfo(mint, value[index], slot)
    }
  }

  #release(addresses: readonly string[]): void {
    for (const address of addresses) if (!this.#watches.needs(address)) this.#accounts.unsubscribe(accountKey(address))
  }

  /** May be called again for one that has left, to end what was subscribed to for it since. */
  #unwatch(watch: Watch): void {
    const released = this.#watches.remove(watch)
    // The same owner may have come back meanwhile.
    if (this.#watches.ofOwner(watch.address) === undefined)
      for (const program of tokenPrograms) this.#accounts.unsubscribe(ownerSubject(program, watch.address).key)
    this.#release(released)
  }

  #makeRoom(wanted: number, keep?: Watch): boolean {
    const leaving = this.#watches.leavingFor(wanted, keep)
    for (const watch of leaving ?? []) this.#unwatch(watch)
    return leaving !== undefined
  }

  async #storedOf(watch: Watch) {
    const { store, rpc } = this.#options
    await this.#queue.drained()
    return this.#while(watch, store.portfolioOf(rpc.network, watch.owner))
  }

  #say(subject: string, error: unknown, message: string): void {
    if (this.#closed) return
    const { log, rpc } = this.#options
    this.#throttle.say(subject, repeated =>
      log.warn({ network: rpc.network, reason: messageOf(error), repeated }, message),
    )
  }
}

// How far what was stored of an owner departs from a later reading, though nothing newer came in between. Pure.

/** How many token accounts are stored with another amount, or not at all, or though they are gone. */
export function differencesOf(stored: HoldingColumns | undefined, reading: OwnerReading): number {
  const read = new Map(reading.holdings.map(({ account, amount }) => [encodeKey(account), amount]))
  const held = heldAmounts(stored)
  const wrong = held.filter(([account, amount]) => read.get(account) !== amount).length
  const missing = [...read].filter(([, amount]) => amount > 0n).length - (held.length - wrong)
  return Math.max(wrong, missing)
}

/** The accounts with something in them. */
function heldAmounts(holdings: HoldingColumns | undefined): [account: string, amount: bigint][] {
  if (holdings === undefined) return []
  const rows = holdings.amounts.map((amount, row): [string, bigint] => [
    encodeKey(holdings.accounts.subarray(row * keyBytes, (row + 1) * keyBytes)),
    BigInt(amount),
  ])
  return rows.filter(([, amount]) => amount > 0n)
}

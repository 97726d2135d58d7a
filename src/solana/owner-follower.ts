// Keeps owners fresh by subscriptions: to the owner itself, to each of its token accounts (only that shows a close),
// and to both token programs filtered by owner (only that shows a new token account). An owner counts as fresh from a
// whole reading that began after every subscription was confirmed, until the socket goes down.
import { setTimeout as delay } from 'node:timers/promises'
import { base58 } from '@scure/base'
import { encodeKey } from '../base58.ts'
import { messageWithCauses } from '../errors.ts'
import { type Log, LogThrottle } from '../log.ts'
import type { OwnerReading, SolanaStore } from '../store/solana-store.ts'
import { AccountNotifications, type OpenHolding } from './account-notifications.ts'
import { clockSysvar, tokenPrograms } from './decode.ts'
import { isVolatile } from './mints.ts'
import { accountsPerCallMax, type SolanaRpc } from './rpc.ts'
import { ChainClock, differencesOf, type Freshness, type OnDemand } from './source.ts'
import {
  accountKey,
  accountSubscription,
  addressOfKey,
  ownerSubscription,
  type Subscription,
  Subscriptions,
  slotSubscription,
  usualSilenceMs,
} from './subscriptions.ts'
import { UpdateQueue } from './update-queue.ts'
import { type Watch, Watches } from './watches.ts'

/** An owner that was not asked for in this time leaves. */
const idleMs = 10 * 60_000
const startsAtOnce = 4
const restartPauseMsMin = 1_000
const restartPauseMsMax = 5 * 60_000
/** A chain has two slots a second: after this long without one, silence about an owner means nothing. */
const quietMsMax = 2_000
/** Readings that a start may take until one finds only token accounts that are subscribed to. */
const startReadingsMax = 4
/** A request waits this long for it, and is then answered from what is known. */
const lookWaitMs = 1_000

export type FollowerPace = {
  /** How often owners that wait are brought up. */
  sweepMs: number
  /** Where closes are not told, a call each such interval looks for them, for an owner that is asked for. */
  lookMs: number
  /** How long the socket may be silent. */
  silenceMaxMs: number
}

const usualPace: FollowerPace = { sweepMs: 500, lookMs: 5_000, silenceMaxMs: usualSilenceMs }

export type OwnerFollowerOptions = {
  rpc: SolanaRpc
  store: SolanaStore
  onDemand: OnDemand
  log: Log
  ws: string
  subscriptionsMax: number
  reconcileMs: number
  pace?: Partial<FollowerPace> | undefined
  onReconciled?: (differences: number) => void
}

export class OwnerFollower {
  readonly #options: OwnerFollowerOptions
  readonly #pace: FollowerPace
  readonly #socket: Subscriptions
  readonly #queue: UpdateQueue
  readonly #clock: ChainClock
  readonly #throttle = new LogThrottle()
  readonly #watches: Watches
  readonly #accounts: AccountNotifications
  readonly #sweeper: NodeJS.Timeout
  #closed = false

  constructor(options: OwnerFollowerOptions) {
    this.#options = options
    this.#pace = { ...usualPace, ...options.pace }
    const { rpc, store, log, ws } = options
    this.#watches = new Watches(options.subscriptionsMax)
    this.#clock = new ChainClock(rpc)
    const onUnreadable = (reason: string) => this.#socket.reset(reason)
    this.#queue = new UpdateQueue({ rpc, store, onLost: onUnreadable })
    this.#accounts = new AccountNotifications({
      ...{ rpc, watches: this.#watches, queue: this.#queue, clock: this.#clock, onUnreadable },
      isSubscribed: address => this.#isSubscribed(address),
      onHolding: (address, holding) => this.#afterHolding(address, holding),
    })
    this.#socket = new Subscriptions({
      network: rpc.network,
      url: ws,
      log,
      silenceMaxMs: this.#pace.silenceMaxMs,
      onUp: () => this.#onUp(),
      onDown: () => this.#onDown(),
      onNotification: (key, result) => this.#accounts.receive(key, result),
    })
    this.#sweeper = setInterval(() => this.#sweep(), this.#pace.sweepMs)
    this.#sweeper.unref()
  }

  /** How fresh the stored portfolio of an owner is; undefined where subscriptions do not keep it fresh. */
  async liveAt(owner: Uint8Array): Promise<Freshness | undefined> {
    const watch = this.#watches.ofOwner(encodeKey(owner))
    if (watch === undefined) return undefined
    this.#watches.touch(watch)
    if (!watch.live) return undefined
    await this.#lookForCloses(watch)
    const clock = watch.needsClock ? await this.#clock.now() : this.#clock.last
    await this.#accounts.settled()
    if (!watch.live || Date.now() - this.#accounts.headAtMs > quietMsMax) return undefined
    return {
      slot: Math.max(watch.slot, this.#accounts.root, this.#clock.pushedSlot - 1),
      chainTime: clock.chainTime,
      readAtMs: this.#accounts.headAtMs,
    }
  }

  /** Once for all who ask. What fails is left to the next look and to the reconciliation. */
  async #lookForCloses(watch: Watch): Promise<void> {
    const addresses = [...watch.tokenAccounts]
    // A call takes a limited number of accounts, so a large owner is checked less often.
    const pauseMs = this.#pace.lookMs * Math.ceil(addresses.length / accountsPerCallMax)
    const isDue = Date.now() - Math.max(watch.readAtMs, watch.lookedAtMs) > pauseMs
    if (isDue && watch.look === undefined && addresses.length > 0 && !this.#accounts.tellsOfCloses) {
      watch.lookedAtMs = Date.now()
      const looked = this.#accounts
        .readAgain(addresses, () => this.#requireWatched(watch))
        .catch(() => {})
        .finally(() => {
          watch.look = undefined
        })
      watch.look = Promise.race([looked, delay(lookWaitMs, undefined, { ref: false })])
    }
    await watch.look
  }

  /** Starts to keep an owner fresh that was just read. */
  watch(owner: Uint8Array): void {
    const address = encodeKey(owner)
    if (this.#closed || this.#watches.ofOwner(address) !== undefined || !this.#makeRoom(3)) return
    this.#watches.add(owner, address)
    this.#sweep()
  }

  status() {
    const watches = this.#watches.all
    return {
      slot: this.#accounts.headSlot,
      headAtMs: this.#accounts.headAtMs,
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

  #isSubscribed(address: string): boolean {
    return this.#socket.isConfirmed(accountKey(address))
  }

  #onUp(): void {
    this.#clock.reset()
    for (const heartbeat of [slotSubscription, accountSubscription(clockSysvar)])
      this.#socket
        .add(heartbeat)
        .catch((error: unknown) => this.#say('heartbeat', error, 'Solana heartbeat subscription refused'))
    this.#sweep()
  }

  #onDown(): void {
    this.#accounts.forgetAll()
    for (const watch of this.#watches.all) this.#doubt(watch)
  }

  /** The token account may be new or have moved to another owner, and its mint may change the amount shown. */
  #afterHolding(address: string, holding: OpenHolding): void {
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
    if (newMint !== undefined || !this.#isSubscribed(address)) void this.#adopt(now, address, newMint)
  }

  /** Subscribes to what a notification brought up, then reads it again for what happened in between. */
  async #adopt(watch: Watch, address: string, mint: string | undefined): Promise<void> {
    try {
      if (!this.#makeRoom(2, watch)) throw new Error('there are too many subscriptions')
      await this.#subscribe(watch, [accountSubscription(address)])
      await this.#accounts.readAccounts([address], watch.slot, () => this.#requireWatched(watch))
      await this.#while(watch, this.#queue.drained())
      if (mint !== undefined) await this.#followMints(watch, [mint])
    } catch (error) {
      this.#giveUp(watch, 'adopt', error, 'Solana token account not subscribed; reading its owner again')
    }
  }

  #sweep(): void {
    if (this.#closed) return
    const now = Date.now()
    for (const watch of this.#watches.all) if (now - watch.askedAtMs > idleMs) this.#unwatch(watch)
    if (!this.#socket.up) return
    let busy = this.#watches.all.filter(watch => watch.busy).length
    // The most recently asked for come first.
    for (const watch of this.#watches.all.reverse()) {
      if (busy >= startsAtOnce) return
      const due = watch.live ? now - watch.readAtMs > this.#options.reconcileMs : now >= watch.notBeforeMs
      if (watch.busy || !due) continue
      busy++
      void this.#bringUp(watch)
    }
  }

  /** For the start and for the reconciliation: subscribes to all that is known and reads, until nothing is new. */
  async #bringUp(watch: Watch): Promise<void> {
    const wasLive = watch.live
    watch.busy = true
    try {
      const accounts = [watch.address, ...watch.tokenAccounts, ...watch.mints].map(accountSubscription)
      const owned = tokenPrograms.map(program => ownerSubscription(program, watch.address))
      await this.#subscribe(watch, [...accounts, ...owned])
      for (let readings = 0; ; readings++) {
        if (readings === startReadingsMax) throw new Error('its token accounts change faster than they can be read')
        const stored = wasLive && readings === 0 ? await this.#storedOf(watch) : undefined
        const reading = await this.#while(watch, this.#options.onDemand.read(watch.owner, { joins: false }))
        if (stored !== undefined) this.#options.onReconciled?.(differencesOf(stored.holdings, reading))
        watch.slot = reading.account.slot
        this.#accounts.note(watch.address, reading.account.slot)
        for (const { account, slot } of reading.holdings) this.#accounts.note(encodeKey(account), slot)
        watch.readAtMs = Date.now()
        if (!(await this.#follow(watch, reading))) break
      }
      watch.live = this.#socket.up
      watch.failures = 0
    } catch (error) {
      this.#giveUp(watch, 'bring-up', error, 'Solana owner not kept fresh; reading it on demand')
    } finally {
      watch.busy = false
    }
  }

  /** Fails where the owner left meanwhile. */
  async #while<T>(watch: Watch, work: Promise<T>): Promise<T> {
    const result = await work
    this.#requireWatched(watch)
    return result
  }

  #requireWatched(watch: Watch): void {
    if (!this.#watches.has(watch)) throw new Error('it is no longer watched')
  }

  #giveUp(watch: Watch, topic: string, error: unknown, message: string): void {
    if (!this.#watches.has(watch)) {
      this.#unwatch(watch)
      return
    }
    this.#doubt(watch)
    watch.notBeforeMs = Date.now() + Math.min(restartPauseMsMax, restartPauseMsMin * 2 ** watch.failures++)
    this.#say(topic, error, message)
  }

  /** The owner must be read before it is answered for again. */
  #doubt(watch: Watch): void {
    watch.live = false
    this.#options.onDemand.forget(watch.owner)
  }

  /** Where the owner left meanwhile, ends what only it needed. */
  async #subscribe(watch: Watch, subscriptions: readonly Subscription[]): Promise<void> {
    await Promise.all(subscriptions.map(subscription => this.#socket.add(subscription)))
    if (!this.#watches.has(watch)) this.#release(subscriptions.flatMap(({ key }) => addressOfKey(key) ?? []))
    this.#requireWatched(watch)
  }

  /** Takes over the token accounts of a reading; true where one was not subscribed to before. */
  async #follow(watch: Watch, { holdings }: OwnerReading): Promise<boolean> {
    const listed = new Set(holdings.map(({ account }) => encodeKey(account)))
    for (const address of watch.tokenAccounts) {
      if (listed.has(address)) continue
      this.#watches.removeTokenAccount(address)
      this.#release([address])
    }
    const fresh = [...listed].filter(address => !this.#isSubscribed(address))
    if (!this.#makeRoom(fresh.length, watch)) throw new Error('there are too many subscriptions')
    for (const address of listed) this.#watches.addTokenAccount(watch, address)
    await this.#subscribe(watch, fresh.map(accountSubscription))
    const held = new Set(holdings.filter(({ amount }) => amount > 0n).map(({ mint }) => encodeKey(mint)))
    await this.#followMints(watch, [...held])
    return fresh.length > 0
  }

  /** Subscribes to mints whose own account decides what is shown, then reads them again. */
  async #followMints(watch: Watch, mints: readonly string[]): Promise<void> {
    const { store, rpc } = this.#options
    const keys = mints.map(mint => base58.decode(mint))
    const facts = await this.#while(watch, store.mintsOf(rpc.network, keys))
    // No subscription tells when the node comes to know a mint: the owner is read on demand until then.
    if (facts.length < mints.length) {
      const known = new Set(facts.map(({ mint }) => encodeKey(mint)))
      throw new Error(`the endpoint does not know the mint ${mints.find(mint => !known.has(mint))}`)
    }
    watch.needsClock ||= facts.some(({ amountRule }) => amountRule !== undefined)
    const volatile = facts.filter(isVolatile).map(({ mint }) => encodeKey(mint))
    const added = volatile.filter(mint => !this.#isSubscribed(mint))
    if (!this.#makeRoom(added.length, watch)) throw new Error('there are too many subscriptions')
    for (const mint of mints) watch.mintsSeen.add(mint)
    for (const mint of volatile) this.#watches.addMint(watch, mint)
    await this.#subscribe(watch, added.map(accountSubscription))
    await this.#accounts.readAccounts(added, watch.slot, () => this.#requireWatched(watch))
  }

  #release(addresses: readonly string[]): void {
    for (const address of addresses) {
      if (this.#watches.needs(address)) continue
      this.#accounts.forget(address)
      this.#socket.remove(accountKey(address))
    }
  }

  /** May be called again for an owner that has left, to end what was subscribed to since. */
  #unwatch(watch: Watch): void {
    const released = this.#watches.remove(watch)
    // The owner may have come back meanwhile.
    if (this.#watches.ofOwner(watch.address) === undefined)
      for (const program of tokenPrograms) this.#socket.remove(ownerSubscription(program, watch.address).key)
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

  #say(topic: string, error: unknown, message: string): void {
    if (this.#closed) return
    const { log, rpc } = this.#options
    this.#throttle.say(topic, repeated =>
      log.warn({ network: rpc.network, reason: messageWithCauses(error), repeated }, message),
    )
  }
}

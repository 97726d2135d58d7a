// What the notifications of subscriptions say, and what accounts that are read again say, on its way to the store: in
// order of slots, for accounts that an owner depends on. It subscribes to nothing and knows no start of an owner.
import { base58 } from '@scure/base'
import { messageWithCauses } from '../errors.ts'
import { chunks } from '../rpc/batches.ts'
import type { HoldingUpdate } from '../store/solana-store.ts'
import { holdingUpdateOf } from './account-rows.ts'
import { clockSysvar } from './decode.ts'
import { mintAccountOf } from './mints.ts'
import { type AccountInfo, readAccount } from './read-accounts.ts'
import { accountsPerCallMax, type SolanaRpc } from './rpc.ts'
import type { ChainClock } from './source.ts'
import { addressOfKey, slotSubscription } from './subscriptions.ts'
import { type UpdateQueue, WorkLoop } from './update-queue.ts'
import type { Watches } from './watches.ts'

export type OpenHolding = Extract<HoldingUpdate, { owner: Uint8Array }>

export type AccountNotificationsOptions = {
  rpc: SolanaRpc
  watches: Watches
  queue: UpdateQueue
  clock: ChainClock
  isSubscribed: (address: string) => boolean
  /** The token account may be new or have moved to another owner. */
  onHolding: (address: string, holding: OpenHolding) => void
  /** What was sent cannot be relied on. */
  onUnreadable: (reason: string) => void
}

export class AccountNotifications {
  readonly #options: AccountNotificationsOptions
  /** The slot as of which each account is known. */
  readonly #knownSlots = new Map<string, number>()
  /** Accounts to read because a notification of them seemed older than what is known. */
  readonly #doubted = new Set<string>()
  readonly #readingDoubted = new WorkLoop({ hasWork: () => this.#doubted.size > 0, work: () => this.#readDoubted() })
  #root = 0
  #headSlot = 0
  #headAtMs = 0
  #tellsOfCloses = false

  constructor(options: AccountNotificationsOptions) {
    this.#options = options
  }

  get root(): number {
    return this.#root
  }

  get headSlot(): number {
    return this.#headSlot
  }

  /** When the chain was last heard of. */
  get headAtMs(): number {
    return this.#headAtMs
  }

  /** Whether the node has reported a closed token account since the socket is up: not every node does. */
  get tellsOfCloses(): boolean {
    return this.#tellsOfCloses
  }

  /** Until nothing is left in doubt and all is stored. */
  async settled(): Promise<void> {
    await this.#readingDoubted.idle()
    await this.#options.queue.drained()
  }

  /** An account was read elsewhere. */
  note(address: string, slot: number): void {
    this.#knownSlots.set(address, slot)
  }

  forget(address: string): void {
    this.#knownSlots.delete(address)
  }

  forgetAll(): void {
    this.#knownSlots.clear()
    this.#doubted.clear()
    this.#tellsOfCloses = false
  }

  receive(key: string, result: unknown): void {
    if (key === slotSubscription.key) {
      const { slot, root } = result as { slot?: unknown; root?: unknown }
      if (typeof slot === 'number') this.#headSlot = Math.max(this.#headSlot, slot)
      if (typeof root === 'number') this.#root = Math.max(this.#root, root)
      this.#headAtMs = Date.now()
      return
    }
    const { context, value } = (result ?? {}) as { context?: { slot?: unknown }; value?: unknown }
    const slot = context?.slot
    const address = addressOfKey(key)
    if (typeof slot !== 'number' || !Number.isSafeInteger(slot))
      this.#options.onUnreadable('a notification has no slot')
    else if (address !== undefined) this.#onAccount(address, value, slot)
    else this.#onTokenAccountOfOwner(value, slot)
  }

  /** `check` may throw between two calls. */
  async readAccounts(addresses: readonly string[], least: number, check?: () => void): Promise<void> {
    for (const chunk of chunks(addresses, accountsPerCallMax)) {
      const { slot, value } = await this.#options.rpc.accounts(chunk, least)
      check?.()
      for (const [index, address] of chunk.entries()) this.#onAccountInfo(address, value[index], slot)
    }
  }

  /** As of a slot that is not below what is known of any of them. */
  async readAgain(addresses: readonly string[], check?: () => void): Promise<void> {
    await this.readAccounts(addresses, Math.max(...addresses.map(address => this.#knownSlot(address))), check)
  }

  async #readDoubted(): Promise<void> {
    try {
      const addresses = [...this.#doubted]
      this.#doubted.clear()
      await this.readAgain(addresses)
    } catch (error) {
      this.#options.onUnreadable(messageWithCauses(error))
    }
  }

  #knownSlot(address: string): number {
    return this.#knownSlots.get(address) ?? 0
  }

  #onAccount(address: string, value: unknown, slot: number): void {
    if (address === clockSysvar) {
      this.#headAtMs = Date.now()
      this.#options.clock.push(value, slot)
      return
    }
    // Neither a late notification nor a node that miscounts slots may hide a change.
    if (slot < this.#knownSlot(address)) {
      this.#doubted.add(address)
      this.#readingDoubted.wake()
      return
    }
    // For an account that is gone, nodes send null or one without lamports.
    const info = value === null ? undefined : readAccount(value)
    const isGone = value === null || info?.lamports === 0n
    if (isGone && this.#options.watches.ofTokenAccount(address) !== undefined) this.#tellsOfCloses = true
    if (value === null || info !== undefined) this.#onAccountInfo(address, info, slot)
    else this.#options.onUnreadable(`a notification of ${address} is not an account`)
  }

  #onAccountInfo(address: string, info: AccountInfo | undefined, slot: number): void {
    const { watches, queue, clock } = this.#options
    if (!watches.needs(address)) return
    this.#knownSlots.set(address, slot)
    const at = { slot, readAtMs: Date.now() }
    const owner = watches.ofOwner(address)?.owner
    if (owner !== undefined) {
      const { chainTime } = clock.last
      queue.add({ kind: 'lamports', account: { owner, lamports: info?.lamports ?? 0n, chainTime, ...at } })
    }
    if (watches.ofTokenAccount(address) !== undefined) this.#onTokenAccount(address, info, slot)
    if (!watches.isMint(address)) return
    const mint = base58.decode(address)
    const account = mintAccountOf(mint, info)
    if (account !== undefined) queue.add({ kind: 'mint', mint: { mint, account, ...at } })
  }

  #onTokenAccount(address: string, info: AccountInfo | undefined, slot: number): void {
    const holding = holdingUpdateOf(base58.decode(address), info, slot)
    this.#options.queue.add({ kind: 'holding', holding })
    if (!('closed' in holding)) this.#options.onHolding(address, holding)
  }

  /** Only for accounts without their own subscription: two streams of one account may overtake each other. */
  #onTokenAccountOfOwner(value: unknown, slot: number): void {
    const { pubkey, account } = (value ?? {}) as { pubkey?: unknown; account?: unknown }
    const info = readAccount(account)
    if (typeof pubkey !== 'string' || info === undefined) this.#options.onUnreadable('a notification is not an account')
    else if (!this.#options.isSubscribed(pubkey)) this.#onTokenAccount(pubkey, info, slot)
  }
}

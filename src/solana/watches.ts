// The owners that are kept fresh, what belongs to each of them, and which leave when there are too many. No socket, no reads.

import type { TokenProgram } from '../model.ts'
import { tokenProgramAddresses } from './decode.ts'
import type { Subject, Subscriptions } from './subscriptions.ts'

/** The owner itself and both token programs. */
const subscriptionsPerOwner = 3

export type Watch = {
  readonly owner: Uint8Array
  readonly address: string
  /** What is stored of the owner is known to be current. */
  live: boolean
  /** It is being brought up or reconciled. */
  busy: boolean
  failures: number
  /** Not brought up again before this moment. */
  notBeforeMs: number
  askedAtMs: number
  readAtMs: number
  slot: number
  readonly tokenAccounts: Set<string>
  /** Every mint that it holds or held while it was watched. */
  readonly mintsSeen: Set<string>
  /** Those of them whose own account decides what is shown. */
  readonly mints: Set<string>
  /** Something that it holds shows another amount as time goes by. */
  needsClock: boolean
}

export class Watches {
  readonly #max: number
  /** Least recently asked first. */
  readonly #byOwner = new Map<string, Watch>()
  readonly #byTokenAccount = new Map<string, Watch>()
  readonly #byMint = new Map<string, Set<Watch>>()

  constructor(subscriptionsMax: number) {
    this.#max = subscriptionsMax
  }

  get all(): Watch[] {
    return [...this.#byOwner.values()]
  }

  has(watch: Watch): boolean {
    return this.#byOwner.get(watch.address) === watch
  }

  ofOwner(address: string): Watch | undefined {
    return this.#byOwner.get(address)
  }

  ofTokenAccount(address: string): Watch | undefined {
    return this.#byTokenAccount.get(address)
  }

  isMint(address: string): boolean {
    return this.#byMint.has(address)
  }

  /** Whether any owner still hangs on this account. */
  needs(address: string): boolean {
    return this.#byOwner.has(address) || this.#byTokenAccount.has(address) || this.#byMint.has(address)
  }

  /** The owner was asked for: it is the last that would leave. */
  touch(watch: Watch): void {
    watch.askedAtMs = Date.now()
    this.#byOwner.delete(watch.address)
    this.#byOwner.set(watch.address, watch)
  }

  add(owner: Uint8Array, address: string): Watch {
    const watch: Watch = {
      owner,
      address,
      live: false,
      busy: false,
      failures: 0,
      notBeforeMs: 0,
      askedAtMs: Date.now(),
      readAtMs: 0,
      slot: 0,
      tokenAccounts: new Set(),
      mintsSeen: new Set(),
      mints: new Set(),
      needsClock: false,
    }
    this.#byOwner.set(address, watch)
    return watch
  }

  /** Returns the accounts that nobody needs any more. */
  remove(watch: Watch): string[] {
    watch.live = false
    if (this.has(watch)) this.#byOwner.delete(watch.address)
    for (const address of watch.tokenAccounts)
      if (this.#byTokenAccount.get(address) === watch) this.#byTokenAccount.delete(address)
    for (const mint of watch.mints) {
      const watches = this.#byMint.get(mint)
      watches?.delete(watch)
      if (watches?.size === 0) this.#byMint.delete(mint)
    }
    const accounts = [watch.address, ...watch.tokenAccounts, ...watch.mints]
    return accounts.filter(address => !this.needs(address))
  }

  addTokenAccount(watch: Watch, address: string): void {
    this.#byTokenAccount.get(address)?.tokenAccounts.delete(address)
    watch.tokenAccounts.add(address)
    this.#byTokenAccount.set(address, watch)
  }

  removeTokenAccount(address: string): void {
    this.#byTokenAccount.get(address)?.tokenAccounts.delete(address)
    this.#byTokenAccount.delete(address)
  }

  addMint(watch: Watch, mint: string): void {
    watch.mints.add(mint)
    this.#byMint.set(mint, (this.#byMint.get(mint) ?? new Set()).add(watch))
  }

  /**
   * The owners that must leave for `wanted` more subscriptions, least recently asked first and never the one that they
   * are for; undefined where even that would not do.
   */
  leavingFor(wanted: number, keep?: Watch): Watch[] | undefined {
    if ((keep === undefined ? 0 : sizeOf(keep)) + wanted > this.#max) return undefined
    const leaving: Watch[] = []
    let size = this.all.reduce((sum, watch) => sum + sizeOf(watch), 0)
    for (const watch of this.#byOwner.values()) {
      if (size + wanted <= this.#max) break
      if (watch === keep) continue
      leaving.push(watch)
      size -= sizeOf(watch)
    }
    return leaving
  }
}

function sizeOf({ tokenAccounts, mints }: Watch): number {
  return subscriptionsPerOwner + tokenAccounts.size + mints.size
}

// Which subscriptions the node has confirmed, and the slot as of which each account under them is known. It decides nothing.

export class ConfirmedAccounts {
  readonly #socket: Subscriptions
  readonly #confirmed = new Set<string>()
  readonly #knownSlots = new Map<string, number>()

  constructor(socket: Subscriptions) {
    this.#socket = socket
  }

  has(address: string): boolean {
    return this.#confirmed.has(accountKey(address))
  }

  async subscribe(subject: Subject): Promise<void> {
    if (this.#confirmed.has(subject.key)) return
    await this.#socket.add(subject)
    this.#confirmed.add(subject.key)
  }

  unsubscribe(key: string): void {
    this.#confirmed.delete(key)
    const address = addressOfKey(key)
    if (address !== undefined) this.#knownSlots.delete(address)
    this.#socket.remove(key)
  }

  knownSlot(address: string): number {
    return this.#knownSlots.get(address) ?? 0
  }

  know(address: string, slot: number): void {
    this.#knownSlots.set(address, slot)
  }

  /** The socket is another one: nothing is subscribed to. */
  clear(): void {
    this.#confirmed.clear()
    this.#knownSlots.clear()
  }
}

// What is subscribed to, and under which key. Pure.

const options = { commitment: 'confirmed', encoding: 'base64' }

export const slotSubject: Subject = { key: 'slot', method: 'slotSubscribe', params: [] }

export function accountSubject(address: string): Subject {
  return { key: accountKey(address), method: 'accountSubscribe', params: [address, options] }
}

export function accountKey(address: string): string {
  return `account:${address}`
}

/** Undefined for the key of another kind of subject. */
export function addressOfKey(key: string): string | undefined {
  return key.startsWith('account:') ? key.slice('account:'.length) : undefined
}

/** The owner stands at byte 32 of every token account of both programs. */
export function ownerSubject(program: TokenProgram, owner: string): Subject {
  const filters = [{ memcmp: { offset: 32, bytes: owner } }]
  return {
    key: `owner:${program}:${owner}`,
    method: 'programSubscribe',
    params: [tokenProgramAddresses[program], { ...options, filters }],
  }
}

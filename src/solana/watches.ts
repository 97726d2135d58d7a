// The owners that are kept fresh, what belongs to each, and which leave when there are too many. No socket, no reads.

/** The owner itself and both token programs. */
const subscriptionsPerOwner = 3

export type Watch = {
  readonly owner: Uint8Array
  readonly address: string
  /** What is stored is known to be current. */
  live: boolean
  /** A start or a reconciliation is under way. */
  busy: boolean
  failures: number
  /** The earliest moment for another start. */
  notBeforeMs: number
  askedAtMs: number
  readAtMs: number
  /** When its token accounts were last looked at for closes, and that look while it is under way. */
  lookedAtMs: number
  look: Promise<void> | undefined
  slot: number
  readonly tokenAccounts: Set<string>
  /** Every mint that it held while it was watched. */
  readonly mintsSeen: Set<string>
  /** Those of them whose own account decides what is shown. */
  readonly mints: Set<string>
  /** An amount that it holds changes with time. */
  needsClock: boolean
}

export class Watches {
  readonly #max: number
  /** Least recently asked for first. */
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

  /** Whether any owner depends on this account. */
  needs(address: string): boolean {
    return this.#byOwner.has(address) || this.#byTokenAccount.has(address) || this.#byMint.has(address)
  }

  /** The owner was asked for: it becomes the last to leave. */
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
      lookedAtMs: 0,
      look: undefined,
      slot: 0,
      tokenAccounts: new Set(),
      mintsSeen: new Set(),
      mints: new Set(),
      needsClock: false,
    }
    this.#byOwner.set(address, watch)
    return watch
  }

  /** Returns the accounts that no owner needs any more. */
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
   * The owners that must leave for `wanted` more subscriptions, never `keep`; undefined where even that is not enough.
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

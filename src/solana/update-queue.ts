// Writes what subscriptions report, in order and in batches. A holding is written only once its mint was asked for: a
// reader could not show it fully otherwise. Also the loop that runs one piece of work at a time.
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import { messageWithCauses } from '../errors.ts'
import { textOfKey } from '../hex.ts'
import type { HoldingUpdate, MintUpdate, SolanaAccount, SolanaStore } from '../store/solana-store.ts'
import { ensureMints } from './mints.ts'
import type { SolanaRpc } from './rpc.ts'

const pendingMax = 50_000

export type Update =
  | { kind: 'holding'; holding: HoldingUpdate }
  | { kind: 'lamports'; account: SolanaAccount }
  | { kind: 'mint'; mint: MintUpdate }

export type UpdateQueueOptions = {
  rpc: SolanaRpc
  store: SolanaStore
  /** Updates were lost: everything that is watched must be read again. */
  onLost: (reason: string) => void
}

export class UpdateQueue {
  readonly #options: UpdateQueueOptions
  readonly #knownMints = new LRUCache<string, true>(atMost(100_000))
  readonly #writing = new WorkLoop({ hasWork: () => this.#pending.length > 0, work: () => this.#write() })
  #pending: Update[] = []

  constructor(options: UpdateQueueOptions) {
    this.#options = options
  }

  add(update: Update): void {
    if (this.#pending.length >= pendingMax) {
      this.#pending = []
      this.#options.onLost(`more than ${pendingMax} updates are waiting`)
      return
    }
    this.#pending.push(update)
    this.#writing.wake()
  }

  /** Resolves when everything added so far is written. */
  async drained(): Promise<void> {
    await this.#writing.idle()
  }

  async #write(): Promise<void> {
    const batch = this.#pending
    this.#pending = []
    try {
      await this.#writeBatch(batch)
    } catch (error) {
      this.#pending = []
      this.#options.onLost(messageWithCauses(error))
    }
  }

  async #writeBatch(batch: readonly Update[]): Promise<void> {
    const { rpc, store } = this.#options
    const mints = batch.flatMap(update => (update.kind === 'mint' ? [update.mint] : []))
    const holdings = batch.flatMap(update => (update.kind === 'holding' ? [update.holding] : []))
    if (mints.length > 0) await store.updateAccounts(rpc.network, { mints })
    if (holdings.length > 0) {
      await this.#ensureMints(holdings)
      await store.updateAccounts(rpc.network, { holdings })
    }
    // Only the last balance of each owner counts.
    const accounts = new Map<string, SolanaAccount>()
    for (const update of batch)
      if (update.kind === 'lamports') accounts.set(textOfKey(update.account.owner), update.account)
    if (accounts.size > 0) await store.updateAccounts(rpc.network, { owners: [...accounts.values()] })
  }

  async #ensureMints(holdings: readonly HoldingUpdate[]): Promise<void> {
    const unknown = new Map<string, { mint: Uint8Array; slot: number }>()
    for (const holding of holdings) {
      if ('closed' in holding || holding.amount === 0n) continue
      const key = textOfKey(holding.mint)
      if (!this.#knownMints.has(key)) unknown.set(key, { mint: holding.mint, slot: holding.slot })
    }
    if (unknown.size === 0) return
    const mints = [...unknown.values()].map(({ mint }) => mint)
    const minContextSlot = Math.max(...[...unknown.values()].map(({ slot }) => slot))
    const { rpc, store } = this.#options
    for (const mint of await ensureMints({ rpc, store, nowMs: Date.now }, mints, minContextSlot))
      unknown.delete(textOfKey(mint))
    for (const key of unknown.keys()) this.#knownMints.set(key, true)
  }
}

export type WorkLoopOptions = { hasWork: () => boolean; work: () => Promise<void> }

/** Does one piece of work after the other, never two at once. The work handles its own errors. */
export class WorkLoop {
  readonly #options: WorkLoopOptions
  #running: Promise<void> | undefined

  constructor(options: WorkLoopOptions) {
    this.#options = options
  }

  /** Call whenever there may be new work. */
  wake(): void {
    if (this.#running === undefined && this.#options.hasWork()) this.#running = this.#run()
  }

  async idle(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      while (this.#options.hasWork()) await this.#options.work()
    } finally {
      // In the same tick as the last look for work: a `wake` in between would start nothing.
      this.#running = undefined
    }
  }
}

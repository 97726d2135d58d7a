// Writes what subscriptions report, in the order in which it came and in batches. A holding is written only once its mint
// is known, so that no reader meets a holding that cannot be shown.
import { LRUCache } from 'lru-cache'
import { messageOf } from '../errors.ts'
import type { HoldingUpdate, MintUpdate, SolanaAccount, SolanaStore } from '../store/solana-store.ts'
import { ensureMints } from './mints.ts'
import type { SolanaRpc } from './rpc.ts'
import { WorkLoop } from './work-loop.ts'

const pendingMax = 50_000

export type Update =
  | { kind: 'holding'; holding: HoldingUpdate }
  | { kind: 'lamports'; account: SolanaAccount }
  | { kind: 'mint'; mint: MintUpdate }

export type UpdateQueueOptions = {
  rpc: SolanaRpc
  store: SolanaStore
  /** Updates were lost: what is watched must be read again. */
  onLost: (reason: string) => void
}

export class UpdateQueue {
  readonly #options: UpdateQueueOptions
  readonly #knownMints = new LRUCache<string, true>({ max: 100_000 })
  readonly #writing = new WorkLoop({ hasWork: () => this.#pending.length > 0, work: () => this.#write() })
  #pending: Update[] = []

  constructor(options: UpdateQueueOptions) {
    this.#options = options
  }

  add(update: Update): void {
    if (this.#pending.length >= pendingMax) {
      this.#pending = []
      this.#options.onLost(`more than ${pendingMax} updates wait to be written`)
      return
    }
    this.#pending.push(update)
    this.#writing.wake()
  }

  /** Resolves when everything that was added before is written. */
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
      this.#options.onLost(messageOf(error))
    }
  }

  async #writeBatch(batch: readonly Update[]): Promise<void> {
    const { rpc, store } = this.#options
    const mints = batch.flatMap(update => (update.kind === 'mint' ? [update.mint] : []))
    const holdings = batch.flatMap(update => (update.kind === 'holding' ? [update.holding] : []))
    if (mints.length > 0) await store.putMints(rpc.network, mints)
    if (holdings.length > 0) {
      await this.#ensureMints(holdings)
      await store.applyHoldings(rpc.network, holdings)
    }
    // Only the last balance of an owner in the batch counts.
    const accounts = new Map<string, SolanaAccount>()
    for (const update of batch)
      if (update.kind === 'lamports') accounts.set(Buffer.from(update.account.owner).toString('latin1'), update.account)
    for (const account of accounts.values()) await store.putLamports(rpc.network, account)
  }

  async #ensureMints(holdings: readonly HoldingUpdate[]): Promise<void> {
    const unknown = new Map<string, { mint: Uint8Array; slot: number }>()
    for (const holding of holdings) {
      if ('closed' in holding || holding.amount === 0n) continue
      const key = Buffer.from(holding.mint).toString('latin1')
      if (!this.#knownMints.has(key)) unknown.set(key, { mint: holding.mint, slot: holding.slot })
    }
    if (unknown.size === 0) return
    const wanted = [...unknown.values()]
    const minContextSlot = Math.max(...wanted.map(({ slot }) => slot))
    const { rpc, store } = this.#options
    await ensureMints(
      { rpc, store, nowMs: Date.now },
      wanted.map(({ mint }) => mint),
      minContextSlot,
    )
    for (const key of unknown.keys()) this.#knownMints.set(key, true)
  }
}

// Writes what subscriptions report, in the order in which it came and in batches. A holding is written only once its mint
// is known, so that no reader meets a holding that cannot be shown.
import { LRUCache } from 'lru-cache'
import { messageOf } from '../errors.ts'
import type { HoldingUpdate, MintUpdate, SolanaAccount, SolanaStore } from '../store/solana-store.ts'
import { decodeMetadata, decodeTokenAccount, programKeys, tokenProgramAddresses, tokenProgramAt } from './decode.ts'
import { ensureMints, mintAccountOf } from './mints.ts'
import type { AccountInfo, SolanaRpc } from './rpc.ts'

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

// Does one piece of work after the other while there is some, never two at once. It knows no errors: work that can fail
// handles that itself.

export type WorkLoopOptions = { hasWork: () => boolean; work: () => Promise<void> }

export class WorkLoop {
  readonly #options: WorkLoopOptions
  #running: Promise<void> | undefined

  constructor(options: WorkLoopOptions) {
    this.#options = options
  }

  /** To be called whenever there may be new work. */
  wake(): void {
    if (this.#running === undefined && this.#options.hasWork()) this.#running = this.#run()
  }

  /** Resolves when all work that there was is done. */
  async idle(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      while (this.#options.hasWork()) await this.#options.work()
    } finally {
      // In the same turn as the last look for work: a `wake` between the two would start nothing.
      this.#running = undefined
    }
  }
}

// From an account that a feed or a subscription reports to the rows that it changes. Pure; the same rows as a reading or a snapshot gives.

export type FedAccount = {
  key: Uint8Array
  lamports: bigint
  program: Uint8Array
  data: Uint8Array
  slot: number
  writeVersion: bigint
}

export type FedRow = { kind: 'holding'; holding: HoldingUpdate } | { kind: 'mint'; mint: MintUpdate }

/** Undefined for what no portfolio shows. Whatever has no lamports, or left the token programs, is a closed account. */
export function fedRowOf(account: FedAccount, readAtMs: number): FedRow | undefined {
  const { key, lamports, program, data, slot, writeVersion } = account
  const closed: FedRow = { kind: 'holding', holding: { account: key, closed: true, slot, writeVersion } }
  if (lamports === 0n) return closed
  if (Buffer.compare(program, programKeys.metadata) === 0) {
    const decoded = decodeMetadata(data)
    if (decoded === undefined) return undefined
    const { mint, name, symbol, tokenStandard } = decoded
    return { kind: 'mint', mint: { mint, slot, readAtMs, metadata: { name, symbol, tokenStandard } } }
  }
  const tokenProgram = (['token', 'token-2022'] as const).find(name => Buffer.compare(program, programKeys[name]) === 0)
  if (tokenProgram === undefined) return closed
  const token = decodeTokenAccount(data)
  if (token !== undefined) {
    const { mint, owner, amount } = token
    return {
      kind: 'holding',
      holding: { account: key, owner, mint, amount, program: tokenProgram, slot, writeVersion },
    }
  }
  const mint = mintAccountOf(key, { lamports, program: tokenProgramAddresses[tokenProgram], data })
  return mint === undefined ? closed : { kind: 'mint', mint: { mint: key, slot, readAtMs, account: mint } }
}

/** Whatever is no token account any more is a closed one: gone, emptied, or taken by another program. */
export function holdingUpdateOf(account: Uint8Array, info: AccountInfo | undefined, slot: number): HoldingUpdate {
  const program = info === undefined || info.lamports === 0n ? undefined : tokenProgramAt(info.program)
  const decoded = info === undefined || program === undefined ? undefined : decodeTokenAccount(info.data)
  if (decoded === undefined || program === undefined) return { account, closed: true, slot, writeVersion: 0n }
  return { account, owner: decoded.owner, mint: decoded.mint, amount: decoded.amount, program, slot, writeVersion: 0n }
}

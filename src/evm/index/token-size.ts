// Estimates how many transfers a token has from the newest ones, while they are read, and lets a key have no more of
// them read than its limit on indexing allows: a token of a hundred million is not begun by accident. It asks no node.
import { blockCount } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import { ledgerOf } from '../../ledgers.ts'
import type { Address, ChainId, Interval } from '../../model.ts'
import { oneFlight } from '../../once.ts'
import { putSizeEstimate, type SizeEstimate, sizeEstimate } from '../../store/size-estimates.ts'
import type { Store } from '../../store/store.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import type { Asker } from './job-queue.ts'

/** In the status; all of them are in the store. */
const heldShown = 20

export type TokenSizesOptions = { chain: ChainId; store: Store } & Pick<TokenSizeOptions, 'transfersPerTarget'>

/** The sizes of the tokens of a ledger; of NFTs none is estimated. */
export class TokenSizes {
  readonly #options: TokenSizesOptions
  readonly #held = new Map<Address, SizeEstimate>()

  constructor({ chain, store, transfersPerTarget }: TokenSizesOptions) {
    this.#options = { chain, store, transfersPerTarget }
  }

  /** Tokens of which no key that asked may have all read, the latest last. */
  get held(): ReadonlyMap<Address, SizeEstimate> {
    return this.#held
  }

  /**
   * What bounds how much of a token is read. Fails where the key of the request may not have it read, by what is known
   * of its size.
   */
  async of(token: Address, missing: readonly Interval[], asker: Asker): Promise<TokenSize | undefined> {
    const { chain: ledger, store, transfersPerTarget } = this.#options
    if (ledgerOf(ledger).ledger === 'nft') return undefined
    const stored = await store.transferCount({ chain: ledger, contract: token })
    const onEstimate = (estimate: SizeEstimate): void => this.#note(token, estimate)
    const history = { blocks: blockCount(missing), stored, transfersPerTarget, onEstimate }
    const size = new TokenSize({ store, ledger, token, ...history, asker })
    const known = await sizeEstimate(store, ledger, token)
    if (known?.held && missing.length > 0) await size.resume(known)
    return size
  }

  /** Of a token that is indexed whole. */
  async forget(token: Address): Promise<void> {
    const { chain: ledger, store } = this.#options
    if (ledgerOf(ledger).ledger === 'nft' || (await sizeEstimate(store, ledger, token)) === undefined) return
    await putSizeEstimate(store, { ledger, contract: token }, undefined)
    this.#held.delete(token)
  }

  #note(token: Address, estimate: SizeEstimate): void {
    this.#held.delete(token)
    if (!estimate.held) return
    this.#held.set(token, estimate)
    const [oldest] = this.#held.keys()
    if (this.#held.size > heldShown && oldest !== undefined) this.#held.delete(oldest)
  }
}

type TokenSizeOptions = {
  store: Pick<Store, 'takeIndexing' | 'putCheckpoint'>
  ledger: ChainId
  token: Address
  /** How many blocks are missing. */
  blocks: number
  /** How many transfers are stored. */
  stored: number
  asker: Asker
  /** Called with each estimate. */
  onEstimate: (estimate: SizeEstimate) => void
  /** How many transfers count as one contract against `index_per_day`. */
  transfersPerTarget: number
}

class TokenSize {
  readonly #options: TokenSizeOptions
  readonly #refused = new AbortController()
  readonly #beganMs = performance.now()
  #blocks = 0
  #transfers = 0
  /** What the key may have read: a token counted as one contract when it was asked for. */
  #granted: number
  readonly #askOnce = oneFlight(() => this.#ask(this.#estimate()))

  constructor(options: TokenSizeOptions) {
    this.#options = options
    this.#granted = options.transfersPerTarget
  }

  /** Fires where the key may not have the rest read. */
  get refused(): AbortSignal {
    return this.#refused.signal
  }

  /** Asks for what was refused before. Nothing more is read for a key that may not have it. */
  async resume(estimate: SizeEstimate): Promise<void> {
    await this.#ask(estimate)
    this.#refused.signal.throwIfAborted()
  }

  /** Notes what was read, and waits for a grant where it is more than was granted. */
  async read({ interval, transfers }: DecodedRange): Promise<void> {
    this.#blocks += interval.to - interval.from + 1
    this.#transfers += transfers.length
    if (this.#transfers > this.#granted) await this.#askOnce()
  }

  async #ask(given: Omit<SizeEstimate, 'held'>): Promise<void> {
    const { store, ledger, token, onEstimate, transfersPerTarget } = this.#options
    const isGranted = await this.#take(given.targets)
    const estimate = { ...given, held: !isGranted }
    await putSizeEstimate(store, { ledger, contract: token }, estimate)
    onEstimate(estimate)
    if (isGranted) this.#granted = Math.max(estimate.targets * transfersPerTarget, this.#transfers)
    else this.#refused.abort(tooLarge(token, estimate))
  }

  /** The first target was counted when the token was asked for. */
  async #take(targets: number): Promise<boolean> {
    const { store, ledger, token, asker } = this.#options
    const { id: keyId, indexPerDay: perDay } = asker
    if (perDay === undefined) return true
    if (targets > perDay) return false
    const further = Array.from({ length: targets - 1 }, (_, at) => `${ledger}/${token}/${at + 2}`)
    return await store.takeIndexing({ keyId, targets: further, perDay })
  }

  #estimate(): Omit<SizeEstimate, 'held'> {
    const { blocks, stored, transfersPerTarget } = this.#options
    const left = Math.ceil((this.#transfers / this.#blocks) * Math.max(0, blocks - this.#blocks))
    const seconds = (performance.now() - this.#beganMs) / 1_000
    return {
      transfers: stored + this.#transfers + left,
      seconds: Math.ceil((seconds / this.#transfers) * left),
      targets: Math.max(1, Math.ceil((this.#transfers + left) / transfersPerTarget)),
    }
  }
}

function tooLarge(token: Address, { transfers, targets }: Pick<SizeEstimate, 'transfers' | 'targets'>): AlmanacError {
  const about = transfers.toLocaleString('en-US', { maximumSignificantDigits: 2 })
  const reason = `${token} has about ${about} transfers, which count as ${targets} targets to index.`
  return new AlmanacError('quota_exceeded', 'Rate limit exceeded', { details: { reason } })
}

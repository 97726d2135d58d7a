// What may be claimed of an answer, read once for each revision of the store: coverage is read before rows, so a commit
// in between can only make an answer claim less than it holds, unless rows go. Every list asks here.
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import { ChainTable } from '../chains.ts'
import { isCovered, weakestEvidence, weakestOf } from '../coverage.ts'
import { AlmanacError } from '../errors.ts'
import { ledgerOf } from '../ledgers.ts'
import type { Address, ChainId, CoveredInterval, Evidence, Interval } from '../model.ts'
import type { IndexName } from '../store/runs/view.ts'
import type { ChainState, Store } from '../store/store.ts'
import type { BlockBounds } from './block-bounds.ts'
import type { FreshenOptions } from './freshen.ts'
import type { Completeness } from './holdings/questions.ts'
import { type ChainRows, chainRows, OneBranch } from './one-branch.ts'

const contractsMax = 10_000
const chainsMax = 100
const readsMax = 4

export type ClaimStore = Pick<Store, 'revision' | 'chainState' | 'contractCoverage' | 'indexes' | 'lowestBlock'>
export type Verdict = { complete: boolean; evidence: Evidence | undefined }

/** The rows are from before anything else was read: what is claimed holds while none is taken back. */
type ChainView = ChainRows & {
  /** From before the view was read, so that a commit in between voids it. */
  revision: number
  /** That of the store itself then: concurrent requests may share an older one. */
  storeRevision: number
  state: ChainState | undefined
}

/** Of one contract, of every contract of a chain, or of some; where none of those is named, of every one. */
export type ClaimSubject = Address | 'every' | readonly Address[]

/** What holds for every page of a contract, or of all contracts of a chain. */
type ClaimView = {
  chain: ChainView
  coverage: readonly CoveredInterval[]
  /** For the claim of the last request, which is usually that of the next one too. */
  verdict: (Verdict & { claim: Interval }) | undefined
}
export type ClaimViews = { chain: ChainView; each: readonly ClaimView[] }
/** `index`: the one that rows are found in, if they are found in one. */
export type Look = Verdict & { views: ClaimViews; bounds: BlockBounds; index?: IndexName }

export class Claims {
  readonly #store: ClaimStore
  readonly #revision: () => number
  readonly #table: ChainTable
  readonly #chains = new LRUCache<ChainId, ChainView>({ max: chainsMax })
  readonly #views = new LRUCache<string, ClaimView>(atMost(contractsMax))

  /** `revision`: of the store, or where concurrent requests share one look, that. */
  constructor(store: ClaimStore, revision: () => number, chains = new ChainTable()) {
    this.#store = store
    this.#revision = revision
    this.#table = chains
  }

  async chain(chain: ChainId): Promise<ChainView> {
    const revision = this.#revision()
    const known = this.#chains.get(chain)
    if (known?.revision === revision) return known
    const storeRevision = this.#store.revision()
    const rows = await chainRows(this.#store, chain)
    const view = { revision, storeRevision, state: await this.#store.chainState(chain), ...rows }
    this.#chains.set(chain, view)
    return view
  }

  /**
   * Fails where the chain does not keep the index: an answer without it would say that there is nothing. One that is
   * still filled is kept, and a chain that the store does not know yet will keep what its settings name.
   */
  async views(chain: ChainId, of: ClaimSubject, index?: IndexName): Promise<ClaimViews> {
    const contracts = typeof of === 'string' ? [of] : of.length === 0 ? (['every'] as const) : of
    const each = await Promise.all(contracts.map(contract => this.#view(chain, contract)))
    const [first] = each as [ClaimView, ...ClaimView[]]
    const isKnown = first.chain.state !== undefined || each.some(({ coverage }) => coverage.length > 0)
    if (index !== undefined && isKnown && !first.chain.kept.has(index)) throw this.#notKept(chain, index)
    return { chain: first.chain, each }
  }

  async of(chain: ChainId, of: ClaimSubject, blocks: Interval, index: IndexName): Promise<Completeness> {
    const views = await this.views(chain, of, index)
    const { state, filled } = views.chain
    const block = blocks.to
    // Before the first block of a chain there is nothing to index.
    if (block < 0) return { block, complete: filled.has(index) && state !== undefined, evidence: undefined }
    return { block, ...claimedIf(filled.has(index), verdict(views, blocks)) }
  }

  /** A claim and the rows that were read after it. Reads both again until the claim stands, or gives the claim up. */
  async readStanding<Rows>(
    chain: ChainId,
    first: Look,
    { read, lookAgain }: { read: (look: Look) => Promise<Rows>; lookAgain: () => Promise<Look> },
  ): Promise<Look & { rows: Rows }> {
    let look = first
    for (let reads = 1; ; reads++) {
      const rows = await read(look)
      if (!look.complete || (await this.#stands(chain, look))) return { ...look, rows }
      if (reads === readsMax) return { ...look, rows, ...claimedIf(false, look) }
      look = await lookAgain()
    }
  }

  /** Whether what was claimed before rows were read holds for them too. */
  async #stands(chain: ChainId, { views: { chain: before }, bounds: { claim }, index }: Look): Promise<boolean> {
    if (claim === undefined) return true
    const branch = OneBranch.below(this.#store, chain, { rows: before, state: before.state })
    const rowsNow = async () =>
      this.#store.revision() === before.storeRevision ? before : await chainRows(this.#store, chain)
    if (await branch.stands(claim.to, index, rowsNow)) return true
    // It may be kept: a process learns late of what another one commits.
    if (this.#chains.get(chain) === before) this.#chains.delete(chain)
    return false
  }

  async #view(chain: ChainId, of: Address | 'every'): Promise<ClaimView> {
    const now = await this.chain(chain)
    const key = `${chain} ${of}`
    const known = this.#views.get(key)
    if (known?.chain === now) return known
    const view = { chain: now, coverage: await this.#store.contractCoverage(chain, of), verdict: undefined }
    this.#views.set(key, view)
    return view
  }

  #notKept(chain: ChainId, index: IndexName): AlmanacError {
    const plain = ledgerOf(chain).chain
    const name = this.#table.byId(plain)?.name ?? `${plain}`
    return new AlmanacError(
      'not_configured',
      `Chain ${name} does not keep ${index}, which this operation needs: add it to chains.${name}.views`,
      { details: { chain: name, view: index } },
    )
  }
}

/** Looks once more after an indexer had its time, where the first look at a contract is not complete. */
export async function freshLook<Seen>(
  look: () => Promise<Seen>,
  isComplete: (seen: Seen) => boolean,
  { chain, contract }: { chain: ChainId; contract: Address },
  { freshen, freshenWaitMs, key }: FreshenOptions,
): Promise<Seen> {
  freshen?.asked?.(chain, contract)
  const seen = await look()
  if (isComplete(seen) || freshen?.contract === undefined) return seen
  await freshen.contract(chain, contract, freshenWaitMs, key)
  return await look()
}

/** Of no blocks nothing can be claimed. */
export function verdict({ each }: ClaimViews, claim: Interval | undefined): Verdict {
  return claim === undefined ? nothing : each.map(view => verdictOf(view, claim)).reduce(weaker)
}

function verdictOf(view: ClaimView, claim: Interval): Verdict {
  const known = view.verdict
  if (known !== undefined && known.claim.from === claim.from && known.claim.to === claim.to) return known
  const complete = isCovered(view.coverage, claim)
  view.verdict = { claim, complete, evidence: complete ? weakestEvidence(view.coverage, claim) : undefined }
  return view.verdict
}

const nothing: Verdict = { complete: false, evidence: undefined }

export function weaker(one: Verdict, other: Verdict): Verdict {
  if (!one.complete || !other.complete) return nothing
  return { complete: true, evidence: one.evidence && other.evidence && weakestOf(one.evidence, other.evidence) }
}

/** What is left of a claim where something must hold besides. */
export function claimedIf(holds: boolean, { complete, evidence }: Verdict): Verdict {
  return holds ? { complete, evidence } : nothing
}

// Counts what is too large for one sheet, part after part, and keeps the counts for a while: they take minutes. One
// subject is counted at a time. Lists of it are for the streams.
import { LRUCache } from 'lru-cache'
import type { Address } from '../../../model.ts'
import { placeBytes } from '../../../store/runs/place-key.ts'
import { type BranchStore, OneBranch } from '../../one-branch.ts'
import { collectionsByAddress } from '../collections.ts'
import type { HoldingsAdmission, HoldingsAsker } from '../holdings-admission.ts'
import type { CollectionRow, CollectionStatsAnswer, Completeness, TokenStatsAnswer } from '../questions.ts'
import { comparePlaces, type Sheet } from '../sheet.ts'
import { type ContractSubject, nameOf, type Subject, type WalletSubject } from '../subject.ts'
import { ownerWindows } from './owner-window.ts'
import { bytesOfParts, type Part, type PartBounds, type PartWork, partsOf } from './sheet-parts.ts'

type CollectionCounts = Pick<CollectionStatsAnswer, 'tokens' | 'owners' | 'impossible'>
type TokenCounts = Pick<TokenStatsAnswer, 'owners' | 'transfers'>
/** Collections descend by address. */
type WalletCounts = { nfts: number; transfers: number; collections: ReadonlyMap<Address, PlacedCollection> }
type PlacedCollection = Pick<CollectionRow, 'standard' | 'count'> & { place: Uint8Array }

type Counted<Counts> = { counts: Counts; claim: Completeness; branch: OneBranch; filled: number }

/** `isExact`: as of the block of the claim, and not of an older one either. */
type AskedCount = { claim: Completeness; isExact: boolean; asker: HoldingsAsker }

/** Counts of the head may be that old, as of their own block. */
const ageMsMax = 600_000
const attemptsMax = 3

export class LargeCounts {
  readonly #store: BranchStore
  readonly #bounds: PartBounds
  readonly #admission: HoldingsAdmission
  readonly #kept = new LRUCache<string, Counted<unknown>>({ max: 100, ttl: ageMsMax })

  constructor(store: BranchStore, bounds: PartBounds, admission: HoldingsAdmission) {
    this.#store = store
    this.#bounds = bounds
    this.#admission = admission
  }

  collection(subject: ContractSubject, asked: AskedCount): Promise<Counted<CollectionCounts>> {
    return this.#counted(subject, asked, async (parts, work) => {
      const counts = { tokens: 0, owners: 0, impossible: 0 }
      let countedToken: bigint | undefined
      const count = ({ sheet, tokenId }: Part): void => {
        counts.impossible += sheet.impossible
        if (tokenId === undefined) counts.tokens += sheet.ids
        else if (sheet.ids > 0 && tokenId !== countedToken) {
          counts.tokens++
          countedToken = tokenId
        }
      }
      let passes = 0
      const passed = async function* (): AsyncGenerator<Part> {
        const isFirst = passes++ === 0
        for await (const part of parts()) {
          if (isFirst) count(part)
          yield part
        }
      }
      for await (const owners of ownerWindows(passed, work)) counts.owners += owners.length
      return counts
    })
  }

  token(subject: ContractSubject, asked: AskedCount): Promise<Counted<TokenCounts>> {
    return this.#counted(subject, asked, async parts => {
      const counts = { owners: 0, transfers: 0 }
      for await (const { sheet } of parts()) {
        counts.owners += sheet.parties
        // Every part reads all of them.
        counts.transfers = sheet.transfers
      }
      return counts
    })
  }

  wallet(subject: WalletSubject, asked: AskedCount): Promise<Counted<WalletCounts>> {
    return this.#counted(subject, asked, async parts => {
      const found = new Map<Address, PlacedCollection>()
      const counts = { nfts: 0, transfers: 0 }
      for await (const { sheet } of parts()) {
        counts.nfts += sheet.holdings
        counts.transfers = sheet.transfers
        await addCollections(found, sheet)
      }
      return { ...counts, collections: new Map([...found].sort(([a], [b]) => (a < b ? 1 : -1))) }
    })
  }

  async #counted<Counts>(
    subject: Subject,
    { claim, isExact, asker }: AskedCount,
    count: (parts: () => AsyncIterable<Part>, work: PartWork) => Promise<Counts>,
  ): Promise<Counted<Counts>> {
    const name = isExact ? `${nameOf(subject)} ${claim.block}` : nameOf(subject)
    const kept = this.#kept.get(name)
    if (kept !== undefined && (await this.#stillHolds(kept, subject, claim, isExact))) return kept as Counted<Counts>
    return await this.#admission.shared(`count ${name}`, asker, 'large', async work => {
      work.takes(bytesOfParts(this.#bounds))
      const bounds = { ...this.#bounds, pace: work.pace }
      const parts = () => partsOf(this.#store.indexes, subject, claim.block, bounds)
      const counted = await this.#countWhole(subject, claim, () => count(parts, bounds))
      this.#kept.set(name, counted)
      return counted
    })
  }

  /** An index that was not complete may have more by now. */
  async #stillHolds(
    counted: Counted<unknown>,
    { chain }: Subject,
    { complete }: Completeness,
    isExact: boolean,
  ): Promise<boolean> {
    if (!counted.claim.complete) {
      const { filled } = await this.#store.indexes.rowState(chain)
      if (complete || (isExact && filled !== counted.filled)) return false
    }
    return await counted.branch.stands(counted.claim.block)
  }

  async #countWhole<Counts>(
    { chain }: Subject,
    claim: Completeness,
    count: () => Promise<Counts>,
  ): Promise<Counted<Counts>> {
    for (let attempt = 1; ; attempt++) {
      const { filled } = await this.#store.indexes.rowState(chain)
      const branch = await OneBranch.now(this.#store, chain)
      const counted = { counts: await count(), claim, branch, filled }
      if (attempt === attemptsMax) await branch.check(claim.block)
      if (attempt === attemptsMax || (await branch.stands(claim.block))) return counted
    }
  }
}

/** The standard is that of the newest holding. */
async function addCollections(found: Map<Address, PlacedCollection>, sheet: Sheet): Promise<void> {
  for (const [contract, { standard, count, row }] of await collectionsByAddress(sheet)) {
    const place = sheet.columns.places.slice(row * placeBytes, (row + 1) * placeBytes)
    const other = found.get(contract)
    const isOther = other !== undefined && comparePlaces(other.place, 0, place, 0) < 0
    found.set(contract, { ...(isOther ? other : { standard, place }), count: count + (other?.count ?? 0) })
  }
}

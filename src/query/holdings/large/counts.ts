// Counts what is too large for one sheet, part after part, and keeps the counts for a while: they take minutes. One
// subject is counted at a time. Lists of it are for the streams.
import { LRUCache } from 'lru-cache'
import { AlmanacError } from '../../../errors.ts'
import type { Address } from '../../../model.ts'
import { placeBytes } from '../../../store/runs/place-key.ts'
import { type BranchStore, OneBranch } from '../../one-branch.ts'
import type { Collection } from '../collections.ts'
import { FoldTurns, nameOf } from '../fold-subject.ts'
import type { CollectionStatsAnswer, Completeness, TokenStatsAnswer } from '../questions.ts'
import { comparePlaces, rowFlags, type Sheet } from '../sheet.ts'
import type { ContractSubject, Subject, WalletSubject } from '../subject.ts'
import { OwnerWindow } from './owner-window.ts'
import { contractParts, type PartBounds, tokenParts, walletParts } from './parts.ts'

type CollectionCounts = Pick<CollectionStatsAnswer, 'tokens' | 'owners' | 'impossible'>
type TokenCounts = Pick<TokenStatsAnswer, 'owners' | 'transfers'>
/** Collections descend by address. */
type WalletCounts = { nfts: number; transfers: number; collections: ReadonlyMap<Address, Collection> }

type Counted<Counts> = { counts: Counts; claim: Completeness; branch: OneBranch; filled: number }

/** Counts of the head may be that old, as of their own block. */
const ageMsMax = 600_000
const attemptsMax = 3
/** For each byte of a part: a window of two million addresses beside parts of 32 MB. */
const addressesPerByte = 1 / 16

export class LargeCounts {
  readonly #store: BranchStore
  readonly #bounds: PartBounds
  readonly #turns = new FoldTurns()
  readonly #kept = new LRUCache<string, Counted<unknown>>({ max: 100, ttl: ageMsMax })
  readonly #counting = new Map<string, Promise<Counted<unknown>>>()

  constructor(store: BranchStore, bounds: PartBounds) {
    this.#store = store
    this.#bounds = bounds
  }

  /** `isExact`: as of the block of the claim, and not of an older one either. */
  collection(subject: ContractSubject, claim: Completeness, isExact: boolean): Promise<Counted<CollectionCounts>> {
    return this.#counted(subject, claim, isExact, () => this.#countContract(subject, claim.block))
  }

  token(subject: ContractSubject, claim: Completeness, isExact: boolean): Promise<Counted<TokenCounts>> {
    return this.#counted(subject, claim, isExact, async () => {
      const counts = { owners: 0, transfers: 0 }
      for await (const sheet of tokenParts(this.#store.indexes, subject, claim.block, this.#bounds)) {
        counts.owners += sheet.parties
        // Every part reads all of them.
        counts.transfers = sheet.transfers
      }
      return counts
    })
  }

  wallet(subject: WalletSubject, claim: Completeness, isExact: boolean): Promise<Counted<WalletCounts>> {
    return this.#counted(subject, claim, isExact, () => this.#countWallet(subject, claim.block))
  }

  async #countContract(subject: ContractSubject, block: number): Promise<CollectionCounts> {
    const counts = { tokens: 0, owners: 0, impossible: 0 }
    const addressesMax = Math.ceil(this.#bounds.partBytes * addressesPerByte)
    let window = new OwnerWindow(undefined, addressesMax)
    let countedToken: bigint | undefined
    for await (const { sheet, tokenId } of contractParts(this.#store.indexes, subject, block, this.#bounds)) {
      counts.impossible += sheet.impossible
      if (tokenId === undefined) counts.tokens += sheet.ids
      else if (sheet.ids > 0 && tokenId !== countedToken) {
        counts.tokens++
        countedToken = tokenId
      }
      await window.add(sheet)
    }
    counts.owners = window.addresses.length
    while (window.to !== undefined) {
      window = new OwnerWindow(window.to, addressesMax)
      for await (const { sheet } of contractParts(this.#store.indexes, subject, block, this.#bounds))
        await window.add(sheet)
      counts.owners += window.addresses.length
    }
    return counts
  }

  async #countWallet(subject: WalletSubject, block: number): Promise<WalletCounts> {
    const found = new Map<Address, Collection & { place: Uint8Array }>()
    const counts = { nfts: 0, transfers: 0 }
    for await (const sheet of walletParts(this.#store.indexes, subject, block, this.#bounds)) {
      counts.nfts += sheet.holdings
      counts.transfers = sheet.transfers
      addCollections(found, sheet)
    }
    return { ...counts, collections: new Map([...found].sort(([a], [b]) => (a < b ? 1 : -1))) }
  }

  async #counted<Counts>(
    subject: Subject,
    claim: Completeness,
    isExact: boolean,
    count: () => Promise<Counts>,
  ): Promise<Counted<Counts>> {
    const name = isExact ? `${nameOf(subject)} ${claim.block}` : nameOf(subject)
    const kept = this.#kept.get(name)
    if (kept !== undefined && (await this.#stillHolds(kept, subject, claim, isExact))) return kept as Counted<Counts>
    const running = this.#counting.get(name)
    if (running !== undefined) return (await running) as Counted<Counts>
    const counting = this.#countWhole(subject, claim, count).finally(() => this.#counting.delete(name))
    this.#counting.set(name, counting)
    const counted = await counting
    this.#kept.set(name, counted)
    return counted
  }

  /** An index that was not complete may have more by now. */
  async #stillHolds(
    counted: Counted<unknown>,
    { chain }: Subject,
    { complete }: Completeness,
    isExact: boolean,
  ): Promise<boolean> {
    if (!counted.claim.complete) {
      const { filled } = await this.#store.indexes.rowChanges(chain)
      if (complete || (isExact && filled !== counted.filled)) return false
    }
    return await isSame(counted)
  }

  async #countWhole<Counts>(
    { chain }: Subject,
    claim: Completeness,
    count: () => Promise<Counts>,
  ): Promise<Counted<Counts>> {
    const end = await this.#turns.begin()
    try {
      for (let attempt = 1; ; attempt++) {
        const { filled } = await this.#store.indexes.rowChanges(chain)
        const branch = await OneBranch.now(this.#store, chain)
        const counted = { counts: await count(), claim, branch, filled }
        if ((await isSame(counted)) || attempt === attemptsMax) {
          await branch.check(claim.block)
          return counted
        }
      }
    } finally {
      end()
    }
  }
}

async function isSame({ branch, claim }: Counted<unknown>): Promise<boolean> {
  try {
    await branch.check(claim.block)
    return true
  } catch (error) {
    if (error instanceof AlmanacError && error.code === 'stream_cut') return false
    throw error
  }
}

/** The standard is that of the newest holding. */
function addCollections(found: Map<Address, Collection & { place: Uint8Array }>, sheet: Sheet): void {
  const { parties, places, flags } = sheet.columns
  const ofParty = new Map<number, Collection & { place: Uint8Array }>()
  for (const row of sheet.order) {
    const known = ofParty.get(parties[row]!)
    if (known !== undefined) {
      known.count += sheet.countOf(row)
      continue
    }
    const standard = flags[row]! & rowFlags.erc1155 ? 'ERC1155' : 'ERC721'
    const place = places.slice(row * placeBytes, (row + 1) * placeBytes)
    ofParty.set(parties[row]!, { standard, count: sheet.countOf(row), place })
  }
  for (const [party, collection] of ofParty) {
    const contract = sheet.addresses.addressOf(party)
    const other = found.get(contract)
    if (other !== undefined) collection.count += other.count
    if (other !== undefined && comparePlaces(other.place, 0, collection.place, 0) < 0)
      found.set(contract, { ...other, count: collection.count })
    else found.set(contract, collection)
  }
}

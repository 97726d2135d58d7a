// Counts what is too large for one sheet, part after part, and keeps the counts for a while: they take minutes. One
// subject is counted at a time. Lists of it are for the streams.
import { LRUCache } from 'lru-cache'
import type { Address } from '../../../model.ts'
import { placeBytes } from '../../../store/runs/place-key.ts'
import { type BranchStore, OneBranch } from '../../one-branch.ts'
import type { Pace } from '../../pace.ts'
import type { Collection } from '../collections.ts'
import type { HoldingsAdmission, HoldingsAsker } from '../holdings-admission.ts'
import type { CollectionStatsAnswer, Completeness, TokenStatsAnswer } from '../questions.ts'
import { comparePlaces, rowFlags, type Sheet } from '../sheet.ts'
import { type ContractSubject, nameOf, type Subject, type WalletSubject } from '../subject.ts'
import { OwnerWindow } from './owner-window.ts'
import { bytesOfParts, contractParts, type PartBounds, tokenParts, walletParts } from './sheet-parts.ts'

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
  readonly #admission: HoldingsAdmission
  readonly #kept = new LRUCache<string, Counted<unknown>>({ max: 100, ttl: ageMsMax })

  constructor(store: BranchStore, bounds: PartBounds, admission: HoldingsAdmission) {
    this.#store = store
    this.#bounds = bounds
    this.#admission = admission
  }

  /** `isExact`: as of the block of the claim, and not of an older one either. */
  collection(
    subject: ContractSubject,
    claim: Completeness,
    isExact: boolean,
    asker: HoldingsAsker,
  ): Promise<Counted<CollectionCounts>> {
    return this.#counted(subject, { claim, isExact, asker }, pace => this.#countContract(subject, claim.block, pace))
  }

  token(
    subject: ContractSubject,
    claim: Completeness,
    isExact: boolean,
    asker: HoldingsAsker,
  ): Promise<Counted<TokenCounts>> {
    return this.#counted(subject, { claim, isExact, asker }, async pace => {
      const counts = { owners: 0, transfers: 0 }
      for await (const sheet of tokenParts(this.#store.indexes, subject, claim.block, { ...this.#bounds, pace })) {
        counts.owners += sheet.parties
        // Every part reads all of them.
        counts.transfers = sheet.transfers
      }
      return counts
    })
  }

  wallet(
    subject: WalletSubject,
    claim: Completeness,
    isExact: boolean,
    asker: HoldingsAsker,
  ): Promise<Counted<WalletCounts>> {
    return this.#counted(subject, { claim, isExact, asker }, pace => this.#countWallet(subject, claim.block, pace))
  }

  async #countContract(subject: ContractSubject, block: number, pace: Pace): Promise<CollectionCounts> {
    const bounds = { ...this.#bounds, pace }
    const counts = { tokens: 0, owners: 0, impossible: 0 }
    const addressesMax = Math.ceil(this.#bounds.partBytes * addressesPerByte)
    let window = new OwnerWindow(undefined, addressesMax)
    let countedToken: bigint | undefined
    for await (const { sheet, tokenId } of contractParts(this.#store.indexes, subject, block, bounds)) {
      counts.impossible += sheet.impossible
      if (tokenId === undefined) counts.tokens += sheet.ids
      else if (sheet.ids > 0 && tokenId !== countedToken) {
        counts.tokens++
        countedToken = tokenId
      }
      await window.add(sheet, pace)
    }
    counts.owners = window.addresses.length
    while (window.to !== undefined) {
      window = new OwnerWindow(window.to, addressesMax)
      for await (const { sheet } of contractParts(this.#store.indexes, subject, block, bounds))
        await window.add(sheet, pace)
      counts.owners += window.addresses.length
    }
    return counts
  }

  async #countWallet(subject: WalletSubject, block: number, pace: Pace): Promise<WalletCounts> {
    const found = new Map<Address, Collection & { place: Uint8Array }>()
    const counts = { nfts: 0, transfers: 0 }
    for await (const sheet of walletParts(this.#store.indexes, subject, block, { ...this.#bounds, pace })) {
      counts.nfts += sheet.holdings
      counts.transfers = sheet.transfers
      await addCollections(found, sheet, pace)
    }
    return { ...counts, collections: new Map([...found].sort(([a], [b]) => (a < b ? 1 : -1))) }
  }

  async #counted<Counts>(
    subject: Subject,
    { claim, isExact, asker }: { claim: Completeness; isExact: boolean; asker: HoldingsAsker },
    count: (pace: Pace) => Promise<Counts>,
  ): Promise<Counted<Counts>> {
    const name = isExact ? `${nameOf(subject)} ${claim.block}` : nameOf(subject)
    const kept = this.#kept.get(name)
    if (kept !== undefined && (await this.#stillHolds(kept, subject, claim, isExact))) return kept as Counted<Counts>
    return await this.#admission.shared(`count ${name}`, asker, 'large', async work => {
      work.takes(bytesOfParts(this.#bounds))
      const counted = await this.#countWhole(subject, claim, () => count(work.pace))
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
async function addCollections(
  found: Map<Address, Collection & { place: Uint8Array }>,
  sheet: Sheet,
  pace: Pace,
): Promise<void> {
  const { parties, places, flags } = sheet.columns
  const ofParty = new Map<number, Collection & { place: Uint8Array }>()
  for (const [at, row] of sheet.order.entries()) {
    if (at % 4_096 === 0) await pace.rest()
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

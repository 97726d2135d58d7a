// Whole lists of who owns what, as of one block: in the order of pages where a sheet holds them, and part by part where
// none does. No HTTP and no JSON. A list ends only where it is of one branch.
import type { IndexName } from '../../../store/runs/view.ts'
import { claimedIf } from '../../claims.ts'
import { type BranchStore, OneBranch, streamCut } from '../../one-branch.ts'
import { Pace } from '../../pace.ts'
import { amountOrders, holderAt } from '../amount-order.ts'
import { type AnsweredSheets, type AskedClaim, indexOf, undefinedIfTooLarge } from '../answered-sheets.ts'
import { contractFilter, partyFilter } from '../contract-filter.ts'
import { hashOrders, newHashOrder } from '../hash-order.ts'
import type { HoldingsAdmission } from '../holdings-admission.ts'
import { ownerWindows } from '../large/owner-window.ts'
import { bytesOfParts, newestOfToken, type Part, type PartBounds, partsOf } from '../large/sheet-parts.ts'
import {
  type BatchReads,
  contractBatch,
  type NftBatch,
  type StoredTokens,
  storedReader,
  walletBatch,
} from '../nft-batches.ts'
import type * as q from '../questions.ts'
import { hashBatches, newestBatches, type RowBatch } from '../row-batches.ts'
import type { Sheet } from '../sheet.ts'
import type { ContractSubject, Subject } from '../subject.ts'

export type WholeList<Batch> = q.Completeness & { batches: AsyncIterable<Batch> }

/** Without a page. */
type Whole<Question> = Omit<Question, 'after' | 'limit' | 'countTotal'>

type Reads = BatchReads & {
  tokens: StoredTokens
  answered: AnsweredSheets
  branches: BranchStore
  parts: PartBounds
  admission: HoldingsAdmission
}

/** What a list is made of: `sheet` is the only part, or undefined where all is too large for one. */
type Found = { sheet: Sheet | undefined; parts: () => AsyncIterable<Part>; pace: Pace }
type ListWalk<Batch> = (found: Found) => AsyncIterable<Batch>

const addressesPerBatch = 2_500

export class HoldingStreams {
  readonly #reads: Reads

  constructor(reads: Reads) {
    this.#reads = reads
  }

  async owners(question: Whole<q.OwnersQuestion>, options: q.HoldingsOptions): Promise<WholeList<NftBatch>> {
    return await this.#ofContract(question, options, async function* ({ parts }, size) {
      for await (const { sheet } of parts()) yield* newestBatches(sheet, size)
    })
  }

  async contractNfts(
    { part, ...question }: Whole<q.ContractNftsQuestion>,
    options: q.HoldingsOptions,
  ): Promise<WholeList<NftBatch>> {
    const { contract } = question
    const { admission } = this.#reads
    return await this.#ofContract({ ...question, tokenId: undefined }, options, async function* (found, size) {
      const orderOf = (sheet: Sheet): Promise<Uint32Array> =>
        sheet === found.sheet
          ? hashOrders.of({ sheet }, contract, { admission, asker: options })
          : newHashOrder(sheet, contract, found.pace)
      for await (const sheet of newestOfToken(found.parts()))
        yield* hashBatches(sheet, await orderOf(sheet), { contract, part, size })
    })
  }

  /** The holders of an ERC-20 token by what they have, which takes a sheet of all: parts have no order. */
  async holders(
    { chain, contract, atBlock, smallestFirst }: Whole<q.HoldersQuestion>,
    options: q.HoldingsOptions,
  ): Promise<WholeList<q.HolderRow[]>> {
    const { admission } = this.#reads
    const asked = await this.#begin({ chain, contract }, atBlock, options)
    const walk = async function* ({ parts }: Found): AsyncGenerator<q.HolderRow[]> {
      for await (const { sheet } of parts()) {
        const { order } = await amountOrders.of({ sheet }, undefined, { admission, asker: options })
        const rows = smallestFirst ? order.toReversed() : order
        for (let from = 0; from < rows.length; from += addressesPerBatch)
          yield [...rows.subarray(from, from + addressesPerBatch)].map(row => holderAt(sheet, row))
      }
    }
    return { ...asked.claim, batches: this.#whole({ chain, contract }, asked, options, walk, 'in one sheet') }
  }

  /** Batches are of addresses as their numbers in a table. */
  async uniqueOwners(
    { chain, contract, atBlock }: Whole<q.UniqueOwnersQuestion>,
    options: q.HoldingsOptions,
  ): Promise<WholeList<AddressBatch>> {
    const { partBytes } = this.#reads.parts
    const asked = await this.#begin({ chain, contract }, atBlock, options)
    const walk = async function* ({ sheet, parts, pace }: Found): AsyncGenerator<AddressBatch> {
      if (sheet !== undefined) yield* addressBatches(sheet.addresses, await sheet.ascendingParties())
      else
        for await (const addresses of ownerWindows(parts, { partBytes, pace }))
          yield* addressBatches(addresses, await addresses.ascending(() => true))
    }
    return { ...asked.claim, batches: this.#whole({ chain, contract }, asked, options, walk) }
  }

  async walletNfts(question: Whole<q.WalletNftsQuestion>, options: q.HoldingsOptions): Promise<WholeList<NftBatch>> {
    const { chain, wallet, atBlock } = question
    const { answered, branches, contracts, tokens } = this.#reads
    const branch = await OneBranch.now(branches, chain)
    const asked = begunOn(branch, 'by_wallet', await answered.walletClaim(chain, atBlock, question.contracts, options))
    const isShown = contractFilter(contracts, question)
    const walk = async function* ({ parts }: Found): AsyncGenerator<RowBatch> {
      for await (const { sheet } of parts())
        yield* newestBatches(sheet, batchRows(true), { isShown: partyFilter(sheet, isShown) })
    }
    const shown = { chain, wallet, readTokens: storedReader(tokens) }
    const batches = this.#whole({ chain, wallet }, asked, options, walk)
    return { ...asked.claim, batches: mapped(batches, batch => walletBatch(this.#reads, shown, batch)) }
  }

  async #ofContract(
    { atBlock, ...subject }: ContractSubject & { atBlock: number | undefined },
    options: q.HoldingsOptions,
    walk: (found: Found, size: number) => AsyncIterable<RowBatch>,
  ): Promise<WholeList<NftBatch>> {
    const { chain, contract } = subject
    const { tokens } = this.#reads
    const asked = await this.#begin({ chain, contract }, atBlock, options)
    const hasStored = (await tokens.withStored(chain, [contract])).has(contract)
    const readTokens: StoredTokens['stored'] | undefined = hasStored
      ? (chain, shown) => tokens.stored(chain, shown)
      : undefined
    const batches = this.#whole(subject, asked, options, found => walk(found, batchRows(hasStored)))
    const shown = { chain, contract, readTokens }
    return { ...asked.claim, batches: mapped(batches, batch => contractBatch(this.#reads, shown, batch)) }
  }

  /** What an indexer brings comes first, and then what must stay. */
  async #begin(subject: ContractSubject, atBlock: number | undefined, options: q.HoldingsOptions): Promise<BegunList> {
    const { answered, branches } = this.#reads
    await answered.contractClaim(subject, atBlock, options)
    const branch = await OneBranch.now(branches, subject.chain)
    const asked = await answered.contractClaim(subject, atBlock, { ...options, freshen: undefined })
    return begunOn(branch, 'by_token', asked)
  }

  /** Fails with `stream_cut` where the list is not of one branch. What must be in one sheet is refused if it is not. */
  async *#whole<Batch>(
    subject: Subject,
    { claim, takenBack, branch }: BegunList,
    options: q.HoldingsOptions,
    walk: ListWalk<Batch>,
    made: 'in one sheet' | 'in parts' = 'in parts',
  ): AsyncGenerator<Batch> {
    const { answered, branches, parts, admission } = this.#reads
    using request = admission.listRequest(options)
    // What is stored above comes and goes unseen.
    const block = Math.min(claim.block, branch.storedTo)
    const find = answered.find(subject, { claim: { ...claim, block }, takenBack }, request)
    const found = await (made === 'in one sheet' ? find : find.catch(undefinedIfTooLarge))
    if (found === undefined) request.hold({ byteLength: bytesOfParts(parts) })
    else if (claim.complete && !found.claim.complete) throw streamCut('Rows came or went while the list was made')
    const sheet = found?.sheet
    const pace = new Pace(options.signal)
    yield* walk({
      ...{ sheet, pace },
      parts: () => (sheet ? only({ sheet }) : partsOf(branches.indexes, subject, block, { ...parts, pace })),
    })
    await branch.check(block, indexOf(subject))
  }
}

/** What is claimed of a list, read after its branch. */
type BegunList = AskedClaim & { branch: OneBranch }

/** Blocks that came since are not in it; where one is not stored yet, the list is not claimed to be complete. */
function begunOn(branch: OneBranch, index: IndexName, { claim, takenBack }: AskedClaim): BegunList {
  const block = Math.min(claim.block, branch.head)
  const isWhole = block <= branch.storedTo && branch.isFilled(index)
  return { claim: { block, ...claimedIf(isWhole, claim) }, takenBack, branch }
}

export type AddressBatch = { addresses: Sheet['addresses']; numbers: Uint32Array }

function* addressBatches(addresses: Sheet['addresses'], numbers: Uint32Array): Generator<AddressBatch> {
  for (let from = 0; from < numbers.length; from += addressesPerBatch)
    yield { addresses, numbers: numbers.subarray(from, from + addressesPerBatch) }
}

/** As many as take about a millisecond to make. A URI may have 96 kB, and its metadata as much again. */
function batchRows(hasStored: boolean): number {
  return hasStored ? 32 : 256
}

async function* only<Each>(each: Each): AsyncGenerator<Each> {
  yield each
}

async function* mapped<From, To>(batches: AsyncIterable<From>, map: (batch: From) => Promise<To>): AsyncGenerator<To> {
  for await (const batch of batches) yield await map(batch)
}

// Whole lists of who owns what, as of one block: in the order of pages where a sheet holds them, and part by part where
// none does. No HTTP and no JSON. A list ends only where it is of one branch.
import type { Address } from '../../../model.ts'
import type { IndexName } from '../../../store/runs/view.ts'
import { claimedIf } from '../../claims.ts'
import { type BranchStore, OneBranch, streamCut } from '../../one-branch.ts'
import { Pace } from '../../pace.ts'
import { admitAmountOrder, holderAt } from '../amount-order.ts'
import { type AnsweredSheets, type AskedClaim, indexOf, undefinedIfTooLarge } from '../answered-sheets.ts'
import { contractFilter, partyFilter } from '../contract-filter.ts'
import { admitHashOrder } from '../hash-order.ts'
import type { HoldingsAdmission, HoldingsRequest } from '../holdings-admission.ts'
import { OwnerWindow } from '../large/owner-window.ts'
import {
  bytesOfParts,
  contractParts,
  newestOfToken,
  type PartBounds,
  type PartWork,
  tokenParts,
  walletParts,
} from '../large/sheet-parts.ts'
import type * as q from '../questions.ts'
import type { Sheet } from '../sheet.ts'
import type { ContractSubject, Subject } from '../subject.ts'
import { type BatchReads, batchRows, contractBatch, type NftBatch, walletBatch } from './nft-batches.ts'
import { hashBatches, newestBatches, type RowBatch } from './row-batches.ts'

export type WholeList<Batch> = q.Completeness & { batches: AsyncIterable<Batch> }

/** Without a page. */
type Whole<Question> = Omit<Question, 'after' | 'limit' | 'countTotal'>

type Parts = BatchReads & {
  answered: AnsweredSheets
  branches: BranchStore
  parts: PartBounds
  admission: HoldingsAdmission
}

const addressesPerBatch = 2_500

export class HoldingStreams {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async owners(question: Whole<q.OwnersQuestion>, options: q.HoldingsOptions): Promise<WholeList<NftBatch>> {
    const { chain, contract, tokenId } = question
    const { branches } = this.#parts
    const parts = this.#partWork(options)
    return await this.#ofContract(question, options, {
      inOrder: (sheet, size) => newestBatches(sheet, size),
      inParts: async function* (block, size) {
        const sheets =
          tokenId === undefined
            ? partSheets(contractParts(branches.indexes, { chain, contract }, block, parts))
            : tokenParts(branches.indexes, { chain, contract, tokenId }, block, parts)
        for await (const sheet of sheets) yield* newestBatches(sheet, size)
      },
    })
  }

  async contractNfts(
    question: Whole<q.ContractNftsQuestion>,
    options: q.HoldingsOptions,
  ): Promise<WholeList<NftBatch>> {
    const { chain, contract, part } = question
    const { branches, admission } = this.#parts
    const parts = this.#partWork(options)
    return await this.#ofContract({ ...question, tokenId: undefined }, options, {
      inOrder: async function* (sheet, size) {
        await admitHashOrder(admission, options, sheet, contract)
        yield* hashBatches(sheet, { contract, part, size })
      },
      inParts: async function* (block, size) {
        const found = contractParts(branches.indexes, { chain, contract }, block, parts)
        for await (const sheet of newestOfToken(found)) yield* hashBatches(sheet, { contract, part, size })
      },
    })
  }

  /** The holders of an ERC-20 token by what they have, which takes a sheet of all: parts have no order. */
  async holders(
    { chain, contract, atBlock, smallestFirst }: Whole<q.HoldersQuestion>,
    options: q.HoldingsOptions,
  ): Promise<WholeList<q.HolderRow[]>> {
    const { admission } = this.#parts
    const asked = await this.#begin({ chain, contract }, atBlock, options)
    const ordered = async function* (sheet: Sheet): AsyncGenerator<q.HolderRow[]> {
      const { order } = await admitAmountOrder(admission, options, { sheet })
      const rows = smallestFirst ? order.toReversed() : order
      for (let from = 0; from < rows.length; from += addressesPerBatch)
        yield [...rows.subarray(from, from + addressesPerBatch)].map(row => holderAt(sheet, row))
    }
    return { ...asked.claim, batches: this.#whole({ chain, contract }, asked, options, { ordered, large: undefined }) }
  }

  /** Batches are of addresses as their numbers in a table. */
  async uniqueOwners(
    { chain, contract, atBlock }: Whole<q.UniqueOwnersQuestion>,
    options: q.HoldingsOptions,
  ): Promise<WholeList<AddressBatch>> {
    const { branches } = this.#parts
    const parts = this.#partWork(options)
    const asked = await this.#begin({ chain, contract }, atBlock, options)
    const large = async function* (block: number): AsyncGenerator<AddressBatch> {
      for (let after: Uint8Array | undefined; ; ) {
        const window = new OwnerWindow(after, Math.ceil(parts.partBytes / 16))
        for await (const { sheet } of contractParts(branches.indexes, { chain, contract }, block, parts))
          await window.add(sheet, parts.pace)
        yield* addressBatches(window.addresses, await window.addresses.ascending(() => true))
        after = window.to
        if (after === undefined) return
      }
    }
    const ordered = async function* (sheet: Sheet): AsyncGenerator<AddressBatch> {
      yield* addressBatches(sheet.addresses, await sheet.ascendingParties())
    }
    return { ...asked.claim, batches: this.#whole({ chain, contract }, asked, options, { ordered, large }) }
  }

  async walletNfts(question: Whole<q.WalletNftsQuestion>, options: q.HoldingsOptions): Promise<WholeList<NftBatch>> {
    const { chain, wallet, atBlock } = question
    const { answered, branches, contracts } = this.#parts
    const parts = this.#partWork(options)
    const branch = await OneBranch.now(branches, chain)
    const asked = begunOn(branch, 'by_wallet', await answered.walletClaim(chain, atBlock, question.contracts, options))
    const isShown = contractFilter(contracts, question)
    const rows = (sheet: Sheet) => newestBatches(sheet, batchRows(true), partyFilter(sheet, isShown))
    const large = async function* (block: number): AsyncGenerator<RowBatch> {
      for await (const sheet of walletParts(branches.indexes, { chain, wallet }, block, parts)) yield* rows(sheet)
    }
    const batches = this.#whole({ chain, wallet }, asked, options, { ordered: rows, large })
    const shown = { chain, wallet, withStored: new Map<Address, boolean>() }
    const reads = this.#parts
    return { ...asked.claim, batches: mapped(batches, batch => walletBatch(reads, shown, batch)) }
  }

  #partWork({ signal }: q.HoldingsOptions): PartWork {
    return { ...this.#parts.parts, pace: new Pace(signal) }
  }

  async #ofContract(
    { chain, contract, tokenId, atBlock }: ContractSubject & { atBlock: number | undefined },
    options: q.HoldingsOptions,
    rows: {
      inOrder: (sheet: Sheet, size: number) => AsyncGenerator<RowBatch>
      inParts: (block: number, size: number) => AsyncGenerator<RowBatch>
    },
  ): Promise<WholeList<NftBatch>> {
    const reads = this.#parts
    const asked = await this.#begin({ chain, contract }, atBlock, options)
    const hasStored = (await reads.tokens.withStored(chain, [contract])).has(contract)
    const size = batchRows(hasStored)
    const batches = this.#whole({ chain, contract, tokenId }, asked, options, {
      ordered: sheet => rows.inOrder(sheet, size),
      large: block => rows.inParts(block, size),
    })
    const shown = { chain, contract, hasStored }
    return { ...asked.claim, batches: mapped(batches, batch => contractBatch(reads, shown, batch)) }
  }

  /** What an indexer brings comes first, and then what must stay. */
  async #begin(subject: ContractSubject, atBlock: number | undefined, options: q.HoldingsOptions): Promise<BegunList> {
    const { answered, branches } = this.#parts
    await answered.contractClaim(subject, atBlock, options)
    const branch = await OneBranch.now(branches, subject.chain)
    const asked = await answered.contractClaim(subject, atBlock, { ...options, freshen: undefined })
    return begunOn(branch, 'by_token', asked)
  }

  /** Fails with `stream_cut` where the list is not of one branch. */
  async *#whole<Batch>(
    subject: Subject,
    { claim, takenBack, branch }: BegunList,
    options: q.HoldingsOptions,
    batches: {
      ordered: (sheet: Sheet) => AsyncIterable<Batch>
      /** Undefined: what is too much for one sheet is refused. */
      large: ((block: number) => AsyncIterable<Batch>) | undefined
    },
  ): AsyncGenerator<Batch> {
    const { parts, admission } = this.#parts
    using request = admission.listRequest(options)
    // What is stored above comes and goes unseen.
    const block = Math.min(claim.block, branch.storedTo)
    const sheet = await this.#sheetOf(subject, { claim: { ...claim, block }, takenBack }, request).catch(error => {
      if (batches.large === undefined) throw error
      return undefinedIfTooLarge(error)
    })
    if (sheet === undefined) request.hold({ byteLength: bytesOfParts(parts) })
    yield* sheet === undefined ? batches.large!(block) : batches.ordered(sheet)
    await branch.check(block, indexOf(subject))
  }

  async #sheetOf(subject: Subject, asked: AskedClaim, request: HoldingsRequest): Promise<Sheet> {
    const found = await this.#parts.answered.find(subject, asked, request)
    requireSame(asked.claim, found.claim)
    return found.sheet
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

function requireSame(before: q.Completeness, after: q.Completeness): void {
  if (!before.complete || after.complete) return
  throw streamCut('Rows came or went while the list was made')
}

export type AddressBatch = { addresses: Sheet['addresses']; numbers: Uint32Array }

function* addressBatches(addresses: Sheet['addresses'], numbers: Uint32Array): Generator<AddressBatch> {
  for (let from = 0; from < numbers.length; from += addressesPerBatch)
    yield { addresses, numbers: numbers.subarray(from, from + addressesPerBatch) }
}

async function* partSheets(parts: AsyncIterable<{ sheet: Sheet }>): AsyncGenerator<Sheet> {
  for await (const { sheet } of parts) yield sheet
}

async function* mapped<From, To>(batches: AsyncIterable<From>, map: (batch: From) => Promise<To>): AsyncGenerator<To> {
  for await (const batch of batches) yield await map(batch)
}

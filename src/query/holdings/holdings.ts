// Answers who owns what, and what there is of it: of contracts, tokens, wallets and blocks. No HTTP and no JSON.
import { type Address, zeroAddress } from '../../model.ts'
import { readTokenRecord } from '../../store/indexes/by-token.ts'
import { type ClaimStore, Claims } from '../claims.ts'
import { transfersOfBlock } from '../lookups/block-transfers.ts'
import { OneBranch } from '../one-branch.ts'
import { Pace } from '../pace.ts'
import { type FactsStore, ShownContracts } from '../shown-contracts.ts'
import { type AmountOrder, amountOrders, holderAt, placeBehind, sampleOf } from './amount-order.ts'
import { type Answered, AnsweredSheets, type AskedClaim, undefinedIfTooLarge, weakerClaim } from './answered-sheets.ts'
import { collectionsByAddress, collectionsOf } from './collections.ts'
import { contractFilter, partyFilter } from './contract-filter.ts'
import { hashOrders, tokenHash } from './hash-order.ts'
import { HoldingsAdmission, type HoldingsRequest } from './holdings-admission.ts'
import { LargeCounts } from './large/counts.ts'
import type { PartBounds } from './large/sheet-parts.ts'
import { Mints } from './mints.ts'
import { type BatchReads, contractBatch, nftRows, type StoredTokens, walletBatch } from './nft-batches.ts'
import { type PastAsked, pastHolders } from './past-holders.ts'
import type * as q from './questions.ts'
import { firstRows, hashBatches, hashTotal, newestBatches, type RowPage } from './row-batches.ts'
import { rowFlags, type Sheet } from './sheet.ts'
import { type SheetLimits, type SheetStore, Sheets } from './sheets.ts'
import { HoldingStreams } from './streams/holding-streams.ts'
import { type ContractSubject, recordsOf, type Subject, spansOf } from './subject.ts'

/** Most tokens were last received by who holds them: the first read tells it. */
const receiptsPerRead = 50
/** Of the bound on memory, a part of what is too large for one sheet: some 300,000 rows where that is 1 GB. */
const partShare = 1 / 32

/** Holders whose amounts are given: no answer shows what more of the largest have together. */
const largestMax = 500
/** A token that says another number of some holder in ten is found out in more than half of all answers. */
const sampleMax = 8

type HoldingsStore = ClaimStore & FactsStore & SheetStore
type HoldingsParts = HoldingsBounds & {
  claims?: Claims
  contracts?: ShownContracts
  admission?: HoldingsAdmission
}
/** What takes most of the bytes of the admission while it is made is too large for one sheet: it is made in parts. */
export type HoldingsBounds = { limits?: Partial<SheetLimits>; bytesMax?: number; partBytes?: number }

export class Holdings implements q.HoldingsQueries {
  readonly #store: HoldingsStore
  readonly #claims: Claims
  readonly #contracts: ShownContracts
  readonly #answered: AnsweredSheets
  readonly #reads: BatchReads
  readonly #parts: PartBounds
  readonly #large: LargeCounts
  readonly #admission: HoldingsAdmission

  constructor(store: HoldingsStore, parts: HoldingsParts = {}) {
    const { limits, bytesMax } = parts
    const revision = () => store.revision()
    const { admission = new HoldingsAdmission({ bytesMax }) } = parts
    const { partBytes = Math.ceil(admission.bytesMax * partShare) } = parts
    this.#admission = admission
    const { contracts = new ShownContracts(store, revision) } = parts
    this.#store = store
    this.#claims = parts.claims ?? new Claims(store, revision)
    const mints = new Mints(store.indexes)
    this.#answered = new AnsweredSheets(this.#claims, new Sheets(store, mints, { ...limits, admission }))
    this.#contracts = contracts
    this.#reads = { mints, claims: this.#claims, contracts }
    this.#parts = { partBytes }
    this.#large = new LargeCounts(store, this.#parts, admission)
  }

  /** Whole lists, made of the same sheets. */
  streams(tokens: StoredTokens): HoldingStreams {
    const shared = {
      answered: this.#answered,
      branches: this.#store,
      parts: this.#parts,
      admission: this.#admission,
    }
    return new HoldingStreams({ ...shared, ...this.#reads, tokens })
  }

  async owners(question: q.OwnersQuestion, options: q.HoldingsOptions): Promise<q.OwnersAnswer> {
    using request = this.#admission.request(options)
    const { sheet, claim } = await this.#answered.ofContract(question, question.atBlock, options, request)
    const page = await firstRows(sheet, newestBatches(sheet, question.limit + 1, question), question.limit)
    const batch = await contractBatch(this.#reads, { ...question, readTokens: options.tokenFacts }, page)
    return listAnswer(question, claim, { rows: nftRows(batch), next: newestKey(page), total: sheet.holdings })
  }

  async uniqueOwners(question: q.UniqueOwnersQuestion, options: q.HoldingsOptions): Promise<q.UniqueOwnersAnswer> {
    using request = this.#admission.request(options)
    const { sheet, claim } = await this.#answered.ofContract(question, question.atBlock, options, request)
    const owners = await sheet.ascendingParties()
    const start = question.after === undefined ? 0 : firstAfter(sheet, owners, question.after)
    const rows = [...owners.subarray(start, start + question.limit)].map(owner => sheet.addresses.addressOf(owner))
    const next = start + question.limit < owners.length ? rows.at(-1) : undefined
    return listAnswer(question, claim, { rows, next, total: sheet.parties })
  }

  async contractNfts(question: q.ContractNftsQuestion, options: q.HoldingsOptions): Promise<q.ContractNftsAnswer> {
    using request = this.#admission.request(options)
    const { contract, limit, countTotal } = question
    const found = await this.#answered.ofContract(question, question.atBlock, options, request)
    const { sheet, claim } = found
    const order = await hashOrders.of(found, contract, { admission: this.#admission, asker: request })
    const page = await firstRows(sheet, hashBatches(sheet, order, { ...question, size: limit + 1 }), limit)
    const batch = await contractBatch(this.#reads, { ...question, readTokens: options.tokenFacts }, page)
    const next = page.last && hashKey(contract, page.last, sheet)
    return listAnswer(question, claim, {
      ...{ rows: nftRows(batch), next },
      total: countTotal ? hashTotal(sheet, order, question) : 0,
    })
  }

  async holders(question: q.HoldersQuestion, options: q.HoldingsOptions): Promise<q.HoldersAnswer> {
    using request = this.#admission.request(options)
    const { chain, contract, limit, after, smallestFirst, moments = [] } = question
    const branch = moments.length === 0 ? undefined : await OneBranch.now(this.#store, chain)
    const found = await this.#answered.ofContract({ chain, contract }, question.atBlock, options, request)
    const { sheet, claim } = found
    const amounts = await amountOrders.of(found, undefined, { admission: this.#admission, asker: request })
    const past = branch && (await this.#past(sheet, { chain, contract, block: claim.block, moments }, branch, request))
    const rows = pageOfHolders(sheet, amounts, { limit: limit + 1, after, smallestFirst })
    const last = rows.length > limit ? rows[limit - 1] : undefined
    const next = last && { atBlock: claim.block, after: { amount: last.amount, address: last.owner } }
    const largest = [...amounts.order.subarray(0, largestMax)].map(row => sheet.amountOf(row))
    const sample = sampleOf(amounts, sampleMax).map(row => holderAt(sheet, row))
    const { parties: holders, impossible } = sheet
    return {
      ...{ ...claim, rows: rows.slice(0, limit), next, holders, impossible, sum: amounts.sum },
      ...{ largest, sample, past: past ?? [] },
    }
  }

  async nfts({ chain, tokens, atBlock }: q.NftsQuestion, options: q.HoldingsOptions): Promise<q.NftsAnswer> {
    using request = this.#admission.request(options)
    const found = await Promise.all(
      tokens.map(async token => {
        const { sheet, claim } = await this.#answered.ofContract({ chain, ...token }, atBlock, options, request)
        const held = await this.#newestReceiver({ chain, ...token }, sheet, claim.block)
        if (held === undefined) return { claim, row: undefined }
        const within = Number(token.tokenId - sheet.idOf(held))
        const row = { sheet, length: 1, rows: Uint32Array.of(held), withins: Uint32Array.of(within) }
        const batch = await contractBatch(this.#reads, { chain, ...token, readTokens: options.tokenFacts }, row)
        return { claim, row: nftRows(batch)[0] }
      }),
    )
    const claim = found.map(each => each.claim).reduce(weakerClaim, found[0]?.claim ?? nothingClaimed)
    return { ...claim, rows: found.map(({ row }) => row) }
  }

  async walletNfts(question: q.WalletNftsQuestion, options: q.HoldingsOptions): Promise<q.WalletNftsAnswer> {
    using request = this.#admission.request(options)
    const { sheet, claim } = await this.#answered.ofWallet(question, options, request)
    const isShown = partyFilter(sheet, contractFilter(this.#contracts, question))
    const { limit, after } = question
    const page = await firstRows(sheet, newestBatches(sheet, limit + 1, { after, isShown }), limit)
    const batch = await walletBatch(this.#reads, { ...question, readTokens: options.tokenFacts }, page)
    let total = sheet.holdings
    if (question.countTotal && isShown !== undefined) {
      total = 0
      for (const [party, { count }] of await collectionsOf(sheet)) if (await isShown(party)) total += count
    }
    return listAnswer(question, claim, { rows: nftRows(batch), next: newestKey(page), total })
  }

  async walletCollections(
    question: q.WalletCollectionsQuestion,
    options: q.HoldingsOptions,
  ): Promise<q.WalletCollectionsAnswer> {
    using request = this.#admission.request(options)
    const { sheet, claim, counts } = await this.#ofWallet(question, request)
    const isShown = contractFilter(this.#contracts, { ...question, contracts: undefined }) ?? (() => true)
    const { limit, after, countTotal } = question
    const rows: q.CollectionRow[] = []
    let total = 0
    let isMore = false
    for (const [contract, { standard, count }] of counts?.collections ?? (await collectionsByAddress(sheet!))) {
      const isAfter = after === undefined || contract < after
      if ((!isAfter || isMore) && !countTotal) continue
      if (!(await isShown(contract))) continue
      total++
      if (!isAfter) continue
      if (rows.length === limit) isMore = true
      else rows.push({ contract, standard, count, facts: await this.#contracts.ofOne(question.chain, contract) })
    }
    return listAnswer(question, claim, { rows, next: isMore ? rows.at(-1)?.contract : undefined, total })
  }

  async collectionStats(
    question: q.CollectionStatsQuestion,
    options: q.HoldingsOptions,
  ): Promise<q.CollectionStatsAnswer> {
    const { chain, contract, atBlock, onlyQuick } = question
    using request = this.#admission.request(options)
    const asked = await this.#answered.contractClaim(question, atBlock, options)
    const found = onlyQuick
      ? await this.#answered.find({ chain, contract }, asked, request)
      : await this.#within({ chain, contract }, asked, request)
    if (found !== undefined) {
      const { ids: tokens, parties: owners, transfers, impossible } = found.sheet
      return { ...found.claim, tokens, owners, transfers, impossible }
    }
    const counting = { claim: asked.claim, isExact: atBlock !== undefined, asker: request }
    const counted = await this.#large.collection({ chain, contract }, counting)
    const claim = await this.#answered.claimAfter(question, counted.claim)
    const transfers = claim.block < 0 ? 0 : await this.#store.transferCount({ chain, contract, toBlock: claim.block })
    return { ...claim, ...counted.counts, transfers }
  }

  async tokenStats(question: q.TokenStatsQuestion, options: q.HoldingsOptions): Promise<q.TokenStatsAnswer> {
    const { chain, contract, tokenId, atBlock } = question
    using request = this.#admission.request(options)
    const asked = await this.#answered.contractClaim(question, atBlock, options)
    const found = await this.#within({ chain, contract, tokenId }, asked, request)
    if (found !== undefined) return { ...found.claim, owners: found.sheet.parties, transfers: found.sheet.transfers }
    const counting = { claim: asked.claim, isExact: atBlock !== undefined, asker: request }
    const { claim, counts } = await this.#large.token({ chain, contract, tokenId }, counting)
    return { ...(await this.#answered.claimAfter(question, claim)), ...counts }
  }

  async walletStats(question: q.WalletStatsQuestion, options: q.HoldingsOptions): Promise<q.WalletStatsAnswer> {
    using request = this.#admission.request(options)
    const { claim, sheet, counts } = await this.#ofWallet(question, request)
    const transfers = (sheet ?? counts).transfers
    return {
      ...claim,
      nfts: sheet?.holdings ?? counts!.nfts,
      collections: sheet?.parties ?? counts!.collections.size,
      // No index has the zero address, which gives and receives without being a wallet.
      transfers: question.wallet === zeroAddress ? undefined : transfers,
    }
  }

  async blockStats({ chain, block }: q.BlockStatsQuestion): Promise<q.BlockStatsAnswer> {
    const { state } = await this.#claims.chain(chain)
    const claim = await this.#claims.of(chain, 'every', { from: block, to: block }, 'by_block')
    if (state === undefined || block > state.head.number)
      return { ...claim, complete: false, evidence: undefined, exists: false, transfers: 0 }
    const transfers = await transfersOfBlock(this.#store, chain, block)
    return { ...claim, exists: true, transfers }
  }

  /** The row of a token; of several holders that of the one who last received any of it. */
  async #newestReceiver(subject: ContractSubject, sheet: Sheet, block: number): Promise<number | undefined> {
    const newest = sheet.order[0]
    // Who comes after the first that received last has not received since.
    const received = sheet.order.findIndex(row => (sheet.columns.flags[row]! & rowFlags.giver) === 0)
    if (sheet.order.length <= 1 || received === 0) return newest
    const candidates = received === -1 ? sheet.order : sheet.order.subarray(0, received + 1)
    const rows = new Map([...candidates].map(row => [sheet.addresses.addressOf(sheet.columns.parties[row]!), row]))
    const span = spansOf(subject, { from: 0, to: block }).at(-1)!
    for await (const records of recordsOf(this.#store.indexes, span, new Pace(), receiptsPerRead))
      for (let record = 0, start = 0; record < records.length; record++) {
        const { to, isErc1155 } = readTokenRecord(records.values.subarray(start, records.valueEnds[record]))
        start = records.valueEnds[record]!
        const row = isErc1155 ? rows.get(to) : undefined
        if (row !== undefined) return row
      }
    return newest
  }

  /** Nothing is known of moments where the chain changed its branch meanwhile. */
  async #past(sheet: Sheet, asked: PastAsked, branch: OneBranch, request: HoldingsRequest) {
    const name = `past ${sheet.id} ${asked.moments.join()}`
    return await this.#admission.shared(name, request, 'large', async work => {
      work.hold(sheet)
      const counts = await pastHolders(this.#store, sheet, asked, work)
      return (await branch.stands(asked.block)) ? counts : asked.moments.map(() => undefined)
    })
  }

  /** Undefined where there is too much for one sheet. */
  async #within(subject: Subject, asked: AskedClaim, request: HoldingsRequest): Promise<Answered | undefined> {
    return await this.#answered.find(subject, asked, request).catch(undefinedIfTooLarge)
  }

  /** The sheet of a wallet, or its counts where it is too large for one. */
  async #ofWallet({ chain, wallet, atBlock }: q.WalletStatsQuestion, request: HoldingsRequest) {
    const asked = await this.#answered.walletClaim(chain, atBlock)
    const found = await this.#within({ chain, wallet }, asked, request)
    if (found !== undefined) return { claim: found.claim, sheet: found.sheet, counts: undefined }
    const counting = { claim: asked.claim, isExact: atBlock !== undefined, asker: request }
    const { claim, counts } = await this.#large.wallet({ chain, wallet }, counting)
    return { claim: await this.#answered.claimAfter({ chain, wallet }, claim), sheet: undefined, counts }
  }
}

function listAnswer<Row, Key>(
  { countTotal }: q.ListQuestion<Key>,
  claim: q.Completeness,
  { rows, next, total }: { rows: readonly Row[]; next: Key | undefined; total: number },
): q.ListAnswer<Row, Key> {
  return {
    ...claim,
    rows,
    total: countTotal ? total : undefined,
    next: next === undefined ? undefined : { atBlock: claim.block, after: next },
  }
}

function newestKey({ sheet, last }: RowPage): q.HoldingKey | undefined {
  return last && sheet.keyOf(last.row, last.tokenId)
}

function hashKey(contract: Address, { row, tokenId }: NonNullable<RowPage['last']>, sheet: Sheet): q.ContractNftKey {
  return sheet.isRange(row) ? { rangeId: tokenId } : { tokenHash: tokenHash(contract, tokenId) }
}

function pageOfHolders(
  sheet: Sheet,
  amounts: AmountOrder,
  { limit, after, smallestFirst }: Pick<q.HoldersQuestion, 'limit' | 'after' | 'smallestFirst'>,
): q.HolderRow[] {
  const { order } = amounts
  const place = after && placeBehind(sheet, amounts, after, smallestFirst)
  const rows = smallestFirst
    ? order.subarray(Math.max(0, (place ?? order.length) - limit), place ?? order.length).toReversed()
    : order.subarray(place ?? 0, (place ?? 0) + limit)
  return [...rows].map(row => holderAt(sheet, row))
}

const nothingClaimed: q.Completeness = { block: -1, complete: false, evidence: undefined }

function firstAfter(sheet: Sheet, parties: Uint32Array, after: Address): number {
  let [low, high] = [0, parties.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sheet.addresses.addressOf(parties[middle]!) > after) high = middle
    else low = middle + 1
  }
  return low
}

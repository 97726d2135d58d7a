// Answers who owns what, and what there is of it: of contracts, tokens, wallets and blocks. No HTTP and no JSON.
import type { ChainTable } from '../../chains.ts'
import { weakestOf } from '../../coverage.ts'
import { type Address, type ChainId, zeroAddress } from '../../model.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import { blockSpan } from '../../store/indexes/by-block.ts'
import { readTokenRecord } from '../../store/indexes/by-token.ts'
import { wordAt } from '../../store/runs/place-key.ts'
import { Pace } from '../pace.ts'
import { type FactsStore, ShownContracts } from '../shown-contracts.ts'
import { type ClaimStore, Claims } from './claims.ts'
import { collectionsOf } from './collections.ts'
import { contractNftPage, contractNftTotal } from './contract-nfts.ts'
import { type Holding, holdingPage } from './holding-page.ts'
import { Mints } from './mints.ts'
import { contractRows, type RowReader, walletRows } from './nft-rows.ts'
import type * as q from './questions.ts'
import { rowFlags, type Sheet } from './sheet.ts'
import { type FoundSheet, type SheetLimits, type SheetStore, Sheets } from './sheets.ts'
import { type ContractSubject, recordsOf, type Subject, spansOf } from './subject.ts'

/** Most tokens were last received by who holds them: the first read tells it. */
const receiptsPerRead = 50

type HoldingsStore = ClaimStore & FactsStore & SheetStore
type HoldingsParts = {
  /** Replaces the store's where concurrent requests share one look, as they share `contracts`. */
  revision?: () => number
  contracts?: ShownContracts
  chains?: ChainTable
  limits?: Partial<SheetLimits>
}
type Answered = FoundSheet & { claim: q.Completeness }
/** `takenBack`: from before what is claimed was read. */
type AsOf = { block: number; takenBack: number }

export class Holdings implements q.HoldingsQueries {
  readonly #store: HoldingsStore
  readonly #indexes: IndexReader
  readonly #claims: Claims
  readonly #contracts: ShownContracts
  readonly #sheets: Sheets
  readonly #rows: RowReader

  constructor(store: HoldingsStore, indexes: IndexReader, parts: HoldingsParts = {}) {
    const { revision = () => store.revision(), chains, limits } = parts
    const { contracts = new ShownContracts(store, revision) } = parts
    this.#store = store
    this.#indexes = indexes
    this.#claims = new Claims(store, indexes, revision, chains)
    const mints = new Mints(indexes)
    this.#sheets = new Sheets(store, indexes, mints, limits)
    this.#contracts = contracts
    this.#rows = { mints, claims: this.#claims, contracts }
  }

  async owners(question: q.OwnersQuestion, options: q.HoldingsOptions): Promise<q.OwnersAnswer> {
    const { sheet, claim } = await this.#ofContract(question, question.atBlock, options)
    const { holdings, next } = await holdingPage(sheet, question)
    const rows = await contractRows(this.#rows, { ...question, sheet }, holdings, options)
    return listAnswer(question, claim, { rows, next, total: sheet.holdings })
  }

  async uniqueOwners(question: q.UniqueOwnersQuestion, options: q.HoldingsOptions): Promise<q.UniqueOwnersAnswer> {
    const { sheet, claim } = await this.#ofContract(question, question.atBlock, options)
    const owners = await sheet.ascendingParties()
    const start = question.after === undefined ? 0 : firstAfter(sheet, owners, question.after)
    const rows = [...owners.subarray(start, start + question.limit)].map(owner => sheet.addresses.addressOf(owner))
    const next = start + question.limit < owners.length ? rows.at(-1) : undefined
    return listAnswer(question, claim, { rows, next, total: sheet.parties })
  }

  async contractNfts(question: q.ContractNftsQuestion, options: q.HoldingsOptions): Promise<q.ContractNftsAnswer> {
    const found = await this.#ofContract(question, question.atBlock, options)
    const { holdings, next } = await contractNftPage(found, question.contract, question)
    const rows = await contractRows(this.#rows, { ...question, sheet: found.sheet }, holdings, options)
    const total = question.countTotal ? await contractNftTotal(found, question.contract, question.part) : 0
    return listAnswer(question, found.claim, { rows, next, total })
  }

  async nfts({ chain, tokens, atBlock }: q.NftsQuestion, options: q.HoldingsOptions): Promise<q.NftsAnswer> {
    const found = await Promise.all(
      tokens.map(async token => {
        const { sheet, claim } = await this.#ofContract({ chain, ...token }, atBlock, options)
        const holding = await this.#newestReceiver({ chain, ...token }, sheet, claim.block)
        if (holding === undefined) return { claim, row: undefined }
        const [row] = await contractRows(this.#rows, { sheet, chain, ...token }, [holding], options)
        return { claim, row }
      }),
    )
    const claim = found.map(each => each.claim).reduce(weakerClaim, found[0]?.claim ?? nothingClaimed)
    return { ...claim, rows: found.map(({ row }) => row) }
  }

  async walletNfts(question: q.WalletNftsQuestion, options: q.HoldingsOptions): Promise<q.WalletNftsAnswer> {
    const { sheet, claim } = await this.#ofWallet(question, question.atBlock)
    const isShown = this.#shownContracts(sheet, question)
    const { holdings, next } = await holdingPage(sheet, { ...question, isShown })
    const rows = await walletRows(this.#rows, { ...question, sheet }, holdings, options)
    let total = sheet.holdings
    if (question.countTotal && isShown !== undefined) {
      total = 0
      for (const [party, { count }] of await collectionsOf(sheet)) if (await isShown(party)) total += count
    }
    return listAnswer(question, claim, { rows, next, total })
  }

  async walletCollections(question: q.WalletCollectionsQuestion): Promise<q.WalletCollectionsAnswer> {
    const { sheet, claim } = await this.#ofWallet(question, question.atBlock)
    const isShown = this.#shownContracts(sheet, { ...question, contracts: undefined }) ?? (() => true)
    const { limit, after, countTotal } = question
    const rows: q.CollectionRow[] = []
    let total = 0
    let isMore = false
    for (const [party, collection] of await collectionsOf(sheet)) {
      const contract = sheet.addresses.addressOf(party)
      const isAfter = after === undefined || contract < after
      if ((!isAfter || isMore) && !countTotal) continue
      if (!(await isShown(party))) continue
      total++
      if (!isAfter) continue
      if (rows.length === limit) isMore = true
      else rows.push({ contract, ...collection, facts: await this.#contracts.ofOne(question.chain, contract) })
    }
    return listAnswer(question, claim, { rows, next: isMore ? rows.at(-1)?.contract : undefined, total })
  }

  async collectionStats(
    question: q.CollectionStatsQuestion,
    options: q.HoldingsOptions,
  ): Promise<q.CollectionStatsAnswer> {
    const { sheet, claim } = await this.#ofContract(question, question.atBlock, options)
    const { chain, contract } = question
    const transfers = claim.block < 0 ? 0 : await this.#store.transferCount({ chain, contract, toBlock: claim.block })
    return { ...claim, tokens: sheet.ids, owners: sheet.parties, transfers, impossible: sheet.impossible }
  }

  async tokenStats(question: q.TokenStatsQuestion, options: q.HoldingsOptions): Promise<q.TokenStatsAnswer> {
    const { sheet, claim } = await this.#ofContract(question, question.atBlock, options)
    return { ...claim, owners: sheet.parties, transfers: sheet.transfers }
  }

  async walletStats(question: q.WalletStatsQuestion): Promise<q.WalletStatsAnswer> {
    const { sheet, claim } = await this.#ofWallet(question, question.atBlock)
    // No index has the zero address, which gives and receives without being a wallet.
    const transfers = question.wallet === zeroAddress ? undefined : sheet.transfers
    return { ...claim, nfts: sheet.holdings, collections: sheet.parties, transfers }
  }

  async blockStats({ chain, block }: q.BlockStatsQuestion): Promise<q.BlockStatsAnswer> {
    const { state } = await this.#claims.chain(chain)
    const claim = await this.#claims.ofChain(chain, { from: block, to: block }, 'by_block')
    if (state === undefined || block > state.head.number)
      return { ...claim, complete: false, evidence: undefined, exists: false, transfers: 0 }
    const contracts = new Set<Address>()
    const span = { chain, index: 'by_block', order: 'keys', ...blockSpan({ from: block, to: block }) } as const
    for await (const records of recordsOf(this.#indexes, span, new Pace()))
      for (let record = 0; record < records.length; record++)
        contracts.add(records.contracts.get(wordAt(records.values, record * 4))!)
    const only = { chain, fromBlock: block, toBlock: block }
    const counts = await Promise.all([...contracts].map(contract => this.#store.transferCount({ ...only, contract })))
    return { ...claim, exists: true, transfers: counts.reduce((sum, count) => sum + count, 0) }
  }

  async #ofContract(
    subject: ContractSubject,
    atBlock: number | undefined,
    options: q.HoldingsOptions,
  ): Promise<Answered> {
    const { chain, contract } = subject
    const { freshen } = options
    freshen?.asked?.(chain, contract)
    let asOf = await this.#asOf(chain, atBlock)
    let claim = await this.#claims.ofContract(chain, contract, asOf.block)
    if (!claim.complete && freshen?.contract !== undefined) {
      await freshen.contract(chain, contract, options.freshenWaitMs, options.key)
      asOf = await this.#asOf(chain, atBlock)
      claim = await this.#claims.ofContract(chain, contract, asOf.block)
    }
    return await this.#answered(subject, claim, asOf)
  }

  async #ofWallet(
    { chain, wallet }: { chain: ChainId; wallet: Address },
    atBlock: number | undefined,
  ): Promise<Answered> {
    const asOf = await this.#asOf(chain, atBlock)
    const claim = await this.#claims.ofChain(chain, { from: 0, to: asOf.block }, 'by_wallet')
    return await this.#answered({ chain, wallet }, claim, asOf)
  }

  async #asOf(chain: ChainId, atBlock = Number.POSITIVE_INFINITY): Promise<AsOf> {
    const { state, takenBack } = await this.#claims.chain(chain)
    return { block: Math.min(atBlock, state?.head.number ?? -1), takenBack }
  }

  async #answered(subject: Subject, claim: q.Completeness, { takenBack }: AsOf): Promise<Answered> {
    const { state, filled } = await this.#claims.chain(subject.chain)
    const index = 'wallet' in subject ? 'by_wallet' : 'by_token'
    const isFilled = filled.has(index)
    const found = await this.#sheets.after(subject, claim.block, { finalized: state?.finalized ?? -1, isFilled })
    // What was claimed before rows were taken away is not claimed of the rest.
    const isClaimed = found.isWhole && (found.takenBack ?? takenBack) === takenBack
    // An index that was left meanwhile gave a part of its records.
    const isWhole = isClaimed && (await this.#claims.chain(subject.chain)).filled.has(index)
    return { ...found, claim: isWhole ? claim : { ...claim, complete: false, evidence: undefined } }
  }

  /** Of a token with several holders the one that last received any of it. */
  async #newestReceiver(subject: ContractSubject, sheet: Sheet, block: number): Promise<Holding | undefined> {
    const tokenId = subject.tokenId!
    if (sheet.order.length === 0) return undefined
    const newest = { row: sheet.order[0]!, tokenId }
    // Who comes after the first that received last has not received since.
    const received = sheet.order.findIndex(row => (sheet.columns.flags[row]! & rowFlags.giver) === 0)
    if (sheet.order.length === 1 || received === 0) return newest
    const candidates = received === -1 ? sheet.order : sheet.order.subarray(0, received + 1)
    const rows = new Map([...candidates].map(row => [sheet.addresses.addressOf(sheet.columns.parties[row]!), row]))
    const span = spansOf(subject, { from: 0, to: block }).at(-1)!
    for await (const records of recordsOf(this.#indexes, span, new Pace(), receiptsPerRead))
      for (let record = 0, start = 0; record < records.length; record++) {
        const { to, isErc1155 } = readTokenRecord(records.values.subarray(start, records.valueEnds[record]))
        start = records.valueEnds[record]!
        const row = isErc1155 ? rows.get(to) : undefined
        if (row !== undefined) return { row, tokenId }
      }
    return newest
  }

  /** Undefined where nothing is filtered. */
  #shownContracts(
    sheet: Sheet,
    { chain, contracts, excludeSpam }: Pick<q.WalletNftsQuestion, 'chain' | 'contracts' | 'excludeSpam'>,
  ): ((party: number) => boolean | Promise<boolean>) | undefined {
    if (contracts === undefined && !excludeSpam) return undefined
    const wanted = contracts && new Set(contracts)
    const pace = new Pace()
    const known = new Map<number, boolean>()
    const decide = async (party: number): Promise<boolean> => {
      const contract = sheet.addresses.addressOf(party)
      const isWanted = wanted?.has(contract) ?? true
      await pace.rest()
      const isSpam = isWanted && excludeSpam && (await this.#contracts.ofOne(chain, contract))?.possibleSpam
      known.set(party, isWanted && !isSpam)
      return isWanted && !isSpam
    }
    return party => known.get(party) ?? decide(party)
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

const nothingClaimed: q.Completeness = { block: -1, complete: false, evidence: undefined }

function weakerClaim(a: q.Completeness, b: q.Completeness): q.Completeness {
  const complete = a.complete && b.complete
  const evidence = a.evidence && b.evidence && weakestOf(a.evidence, b.evidence)
  return { block: Math.min(a.block, b.block), complete, evidence: complete ? evidence : undefined }
}

function firstAfter(sheet: Sheet, parties: Uint32Array, after: Address): number {
  let [low, high] = [0, parties.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sheet.addresses.addressOf(parties[middle]!) > after) high = middle
    else low = middle + 1
  }
  return low
}

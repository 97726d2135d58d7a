// The contracts of a chain that transfers are stored for: the busiest first, the latest first, or by address, and those
// that a name or an address begins to name. Each page costs little on a store of any size. No HTTP.
//
// Where there are many, the order by transfers is that of the last verdicts, which follow the rows; the counts beside
// it are those of now.
import { blockCount, missingIntervals } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import { ledgerOf } from '../../ledgers.ts'
import { type Address, type ChainId, type Position, type TokenStandard, zeroAddress } from '../../model.ts'
import type { ContractInterface, RankedContract } from '../../store/annotation-store.ts'
import { keptAndFilled } from '../../store/index-reader.ts'
import type { Store } from '../../store/store.ts'
import { unpackTransfer } from '../../store/transfer-payload.ts'
import { allTransfers, findPlaces } from '../index-places.ts'
import { Pace } from '../pace.ts'
import type { ShownContracts } from '../shown-contracts.ts'

export const contractOrders = ['transfers', 'activity', 'address'] as const
export type ContractOrder = (typeof contractOrders)[number]

export type ContractQuestion = {
  /** Of a ledger. */
  chain: ChainId
  /** Contracts are indexed one by one there: what is missing of each is told. */
  isOnDemand: boolean
  order: ContractOrder
  /** An address that begins so, or a name or symbol that holds it. Found in the order of transfers. */
  search: string | undefined
  /** Of the answer before. */
  after: string | undefined
  limit: number
}

export type ListedContract = {
  address: Address
  transfers: number
  name: string | undefined
  symbol: string | undefined
  standard: TokenStandard | 'ERC20' | undefined
  verified: boolean
  possibleSpam: boolean
  last: { block: number; timestamp: number } | undefined
  blocksLeft: number | undefined
}

export type ContractPage = {
  contracts: ListedContract[]
  after: string | undefined
  /** Where a chain has none yet: some that are marked as verified there, to begin with. */
  suggested: { address: Address; label: string | undefined }[]
}

type AddressPage = { addresses: Address[]; after: string | undefined }

/** Bounds of one request: a page may then be short and still name the next one. */
const searchedMax = 20_000
const lookedAtMax = 2_000
const rankedPerStep = 500
const placesPerStep = 128
const unrankedPerStep = 200
const exactMax = 200
const marksLookedAt = 50
const suggestedMax = 3

export class ContractList {
  readonly #store: Store
  readonly #shown: ShownContracts

  constructor(store: Store, shown: ShownContracts) {
    this.#store = store
    this.#shown = shown
  }

  async answer(question: ContractQuestion): Promise<ContractPage> {
    const { addresses, after } = await this.#find(question)
    const listed = await Promise.all(addresses.map(address => this.#listed(question, address)))
    // Facts outlive rows that were taken back.
    const contracts = listed.filter(({ transfers }) => transfers > 0)
    const isFirst = question.after === undefined && question.search === undefined
    const isEmpty = isFirst && after === undefined && contracts.length === 0
    return { contracts, after, suggested: isEmpty ? await this.#suggested(question.chain) : [] }
  }

  async #suggested(chain: ChainId): Promise<ContractPage['suggested']> {
    const marks = await this.#store.marks({ chain }, undefined, marksLookedAt)
    const verified = new Set(marks.filter(mark => mark.verified).map(({ contract }) => contract))
    const addresses = [...verified].slice(0, suggestedMax)
    const labels = await this.#store.labelsOf(chain, addresses)
    return addresses.map(address => ({ address, label: labels.get(address) }))
  }

  #find(question: ContractQuestion): Promise<AddressPage> {
    const { search = '', order } = question
    if (/^0x[0-9a-f]*$/i.test(search)) return this.#byAddress(question, search.toLowerCase())
    if (search !== '') return this.#byName(question, search.toLowerCase())
    if (order === 'activity') return this.#byActivity(question)
    return order === 'address' ? this.#byAddress(question, '0x') : this.#byTransfers(question)
  }

  async #byAddress({ chain, after, limit }: ContractQuestion, prefix: string): Promise<AddressPage> {
    if (prefix.length > zeroAddress.length) return { addresses: [], after: undefined }
    const from = after === undefined ? beforePrefix(prefix) : readAddress(after)
    // One more than requested shows whether there are more.
    const found = await this.#store.contractsOf(chain, from, limit + 1)
    const matching = found.filter(address => address.startsWith(prefix))
    return { addresses: matching.slice(0, limit), after: matching.length > limit ? matching[limit - 1] : undefined }
  }

  async #byTransfers(question: ContractQuestion): Promise<AddressPage> {
    const { chain, after } = question
    const isMany = after?.startsWith('unranked-') || (await this.#isRanked(chain, exactMax))
    const all = isMany ? [] : await this.#store.contractsOf(chain, undefined, exactMax + 1)
    return all.length > exactMax || isMany ? await this.#byRank(question) : await this.#byCount(question, all)
  }

  async #isRanked(chain: ChainId, count: number): Promise<boolean> {
    return (await this.#store.rankedContracts(chain, undefined, count + 1)).length > count
  }

  /** Few are counted, so that their order is that of now. */
  async #byCount({ chain, after, limit }: ContractQuestion, all: readonly Address[]): Promise<AddressPage> {
    const from = readRank(after)
    const counted = await Promise.all(
      all.map(async contract => ({ contract, transfers: await this.#store.transferCount({ chain, contract }) })),
    )
    const sorted = counted.sort(busiestFirst).filter(each => from === undefined || busiestFirst(each, from) > 0)
    const addresses = sorted.slice(0, limit).map(({ contract }) => contract)
    return { addresses, after: sorted.length > limit ? rankText(sorted[limit - 1]!) : undefined }
  }

  /** Contracts without facts, which are new, come last. */
  async #byRank(question: ContractQuestion): Promise<AddressPage> {
    const { chain, after, limit } = question
    const unrankedAfter = /^unranked-(.*)$/.exec(after ?? '')?.[1]
    const ranked =
      unrankedAfter === undefined ? await this.#store.rankedContracts(chain, readRank(after), limit + 1) : []
    const addresses = ranked.slice(0, limit).map(({ contract }) => contract)
    if (ranked.length > limit) return { addresses, after: rankText(ranked[limit - 1]!) }
    const from = unrankedAfter === undefined || unrankedAfter === '' ? undefined : readAddress(unrankedAfter)
    const rest = await this.#store.contractsOf(chain, from, unrankedPerStep + 1)
    const shown = rest.slice(0, unrankedPerStep)
    const said = await Promise.all(shown.map(address => this.#store.annotationsOf(chain, address)))
    const unranked = shown.filter((_, at) => said[at]!.facts === undefined)
    const added = unranked.slice(0, limit - addresses.length)
    const isWhole = rest.length <= unrankedPerStep && added.length === unranked.length
    const last = added.length < unranked.length ? (added.at(-1) ?? from ?? '') : shown.at(-1)
    return { addresses: [...addresses, ...added], after: isWhole ? undefined : `unranked-${last}` }
  }

  /** The busiest first, so that what is known is found before what imitates it. */
  async #byName({ chain, after, limit }: ContractQuestion, text: string): Promise<AddressPage> {
    const pace = new Pace()
    const addresses: Address[] = []
    let walked = readRank(after)
    let last: RankedContract | undefined
    for (let searched = 0; searched < searchedMax; searched += rankedPerStep) {
      const step = await this.#store.rankedContracts(chain, walked, rankedPerStep)
      for (const ranked of step) {
        if (!isNamed(ranked, text)) continue
        if (addresses.length === limit) return { addresses, after: rankText(last!) }
        addresses.push(ranked.contract)
        last = ranked
      }
      if (step.length < rankedPerStep) return { addresses, after: undefined }
      walked = step.at(-1)!
      await pace.rest()
    }
    return { addresses, after: rankText(addresses.length === limit ? last! : walked!) }
  }

  /** Walks transfers from the newest on: a contract stands where its newest one is. */
  async #byActivity({ chain, after, limit }: ContractQuestion): Promise<AddressPage> {
    const indexes = this.#store.indexes
    const state = await indexes.rowState(chain)
    if (!keptAndFilled(state.indexes).filled.has('by_block')) throw noBlockIndex()
    const span = allTransfers(chain, { from: 0, to: Number.MAX_SAFE_INTEGER })
    const addresses: Address[] = []
    const seen = new Set<Address>()
    let last = after === undefined ? undefined : readPlace(after)
    for (let looked = 0; looked < lookedAtMax; looked += placesPerStep) {
      const { places } = await findPlaces(indexes, span, { order: 'desc', after: last, limit: placesPerStep })
      for (const { contract, ...place } of places) {
        if (addresses.length === limit) return { addresses, after: placeText(last!) }
        last = place
        if (seen.has(contract)) continue
        seen.add(contract)
        const newest = await this.#newest(chain, contract)
        if (newest !== undefined && placeText(newest) === placeText(place)) addresses.push(contract)
      }
      if (places.length < placesPerStep) return { addresses, after: undefined }
    }
    return { addresses, after: last && placeText(last) }
  }

  async #newest(chain: ChainId, contract: Address) {
    const page = await this.#store.transferPage({ chain, contract, order: 'desc', limit: 1 })
    if (page.length === 0) return undefined
    return {
      ...{ block: page.blocks[0]!, transactionIndex: page.transactionIndexes[0]!, logIndex: page.logIndexes[0]! },
      ...{ batchIndex: page.batchIndexes[0]!, timestamp: page.timestamps[0]!, payload: page.payloads },
    }
  }

  async #listed({ chain, isOnDemand }: ContractQuestion, address: Address): Promise<ListedContract> {
    const [transfers, shown, { facts }, newest, blocksLeft] = await Promise.all([
      this.#store.transferCount({ chain, contract: address }),
      this.#shown.ofOne(chain, address),
      this.#store.annotationsOf(chain, address),
      this.#newest(chain, address),
      isOnDemand ? this.#blocksLeft(chain, address) : undefined,
    ])
    return {
      ...{ address, transfers, name: shown?.name, symbol: shown?.symbol },
      ...{ verified: shown?.verifiedCollection ?? false, possibleSpam: shown?.possibleSpam ?? false },
      standard:
        ledgerOf(chain).ledger === 'erc20'
          ? 'ERC20'
          : (standardOf(facts?.reading?.interfaces ?? []) ?? (newest && unpackTransfer(newest.payload).standard)),
      last: newest && { block: newest.block, timestamp: newest.timestamp },
      blocksLeft,
    }
  }

  async #blocksLeft(chain: ChainId, contract: Address): Promise<number | undefined> {
    const state = await this.#store.chainState(chain)
    if (state === undefined) return undefined
    const covered = await this.#store.contractCoverage(chain, contract)
    return blockCount(missingIntervals(covered, { from: 0, to: state.head.number }))
  }
}

type Ranked = Pick<RankedContract, 'transfers' | 'contract'>

/** As the store ranks them. */
function busiestFirst(a: Ranked, b: Ranked): number {
  return b.transfers - a.transfers || (a.contract < b.contract ? 1 : a.contract > b.contract ? -1 : 0)
}

function standardOf(interfaces: readonly ContractInterface[]): TokenStandard | undefined {
  return interfaces.includes('erc1155') ? 'ERC1155' : interfaces.includes('erc721') ? 'ERC721' : undefined
}

function isNamed({ name = '', symbol = '' }: RankedContract, text: string): boolean {
  return name.toLowerCase().includes(text) || symbol.toLowerCase().includes(text)
}

/** The last address before those that begin so; undefined before all. */
function beforePrefix(prefix: string): Address | undefined {
  const first = BigInt(prefix.padEnd(zeroAddress.length, '0'))
  return first === 0n ? undefined : (`0x${(first - 1n).toString(16).padStart(40, '0')}` as Address)
}

function rankText({ transfers, contract }: Ranked): string {
  return `${transfers}-${contract}`
}

function readRank(text: string | undefined): Ranked | undefined {
  if (text === undefined) return undefined
  const [, transfers, contract] = /^(\d{1,15})-(0x[0-9a-f]{40})$/.exec(text) ?? []
  if (contract === undefined) throw badAfter()
  return { transfers: Number(transfers), contract: contract as Address }
}

function readAddress(text: string): Address {
  if (!/^0x[0-9a-f]{40}$/.test(text)) throw badAfter()
  return text as Address
}

function placeText({ block, transactionIndex, logIndex, batchIndex }: Position): string {
  return [block, transactionIndex, logIndex, batchIndex].join('-')
}

function readPlace(text: string): Position {
  if (!/^\d{1,12}(-\d{1,9}){3}$/.test(text)) throw badAfter()
  const [block, transactionIndex, logIndex, batchIndex] = text.split('-').map(Number) as [
    number,
    number,
    number,
    number,
  ]
  return { block, transactionIndex, logIndex, batchIndex }
}

function badAfter(): AlmanacError {
  const accepted = 'what the answer before gave as after, with the same order and search'
  return new AlmanacError('bad_request', `after must be ${accepted}`, { details: { parameter: 'after', accepted } })
}

function noBlockIndex(): AlmanacError {
  const message = 'The order by activity needs the view by_block, which this chain does not keep, or not in full yet.'
  return new AlmanacError('not_configured', message, { details: { parameter: 'order', view: 'by_block' } })
}

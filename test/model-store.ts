// The chain half of a store as plain maps and loops: what every engine must answer, written to be believed, not to be fast.
import { AlmanacError } from '../src/errors.ts'
import {
  type ActivityRow,
  type Address,
  type Block,
  type ChainId,
  type CoverageScope,
  type CoveredInterval,
  type Evidence,
  evidences,
  type Hash,
  type Interval,
  isContractScope,
  isWholeScope,
  type Position,
  type TransactionRef,
  type TransferRow,
} from '../src/model.ts'
import { withoutScope } from '../src/store/forget.ts'
import { unpackActivity } from '../src/store/packed-activity.ts'
import type {
  Claim,
  ColdCommit,
  ForgetTarget,
  HotBlock,
  HotCommit,
  StoredRange,
  TransferPageQuery,
  TransferRange,
} from '../src/store/store.ts'
import { idCountOf } from '../src/store/transfer-payload.ts'

type BlockActivity = { block: number; row: ActivityRow }

class ModelChain {
  head: Block | undefined
  finalized = -1
  coldBlocks = new Map<number, Block>()
  hotBlocks = new Map<number, Block>()
  /** By position and contract; whether a row is hot follows from its block. */
  transfers = new Map<string, TransferRow>()
  activity: BlockActivity[] = []
  /** The evidence of every single covered block. */
  covered = new Map<CoverageScope, Map<number, Evidence>>()
  watched = new Map<Address, number>()
  pending: StoredRange[] = []
}

export type ModelRow = Position & { hash: Hash; timestamp: number; payload: string }

export class ModelStore {
  readonly #chains = new Map<ChainId, ModelChain>()

  #chain(id: ChainId): ModelChain {
    const chain = this.#chains.get(id) ?? new ModelChain()
    this.#chains.set(id, chain)
    return chain
  }

  // ---- writes

  commitCold(commit: ColdCommit): { transfersAdded: number } {
    const chain = this.#chain(commit.chain)
    const highest = Math.max(-1, ...commit.blocks.map(block => block.number), ...commit.covered.map(({ to }) => to))
    if (highest > chain.finalized) {
      for (const { number, hash } of commit.blocks)
        if (chain.hotBlocks.has(number) && chain.hotBlocks.get(number)?.hash !== hash) throw conflict()
      this.finalize(commit.chain, highest)
    }
    for (const interval of commit.covered) if (!isWholeScope(interval.scope)) this.#dropPending(chain, interval)
    for (const range of commit.ranges ?? []) {
      this.#dropPending(chain, range)
      for (const [key, { block }] of chain.transfers)
        if (block >= range.from && block <= range.to) chain.transfers.delete(key)
      for (const scope of chain.covered.keys()) if (scope !== 'full') this.#uncover(commit.chain, scope, range)
    }
    const before = chain.transfers.size
    for (const row of commit.transfers) addTransfer(chain, row)
    for (const block of commit.blocks) chain.coldBlocks.set(block.number, plain(block))
    for (const row of unpackActivity(commit.activity)) chain.activity.push({ block: -1, row })
    for (const covered of commit.covered) this.addCoverage(commit.chain, covered.scope, covered)
    const claimed = commit.covered.filter(({ scope }) => isWholeScope(scope))
    const isClaimed = (range: StoredRange) => claimed.some(interval => overlap(interval, range))
    chain.pending = [...chain.pending, ...(commit.ranges ?? [])].filter(range => !isClaimed(range))
    return { transfersAdded: chain.transfers.size - before }
  }

  #dropPending(chain: ModelChain, interval: Interval): void {
    for (const range of chain.pending.filter(pending => overlap(pending, interval)))
      for (const [key, { block }] of chain.transfers)
        if (block >= range.from && block <= range.to) chain.transfers.delete(key)
    chain.pending = chain.pending.filter(pending => !overlap(pending, interval))
  }

  commitHot({ chain: id, ancestor, blocks, covered, head }: HotCommit): void {
    const chain = this.#chain(id)
    if (ancestor < chain.finalized) throw conflict()
    const replaced = [...chain.hotBlocks.keys()].filter(number => number > ancestor)
    for (const number of replaced) chain.hotBlocks.delete(number)
    for (const [key, row] of chain.transfers) if (row.block > ancestor) chain.transfers.delete(key)
    chain.activity = chain.activity.filter(({ block }) => block <= ancestor)
    for (const scope of chain.covered.keys())
      if (replaced.length > 0 || scope === covered?.scope)
        this.#uncover(id, scope, { from: ancestor + 1, to: Number.POSITIVE_INFINITY })
    this.#addHotRows(chain, blocks)
    for (const block of blocks) chain.hotBlocks.set(block.number, plain(block))
    const last = blocks.at(-1)
    if (covered !== undefined && last !== undefined)
      this.addCoverage(id, covered.scope, { from: covered.from, to: last.number, evidence: covered.evidence })
    chain.head = head
  }

  addToHot(id: ChainId, blocks: readonly HotBlock[], covered: ColdCommit['covered']): void {
    const chain = this.#chain(id)
    for (const block of blocks) if (chain.hotBlocks.get(block.number)?.hash !== block.hash) throw conflict()
    this.#addHotRows(chain, blocks)
    for (const interval of covered) this.addCoverage(id, interval.scope, interval)
  }

  #addHotRows(chain: ModelChain, blocks: readonly HotBlock[]): void {
    for (const block of blocks) {
      for (const row of block.transfers) addTransfer(chain, row)
      for (const row of unpackActivity(block.activity)) chain.activity.push({ block: block.number, row })
    }
  }

  finalize(id: ChainId, upTo: number): void {
    const chain = this.#chain(id)
    if (upTo <= chain.finalized) return
    chain.finalized = upTo
    for (const block of [...chain.hotBlocks.values()].filter(({ number }) => number <= upTo)) {
      chain.hotBlocks.delete(block.number)
      chain.coldBlocks.set(block.number, block)
    }
  }

  putHead(id: ChainId, head: Block): void {
    const chain = this.#chain(id)
    if (chain.head === undefined || head.number >= Math.max(chain.finalized, ...chain.hotBlocks.keys()))
      chain.head = head
  }

  addCoverage(id: ChainId, scope: CoverageScope, { from, to, evidence }: CoveredInterval): void {
    const chain = this.#chain(id)
    const blocks = chain.covered.get(scope) ?? new Map<number, Evidence>()
    chain.covered.set(scope, blocks)
    for (let block = from; block <= to; block++) blocks.set(block, strongest(evidence, blocks.get(block)))
  }

  #uncover(id: ChainId, scope: CoverageScope, { from, to }: Interval): void {
    const blocks = this.#chain(id).covered.get(scope) ?? new Map<number, Evidence>()
    for (const block of blocks.keys()) if (block >= from && block <= to) blocks.delete(block)
  }

  dropRange(id: ChainId, scope: 'full' | Address, interval: Interval): void {
    const chain = this.#chain(id)
    for (const claim of chain.covered.keys())
      if (scope === 'full' || claim === scope || !isContractScope(claim)) this.#uncover(id, claim, interval)
    if (scope === 'full') {
      this.#dropPending(chain, interval)
      for (const number of chain.coldBlocks.keys())
        if (number >= interval.from && number <= interval.to) chain.coldBlocks.delete(number)
    }
    for (const [key, { contract, block }] of chain.transfers) {
      const cold = block <= chain.finalized
      const within = block >= interval.from && block <= interval.to
      if (cold && within && (scope === 'full' || scope === contract)) chain.transfers.delete(key)
    }
  }

  watchContract(id: ChainId, contract: Address, watchedFrom: number): void {
    const { watched } = this.#chain(id)
    watched.set(contract, Math.min(watchedFrom, watched.get(contract) ?? watchedFrom))
  }

  forget({ chain: id, contract, view }: ForgetTarget): void {
    const chain = this.#chain(id)
    if (contract !== undefined) {
      for (const [key, row] of chain.transfers) if (row.contract === contract) chain.transfers.delete(key)
      chain.covered.delete(contract)
      chain.watched.delete(contract)
      const claimed = (['full', 'transfers'] as const).flatMap(scope => this.coverage(id, scope))
      const to = Math.max(-1, ...[...claimed, ...chain.pending].map(interval => interval.to))
      this.addCoverage(id, withoutScope(contract), { from: 0, to, evidence: 'one-endpoint' })
    } else if (view !== undefined) {
      chain.activity = []
      for (const interval of this.coverage(id, 'full')) this.addCoverage(id, 'transfers', interval)
      chain.covered.delete('full')
    } else this.#chains.delete(id)
  }

  // ---- reads

  chainState(id: ChainId): { head: Block; finalized: number } | undefined {
    const { head, finalized } = this.#chain(id)
    return head === undefined ? undefined : { head, finalized }
  }

  finalized(id: ChainId): number {
    return this.#chain(id).finalized
  }

  hotBlocks(id: ChainId): Block[] {
    return [...this.#chain(id).hotBlocks.values()].sort((a, b) => a.number - b.number)
  }

  coverage(id: ChainId, scopes: CoverageScope | readonly CoverageScope[]): Claim[] {
    const { covered } = this.#chain(id)
    return [scopes].flat().flatMap(scope => {
      return intervalsOf(covered.get(scope) ?? new Map()).map(interval => ({ ...interval, scope }))
    })
  }

  contractCoverage(id: ChainId, contract: Address | 'every'): CoveredInterval[] {
    const { covered, watched } = this.#chain(id)
    const all = new Map<number, Evidence>()
    const add = (scope: CoverageScope, from: number) => {
      for (const [block, evidence] of covered.get(scope) ?? [])
        if (block >= from) all.set(block, strongest(evidence, all.get(block)))
    }
    add('full', 0)
    add('transfers', 0)
    for (const [scope, blocks] of covered)
      if (contract === 'every' ? scope.startsWith('without ') : scope === withoutScope(contract))
        for (const block of blocks.keys()) all.delete(block)
    if (contract === 'every') return intervalsOf(all)
    add(contract, 0)
    add('watched', watched.get(contract) ?? Number.POSITIVE_INFINITY)
    return intervalsOf(all)
  }

  contractsOf(id: ChainId): Address[] {
    return [...new Set([...this.#chain(id).transfers.values()].map(({ contract }) => contract))].sort()
  }

  blocksAround(id: ChainId, timestamp: number): { before: Block | undefined; after: Block | undefined } {
    const { coldBlocks, hotBlocks } = this.#chain(id)
    const known = [...coldBlocks.values(), ...hotBlocks.values()].sort((a, b) => a.number - b.number)
    return {
      before: known.findLast(block => block.timestamp < timestamp),
      after: known.find(block => block.timestamp >= timestamp),
    }
  }

  lowestBlock(id: ChainId, { from, to, hash }: Interval & { hash?: Hash }): Block | undefined {
    const { coldBlocks, hotBlocks } = this.#chain(id)
    const within = [...coldBlocks.values(), ...hotBlocks.values()].filter(b => b.number >= from && b.number <= to)
    return within.filter(b => hash === undefined || b.hash === hash).sort((a, b) => a.number - b.number)[0]
  }

  pendingRanges(id: ChainId): StoredRange[] {
    return [...this.#chain(id).pending].sort((a, b) => a.from - b.from)
  }

  transferPage(query: TransferPageQuery): ModelRow[] {
    const chain = this.#chain(query.chain)
    const direction = query.order === 'asc' ? 1 : -1
    return this.#transfers(query)
      .sort((a, b) => direction * comparePositions(a, b))
      .filter(row => query.after === undefined || direction * comparePositions(row, query.after) > 0)
      .slice(0, query.limit)
      .map(row => {
        const block = chain.hotBlocks.get(row.block) ?? chain.coldBlocks.get(row.block)
        const { transactionIndex, logIndex, batchIndex } = row
        return {
          block: row.block,
          transactionIndex,
          logIndex,
          batchIndex,
          hash: block!.hash,
          timestamp: block!.timestamp,
          payload: Buffer.from(row.payload).toString('hex'),
        }
      })
  }

  transferCount(range: TransferRange): number {
    return this.#transfers(range).reduce((sum, row) => sum + idCountOf(row.payload), 0)
  }

  #transfers({ chain, contract, fromBlock = 0, toBlock = Number.POSITIVE_INFINITY }: TransferRange): TransferRow[] {
    const rows = [...this.#chain(chain).transfers.values()]
    return rows.filter(row => row.contract === contract && row.block >= fromBlock && row.block <= toBlock)
  }

  activityOf(address: Address): Map<ChainId, ActivityRow> {
    const found = new Map<ChainId, ActivityRow>()
    for (const [id, { activity }] of this.#chains) {
      const rows = activity.map(({ row }) => row).filter(row => row.address === address)
      if (rows.length === 0) continue
      const first = rows.map(row => row.first).reduce((a, b) => (compareRefs(b, a) < 0 ? b : a))
      const last = rows.map(row => row.last).reduce((a, b) => (compareRefs(b, a) > 0 ? b : a))
      found.set(id, { address, first, last })
    }
    return found
  }
}

function conflict(): AlmanacError {
  return new AlmanacError('conflict', 'the model refuses')
}

function overlap(a: Interval, b: Interval): boolean {
  return a.from <= b.to && b.from <= a.to
}

function plain({ number, hash, timestamp }: Block): Block {
  return { number, hash, timestamp }
}

/** The first row of an identity stays. */
function addTransfer(chain: ModelChain, row: TransferRow): void {
  const key = [row.contract, row.block, row.transactionIndex, row.logIndex, row.batchIndex].join(' ')
  if (!chain.transfers.has(key)) chain.transfers.set(key, row)
}

function strongest(a: Evidence, b: Evidence | undefined): Evidence {
  return b === undefined || evidences.indexOf(a) < evidences.indexOf(b) ? a : b
}

export function intervalsOf(blocks: ReadonlyMap<number, Evidence>): CoveredInterval[] {
  const intervals: CoveredInterval[] = []
  for (const [block, evidence] of [...blocks].sort(([a], [b]) => a - b)) {
    const last = intervals.at(-1)
    if (last !== undefined && last.to + 1 === block && last.evidence === evidence) last.to = block
    else intervals.push({ from: block, to: block, evidence })
  }
  return intervals
}

function comparePositions(a: Position, b: Position): number {
  return (
    a.block - b.block ||
    a.transactionIndex - b.transactionIndex ||
    a.logIndex - b.logIndex ||
    a.batchIndex - b.batchIndex
  )
}

function compareRefs(a: TransactionRef, b: TransactionRef): number {
  return a.block - b.block || a.transactionIndex - b.transactionIndex
}

// A store of chains and transfers in memory with the indexes of transfers, on the model of a store: what the rules of
// who owns what are tried on. Every read takes a turn of the event loop, as reads of a store may.
import { setImmediate } from 'node:timers/promises'
import { type Address, type ChainId, chainScopes } from '../src/model.ts'
import type { TransferPage } from '../src/store/index-reader.ts'
import {
  type IndexQuery,
  type IndexReader,
  type IndexRecords,
  noRecords,
  type TokenKey,
  type TokenRecordAt,
} from '../src/store/index-reader.ts'
import { indexOf, indexViews } from '../src/store/indexes/all-indexes.ts'
import { tokenIdOfKey, tokenKinds, tokenPlaceAt } from '../src/store/indexes/by-token.ts'
import type {
  ColdCommit,
  ForgetTarget,
  HotCommit,
  Store,
  TransferPageQuery,
  TransferRange,
} from '../src/store/store.ts'
import { ModelStore } from './model-store.ts'

type MemoryRecord = { key: Buffer; value: Buffer }
const filledIndexes = indexViews.map(({ name }) => ({ index: name, filled: true }))

export class MemoryStore {
  readonly model = new ModelStore()
  readonly #changes = { takenBack: 0, filled: 0 }
  #revision = 0
  readonly #kept = new Map<string, MemoryRecord[]>()

  revision(): number {
    return this.#revision
  }

  commitCold(commit: ColdCommit): void {
    this.#write(commit.chain, () => this.model.commitCold(commit))
  }

  commitHot(commit: HotCommit): void {
    this.#write(commit.chain, () => this.model.commitHot(commit))
  }

  addToHot(...added: Parameters<ModelStore['addToHot']>): void {
    this.#write(added[0], () => this.model.addToHot(...added))
  }

  forget(what: ForgetTarget): void {
    this.#write(what.chain, () => this.model.forget(what))
  }

  putChainState(chain: ChainId, { finalized }: { finalized: number }): void {
    this.#write(chain, () => this.model.finalize(chain, finalized))
  }

  dropRange(...drop: Parameters<ModelStore['dropRange']>): void {
    this.#write(drop[0], () => this.model.dropRange(...drop))
  }

  /** What a store's reads are, as far as who owns what needs them. */
  reads(): Pick<
    Store,
    | 'revision'
    | 'chainState'
    | 'coverage'
    | 'contractCoverage'
    | 'annotationsOf'
    | 'transferPage'
    | 'transferCount'
    | 'hotBlocks'
    | 'lowestBlock'
    | 'blocksAround'
  > & { indexes: IndexReader } {
    const later = async <T>(read: () => T): Promise<T> => {
      await setImmediate()
      return read()
    }
    return {
      revision: () => this.#revision,
      chainState: chain => later(() => this.model.chainState(chain)),
      coverage: (chain, scopes = chainScopes) => later(() => this.model.coverage(chain, scopes)),
      contractCoverage: (chain, contract) => later(() => this.model.contractCoverage(chain, contract)),
      annotationsOf: async (chain, contract) => ({ facts: { chain, contract, ...factsOf(contract) }, marks: [] }),
      transferPage: query => later(() => this.#page(query)),
      transferCount: (range: TransferRange) => later(() => this.model.transferCount(range)),
      hotBlocks: chain => later(() => this.model.hotBlocks(chain)),
      lowestBlock: (chain, interval) => later(() => this.model.lowestBlock(chain, interval)),
      blocksAround: (chain, timestamp) => later(() => this.model.blocksAround(chain, timestamp)),
      indexes: {
        indexRecords: query => later(() => this.#records(query)),
        transfersAt: () => Promise.reject(new Error('not part of who owns what')),
        oldestOfTokens: (chain, tokens, rangesOf) =>
          later(() => ({
            records: tokens.map(token => this.#oldest(chain, token)),
            withRanges: new Set(rangesOf.filter(each => this.#hasRanges(chain, each))),
          })),
        rowState: () => later(() => ({ ...this.#changes, indexes: filledIndexes })),
      },
    }
  }

  #write(chain: ChainId, write: () => void): void {
    const final = this.model.finalized(chain)
    const before = this.#finalRows(chain, final)
    write()
    const after = this.#finalRows(chain, final)
    if (before.some(row => !after.includes(row))) this.#changes.takenBack++
    if (after.some(row => !before.includes(row))) this.#changes.filled++
    this.#revision++
    this.#kept.clear()
  }

  #finalRows(chain: ChainId, toBlock: number): string[] {
    return this.model
      .contractsOf(chain)
      .flatMap(contract =>
        this.model.transferPage({ chain, contract, toBlock, order: 'asc', limit: Number.POSITIVE_INFINITY }),
      )
      .map(row => JSON.stringify(row))
  }

  #page(query: TransferPageQuery): TransferPage {
    const rows = this.model.transferPage(query)
    return {
      length: rows.length,
      blocks: rows.map(({ block }) => block),
      transactionIndexes: rows.map(({ transactionIndex }) => transactionIndex),
      logIndexes: rows.map(({ logIndex }) => logIndex),
      batchIndexes: rows.map(({ batchIndex }) => batchIndex),
      timestamps: rows.map(({ timestamp }) => timestamp),
      blockHashes: Buffer.concat(rows.map(({ hash }) => Buffer.from(hash.slice(2), 'hex'))),
      payloads: Buffer.concat(rows.map(({ payload }) => Buffer.from(payload, 'hex'))),
    }
  }

  #records({ chain, index, contract, from, to, order, after, limit }: IndexQuery): IndexRecords {
    const direction = order === 'keys' ? 1 : -1
    const found = this.#sorted(chain, index, contract)
      .filter(({ key }) => Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) <= 0)
      .filter(({ key }) => after === undefined || Buffer.compare(key, after) * direction > 0)
    if (order === 'back') found.reverse()
    return recordsOf(found.slice(0, limit), index === 'by_token' ? new Map() : this.#numbers(chain))
  }

  #oldest(chain: ChainId, { contract, tokenId }: TokenKey): TokenRecordAt | undefined {
    const isOf = ({ key }: MemoryRecord) => key[0] === tokenKinds.single && tokenIdOfKey(key) === tokenId
    const found = this.#sorted(chain, 'by_token', contract).findLast(isOf)
    return found && { place: found.key.subarray(tokenPlaceAt), value: found.value }
  }

  #hasRanges(chain: ChainId, contract: Address): boolean {
    return this.#sorted(chain, 'by_token', contract).some(({ key }) => key[0] === tokenKinds.range)
  }

  #numbers(chain: ChainId): Map<number, Address> {
    return new Map(this.model.contractsOf(chain).map((each, at): [number, Address] => [at + 1, each]))
  }

  /** In the order of keys; kept until the next write. */
  #sorted(chain: ChainId, index: IndexQuery['index'], contract: Address | undefined): MemoryRecord[] {
    const name = `${chain} ${index} ${contract}`
    const known = this.#kept.get(name)
    if (known !== undefined) return known
    const records: MemoryRecord[] = []
    for (const [number, each] of this.#numbers(chain)) {
      if (contract !== undefined && each !== contract) continue
      const rows = this.model.transferPage({ chain, contract: each, order: 'asc', limit: Number.POSITIVE_INFINITY })
      for (const row of rows)
        indexOf(index).recordsOf({ ...row, contract: number, payload: Buffer.from(row.payload, 'hex') }, (key, value) =>
          records.push({ key: Buffer.from(key.subarray(index === 'by_token' ? 4 : 0)), value: Buffer.from(value) }),
        )
    }
    records.sort((a, b) => Buffer.compare(a.key, b.key))
    this.#kept.set(name, records)
    return records
  }
}

export function recordsOf(
  found: readonly MemoryRecord[],
  contracts: ReadonlyMap<number, Address> = new Map(),
): IndexRecords {
  if (found.length === 0) return noRecords
  let end = 0
  return {
    length: found.length,
    keys: Buffer.concat(found.map(({ key }) => key)),
    values: Buffer.concat(found.map(({ value }) => value)),
    valueEnds: found.map(({ value }) => {
      end += value.length
      return end
    }),
    contracts,
  }
}

/** Contracts whose address ends with an odd digit are spam. */
export function factsOf(contract: Address): { name: string; symbol: undefined; possibleSpam: boolean } {
  return {
    name: `Name ${contract}`,
    symbol: undefined,
    possibleSpam: Number.parseInt(contract.slice(-1), 16) % 2 === 1,
  }
}

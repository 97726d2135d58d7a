// The indexes of a store, derived from all of its rows for every question: what engines keep is compared with it, and
// lists of transfers are tested over it.
import type { Address, Position } from '../src/model.ts'
import type { IndexQuery, IndexReader, IndexRecords, MixedPage } from '../src/store/index-reader.ts'
import { byBlock } from '../src/store/indexes/by-block.ts'
import { byToken } from '../src/store/indexes/by-token.ts'
import { byWallet } from '../src/store/indexes/by-wallet.ts'
import type { Store } from '../src/store/store.ts'
import { storedTransfers } from '../src/store/transfer-payload.ts'

const views = { by_wallet: byWallet, by_token: byToken, by_block: byBlock }
const numberBytes = 4

type Entry = { key: Buffer; value: Buffer }

export function derivedIndexes(store: Store): IndexReader {
  const known = new Map<string, { revision: number; entries: Promise<Entries> }>()
  const entriesOf = (query: IndexQuery): Promise<Entries> => {
    const name = `${query.chain} ${query.index} ${query.contract}`
    const found = known.get(name)
    if (found?.revision === store.revision()) return found.entries
    const entries = derive(store, query)
    known.set(name, { revision: store.revision(), entries })
    return entries
  }
  return {
    indexRecords: async query => recordsOf(await entriesOf(query), query),
    async transfersAt(chain, places): Promise<MixedPage> {
      const rows: (Position & { contract: Address; timestamp: number; blockHash: string; payload: Uint8Array })[] = []
      for (const place of places) {
        const { block, contract } = place
        for await (const row of storedTransfers(store, { chain, contract, from: block, to: block }))
          if (isSame(row, place)) rows.push({ ...row, contract })
      }
      return {
        length: rows.length,
        contracts: rows.map(row => row.contract),
        blocks: rows.map(row => row.block),
        transactionIndexes: rows.map(row => row.transactionIndex),
        logIndexes: rows.map(row => row.logIndex),
        batchIndexes: rows.map(row => row.batchIndex),
        timestamps: rows.map(row => row.timestamp),
        blockHashes: Buffer.from(rows.map(row => row.blockHash.slice(2)).join(''), 'hex'),
        payloads: Buffer.concat(rows.map(row => row.payload)),
      }
    },
    indexStates: async () => (['by_wallet', 'by_token', 'by_block'] as const).map(index => ({ index, filled: true })),
    rowChanges: async () => ({ takenBack: 0, filled: 0 }),
  }
}

type Entries = { entries: Entry[]; contracts: ReadonlyMap<number, Address> }

async function derive(store: Store, { chain, index, contract: only }: IndexQuery): Promise<Entries> {
  const contracts = await store.contractsOf(chain, undefined, 10_000)
  const skipped = index === 'by_token' ? numberBytes : 0
  const entries: Entry[] = []
  for (const [number, contract] of contracts.entries()) {
    if (only !== undefined && only !== contract) continue
    for await (const row of storedTransfers(store, { chain, contract, from: 0, to: Number.MAX_SAFE_INTEGER }))
      views[index].recordsOf({ ...row, contract: number }, (key, value) =>
        entries.push({ key: Buffer.from(key.slice(skipped)), value: Buffer.from(value.slice()) }),
      )
  }
  return { entries, contracts: index === 'by_token' ? new Map() : new Map(contracts.entries()) }
}

function recordsOf({ entries, contracts }: Entries, query: IndexQuery): IndexRecords {
  const { order, after, limit } = query
  const isWithin = ({ key }: Entry) => Buffer.compare(key, query.from) >= 0 && Buffer.compare(key, query.to) <= 0
  const sign = order === 'keys' ? 1 : -1
  const isBeyond = ({ key }: Entry) => after === undefined || Buffer.compare(key, after) * sign > 0
  const found = entries
    .filter(entry => isWithin(entry) && isBeyond(entry))
    .sort((a, b) => Buffer.compare(a.key, b.key) * sign)
    .slice(0, limit)
  let end = 0
  return {
    length: found.length,
    keys: Buffer.concat(found.map(({ key }) => key)),
    values: Buffer.concat(found.map(({ value }) => value)),
    valueEnds: found.map(({ value }) => (end += value.length)),
    contracts,
  }
}

function isSame(a: Position, b: Position): boolean {
  return (
    a.block === b.block &&
    a.transactionIndex === b.transactionIndex &&
    a.logIndex === b.logIndex &&
    a.batchIndex === b.batchIndex
  )
}

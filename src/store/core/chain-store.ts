// Everything that a store keeps of EVM chains, of any engine: each change is one piece of work that the engine runs,
// with the numbers of chains and contracts found before it.
import { hexOf } from '../../hex.ts'
import type { Address, ChainId, Hash, TransferRow } from '../../model.ts'
import { walletCheckpoint } from '../checkpoint-names.ts'
import type { IndexQuery, IndexReader, IndexRecords } from '../index-reader.ts'
import { emptyPage, noRecords } from '../index-reader.ts'
import { indexOf } from '../indexes/all-indexes.ts'
import { withContract, withoutContract } from '../indexes/by-token.ts'
import { activityCount } from '../packed-activity.ts'
import { wordAt } from '../runs/place-key.ts'
import type { ActivityReader, ChainReader, ChainWriter, HotBlock, RunSummary, TransferReader } from '../store.ts'
import { activityOf, activityWithin } from './activity.ts'
import { blocksAround, blockWithHash, lowestBlockOf } from './blocks.ts'
import { chainRow, chainState } from './chain-row.ts'
import * as commits from './commits.ts'
import type { Core } from './core.ts'
import * as coverage from './coverage-table.ts'
import { forgetStep } from './forget.ts'
import { goneBlock, takenBackOf } from './gone-blocks.ts'
import { keepIndexes, rowState } from './kept-indexes.ts'
import { Merges, recordsPerTransfer, runSummaries } from './merge-runs.ts'
import { inMoment, readRecords } from './read-records.ts'
import { oldestOfTokens } from './token-records.ts'
import { neighbour, transferCount, transferPage, transfersAt } from './transfer-pages.ts'
import { type Engine, run, type Work } from './work.ts'

/** Each finality pays for some, so that the merges that history left end while the head is followed. */
const recordsPerFinalize = 64

/** `fencedBy`: the writer on an engine that checks a lease in each transaction. */
export function chainStore(core: Core) {
  return {
    ...chainReader(core),
    ...chainWriter(core),
    ...transferReader(core),
    ...activityReader(core),
    indexes: indexReader(core),
    fencedBy: (fenced: Engine): ChainWriter => chainWriter(core.on(fenced)),
  }
}

function chainWriter(core: Core): ChainWriter {
  const { engine, dictionary } = core
  const merges = new Merges(core)
  const numbersOf = async (chain: ChainId, rows: readonly TransferRow[]): Promise<commits.Numbers> => {
    const ordinal = await dictionary.addOrdinal(chain)
    return {
      ordinal,
      contracts: await dictionary.addContracts(
        ordinal,
        rows.map(row => row.contract),
      ),
    }
  }
  const writing = async <T>(chain: ChainId, work: (ordinal: number) => Work<T>): Promise<T> => {
    const ordinal = await dictionary.addOrdinal(chain)
    return await engine.write(() => work(ordinal))
  }
  return {
    async commitCold(commit) {
      const numbers = await numbersOf(commit.chain, commit.transfers)
      const added = await engine.write(() => commits.commitCold(core, numbers, commit))
      const records = recordsPerTransfer * commit.transfers.length + activityCount(commit.activity)
      await merges.pay(numbers.ordinal, records)
      return added
    },
    async commitHot(commit) {
      const numbers = await numbersOf(commit.chain, rowsOf(commit.blocks))
      await engine.write(() => commits.commitHot(core, numbers, commit))
    },
    async addToHot(chain, blocks, covered) {
      const numbers = await numbersOf(chain, rowsOf(blocks))
      await engine.write(() => commits.addToHot(numbers, blocks, covered))
    },
    async putChainState(chain, state) {
      const ordinal = await dictionary.addOrdinal(chain)
      const folded = await engine.write(() => commits.putChainState(core, ordinal, state))
      await merges.pay(ordinal, recordsPerFinalize + folded)
    },
    addCoverage: (chain, scope, interval) =>
      writing(chain, ordinal => coverage.addClaims(ordinal, [{ ...interval, scope }])),
    async dropRange(chain, scope, interval) {
      const of = await engine.read(function* () {
        const ordinal = yield* dictionary.ordinalOf(chain)
        if (ordinal === undefined) return undefined
        return { chain: ordinal, contract: scope === 'full' ? undefined : yield* dictionary.contractOf(ordinal, scope) }
      })
      if (of !== undefined) await engine.write(() => commits.dropRange(core, of, scope, interval))
    },
    unfinalize: (chain, to) => writing(chain, ordinal => commits.unfinalize(core, chain, ordinal, to)),
    dropActivity: (chain, wallets) => writing(chain, ordinal => commits.dropActivity(core, ordinal, wallets)),
    async watchContract(chain, contract, watch) {
      const unseen = watch !== 'ended' && 'askedOn' in watch
      const ordinal = await (unseen ? engine.read(() => dictionary.ordinalOf(chain)) : dictionary.addOrdinal(chain))
      if (ordinal !== undefined) await engine.write(() => coverage.watchContract(ordinal, contract, watch), { unseen })
    },
    forgetWallets: (chain, below) => engine.write(() => forgetWallets(chain, below), { unseen: true }),
    async keepIndexes(chain, names, transfersMax) {
      const ordinal = await dictionary.addOrdinal(chain)
      const isMore = await engine.write(function* () {
        return yield* keepIndexes(yield* core.place(), ordinal, names, transfersMax)
      })
      await merges.pay(ordinal, recordsPerTransfer * transfersMax)
      return isMore
    },
    async forgetStep(what, rowsMax) {
      const step = await engine.write(() => forgetStep(core, what, rowsMax))
      const ordinal = await engine.read(() => dictionary.ordinalOf(what.chain))
      // Each step leaves a run of counts.
      if (ordinal !== undefined) await merges.pay(ordinal, recordsPerFinalize)
      return step
    },
  }
}

function rowsOf(blocks: readonly HotBlock[]): TransferRow[] {
  return blocks.flatMap(block => block.transfers)
}

function* forgetWallets(chain: ChainId, below: number): Work<void> {
  yield* run(
    `DELETE FROM checkpoints WHERE name LIKE $1 AND JSON_NUMBER(value, 'block') < $2:big`,
    `${walletCheckpoint(chain)}%`,
    below,
  )
}

function chainReader(core: Core): ChainReader & { runs(): Promise<RunSummary[]> } {
  const { engine, mirrors, dictionary } = core
  const ofChain = core.ofChain.bind(core)
  return {
    runs: () => engine.read(() => runSummaries(core)),
    chainState: chain => engine.read(() => chainState(chain)),
    coverage: (chain, scopes, claimsMax) =>
      ofChain(chain, [], ordinal => coverage.coverageOf(ordinal, scopes, claimsMax)),
    contractCoverage: (chain, contract) => ofChain(chain, [], ordinal => coverage.contractCoverage(ordinal, contract)),
    blocksAround: (chain, timestamp) =>
      ofChain(chain, { before: undefined, after: undefined }, function* (ordinal) {
        return yield* blocksAround(yield* mirrors.renewed(ordinal), ordinal, timestamp)
      }),
    lowestBlock: (chain, { hash, ...interval }) =>
      ofChain(chain, undefined, function* (ordinal) {
        const mirror = yield* mirrors.renewed(ordinal)
        return hash === undefined
          ? yield* lowestBlockOf(mirror, ordinal, interval)
          : yield* blockWithHash(mirror, ordinal, hash, interval)
      }),
    goneBlock: (chain, hash) => ofChain(chain, undefined, ordinal => goneBlock(dictionary, ordinal, hash)),
    takenBack: chain => ofChain(chain, [], ordinal => takenBackOf(dictionary, ordinal)),
    pendingRanges: chain =>
      ofChain(chain, [], function* (ordinal) {
        const pending = yield* coverage.pendingOf(ordinal)
        return pending.map(({ hash, ...range }) => ({ ...range, hash: hexOf<Hash>(hash) }))
      }),
    hotBlocks: chain =>
      ofChain(chain, [], function* (ordinal) {
        return yield* commits.hotBlocks(ordinal, (yield* chainRow(ordinal)).finalized)
      }),
    watchedContracts: chain => ofChain(chain, [], coverage.watchedContracts),
    contractsOf: (chain, after, limit) => contractsOf(core, chain, after, limit),
  }
}

/** A contract whose rows are gone keeps its number. Counts may lack rows that a check has to find. */
async function contractsOf(core: Core, chain: ChainId, after: Address | undefined, limit: number): Promise<Address[]> {
  const { engine, dictionary } = core
  const found: Address[] = []
  for (let last = after; ; ) {
    const page = await engine.read(function* () {
      const ordinal = yield* dictionary.ordinalOf(chain)
      return ordinal === undefined ? [] : [...(yield* dictionary.contractsOf(ordinal, last, limit)).keys()]
    })
    for (const contract of page) {
      const newest = await transferReader(core).transferPage({ chain, contract, order: 'desc', limit: 1 })
      if (newest.length > 0) found.push(contract)
    }
    if (page.length < limit || found.length >= limit) return found.slice(0, limit)
    last = page.at(-1)
  }
}

function transferReader(core: Core): TransferReader {
  const { engine, dictionary } = core
  const numbersOf = function* (
    chain: ChainId,
    contract: Address,
  ): Work<{ chain: number; contract: number } | undefined> {
    const ordinal = yield* dictionary.ordinalOf(chain)
    const number = ordinal === undefined ? undefined : yield* dictionary.contractOf(ordinal, contract)
    return number === undefined ? undefined : { chain: ordinal!, contract: number }
  }
  return {
    transferPage: query =>
      engine.read(function* () {
        const of = yield* numbersOf(query.chain, query.contract)
        return of === undefined ? emptyPage : yield* transferPage(core, of, query)
      }),
    async transferCount(range) {
      const of = await engine.read(() => numbersOf(range.chain, range.contract))
      return of === undefined ? 0 : await transferCount(core, of, range)
    },
  }
}

function activityReader(core: Core): ActivityReader {
  const { engine, dictionary } = core
  return {
    activityOf: address => engine.read(() => activityOf(core, address)),
    async activityWithin(chain, interval, page) {
      const ordinal = await engine.read(() => dictionary.ordinalOf(chain))
      return ordinal === undefined ? [] : await activityWithin(core, ordinal, interval, page)
    },
  }
}

function indexReader(core: Core): IndexReader {
  const ofChain = core.ofChain.bind(core)
  return {
    indexRecords: query => ofChain(query.chain, noRecords, ordinal => indexRecords(core, ordinal, query)),
    oldestOfTokens: (chain, tokens, rangesOf) =>
      ofChain(chain, { records: tokens.map(() => undefined), withRanges: new Set() }, ordinal =>
        oldestOfTokens(core, ordinal, tokens, rangesOf),
      ),
    transfersAt: (chain, places) =>
      ofChain(chain, { ...emptyPage, contracts: [] }, ordinal => transfersAt(core, ordinal, places)),
    rowState: chain => ofChain(chain, { indexes: [], takenBack: 0, filled: 0 }, rowState),
  }
}

/** Of `by_token` keys are given and answered without the number of the contract. */
function* indexRecords(core: Core, chain: number, query: IndexQuery): Work<IndexRecords> {
  const view = indexOf(query.index)
  const { order, limit, after } = query
  const isOfContract = view.keysBeginWith === 'contract'
  const contract = isOfContract ? yield* core.dictionary.contractOf(chain, query.contract!) : undefined
  if (limit <= 0 || (isOfContract && contract === undefined)) return noRecords
  const span = spanOf(query, after)
  if (span === undefined) return noRecords
  const stored = (key: Uint8Array): Uint8Array => (contract === undefined ? key : withContract(contract, key))
  const walk = { view, chain, contract, order, limit, from: stored(span.from), to: stored(span.to) }
  const found = yield* inMoment(core.mirrors, chain, mirror => readRecords(walk, mirror))
  const { length, keys, values, valueEnds } = found
  const contracts = new Set<number>()
  if (view.contractAt !== undefined)
    for (let at = 0; at < length; at++) contracts.add(wordAt(values, (valueEnds[at - 1] ?? 0) + view.contractAt))
  return {
    ...{ length, values, valueEnds },
    keys: contract === undefined ? keys : withoutContract(keys, length),
    contracts: yield* core.dictionary.addressesOf(contracts),
  }
}

function spanOf(
  { from, to, order }: IndexQuery,
  after: Uint8Array | undefined,
): Pick<IndexQuery, 'from' | 'to'> | undefined {
  if (after === undefined) return { from, to }
  const next = neighbour(after, order === 'keys' ? 1 : -1)
  if (next === undefined) return undefined
  const [low, high] =
    order === 'keys'
      ? [Buffer.compare(next, from) > 0 ? next : from, to]
      : [from, Buffer.compare(next, to) < 0 ? next : to]
  return Buffer.compare(low, high) > 0 ? undefined : { from: low, to: high }
}

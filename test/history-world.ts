// One simulated chain in each form in which history comes, an index of it from the sources that are named, and all that
// a store holds in the end as text, whichever engine and sources it comes from.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Chain, ChainTable, defineChain, ethereumHeaders } from '../src/chains.ts'
import { wholeCoverage } from '../src/coverage.ts'
import { createEvm, type Evm, type EvmChainSettings, type EvmStatus } from '../src/evm/create-evm.ts'
import { DecodePool } from '../src/evm/source/decode-pool.ts'
import { createLog } from '../src/log.ts'
import { type Address, type ChainId, type CoveredInterval, chainScopes, type Interval } from '../src/model.ts'
import type { SourceStatus } from '../src/status.ts'
import { recentBlock } from '../src/store/core/recent-block.ts'
import { openStore, openStoreParts } from '../src/store/open.ts'
import { type PackedActivity, unpackActivity } from '../src/store/packed-activity.ts'
import type { PartRow, ReadableName } from '../src/store/parts.ts'
import type { Claim } from '../src/store/store.ts'
import { patienceMs } from './evm-harness.ts'
import { SimChain } from './sim/chain.ts'
import type { SimChainOptions } from './sim/options.ts'

/** Every type of transaction, with real hashes, roots and signatures; all of it is final. */
export function signedChain(options: Partial<SimChainOptions> = {}): SimChain {
  const chain = new SimChain({
    ...{ seed: 21, chainId: 31_337, height: 160, hashes: 'real', signed: true, types: [0, 1, 2, 3, 4] },
    ...{ transactionsPerBlock: 5, logsPerCall: 2, contracts: 12, emptyEvery: 9, finalityDepth: 0 },
    ...{ mergedAt: 50, deploymentSpan: 40 },
    ...options,
  })
  // A node is asked about every block; the hashes build on each other.
  chain.hashOf(chain.head)
  return chain
}

export function chainOf(id: number): Chain {
  const known = defineChain({ name: 'sim', id })
  return { ...known, finalityDepth: 0, finalDepthMin: 0, quirks: { headers: ethereumHeaders } }
}

export type SourceNames = Partial<
  Pick<EvmChainSettings, 'rpc' | 'history' | 'portal' | 'historySummaries' | 'anchor' | 'backfill' | 'views'>
> & {
  from?: number
}

type SimStatus = EvmStatus[string]

/** For all indexes of a process: it starts when the first of them needs it, and ends with the process. */
const decoder = new DecodePool({ threads: 2 })
/** What is added or fails is looked at again at once. */
const pace = { historyCheckMs: 100, retryDelayMs: { first: 50, max: 500 }, portalRequestsPerSecond: 1_000 }

/** An index of one chain that runs until it is closed. */
export class HistoryIndex {
  readonly #chain: Chain
  readonly #evm: Evm
  readonly #close: () => Promise<void>

  private constructor(chain: Chain, evm: Evm, close: () => Promise<void>) {
    this.#chain = chain
    this.#evm = evm
    this.#close = close
  }

  static async open(chain: Chain, url: string, sources: SourceNames): Promise<HistoryIndex> {
    const store = await openStore(url, { role: 'owner' })
    const log = createLog({ level: (process.env.ALMANAC_TEST_LOG as 'debug' | undefined) ?? 'silent', format: 'text' })
    const settings = { [chain.name]: settingsOf(sources) }
    const parts = { chains: new ChainTable([chain]), store, log, pageSizeMax: 100, decoder, pace }
    const evm = createEvm({ settings, ...parts })
    return new HistoryIndex(chain, evm, async () => {
      await evm.close()
      await store.close()
    })
  }

  async status(): Promise<SimStatus> {
    return (await this.#evm.status())[this.#chain.name]!
  }

  async sources(): Promise<readonly SourceStatus[]> {
    const status = await this.status()
    return ('sources' in status ? status.sources : undefined) ?? []
  }

  metrics(): Promise<string> {
    return this.#evm.metrics()
  }

  configure(sources: SourceNames): Promise<void> {
    return this.#evm.configure({ [this.#chain.name]: settingsOf(sources) })
  }

  /** Waits until the status is as wanted, and returns it. Patience begins anew with each step ahead. */
  async until(isWanted: (status: SimStatus) => boolean): Promise<SimStatus> {
    let deadline = Date.now() + patienceMs
    for (let left: number | undefined; ; ) {
      const status = await this.status()
      if (isWanted(status)) return status
      if (status.blocks_left !== left) deadline = Date.now() + patienceMs
      left = status.blocks_left
      if (Date.now() > deadline)
        throw new Error(`not there: ${JSON.stringify({ ...status, covered: status.covered.slice(0, 9) })}`)
      await delay(20)
    }
  }

  /** Until nothing is missing up to a head. */
  complete(head: number): Promise<SimStatus> {
    return this.until(status => status.state === 'live' && status.complete && status.head === head)
  }

  close(): Promise<void> {
    return this.#close()
  }
}

function settingsOf({ from = 0, rpc = [], ...sources }: SourceNames): EvmChainSettings {
  return { index: 'full', from, contracts: [], rpc, ...sources }
}

/** Indexes until nothing is missing up to the head. Returns what the index says of itself then. */
export async function indexAll(
  chain: Chain,
  head: number,
  url: string,
  sources: SourceNames,
): Promise<{ status: SimStatus; sources: readonly SourceStatus[]; metrics: string }> {
  const index = await HistoryIndex.open(chain, url, sources)
  try {
    const status = await index.complete(head)
    return { status, sources: await index.sources(), metrics: await index.metrics() }
  } finally {
    await index.close()
  }
}

export type Dump = {
  transfers: string[]
  /** The first and the last transaction of every address. */
  activity: string[]
  /** Those that have transfers. */
  blocks: string[]
  /** Of transfers, by contract. */
  counts: string[]
  coverage: Record<'full' | 'transfers', Interval[]>
  pending: number
}

/** What a store holds of its one chain; evidence, names of contracts, and what is hot or cold aside. */
export async function dumpOf(url: string, chain: ChainId): Promise<Dump> {
  const parts = await openStoreParts(url)
  const store = await openStore(url, { role: 'tool' })
  try {
    const read = async (...names: ReadableName[]): Promise<PartRow[]> => {
      const rows: PartRow[] = []
      for (const name of names)
        for (let cursor: string | undefined; ; ) {
          const page = await parts.readPart(name, cursor, 10_000)
          rows.push(...page.rows)
          if (page.next === undefined) break
          cursor = page.next
        }
      return rows
    }
    const contracts = new Map((await read('contracts')).map(([id, , address]) => [id, shown(address)]))
    const recent = await read('recent_blocks')
    const inRecent = recent.flatMap(([, number, hash, timestamp, packed]) => {
      const block = recentBlock([[number, 0, hash, timestamp, packed]])
      return block.transfers().map(transfer => {
        const { contract, block, transactionIndex, logIndex, batchIndex, payload } = transfer
        return [contract, block, transactionIndex, logIndex, batchIndex, payload, timestamp!, hash!]
      })
    })
    const transfers = [...(await read('transfers')), ...inRecent].map(([contract, ...row]) => [
      contracts.get(contract!),
      ...row,
    ])
    const withRows = new Set(transfers.map(([, block]) => block))
    const line = (row: readonly unknown[]): string => row.map(shown).join(' ')
    const addresses = new Set([
      ...(await read('activity')).map(([address]) => `0x${shown(address)}`),
      ...recent.flatMap(each => unpackActivity(each[5] as PackedActivity).map(({ address }) => address)),
    ])
    const activity = [...addresses].map(async address =>
      JSON.stringify((await store.activityOf(address as Address)).get(chain)),
    )
    // A contract whose rows were taken back keeps its number.
    const counted = new Set(transfers.map(([contract]) => contract))
    const counts = [...contracts.values()].map(async contract => {
      const count = await store.transferCount({ chain, contract: `0x${contract}` as Address })
      return count === 0 && !counted.has(contract) ? [] : [line([contract, count])]
    })
    return {
      transfers: transfers.map(line).sort(),
      activity: (await Promise.all(activity)).sort(),
      blocks: [
        ...(await read('blocks')),
        ...recent.map(([of, number, hash, timestamp]) => [of, number, timestamp, hash]),
      ]
        .flatMap(([, ...block]) => (withRows.has(block[0]!) ? [line(block)] : []))
        .sort(),
      counts: (await Promise.all(counts)).flat().sort(),
      coverage: coverageOf(await store.coverage(chain, chainScopes)),
      pending: (await read('pending_ranges')).length,
    }
  } finally {
    await store.close()
    await parts.close()
  }
}

function shown(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
}

function coverageOf(claims: readonly Claim[]): Dump['coverage'] {
  const joined = (scope: 'full' | 'transfers'): Interval[] => {
    const found: Interval[] = []
    for (const { from, to } of wholeCoverage(claims, scope)) {
      const last = found.at(-1)
      if (last?.to === from - 1) last.to = to
      else found.push({ from, to })
    }
    return found
  }
  return { full: joined('full'), transfers: joined('transfers') }
}

/** What is claimed, with its evidence as it is stored. */
export async function claimsOf(url: string, chain: ChainId): Promise<Claim[]> {
  const store = await openStore(url, { role: 'tool' })
  try {
    return await store.coverage(chain, chainScopes)
  } finally {
    await store.close()
  }
}

/** The evidence of transfers, block by block, in runs. */
export function evidenceOf(claims: Claim[]): CoveredInterval[] {
  return wholeCoverage(claims, 'transfers')
}

/** A folder that is removed at the end. */
export function temporaryFolder(cleanups: (() => unknown)[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-history-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

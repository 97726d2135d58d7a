// Watches the status, keeps a short history of it, and sends listeners what changed. It knows no HTTP and no keys.
import { blockCount, wholeCoverage } from '../coverage.ts'
import { AlmanacError } from '../errors.ts'
import { type Block, type CoveredInterval, isContractScope, type ShownEvidence, shownEvidence } from '../model.ts'
import { oneFlight } from '../once.ts'
import { judge } from '../query/findings.ts'
import type { Problem } from '../query/problems.ts'
import type { ChainStatus, LivePast, LiveSample, StatusReport } from '../status.ts'
import type { Store, StoreInfo } from '../store/store.ts'
import { wholeScopeOf } from '../views.ts'
import type { ApiWatch } from './live-api.ts'
import { LiveHistory, liveSample, type Requests } from './live-history.ts'
import type { LiveApi, LiveBlock, LiveChain, LiveStatus } from './operator-schemas.ts'
import { codeOf } from './problem.ts'

export type LiveEvent =
  | { name: 'history'; data: LivePast }
  | { name: 'status'; data: LiveStatus }
  | { name: 'sample'; data: LiveSample }
  | { name: 'block'; data: LiveBlock }
  | { name: 'trouble'; data: { message: string } }

export type LiveFeedOptions = {
  status: () => Promise<StatusReport>
  store: Pick<Store, 'info'>
  /** Coverage of some contracts of a chain. Absent: none is shown. */
  contractsOf?: (chain: string, intervalsMax: number) => Promise<ChainStatus['covered']>
  /** The stored blocks of a chain that are not final. Absent: none is shown. */
  hotBlocksOf?: (chain: string) => Promise<readonly Block[]>
  /** How many transfers a stored block has; undefined where the chain keeps nothing that tells it. */
  transfersIn?: (chain: string, block: number) => Promise<number | undefined>
  /** What `/ready` names as wrong. Absent: nothing is. */
  problemsOf?: (report: StatusReport) => Promise<Problem[]>
  /** Absent: nothing is shown of the API. */
  api?: ApiWatch | undefined
  /** Its chains are local ones that a sandbox made. */
  sandbox?: boolean
  version: string
  /** How often it looks while there are listeners. */
  lookEveryMs?: number
  /** How often a sample is added to the history, with or without listeners. */
  sampleEveryMs?: number
  samplesMax?: number
  listenersMax?: number
  /** Of one key or one address. As many places are kept free for keys. */
  listenersEachMax?: number
}

const defaults = {
  lookEveryMs: 1_000,
  sampleEveryMs: 5_000,
  samplesMax: 720,
  listenersMax: 64,
  listenersEachMax: 16,
}

/** Who listens, so that one alone cannot take all places: a key or, where none is needed, an address. */
export type ListenerOwner = { key: string } | { address: string }

type Listener = { owner: ListenerOwner; hear: (event: LiveEvent) => void; end: () => void }

export class LiveFeed {
  readonly #options: LiveFeedOptions & typeof defaults
  readonly #history: LiveHistory
  readonly #listeners = new Set<Listener>()
  readonly #timer: NodeJS.Timeout
  /** Of the newest blocks of each chain, by their hash. */
  readonly #transfers = new Map<string, ReadonlyMap<string, number | undefined>>()
  readonly #requests: Requests = new Map()
  /** One look at a time: a slow store is not asked again before it answers. */
  readonly #look = oneFlight(() => this.#lookOnce())
  #sampledMs = Number.NEGATIVE_INFINITY
  #published: LiveStatus | undefined
  #closed = false

  constructor(options: LiveFeedOptions) {
    this.#options = { ...defaults, ...options }
    this.#history = new LiveHistory(this.#options.samplesMax)
    this.#timer = setInterval(() => this.#tick(), this.#options.lookEveryMs).unref()
  }

  /** Starts with the history and the present state. The result stops listening; `end` is called when the feed ends. */
  listen(listener: Listener): () => void {
    if (this.#closed) throw new AlmanacError('interrupted', 'The service is stopping')
    this.#checkRoom(listener.owner)
    this.#listeners.add(listener)
    listener.hear({ name: 'history', data: this.#history.past() })
    void this.#look()
    return () => this.#listeners.delete(listener)
  }

  #checkRoom(owner: ListenerOwner): void {
    const { listenersMax, listenersEachMax } = this.#options
    const full = (message: string) => new AlmanacError('overloaded', message, { retryAfterMs: 10_000 })
    const listenersMaxOf = 'key' in owner ? listenersMax : listenersMax - listenersEachMax
    if (this.#listeners.size >= listenersMaxOf) throw full(`The live feed is full (${listenersMaxOf} clients)`)
    const own = [...this.#listeners].filter(other => nameOf(other.owner) === nameOf(owner))
    if (own.length >= listenersEachMax) throw full(`One client listens ${listenersEachMax} times already`)
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    for (const { end } of this.#listeners) end()
  }

  #tick(): void {
    if (this.#listeners.size > 0 || this.#isSampleDue()) void this.#look()
  }

  #isSampleDue(): boolean {
    // A timer that fires a little early must not skip a sample.
    return performance.now() - this.#sampledMs >= this.#options.sampleEveryMs - this.#options.lookEveryMs / 2
  }

  async #lookOnce(): Promise<void> {
    const { status, store, version, sandbox, problemsOf, api } = this.#options
    try {
      const [report, info] = await Promise.all([status(), store.info()])
      const atMs = Date.now()
      const isHeard = this.#listeners.size > 0
      const [chains, recent, problems, figures] = await Promise.all([
        isHeard ? this.#withContracts(report.chains) : report.chains,
        isHeard ? this.#recentBlocks(report.chains) : undefined,
        isHeard ? problemsOf?.(report) : undefined,
        isHeard ? api?.look() : undefined,
      ])
      const told = { store: info, version, sandbox, atMs, recent, problems, api: figures }
      const next = liveStatus({ report: { ...report, chains }, ...told })
      this.#publishBlocks(next)
      this.#publish({ name: 'status', data: next })
      this.#published = next
      if (!this.#isSampleDue()) return
      this.#sampledMs = performance.now()
      const { at, values } = liveSample(report, atMs, this.#requests)
      const sample = { at, values: [...(api?.sample() ?? []), ...values] }
      this.#history.add(sample)
      this.#publish({ name: 'sample', data: sample })
    } catch (error) {
      this.#publish({ name: 'trouble', data: { message: `The status cannot be read (${codeOf(error)}).` } })
    }
  }

  /** The report leaves contracts out. Those that are shown are read here, and no more of them. */
  async #withContracts(chains: StatusReport['chains']): Promise<StatusReport['chains']> {
    const { contractsOf } = this.#options
    if (contractsOf === undefined) return chains
    const entries = Object.entries(chains).map(async ([name, chain]) => {
      const covered = chain.contracts ? await contractsOf(name, contractsMax) : chain.covered
      return [name, { ...chain, covered }] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  }

  async #recentBlocks(chains: StatusReport['chains']): Promise<LiveFacts['recent']> {
    const { hotBlocksOf } = this.#options
    if (hotBlocksOf === undefined) return undefined
    const entries = Object.keys(chains).map(
      async name => [name, await this.#counted(name, await hotBlocksOf(name))] as const,
    )
    return Object.fromEntries(await Promise.all(entries))
  }

  /** Only the newest are counted, each of them once. What could not be told as the service started may be told now. */
  async #counted(name: string, blocks: readonly Block[]): Promise<RecentBlocks> {
    const { transfersIn } = this.#options
    const before = this.#transfers.get(name)
    const counted = new Map<string, number | undefined>()
    let isTold = transfersIn !== undefined
    for (const { number, hash } of blocks.slice(-countedMax)) {
      const transfers = before?.get(hash) ?? (isTold ? await transfersIn?.(name, number) : undefined)
      isTold = transfers !== undefined
      counted.set(hash, transfers)
    }
    this.#transfers.set(name, counted)
    return blocks.map(({ number, hash, timestamp }) => {
      const transfers = counted.get(hash)
      return { number, hash, timestamp, ...(transfers === undefined ? {} : { transfers }) }
    })
  }

  #publishBlocks(next: LiveStatus): void {
    for (const [chain, { head }] of Object.entries(next.chains)) {
      if (this.#published !== undefined && this.#published.chains[chain]?.head !== head)
        this.#publish({ name: 'block', data: { chain, number: head } })
    }
    for (const [network, { slot }] of Object.entries(next.solana)) {
      if (this.#published !== undefined && this.#published.solana[network]?.slot !== slot)
        this.#publish({ name: 'block', data: { chain: `solana ${network}`, number: slot } })
    }
  }

  #publish(event: LiveEvent): void {
    for (const { hear } of this.#listeners) hear(event)
  }
}

function nameOf(owner: ListenerOwner): string {
  return 'key' in owner ? `key ${owner.key}` : `address ${owner.address}`
}

// The state as the feed sends it: the report of the indexers, cut to a size that can be sent every second. Pure.

/** Only the longest intervals are sent; the counts of blocks stay exact. */
const intervalsMax = 200
const contractsMax = 100

type RecentBlocks = NonNullable<LiveChain['recent']>

export type LiveFacts = {
  report: StatusReport
  store: StoreInfo
  version: string
  sandbox?: boolean | undefined
  atMs: number
  /** Blocks that are not final, lowest first, by the name of the chain. */
  recent?: Readonly<Record<string, RecentBlocks>> | undefined
  problems?: readonly Problem[] | undefined
  api?: LiveApi | undefined
}

export function liveStatus(facts: LiveFacts): LiveStatus {
  const { report, store, version, sandbox, atMs, recent, problems = [], api } = facts
  return {
    at: atMs,
    version,
    ...(sandbox ? { sandbox } : {}),
    store: shownStore(store),
    problems,
    ...judge({ ...report, store: shownStore(store), problems, api }),
    ...(api === undefined ? {} : { api }),
    chains: Object.fromEntries(
      Object.entries(report.chains).map(([name, chain]) => [
        name,
        { ...liveChain(chain), ...recentOf(recent?.[name]) },
      ]),
    ),
    solana: { ...report.solana },
  }
}

/** Enough of the newest blocks to see which were replaced, and enough of a hash to tell two blocks apart. */
const recentMax = 24
const countedMax = 10
const hashLength = 18

function recentOf(blocks: RecentBlocks = []): Pick<LiveChain, 'recent'> {
  if (blocks.length === 0) return {}
  return {
    recent: blocks.slice(-recentMax).map(block => ({ ...block, hash: block.hash.slice(0, hashLength) })),
  }
}

export function shownStore({ engine, location, schemaVersion, ...sizes }: StoreInfo) {
  return {
    ...{ engine, location, schema_version: schemaVersion },
    size_bytes: sizes.sizeBytes,
    used_bytes: sizes.usedBytes,
    bytes_max: sizes.bytesMax ?? null,
    full_in_seconds: sizes.fullInSeconds ?? null,
  }
}

function liveChain({ covered, contracts: total, ...chain }: ChainStatus): LiveChain {
  const byScope = Map.groupBy(covered, ({ scope }) => scope)
  const whole = wholeCoverage(covered, wholeScopeOf(chain.views))
  const full = whole.length > 0 ? whole : (byScope.get('watched') ?? [])
  const contracts = [...byScope].filter(([scope]) => isContractScope(scope))
  const newest = (intervals: readonly CoveredInterval[]) => Math.max(...intervals.map(({ to }) => to))
  const shown = contracts
    .sort(([, a], [, b]) => newest(b) - newest(a))
    .slice(0, contractsMax)
    .map(([contract, intervals]) => ({ contract, ...liveCoverage(intervals) }))
  const transfers = blockCount(wholeCoverage(covered, 'transfers'))
  const ahead = transfers > blockCount(whole) ? { transfers_blocks: transfers } : {}
  return { ...chain, coverage: liveCoverage(full), ...ahead, contracts: { total: total ?? contracts.length, shown } }
}

function liveCoverage(kept: readonly CoveredInterval[]): LiveChain['coverage'] {
  const covered = kept.map(({ from, to, evidence }) => ({ from, to, evidence: shownEvidence(evidence) }))
  const blocks: Partial<Record<ShownEvidence, number>> = {}
  for (const { from, to, evidence } of covered) blocks[evidence] = (blocks[evidence] ?? 0) + to - from + 1
  const longest =
    covered.length <= intervalsMax
      ? covered
      : covered.sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, intervalsMax)
  return { intervals: longest.sort((a, b) => a.from - b.from), intervals_total: covered.length, blocks }
}

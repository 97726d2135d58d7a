// The packs of runs as the core asks for them (`../core/work.ts`): they are read when a walk comes to them. Callers
// hold the snapshot.
import type {
  LooksAsk,
  LooksBatch,
  RecordsAsk,
  RecordsBatch,
  RunPacks,
  SpansAsk,
  SpansBatch,
  WalletAsk,
  WalletBatch,
} from '../core/work.ts'
import { indexViews } from '../indexes/all-indexes.ts'
import { activityView } from '../runs/activity-view.ts'
import { hasMember } from '../runs/members.ts'
import { compareKeys } from '../runs/pack.ts'
import { transferView } from '../runs/transfer-view.ts'
import type { IndexView, View } from '../runs/view.ts'
import type { Connection } from './connection.ts'

type Run = { id: number; chain: number; from: number; to: number; records: number }

/**
 * The runs of views as a connection knows them. One that reads alone reads them again after commits of others; which
 * contracts a run has never changes and is read once.
 */
class RunList {
  readonly #read: Connection
  readonly #isReader: boolean
  readonly #byView = new Map<View, { version: unknown; runs: Run[] }>()
  readonly #members = new Map<number, Uint8Array>()

  constructor(read: Connection, isReader: boolean) {
    this.#read = read
    this.#isReader = isReader
  }

  all(view: View): readonly Run[] {
    // Commits of the connection itself do not change the version.
    const version = this.#isReader ? this.#read.get('PRAGMA data_version')![0] : Symbol('unknown')
    const known = this.#byView.get(view)
    if (known?.version === version) return known!.runs
    const find = 'SELECT id, chain, from_block, to_block, records FROM runs WHERE slot = 0 AND view = ? ORDER BY id'
    const runs = this.#read
      .all(find, view.id)
      .map(([id, chain, from, to, records]) => ({ id, chain, from, to, records }) as Run)
    this.#byView.set(view, { version, runs })
    if (this.#members.size > membersMax) this.#members.clear()
    return runs
  }

  of(view: View, chain: number, contract: number | undefined): Run[] {
    const ofChain = this.all(view).filter(run => run.chain === chain)
    return contract === undefined ? ofChain : ofChain.filter(({ id }) => hasMember(this.#membersOf(id), contract))
  }

  #membersOf(run: number): Uint8Array {
    let members = this.#members.get(run)
    if (members === undefined) {
      members = this.#read.get('SELECT contracts FROM runs WHERE slot = 0 AND id = ?', run)![0] as Uint8Array
      this.#members.set(run, members)
    }
    return members
  }
}

const membersMax = 1_000

const ofRun = 'FROM packs WHERE slot = 0 AND run = ?1'
const packUpTo = `SELECT bytes ${ofRun} AND key <= ?2 ORDER BY key DESC LIMIT 1`
/** Of several runs. */
const packsUpTo = `SELECT bytes FROM json_each(?1) AS asked CROSS JOIN packs ON packs.rowid =
  (SELECT rowid FROM packs WHERE slot = 0 AND run = asked.value AND key <= ?2 ORDER BY key DESC LIMIT 1)`
const packsFrom = `AND key >= coalesce((SELECT key ${ofRun} AND key <= ?2 ORDER BY key DESC LIMIT 1), ?2)`
// With a bare parameter as the limit SQLite plans a statement again at each call: 31 µs instead of 11.
const walks = {
  keys: {
    first: `SELECT bytes ${ofRun} ${packsFrom} AND key <= ?4 ORDER BY key LIMIT ?3 + 0`,
    next: `SELECT bytes ${ofRun} AND key > ?2 AND key <= ?4 ORDER BY key LIMIT ?3 + 0`,
  },
  back: {
    first: `SELECT bytes ${ofRun} AND key <= ?2 ORDER BY key DESC LIMIT ?3 + 0`,
    next: `SELECT bytes ${ofRun} AND key < ?2 ORDER BY key DESC LIMIT ?3 + 0`,
  },
}

const allRuns = { from: 0, to: Number.POSITIVE_INFINITY }

/** Packs read at once, and after the first ones. */
const packsAhead = 8
const packsOnward = 4

function packsFor({ limit, view }: RecordsAsk): number {
  return Math.min(packsAhead, 1 + Math.ceil(limit / perPackOf(view)))
}

function isOverlapping(a: Run, b: Run): boolean {
  return a.from <= b.to && b.from <= a.to
}

function perPackOf(view: View): number {
  return view === transferView ? 24 : 64
}

const findKept = `SELECT 1 FROM chain_indexes WHERE chain = ? AND view = ? AND kept = 1 AND phase IS NOT 'remove'`

export class PackReads {
  readonly #read: Connection
  readonly #known: RunList
  /** Of the walk under way. */
  #runs: readonly Run[] = []

  constructor(read: Connection, isReader: boolean) {
    this.#read = read
    this.#known = new RunList(read, isReader)
  }

  #changesOf(chain: number): number {
    return (this.#read.get('SELECT changes FROM chains WHERE ordinal = ?', chain)?.[0] as number | undefined) ?? -1
  }

  #isKept(view: View, chain: number): boolean {
    if (!indexViews.includes(view as IndexView)) return true
    return this.#read.get(findKept, chain, view.id) !== undefined
  }

  /** Where a walk meets runs in the order of their blocks it gets them one by one, and may not need them all. */
  records(ask: RecordsAsk): RecordsBatch {
    const { chain, view } = ask
    if (ask.runsGiven === 0) this.#runs = this.#runsOf(ask)
    const changes = this.#changesOf(chain)
    const isKept = this.#isKept(view, chain)
    const runs = this.#runs
    if (!ask.isOneSubject) {
      // As if records lay evenly. There are none where a merge has only its run left.
      const records = Math.max(
        1,
        runs.reduce((sum, run) => sum + run.records, 0),
      )
      const packs = (run: Run): number => 1 + Math.floor((ask.limit * run.records) / records / perPackOf(view))
      return { changes, isKept, runs: runs.map(run => this.#packsOf(ask, run, Math.min(packs(run), packsAhead))) }
    }
    const [run, next] = [runs[ask.runsGiven], runs[ask.runsGiven + 1]]
    const nextBlock = ask.order === 'keys' ? next?.to : next?.from
    // Where the blocks of runs overlap most runs give few records.
    const packs = next === undefined || (nextBlock !== undefined && !isOverlapping(run!, next)) ? packsFor(ask) : 1
    return { changes, isKept, runs: run === undefined ? [] : [this.#packsOf(ask, run, packs)], nextBlock }
  }

  #runsOf({ chain, view, contract, isOneSubject, order, blocks }: RecordsAsk): readonly Run[] {
    const all = this.#known.of(view, chain, contract)
    if (!isOneSubject) return all
    const some = all.filter(run => run.from <= blocks.to && run.to >= blocks.from)
    return some.sort(order === 'keys' ? (a, b) => b.to - a.to : (a, b) => a.from - b.from)
  }

  #packsOf({ order, first, last }: RecordsAsk, { id }: Run, expected: number): RunPacks {
    const read = this.#read
    // Backwards the last pack begins before the last key.
    const bounds = order === 'keys' ? [last] : []
    let ahead = read.all(walks[order].first, id, first, expected, ...bounds) as unknown as StoredPack[]
    let at = 0
    return {
      next(packKey) {
        if (at === ahead.length && at > 0) {
          ahead = read.all(walks[order].next, id, packKey(), packsOnward, ...bounds) as unknown as StoredPack[]
          at = 0
        }
        return ahead[at++]?.[0]
      },
      isCut: false,
    }
  }

  looks({ chain, view, looks, runs: some = allRuns }: LooksAsk): LooksBatch {
    const packs: LooksBatch['packs'] = []
    const beyond = new Map<number, number>()
    for (const [contract, its] of Map.groupBy(looks.keys(), at => looks[at]!.contract)) {
      const runs = this.#known.of(view, chain, contract).sort((a, b) => a.from - b.from)
      const left = runs[some.to]
      if (left !== undefined) beyond.set(contract, left.from)
      const looked = runs.slice(some.from, some.to)
      for (const at of its) {
        const { key, blocks } = looks[at]!
        const ids = looked.filter(({ from, to }) => from <= blocks.to && to >= blocks.from).map(({ id }) => id)
        if (ids.length === 0) continue
        for (const [bytes] of this.#read.all(packsUpTo, JSON.stringify(ids), key))
          packs.push({ looks: [at], bytes: bytes as Uint8Array })
      }
    }
    return { changes: this.#changesOf(chain), isKept: this.#isKept(view, chain), packs, beyond }
  }

  spans({ chain, contract, spans, packsMax }: SpansAsk): SpansBatch {
    const find = `SELECT key, bytes ${ofRun} ${packsFrom} AND key <= ?3 ORDER BY key LIMIT ?4 + 0`
    const found = spans.map(({ view, from, to }) => {
      const runs = this.#known.of(view, chain, contract)
      const limit = Math.min(packsMax + 1, 2 ** 31)
      const packs = runs.flatMap(({ id }) => this.#read.all(find, id, from, to, limit) as [Uint8Array, Uint8Array][])
      packs.sort(([a], [b]) => compareKeys(a, b))
      return { packs: packs.slice(0, packsMax).map(([, bytes]) => bytes), horizon: packs[packsMax]?.[0] }
    })
    return { changes: this.#changesOf(chain), spans: found }
  }

  wallet({ key }: WalletAsk): WalletBatch {
    const packs = this.#known.all(activityView).flatMap(({ id, chain }) => {
      const row = this.#read.get(packUpTo, id, key)
      return row === undefined ? [] : [{ chain, bytes: row[0] as Uint8Array }]
    })
    const changes = this.#read.all('SELECT ordinal, changes FROM chains') as [number, number][]
    return { changes: new Map(changes), packs }
  }
}

type StoredPack = [bytes: Uint8Array<ArrayBuffer>]

// The records of an index as the core asks for them (`../../core/disk.ts`): rows of the table, and packs of runs, which
// are read when a walk comes to them. Callers hold the snapshot.
import type { RecordRows, RecordsAsk, RecordsBatch, RunPacks } from '../../core/disk.ts'
import type { Connection } from '../connection.ts'
import type { KnownRun, KnownRuns } from '../runs/known-runs.ts'
import { packsAhead, packsFrom } from '../runs/runs.ts'

const ofRun = {
  keys: {
    first: `SELECT bytes ${packsFrom} LIMIT ?3`,
    next: 'SELECT bytes FROM pack_keys JOIN packs ON id = pack WHERE run = ? AND key > ? ORDER BY key LIMIT ?',
  },
  back: {
    first:
      'SELECT bytes FROM pack_keys CROSS JOIN packs ON id = pack WHERE run = ? AND key <= ? ORDER BY key DESC LIMIT ?',
    next: 'SELECT bytes FROM pack_keys CROSS JOIN packs ON id = pack WHERE run = ? AND key < ? ORDER BY key DESC LIMIT ?',
  },
}

/** Of most indexes. */
const recordsPerPack = 64

/** Of one walk. Where it meets runs in the order of their blocks it gets them one by one, and may not need them all. */
export function recordBatches(read: Connection, known: KnownRuns): (ask: RecordsAsk) => RecordsBatch {
  let runs: readonly KnownRun[] = []
  return ask => {
    if (ask.runsGiven === 0) runs = runsOf(read, known, ask)
    const rows = ask.runsGiven === 0 ? rowsOf(read, ask) : []
    if (!ask.isOneSubject) {
      const records = runs.reduce((sum, run) => sum + run.records, 0)
      // As if records lay evenly.
      const packs = (run: KnownRun): number => 1 + Math.floor((ask.limit * run.records) / records / recordsPerPack)
      return { rows, runs: runs.map(run => packsOf(read, ask, run, Math.min(packs(run), packsAhead))) }
    }
    const [run, next] = [runs[ask.runsGiven], runs[ask.runsGiven + 1]]
    const nextBlock = ask.order === 'keys' ? next?.to : next?.from
    return { rows, runs: run === undefined ? [] : [packsOf(read, ask, run, 1)], nextBlock }
  }
}

function runsOf(read: Connection, known: KnownRuns, ask: RecordsAsk): KnownRun[] {
  const { chain, contract, isOneSubject, order, blocks } = ask
  const all =
    contract === undefined ? known.all(read).filter(run => run.chain === chain) : known.ofContract(read, contract)
  if (!isOneSubject) return all
  const some = all.filter(run => run.from <= blocks.to && run.to >= blocks.from)
  return some.sort(order === 'keys' ? (a, b) => b.to - a.to : (a, b) => a.from - b.from)
}

type StoredPack = [bytes: Uint8Array<ArrayBuffer>]

function packsOf(read: Connection, { order, first }: RecordsAsk, run: KnownRun, expected: number): RunPacks {
  let ahead = read.all(ofRun[order].first, run.id, first, expected) as unknown as StoredPack[]
  let at = 0
  return {
    next(packKey) {
      if (at === ahead.length && at > 0) {
        ahead = read.all(ofRun[order].next, run.id, packKey(), packsAhead) as unknown as StoredPack[]
        at = 0
      }
      return ahead[at++]?.[0]
    },
    isCut: false,
  }
}

// node:sqlite pays for each value that it hands over: all rows are three.
function tableSql(direction: 'ASC' | 'DESC'): string {
  return `SELECT CAST(group_concat(key, '') AS BLOB), CAST(group_concat(value, '') AS BLOB), group_concat(length(value))
    FROM (SELECT key, value FROM view_records WHERE view = ? AND chain = ? AND key BETWEEN ? AND ?
      ORDER BY key ${direction} LIMIT ? + 0)`
}

const ofTable = { keys: tableSql('ASC'), back: tableSql('DESC') }

function rowsOf(read: Connection, { view, chain, order, first, last, limit }: RecordsAsk): RecordRows[] {
  const span = order === 'keys' ? [first, last] : [last, first]
  const [keys, values, lengths] = read.get(ofTable[order], view.id, chain, ...span, limit) as [
    ...[Uint8Array | null, Uint8Array, string],
  ]
  return keys === null ? [] : [{ keys, values, lengths: lengths.split(',').map(Number) }]
}

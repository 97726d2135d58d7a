// The recent blocks of a chain as a process that answers keeps them in memory, and how they are renewed: one statement
// reads the chain's row and the parts that are newer than what is known.
//
// A mirror never changes: an answer that began with one ends with it. What is stored of recent blocks is always part of
// what the last mirror and the newer parts have together, so where there are as many parts, they are the same.

import { hexOf } from '../../hex.ts'
import type { Block, Hash, Interval } from '../../model.ts'
import { SortedRecords } from '../indexes/sorted-records.ts'
import { compareKeys } from '../runs/pack.ts'
import { type BlockPart, blockParts, hashOf, RecentBlock } from './recent-block.ts'
import { noRows, type RecordRows } from './record-sources.ts'
import { type RecordsAsk, rows, type Work } from './work.ts'

export class Mirror {
  /** The count of the chain's changes that it is of. */
  readonly changes: number
  /** Blocks up to it are in runs, and none above. */
  readonly fold: number
  /** Lowest first. */
  readonly blocks: readonly RecentBlock[]

  constructor(state: Pick<Mirror, 'changes' | 'fold' | 'blocks'>) {
    this.changes = state.changes
    this.fold = state.fold
    this.blocks = state.blocks
  }

  /** Those of an interval. */
  within({ from, to }: Interval): readonly RecentBlock[] {
    return this.blocks.slice(this.#firstFrom(from), this.#firstFrom(to + 1))
  }

  #firstFrom(number: number): number {
    let [low, high] = [0, this.blocks.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.blocks[middle]!.number < number) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The records that a walk wants of recent blocks, in its order. */
  records(ask: RecordsAsk): RecordRows {
    if (this.blocks.length === 0) return noRows
    const found = new SortedRecords(ask.view)
    const blocks = ask.isOneSubject ? this.within(ask.blocks) : this.blocks
    // Keys of one subject are in the order of blocks, newest first.
    for (let at = 0; at < blocks.length; at++) {
      blocks[ask.order === 'keys' ? blocks.length - 1 - at : at]!.addRecords(ask, found)
      if (ask.isOneSubject && found.length >= ask.limit) break
    }
    return inOrder(found.sort(), ask)
  }

  countOf(contract: number, interval: Interval): number {
    return this.within(interval).reduce((sum, block) => sum + block.countOf(contract), 0)
  }
}

function inOrder(found: SortedRecords, { order, limit, view: { keyBytes } }: RecordsAsk): RecordRows {
  const length = Math.min(found.length, limit)
  const ranks = Array.from({ length }, (_, at) => (order === 'keys' ? at : found.length - 1 - at))
  const values = ranks.map(rank => found.valueAt(rank))
  const keys = new Uint8Array(length * keyBytes)
  for (const [at, rank] of ranks.entries()) keys.set(found.keyAt(rank), at * keyBytes)
  return { keys, values: Buffer.concat(values), lengths: values.map(value => value.length) }
}

export function blockOf({ number, hash, timestamp }: RecentBlock): Block {
  return { number, hash: hexOf<Hash>(hash), timestamp }
}

/** Bounds what is in memory beside the mirror. */
const partsPerRead = 200
// One statement, because the row and the parts are of one moment. A part that comes meanwhile has a higher count than
// all others, so batches in this order miss none.
const renewSql = `SELECT changes, fold, tip, parts, number, part, hash, timestamp, transfers, wallets, change
  FROM chains LEFT JOIN (SELECT * FROM recent_blocks WHERE chain = $1 AND (change, number, part) > ($2, $3, $4)
    ORDER BY change, number, part LIMIT ${partsPerRead}) AS newer ON true WHERE ordinal = $1
  ORDER BY change, number, part`

/** Before the first change. */
const nothing = new Mirror({ changes: -1, fold: -1, blocks: [] })

export class Mirrors {
  readonly #known = new Map<number, Mirror>()

  /** As it was last read. */
  last(chain: number): Mirror {
    return this.#known.get(chain) ?? nothing
  }

  *renewed(chain: number): Work<Mirror> {
    const known = this.last(chain)
    let mirror = yield* this.#read(chain, known)
    // Parts are gone that no newer ones replace: a branch with fewer blocks, or one that was stored before.
    for (let attempt = 0; mirror === undefined && attempt < 3; attempt++) mirror = yield* this.#read(chain, nothing)
    if (mirror === undefined) throw new Error(`The recent blocks of chain ${chain} are not what its row says.`)
    if (mirror.changes > this.last(chain).changes || mirror.changes < known.changes) this.#known.set(chain, mirror)
    return mirror
  }

  *#read(chain: number, known: Mirror): Work<Mirror | undefined> {
    const newer: BlockPart[] = []
    let state: { changes: number; fold: number; tip: number; parts: number }
    for (let after = [known.changes, -1, -1], isMore = true; isMore; ) {
      const read = yield* rows(renewSql, chain, ...after)
      if (read.length === 0) return nothing
      const [changes, fold, tip, parts] = read[0]!
      if (changes < known.changes) return undefined
      state = { changes, fold, tip, parts }
      const stored = read.filter(([, , , , number]) => number !== null).map(columns => columns.slice(4))
      newer.push(...blockParts(stored))
      isMore = stored.length === partsPerRead
      const [number, part, , , , , change] = stored.at(-1) ?? []
      after = [change, number, part]
    }
    const { changes, fold, tip, parts } = state!
    const blocks = new Map<number, RecentBlock>()
    for (const block of known.blocks) if (block.number > fold && block.number <= tip) blocks.set(block.number, block)
    for (const [number, its] of Map.groupBy(newer, part => part.number)) {
      if (number <= fold || number > tip) continue
      blocks.set(number, newestBlock([...(blocks.get(number)?.parts ?? []), ...its]))
    }
    const all = [...blocks.values()].sort((a, b) => a.number - b.number)
    const count = all.reduce((sum, block) => sum + block.parts.length, 0)
    return count === parts ? new Mirror({ changes, fold, blocks: all }) : undefined
  }
}

/** Of parts in the order in which they came: another block may have had the number before. */
function newestBlock(parts: readonly BlockPart[]): RecentBlock {
  const hash = hashOf(parts.at(-1)!)
  const its = new Map(parts.filter(part => compareKeys(hashOf(part), hash) === 0).map(part => [part.part, part]))
  return new RecentBlock([...its.values()].sort((a, b) => a.part - b.part) as [BlockPart, ...BlockPart[]])
}

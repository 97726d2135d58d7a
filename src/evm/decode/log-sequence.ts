// Puts logs in chain order and reads their places once. It repairs what nodes do to order and numbering and counts logs
// without a place; it looks into topics and data only to tell two logs at one place apart.
//
// The order is (block, transaction index, log index). Real nodes deviate in three ways:
//
// - The same log twice, or logs in any order. Equal logs at one place are one log; the rest is sorted.
// - Log indexes that restart with every transaction (Besu until 2022, early Ethermint, Erigon's state-sync logs) or
//   repeat in other ways. If the sequence holds *every* log of its blocks, such a block is renumbered from 0 by order,
//   as other clients of that chain number it, so rows keep their identity when another endpoint is read. If only some
//   logs were asked for, the count is unknown: the numbers stay, and the transaction index keeps rows apart.
// - Different logs at one (block, transaction, log index). Nothing tells which was first, so they are ordered by
//   content, which is the same from every endpoint; `decode.ts` continues the batch index over them.
import { quantityOf } from '../../hex.ts'
import type { RpcLog } from '../rpc/port.ts'

export type LogSequence = {
  readonly length: number
  readonly logs: readonly RpcLog[]
  readonly blocks: Float64Array
  readonly transactionIndexes: Uint32Array
  readonly logIndexes: Uint32Array
  /** Blocks whose logs were renumbered. */
  readonly renumbered: ReadonlySet<number>
  /** Pending logs, and logs whose place cannot be read. */
  readonly unplaced: number
  /** Logs that the node marks as removed by a reorganisation. */
  readonly removed: number
  /** Logs that came more than once. */
  readonly repeated: number
}

/** `complete`: the logs are all logs of their blocks. */
export function sequenceLogs(given: readonly RpcLog[], { complete }: { complete: boolean }): LogSequence {
  const sequence = new Sequence(given.length)
  for (const log of given) sequence.add(log)
  if (!sequence.inOrder) sequence.repair(complete)
  return sequence
}

/** One sequence per block, for rising block numbers; logs of other blocks are strays. Counts stay with the whole. */
export function splitByBlock(whole: LogSequence, numbers: readonly number[]): { parts: LogSequence[]; strays: number } {
  let next = 0
  let strays = 0
  const parts = numbers.map((number): LogSequence => {
    for (; next < whole.length && whole.blocks[next]! < number; next++) strays++
    const start = next
    while (next < whole.length && whole.blocks[next] === number) next++
    return {
      length: next - start,
      logs: whole.logs.slice(start, next),
      blocks: whole.blocks.subarray(start, next),
      transactionIndexes: whole.transactionIndexes.subarray(start, next),
      logIndexes: whole.logIndexes.subarray(start, next),
      renumbered: whole.renumbered,
      ...{ unplaced: 0, removed: 0, repeated: 0 },
    }
  })
  return { parts, strays: strays + whole.length - next }
}

const indexMax = 2 ** 31 - 1

// Number arrays instead of an object per log: a range holds a hundred thousand logs.
class Sequence implements LogSequence {
  length = 0
  logs: RpcLog[] = []
  blocks: Float64Array
  transactionIndexes: Uint32Array
  logIndexes: Uint32Array
  renumbered = new Set<number>()
  unplaced = 0
  removed = 0
  repeated = 0
  /** Every log comes after the one before, with a higher log index within a block. */
  inOrder = true

  constructor(capacity: number) {
    this.blocks = new Float64Array(capacity)
    this.transactionIndexes = new Uint32Array(capacity)
    this.logIndexes = new Uint32Array(capacity)
  }

  add(log: RpcLog): void {
    if (typeof log !== 'object' || log === null) {
      this.unplaced++
      return
    }
    if (log.removed !== undefined && log.removed !== null && log.removed !== false) {
      this.removed++
      return
    }
    const block = quantityOf(log.blockNumber, Number.MAX_SAFE_INTEGER)
    const transactionIndex = quantityOf(log.transactionIndex, indexMax)
    const logIndex = quantityOf(log.logIndex, indexMax)
    if (block < 0 || transactionIndex < 0 || logIndex < 0) {
      this.unplaced++
      return
    }
    const at = this.length++
    this.logs.push(log)
    this.blocks[at] = block
    this.transactionIndexes[at] = transactionIndex
    this.logIndexes[at] = logIndex
    if (at > 0 && !this.#follows(at)) this.inOrder = false
  }

  #follows(at: number): boolean {
    if (this.blocks[at]! !== this.blocks[at - 1]!) return this.blocks[at]! > this.blocks[at - 1]!
    return (
      this.transactionIndexes[at]! >= this.transactionIndexes[at - 1]! &&
      this.logIndexes[at]! > this.logIndexes[at - 1]!
    )
  }

  repair(complete: boolean): void {
    const { logs, blocks, transactionIndexes, logIndexes } = this
    const place = (a: number, b: number): number =>
      blocks[a]! - blocks[b]! ||
      transactionIndexes[a]! - transactionIndexes[b]! ||
      logIndexes[a]! - logIndexes[b]! ||
      compareLogs(logs[a]!, logs[b]!)
    const order = Array.from({ length: this.length }, (_, at) => at).sort(place)
    const kept = order.filter((at, rank) => rank === 0 || place(order[rank - 1]!, at) !== 0)
    this.repeated = order.length - kept.length
    this.length = kept.length
    this.logs = kept.map(at => logs[at]!)
    this.blocks = Float64Array.from(kept, at => blocks[at]!)
    this.transactionIndexes = Uint32Array.from(kept, at => transactionIndexes[at]!)
    this.logIndexes = Uint32Array.from(kept, at => logIndexes[at]!)
    if (complete) this.#renumber()
  }

  #renumber(): void {
    let start = 0
    while (start < this.length) {
      let end = start + 1
      let rising = true
      for (; end < this.length && this.blocks[end] === this.blocks[start]; end++) rising &&= this.#follows(end)
      if (!rising) {
        this.renumbered.add(this.blocks[start]!)
        for (let at = start; at < end; at++) this.logIndexes[at] = at - start
      }
      start = end
    }
  }
}

function compareLogs(a: RpcLog, b: RpcLog): number {
  return (
    compareText(a.address, b.address) ||
    compareText(String(a.topics), String(b.topics)) ||
    compareText(a.data, b.data) ||
    compareText(a.transactionHash, b.transactionHash) ||
    compareText(a.blockHash, b.blockHash)
  )
}

function compareText(a: unknown, b: unknown): number {
  const left = typeof a === 'string' ? a : ''
  const right = typeof b === 'string' ? b : ''
  return left === right ? 0 : left < right ? -1 : 1
}

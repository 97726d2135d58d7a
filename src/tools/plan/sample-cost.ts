// Estimates what reading a history will cost by reading small parts of it with the source of the job itself. It stores
// nothing; the number of samples and of calls, and the target size of answers, bound its own cost.
import type { Chain } from '../../chains.ts'
import { blockCount } from '../../coverage.ts'
import { MeteredRpc } from '../../evm/rpc/chain-rpc.ts'
import { RangeRefused, type RpcPort } from '../../evm/rpc/port.ts'
import type { DecodedRange } from '../../evm/source/chain-source.ts'
import { FullSource } from '../../evm/source/full-source.ts'
import {
  historySizes,
  type PieceReader,
  RangeSize,
  type RangeSizeOptions,
  readPiece,
  readPieces,
} from '../../evm/source/range-size.ts'
import { WatchedSource } from '../../evm/source/watched-source.ts'
import type { Address, Interval } from '../../model.ts'
import { unpackActivity } from '../../store/packed-activity.ts'
import type { WholeScope } from '../../views.ts'
import { BlockRow } from './block-row.ts'

export type SampleOptions = {
  chain: Chain
  rpc: RpcPort
  intervals: readonly Interval[]
  /** Undefined: whole blocks. */
  contract: Address | undefined
  /** What whole blocks are read for. */
  scope?: WholeScope
  /** Stretches of the history to read. */
  samples: number
  /** About how many calls all of them take at most. */
  callsMax: number
  random?: () => number
  /** Called after each. */
  onSample?: ((done: number, of: number) => void) | undefined
}

export type CostEstimate = {
  blocks: number
  blocksSampled: number
  calls: number
  bytes: number
  transfers: number
  /** Blocks that hold a transfer. */
  transferBlocks: number
  addresses: number
  seconds: number
}

export const nothing: CostEstimate = {
  ...{ blocks: 0, blocksSampled: 0, calls: 0, bytes: 0 },
  ...{ transfers: 0, transferBlocks: 0, addresses: 0, seconds: 0 },
}

/** Answers until the range size has settled; it grows at most eightfold per step. */
const settlingMax = 8
/** A sample has at least these: the logs of a contract take two calls, and what they name takes more. */
const sampleCallsMin = 16
/** What a range of a contract takes however small it is: its logs, and the header of its last block. */
const contractRangeCalls = 2
/** A stretch that takes this many times the calls of a sample is read in smaller pieces. */
const denseTimes = 4

/** Ranges so small that each takes few calls. It learns how many a block takes. */
class SampleSize extends RangeSize {
  readonly callsMax: number
  #callsPerBlock = 2
  #learned = false

  constructor(sizes: RangeSizeOptions, callsMax: number) {
    super(sizes)
    this.callsMax = callsMax
  }

  override get blocks(): number {
    return Math.max(1, Math.min(super.blocks, Math.floor(this.callsMax / this.#callsPerBlock)))
  }

  /** What an index run would ask for at once. */
  get usualBlocks(): number {
    return super.blocks
  }

  /** The first range also finds out what the endpoints offer. */
  took(calls: number, blocks: number): void {
    if (this.#learned) this.#callsPerBlock = calls / blocks
    this.#learned = true
  }
}

/** Refuses a range before it has taken too many calls. */
class SampleMeter extends MeteredRpc {
  readonly #callsMax: number
  #before = 0

  constructor(rpc: RpcPort, callsMax: number) {
    super(rpc)
    this.#callsMax = callsMax
  }

  /** Counts for the next range from here on. */
  begin(): void {
    this.#before = this.calls
  }

  /** Of this range. */
  get taken(): number {
    return this.calls - this.#before
  }

  protected override admit(calls: number): void {
    if (this.taken > 0 && this.taken + calls > this.#callsMax)
      throw new RangeRefused('too-dense', `The range takes more than ${this.#callsMax} calls.`)
  }
}

export async function estimateCost(options: SampleOptions, signal: AbortSignal): Promise<CostEstimate> {
  const { intervals, contract, random = Math.random } = options
  const row = new BlockRow(intervals)
  const blocks = row.count
  if (blocks === 0) return nothing
  const sizes = contract === undefined ? historySizes.full : historySizes.contract
  const sampleCalls = Math.max(sampleCallsMin, Math.floor(options.callsMax / options.samples))
  const rangeSize = new SampleSize(sizes, sampleCalls)
  const readers = Array.from({ length: sizes.parallel }, () => meteredReader(options, rangeSize))
  await settleSize(row, readers[0]!, random, signal)
  // A history that fits into the samples is read whole, and nothing is guessed.
  const whole = blocks <= options.samples * rangeSize.blocks
  const count = whole ? Math.ceil(blocks / rangeSize.blocks) : options.samples
  const strata = row.strata(count)
  // Each reader learns what the endpoints offer before the clock starts. One block says nothing about sizes.
  const [last] = row.at({ from: blocks - 1, to: blocks - 1 }) as [Interval]
  const unlearned = (reader: MeteredReader): PieceReader => ({
    ...reader,
    rangeSize: new SampleSize(sizes, sampleCalls),
  })
  await Promise.all(readers.slice(1, count).map(reader => readPiece(last, unlearned(reader), signal)))
  const startedAt = performance.now()
  const measured: Measured[] = []
  await Promise.all(
    readers.slice(0, count).map(async reader => {
      for (let part = strata.pop(); part !== undefined; part = strata.pop())
        options.onSample?.(
          measured.push(await measure({ row, part }, reader, whole ? undefined : random, signal)),
          count,
        )
    }),
  )
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  const sum = (of: (sample: Measured) => number): number => measured.reduce((total, sample) => total + of(sample), 0)
  const scaled = (field: 'calls' | 'bytes' | 'transfers' | 'transferBlocks'): number =>
    Math.round(sum(sample => sample[field] * sample.weight))
  // Samples are smaller than the ranges of an index run, so what each of those takes counts apart.
  const rangeCalls = whole || contract === undefined ? 0 : contractRangeCalls
  const inRanges = Math.round(sum(sample => Math.max(0, sample.calls - rangeCalls) * sample.weight))
  const calls = inRanges + rangeCalls * Math.ceil(blocks / rangeSize.usualBlocks)
  return {
    blocks,
    blocksSampled: sum(sample => sample.blocks),
    calls,
    bytes: scaled('bytes'),
    transfers: scaled('transfers'),
    transferBlocks: scaled('transferBlocks'),
    addresses: distinctAddresses(measured),
    seconds:
      (elapsedSeconds * calls) /
      Math.max(
        1,
        sum(sample => sample.calls),
      ),
  }
}

type MeteredReader = PieceReader & { meter: SampleMeter; rangeSize: SampleSize }

async function readSample(stretch: Interval, reader: MeteredReader, signal: AbortSignal): Promise<DecodedRange> {
  const range = await readPiece(stretch, reader, signal)
  reader.rangeSize.took(reader.meter.taken, blockCount([range.interval]))
  return range
}

/** Each reader has its own source, so that the costs of samples are not mixed. */
function meteredReader({ chain, rpc, contract, scope }: SampleOptions, rangeSize: SampleSize): MeteredReader {
  const meter = new SampleMeter(rpc, rangeSize.callsMax * denseTimes)
  const fetchRange = rangeFetcher(chain, meter, { contract, scope })
  return {
    ...{ meter, rangeSize },
    fetchRange: async (interval, signal) => {
      meter.begin()
      return await fetchRange(interval, signal)
    },
  }
}

function rangeFetcher(
  chain: Chain,
  rpc: RpcPort,
  { contract, scope }: { contract: Address | undefined; scope: WholeScope | undefined },
): PieceReader['fetchRange'] {
  if (contract === undefined) {
    const source = new FullSource(chain, rpc, undefined, { scope })
    return (interval, signal) => source.range(interval, 'range', signal)
  }
  const source = new WatchedSource(chain, rpc)
  return (interval, signal) => source.contractRange(contract, interval, signal)
}

async function settleSize(
  row: BlockRow,
  reader: MeteredReader,
  random: () => number,
  signal: AbortSignal,
): Promise<void> {
  for (let answers = 0; answers < settlingMax; answers++) {
    const before = reader.rangeSize.blocks
    const start = Math.floor(random() * Math.max(1, row.count + 1 - before))
    const [stretch] = row.at({ from: start, to: row.count - 1 }) as [Interval]
    await readSample(stretch, reader, signal)
    const after = reader.rangeSize.blocks
    if (after < before * 1.5 || before >= row.count) return
  }
}

type Measured = {
  /** How many blocks each block of the sample stands for. */
  weight: number
  addresses: readonly Address[]
  blocks: number
  calls: number
  bytes: number
  transfers: number
  transferBlocks: number
}

/** Reads one piece at a random place, which stands for the whole part, or the whole part. */
async function measure(
  { row, part }: { row: BlockRow; part: Interval },
  reader: MeteredReader,
  random: (() => number) | undefined,
  signal: AbortSignal,
): Promise<Measured> {
  const before = { calls: reader.meter.calls, bytes: reader.meter.bytes }
  const pieces: DecodedRange[] = []
  if (random === undefined)
    for (const stretch of row.at(part))
      for await (const piece of readPieces(stretch, reader, signal)) pieces.push(piece)
  else {
    const room = Math.max(0, blockCount([part]) - reader.rangeSize.blocks)
    const from = part.from + Math.floor(random() * (room + 1))
    const [stretch] = row.at({ from, to: part.to }) as [Interval]
    pieces.push(await readSample(stretch, reader, signal))
  }
  const blocks = blockCount(pieces.map(piece => piece.interval))
  const transfers = pieces.flatMap(piece => piece.transfers)
  return {
    blocks,
    weight: blockCount([part]) / blocks,
    // Of a sample, without the ranges before it that were too dense: those of an index run are not.
    calls: random === undefined ? reader.meter.calls - before.calls : reader.meter.taken,
    bytes: reader.meter.bytes - before.bytes,
    transfers: transfers.length,
    transferBlocks: new Set(transfers.map(row => row.block)).size,
    addresses: pieces.flatMap(piece => unpackActivity(piece.activity).map(row => row.address)),
  }
}

/**
 * Estimates the distinct addresses of a history from samples. Scaling up counts an address again wherever it comes
 * back; the repeats among samples (Chao's estimator for incidence) miss those that were active only in between. The
 * lower is closer.
 */
export function distinctAddresses(samples: readonly Pick<Measured, 'addresses' | 'weight'>[]): number {
  const seen = new Map<Address, number>()
  let scaled = 0
  for (const { addresses, weight } of samples) {
    const distinct = new Set(addresses)
    for (const address of distinct) seen.set(address, (seen.get(address) ?? 0) + 1)
    scaled += distinct.size * weight
  }
  if (samples.every(({ weight }) => weight === 1)) return seen.size
  let once = 0
  let twice = 0
  for (const count of seen.values()) {
    if (count === 1) once++
    if (count === 2) twice++
  }
  const unseen = (once * (once - 1)) / (2 * (twice + 1))
  return Math.round(Math.max(seen.size, Math.min(scaled, seen.size + unseen)))
}

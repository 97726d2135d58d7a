// Estimates what reading a history will cost by reading small parts of it with the source of the job itself. It stores
// nothing; the number of samples and the target size of answers bound its own cost.
import type { Chain } from '../../chains.ts'
import { blockCount } from '../../coverage.ts'
import type { Address, Interval } from '../../model.ts'
import { unpackActivity } from '../../store/packed-activity.ts'
import type { WholeScope } from '../../views.ts'
import { MeteredRpc } from '../rpc/chain-rpc.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { FullSource } from '../source/full-source.ts'
import { historySizes, type PieceReader, RangeSize, readPiece, readPieces } from '../source/range-size.ts'
import { WatchedSource } from '../source/watched-source.ts'
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
const settlingMax = 5

export async function estimateCost(options: SampleOptions, signal: AbortSignal): Promise<CostEstimate> {
  const { intervals, contract, random = Math.random } = options
  const row = new BlockRow(intervals)
  const blocks = row.count
  if (blocks === 0) return nothing
  const sizes = contract === undefined ? historySizes.full : historySizes.contract
  const rangeSize = new RangeSize(sizes)
  const readers = Array.from({ length: sizes.parallel }, () => meteredReader(options, rangeSize))
  await settleSize(row, readers[0]!, random, signal)
  // A history that fits into the samples is read whole, and nothing is guessed.
  const whole = blocks <= options.samples * rangeSize.blocks
  const count = whole ? Math.ceil(blocks / rangeSize.blocks) : options.samples
  const strata = row.strata(count)
  // Each reader learns what the endpoints offer before the clock starts. One block says nothing about sizes.
  const [last] = row.at({ from: blocks - 1, to: blocks - 1 }) as [Interval]
  const unlearned = (reader: MeteredReader): PieceReader => ({ ...reader, rangeSize: new RangeSize(sizes) })
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
  const calls = scaled('calls')
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

type MeteredReader = PieceReader & { meter: MeteredRpc }

/** Each reader has its own source, so that the costs of samples are not mixed. */
function meteredReader({ chain, rpc, contract, scope }: SampleOptions, rangeSize: RangeSize): MeteredReader {
  const meter = new MeteredRpc(rpc)
  if (contract === undefined) {
    const source = new FullSource(chain, meter, undefined, { scope })
    return { meter, rangeSize, fetchRange: (interval, signal) => source.range(interval, 'range', signal) }
  }
  const source = new WatchedSource(chain, meter)
  return { meter, rangeSize, fetchRange: (interval, signal) => source.contractRange(contract, interval, signal) }
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
    await readPiece(stretch, reader, signal)
    const after = reader.rangeSize.blocks
    if (after < before * 2 || before >= row.count) return
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
    pieces.push(await readPiece(stretch, reader, signal))
  }
  const blocks = blockCount(pieces.map(piece => piece.interval))
  const transfers = pieces.flatMap(piece => piece.transfers)
  return {
    blocks,
    weight: blockCount([part]) / blocks,
    calls: reader.meter.calls - before.calls,
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

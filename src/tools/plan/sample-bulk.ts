// Estimates what history from files or a portal will cost, by reading small parts of it with the source itself. It
// stores nothing; senders are recovered in few blocks alone, because that takes most of the time.
import { blockCount } from '../../coverage.ts'
import type { BulkSource } from '../../evm/source/bulk-source.ts'
import type { DecodedRange } from '../../evm/source/chain-source.ts'
import type { Address, Interval } from '../../model.ts'
import { unpackActivity } from '../../store/packed-activity.ts'
import type { WholeScope } from '../../views.ts'
import { BlockRow } from './block-row.ts'
import { type CostEstimate, distinctAddresses, nothing } from './sample-cost.ts'

export type BulkSampleOptions = {
  source: BulkSource
  /** Blocks that it holds. */
  intervals: readonly Interval[]
  scope: WholeScope
  /** Stretches of the history to read. */
  samples: number
  random?: () => number
  /** Called after each. */
  onSample?: ((done: number, of: number) => void) | undefined
}

/** `seconds`: by the source alone, as it answers now; 0 for files, which the machine bounds. */
export type BulkEstimate = CostEstimate & {
  transactions: number
  logs: number
  /** By the samples. */
  bytesRead: number
}

/** A history of no more blocks for each sample is read whole. */
const blocksWhole = 16
const atOnce = { files: 1, portal: 4 }
/** A history with so few transactions has all its senders recovered; of others those of a few blocks a sample. */
const recoveredMax = 5_000
const blocksRecovered = 4

/** Fails with a SourceLost where the source loses what it is asked for. */
export async function estimateBulk(options: BulkSampleOptions, signal: AbortSignal): Promise<BulkEstimate> {
  const { source, intervals, scope, random = Math.random } = options
  const row = new BlockRow(intervals)
  if (row.count === 0) return { ...nothing, transactions: 0, logs: 0, bytesRead: 0 }
  // The first answer says how large the others may be.
  const last = row.at({ from: row.count - 1, to: row.count - 1 })[0]!.to
  if (source.kind === 'portal') await read(source, { from: last, to: last }, 'transfers', signal)
  const whole = row.count <= options.samples * Math.max(blocksWhole, source.blocksAt(last))
  const strata = row.strata(whole ? 1 : options.samples)
  // What is read for its senders is a sample of its own.
  const count = strata.length * (scope === 'full' ? 2 : 1)
  let done = 0
  const onSample = (): void => options.onSample?.(++done, count)
  const startedAt = performance.now()
  const samples: Sample[] = []
  const take = async (): Promise<void> => {
    for (let places = strata.pop(); places !== undefined; places = strata.pop()) {
      const ranges = whole
        ? await readAll(source, row.at(places), 'transfers', signal)
        : [await readOne(source, row.at(drawn(places, random)), signal)]
      const blocks = blockCount(ranges.map(({ interval }) => interval))
      samples.push({ ranges, weight: blockCount([places]) / blocks })
      onSample()
    }
  }
  await Promise.all(Array.from({ length: atOnce[source.kind] }, take))
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  const sum = (of: (range: DecodedRange) => number): number =>
    Math.round(samples.reduce((total, { ranges, weight }) => total + weight * ranges.reduce((t, r) => t + of(r), 0), 0))
  const ranges = samples.flatMap(sample => sample.ranges)
  const bytes = sum(range => range.bytes)
  const bytesRead = ranges.reduce((total, range) => total + range.bytes, 0)
  return {
    ...{ blocks: row.count, blocksSampled: blockCount(ranges.map(({ interval }) => interval)), calls: 0, bytes },
    bytesRead,
    transactions: sum(range => range.transactions ?? 0),
    logs: sum(range => range.logs),
    transfers: sum(range => range.transfers.length),
    transferBlocks: sum(({ transfers }) => new Set(transfers.map(({ block }) => block)).size),
    addresses: scope === 'full' ? distinctAddresses(await addressesOf(source, samples, onSample, signal)) : 0,
    seconds: source.kind === 'files' ? 0 : (elapsedSeconds * bytes) / Math.max(1, bytesRead),
  }
}

/** `weight`: how many blocks each block of the ranges stands for. */
type Sample = { ranges: DecodedRange[]; weight: number }

/** From a random place to the end. */
function drawn({ from, to }: Interval, random: () => number): Interval {
  return { from: from + Math.floor(random() * (to - from + 1)), to }
}

/** The first blocks of the first interval, as many as the source gives at once. */
async function readOne(source: BulkSource, [first]: Interval[], signal: AbortSignal): Promise<DecodedRange> {
  const { from, to } = first!
  const guess = Math.min(to, from + source.blocksAt(to) - 1)
  return await read(
    source,
    { from: Math.max(from, guess - source.blocksAt(guess) + 1), to: guess },
    'transfers',
    signal,
  )
}

/** All of the intervals, in pieces as the source gives them. */
async function readAll(
  source: BulkSource,
  intervals: readonly Interval[],
  scope: WholeScope,
  signal: AbortSignal,
): Promise<DecodedRange[]> {
  const ranges: DecodedRange[] = []
  const left = [...intervals]
  for (let interval = left.pop(); interval !== undefined; interval = left.pop()) {
    const { from, to } = interval
    const range = await read(source, { from: Math.max(from, to - source.blocksAt(to) + 1), to }, scope, signal)
    ranges.push(range)
    // It may give a part.
    if (range.interval.to < to) left.push({ from: range.interval.to + 1, to })
    if (range.interval.from > from) left.push({ from, to: range.interval.from - 1 })
  }
  return ranges
}

async function read(source: BulkSource, interval: Interval, scope: WholeScope, signal: AbortSignal) {
  signal.throwIfAborted()
  return await source.range(interval, { scope }, signal)
}

type Addresses = { addresses: Address[]; weight: number }

/** Who is active in the sampled blocks: in all of them where they are few, else in the highest of each range. */
async function addressesOf(
  source: BulkSource,
  samples: readonly Sample[],
  onSample: () => void,
  signal: AbortSignal,
): Promise<Addresses[]> {
  const transactions = samples.flatMap(({ ranges }) => ranges.map(range => range.transactions ?? 0))
  const isLittle = transactions.reduce((total, each) => total + each, 0) <= recoveredMax
  const found: Addresses[] = []
  for (const { ranges, weight } of samples) {
    const intervals = ranges.map(({ interval: { from, to } }) => {
      return { from: isLittle ? from : Math.max(from, to - blocksRecovered + 1), to }
    })
    const read = await readAll(source, intervals, 'full', signal)
    const addresses = read.flatMap(({ activity }) => unpackActivity(activity).map(({ address }) => address))
    const blocks = blockCount(ranges.map(({ interval }) => interval))
    found.push({ addresses, weight: (weight * blocks) / blockCount(intervals) })
    onSample()
  }
  return found
}

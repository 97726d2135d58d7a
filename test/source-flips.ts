// Altered files of history as the index meets them: whatever is changed in a file, its source gives the same blocks, or
// loses them; and a proof is lost, or stands for the same block.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Chain } from '../src/chains.ts'
import { fileSource } from '../src/evm/files/file-source.ts'
import { type BulkSource, SourceLost } from '../src/evm/source/bulk-source.ts'
import type { DecodedRange } from '../src/evm/source/chain-source.ts'
import { inlineDecoder } from '../src/evm/source/decode-pool.ts'
import { createLog } from '../src/log.ts'
import type { Interval } from '../src/model.ts'
import { withFile } from './history-flips.ts'
import { BeaconChain } from './history-proofs.ts'
import { chainOf, signedChain } from './history-world.ts'
import { exportChain } from './sim/export-files.ts'

const { signal } = new AbortController()
const log = createLog({ level: 'silent', format: 'text' })

export type SmallFile = { what: string; name: string; bytes: Buffer; chain: Chain; summaries: string | undefined }

/** Files of three blocks with every type of transaction and NFT transfers. What proves one is kept in the folder. */
export function smallFiles(folder: string): SmallFile[] {
  const shape = { height: 12, transactionsPerBlock: 5, emptyEvery: 0, mergedAt: 0, deploymentSpan: 6 }
  const interval = { from: 10, to: 12 }
  const [local, hoodi] = [signedChain(shape), signedChain({ ...shape, chainId: 560_048 })]
  const beacon = new BeaconChain(Array.from({ length: 13 }, (_, number) => hoodi.hashOf(number)))
  const summaries = join(folder, 'summaries.ssz')
  writeFileSync(summaries, beacon.summaries)
  const proven = exportChain(hoodi, interval, { folder, format: 'ere', network: 'hoodi', beacon })
  const plain = exportChain(local, interval, { folder, format: 'era1' })
  return [
    ...proven.map(file => ({ what: 'ere with proofs', ...file, chain: chainOf(560_048), summaries })),
    ...plain.map(file => ({ what: 'era1', ...file, chain: chainOf(local.options.chainId), summaries: undefined })),
  ].map(({ what, name, path, chain, summaries: given }) => {
    return { what, name, bytes: readFileSync(path), chain, summaries: given }
  })
}

/** What the source of an unaltered file gives, by interval. */
export class WholeFile {
  readonly #file: SmallFile
  readonly #known = new Map<string, DecodedRange>()

  constructor(file: SmallFile) {
    this.#file = file
  }

  /** Undefined where the file does not have these blocks. */
  async range(interval: Interval): Promise<DecodedRange | undefined> {
    const key = `${interval.from} ${interval.to}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    return await withSource(this.#file, this.#file.bytes, async source => {
      const [held] = source.holds
      if (held === undefined || held.from > interval.from || held.to < interval.to) return undefined
      const range = comparable(await source.range(interval, { scope: 'full' }, signal))
      this.#known.set(key, range)
      return range
    })
  }

  /** What an altered file gives other than it may; undefined if nothing. */
  async harmOf(altered: Uint8Array): Promise<string | undefined> {
    return await withSource(this.#file, altered, async source => {
      for (const { from, to } of source.holds) {
        for (let top = to; top >= from; ) {
          const given = await rangeBelow(source, { from, to: top })
          if (given === undefined) return undefined
          const harm = await this.#harmIn(given)
          if (harm !== undefined) return harm
          top = given.interval.from - 1
        }
        const anchor = await source.anchorIn({ from, to }, signal)
        const known = anchor && (await this.range({ from: anchor.number, to: anchor.number }))
        if (anchor !== undefined && anchor.hash !== known?.headers[0]?.hash)
          return `block ${anchor.number} is proven as another`
      }
      return undefined
    })
  }

  async #harmIn({ anchor, ...given }: DecodedRange): Promise<string | undefined> {
    const whole = await this.range(given.interval)
    const { from, to } = given.interval
    if (whole === undefined) return `it gives blocks ${from} to ${to}, which it does not have`
    const { anchor: expected, ...rest } = whole
    if (anchor !== undefined && anchor !== expected) return `block ${to} is an anchor`
    return isDeepStrictEqual(given, rest) ? undefined : `other rows would be stored of blocks ${from} to ${to}`
  }
}

async function rangeBelow(source: BulkSource, { from, to }: Interval): Promise<DecodedRange | undefined> {
  try {
    const asked = { from: Math.max(from, to - source.blocksAt(to) + 1), to }
    return comparable(await source.range(asked, { scope: 'full' }, signal))
  } catch (error) {
    if (error instanceof SourceLost) return undefined
    throw error
  }
}

/** Where an index is altered, blocks seem to be of another length. */
function comparable(range: DecodedRange): DecodedRange {
  return { ...range, bytes: 0 }
}

async function withSource<Result>(
  { name, chain, summaries }: SmallFile,
  bytes: Uint8Array,
  run: (source: BulkSource) => Promise<Result>,
): Promise<Result> {
  return await withFile(name, bytes, async path => {
    const given = { chain, decoder: inlineDecoder, log, paths: [path] }
    const source = fileSource({ ...given, summaries: summaries === undefined ? [] : [summaries] })
    try {
      await source.look(signal)
      return await run(source)
    } finally {
      await source.close()
    }
  })
}

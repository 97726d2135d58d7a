// Streams a snapshot archive into the store: token accounts, mints and metadata, with memory that does not grow with
// the archive. An interrupted import continues after the last committed file.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { createZstdDecompress } from 'node:zlib'
import { AlmanacError } from '../errors.ts'
import type { SolanaNetwork } from '../model.ts'
import { openSolanaStaging } from '../store/open.ts'
import type { SolanaStaging } from '../store/solana-store.ts'
import type { Store } from '../store/store.ts'
import { type AccountRows, addRows } from './account-rows.ts'
import { AppendVectorReader } from './append-vector.ts'
import { TarReader } from './tar.ts'

const commitRows = 50_000
const readBytes = 2 ** 20
const keyBytes = 32

export type ImportProgress = {
  bytesRead: number
  bytesTotal: number
  holdings: number
  mints: number
  skipped: number
}

export type SnapshotImport = {
  store: Store
  network: SolanaNetwork
  path: string
  onProgress?: (progress: ImportProgress) => void
  signal?: AbortSignal
}

/** From the name of an archive: `snapshot-<slot>-…` or `incremental-snapshot-<base>-<slot>-…`. */
export type SnapshotName = { slot: number; base: number | undefined }

export function parseSnapshotName(path: string): SnapshotName | undefined {
  const match = /^(?:incremental-snapshot-(\d{1,15})|snapshot)-(\d{1,15})-[1-9A-HJ-NP-Za-km-z]+\.tar\.zst$/.exec(
    basename(path),
  )
  if (match === null) return undefined
  return { slot: Number(match[2]), base: match[1] === undefined ? undefined : Number(match[1]) }
}

/** The slots of the snapshots that the store was filled from. */
export type ImportedSnapshots = { full: number; slot: number }

export function importedSnapshots(store: Store, network: SolanaNetwork): Promise<ImportedSnapshots | undefined> {
  return readCheckpoint(store, `solana.${network}.snapshot`)
}

async function readCheckpoint<T>(store: Store, name: string): Promise<T | undefined> {
  const text = await store.checkpoint(name)
  return text === undefined ? undefined : (JSON.parse(text) as T)
}

export async function importSnapshot(options: SnapshotImport): Promise<ImportProgress & { slot: number }> {
  const { store, network, path } = options
  const name = parseSnapshotName(path)
  if (name === undefined)
    throw new AlmanacError('bad_request', `${basename(path)} is not the name of a snapshot archive.`, {
      hint: 'keep the name given by the validator, such as snapshot-<slot>-<hash>.tar.zst.',
    })
  await requireBase(store, network, name)
  await requireRecent(store, network, name.slot)
  const staging = await openSolanaStaging(store, network)
  try {
    const progress = await new Importer(options, name, staging).run()
    await staging.merge({ slot: name.slot, whole: name.base === undefined })
    const imported: ImportedSnapshots = { full: name.base ?? name.slot, slot: name.slot }
    await store.putCheckpoint(`solana.${network}.snapshot`, JSON.stringify(imported))
    return { ...progress, slot: name.slot }
  } finally {
    await staging.close()
  }
}

async function requireBase(store: Store, network: SolanaNetwork, { base }: SnapshotName): Promise<void> {
  if (base === undefined) return
  const imported = await importedSnapshots(store, network)
  if (imported?.full === base) return
  const found = imported === undefined ? 'none was imported' : `the one of slot ${imported.full} was imported`
  throw new AlmanacError(
    'bad_request',
    `This incremental snapshot needs the full one of slot ${base}, but ${found} for ${network}.`,
    { hint: `import the full snapshot of slot ${base} first.` },
  )
}

class Importer {
  readonly #options: SnapshotImport
  readonly #staging: SolanaStaging
  readonly #archive: string
  readonly #progress: ImportProgress
  readonly #accounts = new AppendVectorReader(account => {
    addRows(this.#rows, account, this.#slot)
  })
  readonly #keys = new KeyArena()
  readonly #rows: AccountRows = { holdings: [], mints: [], readAtMs: Date.now(), copy: key => this.#keys.copy(key) }
  #slot = 0
  #files = 0
  #filesDone = 0

  constructor(options: SnapshotImport, name: SnapshotName, staging: SolanaStaging) {
    this.#options = options
    this.#staging = staging
    this.#archive = `${basename(options.path)} ${name.slot}`
    this.#progress = { bytesRead: 0, bytesTotal: 0, holdings: 0, mints: 0, skipped: 0 }
  }

  async run(): Promise<ImportProgress> {
    const { path, signal } = this.#options
    this.#progress.bytesTotal = (await stat(path)).size
    this.#filesDone = await this.#resume()
    const tar = new TarReader({ entry: name => this.#begin(name), bytes: piece => this.#accounts.push(piece) })
    const file = createReadStream(path, { highWaterMark: readBytes })
    const plain = file.pipe(createZstdDecompress({ chunkSize: readBytes }))
    file.on('data', chunk => {
      this.#progress.bytesRead += chunk.length
    })
    file.on('error', error => plain.destroy(error))
    try {
      for await (const chunk of plain) {
        tar.push(chunk as Buffer)
        if (this.#rows.holdings.length + this.#rows.mints.length >= commitRows) await this.#commit()
        if (signal?.aborted)
          throw new AlmanacError('interrupted', 'Import interrupted; run the same command to continue.')
      }
      tar.finish()
    } catch (error) {
      if (error instanceof AlmanacError) throw error
      const message = `The archive ${basename(path)} cannot be read.`
      throw new AlmanacError('bad_request', message, { cause: error, hint: 'fetch the archive again.' })
    } finally {
      file.destroy()
      plain.destroy()
    }
    await this.#commit()
    return this.#progress
  }

  /** How many of the archive's files are committed; rows of another archive are discarded. */
  async #resume(): Promise<number> {
    const checkpoint = await this.#staging.checkpoint()
    if (checkpoint === undefined) return 0
    const { archive, files } = JSON.parse(checkpoint) as { archive: string; files: number }
    if (archive === this.#archive) return files
    await this.#staging.discard()
    return 0
  }

  /** Files are named `accounts/<slot>.<id>` and have a fixed order, so counting them is enough to resume. */
  #begin(entry: string): boolean {
    const match = /^(?:\.\/)?accounts\/(\d+)\.\d+$/.exec(entry)
    if (match === null) return false
    this.#files++
    this.#slot = Number(match[1])
    this.#accounts.begin()
    return this.#files > this.#filesDone
  }

  /** A file may be committed in parts: the checkpoint counts those before it, and repeated rows are harmless. */
  async #commit(): Promise<void> {
    const { holdings, mints } = this.#rows
    const files = Math.max(this.#filesDone, this.#files - 1)
    await this.#staging.commit({ holdings, mints }, JSON.stringify({ archive: this.#archive, files }))
    this.#progress.holdings += holdings.length
    this.#progress.mints += mints.length
    this.#progress.skipped = this.#accounts.skipped
    this.#rows.holdings = []
    this.#rows.mints = []
    this.#options.onProgress?.(this.#progress)
  }
}

/** Copies of keys, side by side: an array for each would cost more. */
class KeyArena {
  #keys = Buffer.allocUnsafeSlow(keyBytes * 4_096)
  #used = 0

  copy(key: Uint8Array): Uint8Array {
    if (this.#used === this.#keys.length) {
      this.#keys = Buffer.allocUnsafeSlow(this.#keys.length)
      this.#used = 0
    }
    this.#keys.set(key, this.#used)
    this.#used += keyBytes
    return this.#keys.subarray(this.#used - keyBytes, this.#used)
  }
}

/** A slot may be reported before the last of its accounts, so a replay begins a little earlier. */
export const replaySlots = 32
/** Half a day. Closed accounts are remembered for a day: an older snapshot could bring one back. */
const snapshotAgeSlotsMax = 100_000

/** Every change of these slots, both included, is stored: what a feed delivered without a gap. */
export type FeedCoverage = { from: number; to: number }

export function feedCoverage(store: Store, network: SolanaNetwork): Promise<FeedCoverage | undefined> {
  return readCheckpoint(store, `solana.${network}.feed`)
}

export function putFeedCoverage(store: Store, network: SolanaNetwork, coverage: FeedCoverage): Promise<void> {
  return store.putCheckpoint(`solana.${network}.feed`, JSON.stringify(coverage))
}

/** Whether the feed continues a snapshot, which holds everything up to its slot. */
export function isBased(coverage: FeedCoverage, snapshotSlot: number | undefined): boolean {
  return snapshotSlot !== undefined && coverage.from <= snapshotSlot + 1
}

/** A stream may begin in the middle of its first slot. */
export function beginningAt(slot: number): FeedCoverage {
  return { from: slot + 1, to: slot }
}

/** Whether a stream that begins at this slot continues what is covered. */
export function joins(coverage: FeedCoverage | undefined, slot: number): boolean {
  return coverage !== undefined && coverage.from <= slot + 1 && slot <= coverage.to
}

/**
 * The slots at or before which a replay must begin, the best first. Where the feed does not reach back to the snapshot,
 * the changes since the snapshot are wanted, or at least those since the feed.
 */
export function replayCandidates(coverage: FeedCoverage | undefined, snapshotSlot: number | undefined): number[] {
  if (coverage === undefined) return snapshotSlot === undefined ? [] : [snapshotSlot]
  if (snapshotSlot === undefined) return [coverage.to]
  return isBased(coverage, snapshotSlot) ? [Math.max(coverage.to, snapshotSlot)] : [snapshotSlot, coverage.to]
}

/** Throws where a snapshot is so old that it could bring back accounts that the feed saw closed. */
async function requireRecent(store: Store, network: SolanaNetwork, snapshotSlot: number): Promise<void> {
  const coverage = await feedCoverage(store, network)
  if (coverage === undefined || coverage.to - snapshotSlot <= snapshotAgeSlotsMax) return
  throw new AlmanacError(
    'bad_request',
    `This snapshot is of slot ${snapshotSlot}, but the ${network} feed has stored slot ${coverage.to}: accounts closed since then could come back.`,
    { hint: `fetch a snapshot at most ${snapshotAgeSlotsMax} slots older than the feed.` },
  )
}

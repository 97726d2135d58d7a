// Streams a snapshot archive of a network into the store: token accounts, mints and metadata, with memory that does not
// grow with the archive. An import that was interrupted goes on after the last file that was committed.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { createZstdDecompress } from 'node:zlib'
import { AlmanacError } from '../errors.ts'
import type { SolanaNetwork } from '../model.ts'
import { openSolanaStaging, type SolanaStaging } from '../store/solana-staging.ts'
import type { HoldingUpdate, MintUpdate } from '../store/solana-store.ts'
import type { Store } from '../store/store.ts'
import { AppendVectorReader, type StoredAccount } from './append-vector.ts'
import { decodeMetadata, decodeMint, decodeTokenAccount, tokenProgramAddresses } from './decode.ts'
import { mintAccountOf } from './mints.ts'
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

/** What the names of archives say: `snapshot-<slot>-…` and `incremental-snapshot-<base>-<slot>-…`. */
export type SnapshotName = { slot: number; base: number | undefined }

export function parseSnapshotName(path: string): SnapshotName | undefined {
  const match = /^(?:incremental-snapshot-(\d{1,15})|snapshot)-(\d{1,15})-[1-9A-HJ-NP-Za-km-z]+\.tar\.zst$/.exec(
    basename(path),
  )
  if (match === null) return undefined
  return { slot: Number(match[2]), base: match[1] === undefined ? undefined : Number(match[1]) }
}

export function snapshotCheckpoint(network: SolanaNetwork): string {
  return `solana.${network}.snapshot`
}

/** The slots of the snapshots that the store was filled from. */
export type ImportedSnapshots = { full: number; slot: number }

export async function importedSnapshots(store: Store, network: SolanaNetwork): Promise<ImportedSnapshots | undefined> {
  const text = await store.checkpoint(snapshotCheckpoint(network))
  return text === undefined ? undefined : (JSON.parse(text) as ImportedSnapshots)
}

export async function importSnapshot(options: SnapshotImport): Promise<ImportProgress & { slot: number }> {
  const { store, network, path } = options
  const name = parseSnapshotName(path)
  if (name === undefined)
    throw new AlmanacError('bad_request', `${basename(path)} is no name of a snapshot archive.`, {
      hint: 'keep the name that the validator gave it, such as snapshot-<slot>-<hash>.tar.zst.',
    })
  await requireBase(store, network, name)
  await requireRecent(store, network, name.slot)
  const staging = openSolanaStaging(store, network)
  try {
    if (!staging.removes && name.base === undefined) await requireFirst(store, network)
    const progress = await new Importer(options, name, staging).run()
    await staging.merge({ slot: name.slot, whole: name.base === undefined })
    const imported: ImportedSnapshots = { full: name.base ?? name.slot, slot: name.slot }
    await store.putCheckpoint(snapshotCheckpoint(network), JSON.stringify(imported))
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
    `This incremental snapshot stands on the full one of slot ${base}, but ${found} for ${network}.`,
    { hint: `import the full snapshot of slot ${base} first.` },
  )
}

/** Without a way to take away what the second one lacks, accounts that were closed in between would stay. */
async function requireFirst(store: Store, network: SolanaNetwork): Promise<void> {
  const imported = await importedSnapshots(store, network)
  if (imported === undefined) return
  throw new AlmanacError(
    'bad_request',
    `A full snapshot of slot ${imported.full} was imported for ${network} already, and ${store.engine} takes no second one.`,
    { hint: `import an incremental snapshot that stands on slot ${imported.full}, or begin with an empty database.` },
  )
}

class Importer {
  readonly #options: SnapshotImport
  readonly #staging: SolanaStaging
  readonly #archive: string
  readonly #progress: ImportProgress
  readonly #accounts = new AppendVectorReader(account => this.#take(account))
  readonly #readAtMs = Date.now()
  readonly #keys = new KeyArena()
  #holdings: HoldingUpdate[] = []
  #mints: MintUpdate[] = []
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
    const tar = new TarReader({
      entry: entry => this.#begin(entry),
      bytes: piece => this.#accounts.push(piece),
      end: () => {},
    })
    const file = createReadStream(path, { highWaterMark: readBytes })
    const plain = file.pipe(createZstdDecompress({ chunkSize: readBytes }))
    file.on('data', chunk => {
      this.#progress.bytesRead += chunk.length
    })
    file.on('error', error => plain.destroy(error))
    try {
      for await (const chunk of plain) {
        tar.push(chunk as Buffer)
        if (this.#holdings.length + this.#mints.length >= commitRows) await this.#commit()
        if (signal?.aborted) throw interrupted()
      }
      tar.finish()
    } catch (error) {
      throw error instanceof AlmanacError ? error : damaged(path, error)
    } finally {
      file.destroy()
      plain.destroy()
    }
    await this.#commit()
    return this.#progress
  }

  /** How many of the archive's files are committed already; rows of another archive are of no use. */
  async #resume(): Promise<number> {
    const checkpoint = await this.#staging.checkpoint()
    if (checkpoint === undefined) return 0
    const { archive, files } = JSON.parse(checkpoint) as { archive: string; files: number }
    if (archive === this.#archive) return files
    await this.#staging.discard()
    return 0
  }

  /** Files are named `accounts/<slot>.<id>`. Their order in an archive is fixed, so counting them is enough to resume. */
  #begin(entry: string): boolean {
    const match = /^(?:\.\/)?accounts\/(\d+)\.\d+$/.exec(entry)
    if (match === null) return false
    this.#files++
    this.#slot = Number(match[1])
    this.#accounts.begin()
    return this.#files > this.#filesDone
  }

  /** A file may be committed in parts: the checkpoint counts those before it, and taking rows twice is harmless. */
  async #commit(): Promise<void> {
    const rows = { holdings: this.#holdings, mints: this.#mints }
    const files = Math.max(this.#filesDone, this.#files - 1)
    await this.#staging.commit(rows, JSON.stringify({ archive: this.#archive, files }))
    this.#progress.holdings += rows.holdings.length
    this.#progress.mints += rows.mints.length
    this.#progress.skipped = this.#accounts.skipped
    this.#holdings = []
    this.#mints = []
    this.#options.onProgress?.(this.#progress)
  }

  #take({ key, program, data, writeVersion }: StoredAccount): void {
    const slot = this.#slot
    const keys = this.#keys
    if (program === 'gone') {
      this.#holdings.push({ account: keys.copy(key), closed: true, slot, writeVersion })
    } else if (program === 'metadata') {
      const decoded = decodeMetadata(data)
      if (decoded === undefined) return
      const { mint, name, symbol, tokenStandard } = decoded
      this.#mints.push({
        mint: keys.copy(mint),
        slot,
        readAtMs: this.#readAtMs,
        metadata: { name, symbol, tokenStandard },
      })
    } else {
      const token = decodeTokenAccount(data)
      if (token !== undefined) {
        const { mint, owner, amount } = token
        this.#holdings.push({
          account: keys.copy(key),
          owner: keys.copy(owner),
          mint: keys.copy(mint),
          amount,
          program,
          slot,
          writeVersion,
        })
      } else if (decodeMint(data) !== undefined) {
        const account = mintAccountOf(key, { lamports: 1n, program: tokenProgramAddresses[program], data })
        if (account !== undefined) this.#mints.push({ mint: keys.copy(key), slot, readAtMs: this.#readAtMs, account })
      }
    }
  }
}

/** Keys that must outlive the piece of the archive they stand in, side by side: an array for each would cost more. */
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

function interrupted(): AlmanacError {
  return new AlmanacError('interrupted', 'The import was interrupted; the same command goes on where it stopped.')
}

function damaged(path: string, cause: unknown): AlmanacError {
  return new AlmanacError('bad_request', `The archive ${basename(path)} cannot be read.`, {
    cause,
    hint: 'fetch the archive again.',
  })
}

// Which slots a feed has delivered without a gap, and whether a snapshot below them makes the store complete. No stream.

/** A slot may be reported before the last of its accounts; a replay that begins earlier only repeats. */
export const replaySlots = 32
/**
 * Half a day. Closed accounts are remembered for a day, so that a snapshot from before that could bring one back that the
 * feed has long seen closed.
 */
const snapshotAgeSlotsMax = 100_000

/** Every change of these slots, both included, is stored. */
export type FeedCoverage = { from: number; to: number }

function checkpointName(network: SolanaNetwork): string {
  return `solana.${network}.feed`
}

export async function feedCoverage(store: Store, network: SolanaNetwork): Promise<FeedCoverage | undefined> {
  const text = await store.checkpoint(checkpointName(network))
  return text === undefined ? undefined : (JSON.parse(text) as FeedCoverage)
}

export function putFeedCoverage(store: Store, network: SolanaNetwork, coverage: FeedCoverage): Promise<void> {
  return store.putCheckpoint(checkpointName(network), JSON.stringify(coverage))
}

/** A snapshot holds everything up to its slot: the feed must go on from there or from before. */
export function isBased(coverage: FeedCoverage, snapshotSlot: number | undefined): boolean {
  return snapshotSlot !== undefined && coverage.from <= snapshotSlot + 1
}

/** Of the first slot that a stream tells only the end may have been heard. */
export function beginningAt(slot: number): FeedCoverage {
  return { from: slot + 1, to: slot }
}

/** Whether a stream that begins at this slot goes on with what is covered. */
export function joins(coverage: FeedCoverage | undefined, slot: number): boolean {
  return coverage !== undefined && coverage.from <= slot + 1 && slot <= coverage.to
}

/**
 * Up to which slot everything is known, so that a replay must begin there or before; the best first. Above a snapshot
 * that the feed does not reach back to, the changes since the snapshot are wanted, and at least those since the feed.
 */
export function replayCandidates(coverage: FeedCoverage | undefined, snapshotSlot: number | undefined): number[] {
  if (coverage === undefined) return snapshotSlot === undefined ? [] : [snapshotSlot]
  if (snapshotSlot === undefined) return [coverage.to]
  return isBased(coverage, snapshotSlot) ? [Math.max(coverage.to, snapshotSlot)] : [snapshotSlot, coverage.to]
}

/** Throws where a snapshot is so old beside what the feed has stored that it could bring back what was closed since. */
export async function requireRecent(store: Store, network: SolanaNetwork, snapshotSlot: number): Promise<void> {
  const coverage = await feedCoverage(store, network)
  if (coverage === undefined || coverage.to - snapshotSlot <= snapshotAgeSlotsMax) return
  throw new AlmanacError(
    'bad_request',
    `This snapshot is of slot ${snapshotSlot}, but the feed of ${network} has stored slot ${coverage.to}: accounts that were closed since could come back.`,
    { hint: `fetch a snapshot that is at most ${snapshotAgeSlotsMax} slots older than the feed.` },
  )
}

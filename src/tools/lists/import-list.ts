// Imports a list from a stream of text: checks each entry, stages and sorts the valid ones, then writes them. It does
// not open files or print.

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { cleanLabel } from '../../annotate/label-text.ts'
import { reservedSources } from '../../annotate/shown-facts.ts'
import type { ChainTable } from '../../chains.ts'
import { bytesOfHex, hexOf } from '../../hex.ts'
import { type Address, type ChainId, parseAddress } from '../../model.ts'
import { type FileEntry, LabelFile } from './label-file.ts'

export type ListProblem = { line: number; reason: string }

export type ListOptions = {
  pieces: AsyncIterable<string>
  chains: ChainTable
  /** The chain of entries without one; undefined: every chain. */
  chain: ChainId | undefined
  /** The source of entries without one. */
  source: string
  /** Whether entries may name their own source. */
  ownSources: boolean
  /** What entries must have: labels a name, contracts a chain. */
  needs: 'name' | 'chain'
  /** Write nothing if any entry is invalid. */
  strict: boolean
  /** Gets the entries sorted by address, each once. */
  write: (entries: readonly StagedEntry[]) => Promise<unknown>
  onProgress: (progress: ListProgress) => void
  signal: AbortSignal
}

export type ListProgress = { phase: 'read' | 'write'; entries: number; of: number | undefined }

export type ListResult = {
  /** Entries written, each address, chain and source once. */
  written: number
  /** Entries that a later one for the same address, chain and source replaced. */
  repeated: number
  /** Entries that were not accepted, and the first of them. */
  refused: number
  problems: readonly ListProblem[]
  /** Names that were cleaned, and the first of them. */
  cleaned: number
  notes: readonly ListProblem[]
}

/** More are counted, not kept. */
const problemsKept = 1_000
/** A commit of this many takes some hundredths of a second, between which others can write. */
const entriesPerWrite = 20_000

export async function importList(options: ListOptions): Promise<ListResult> {
  const staging = new LabelStaging()
  try {
    const checked = await readAll(options, staging)
    const result = { ...checked, written: 0, repeated: 0 }
    if (options.strict && checked.refused > 0) return result
    for (const entries of staging.sorted(entriesPerWrite)) {
      options.signal.throwIfAborted()
      await options.write(entries)
      result.written += entries.length
      options.onProgress({ phase: 'write', entries: result.written, of: staging.count })
    }
    return { ...result, repeated: staging.count - result.written }
  } finally {
    staging.close()
  }
}

type Checked = Pick<ListResult, 'refused' | 'problems' | 'cleaned' | 'notes'>

async function readAll(options: ListOptions, staging: LabelStaging): Promise<Checked> {
  const file = new LabelFile()
  const problems: ListProblem[] = []
  const notes: ListProblem[] = []
  let [refused, cleaned] = [0, 0]
  const take = (entries: readonly FileEntry[]) => {
    for (const entry of entries) {
      const judged = judge(entry, options)
      if ('reason' in judged) {
        refused += 1
        if (problems.length < problemsKept) problems.push({ line: entry.line, reason: judged.reason })
        continue
      }
      staging.add(judged.entry)
      if (judged.notes.length === 0) continue
      cleaned += 1
      if (notes.length < problemsKept) notes.push({ line: entry.line, reason: judged.notes.join(', ') })
    }
    options.onProgress({ phase: 'read', entries: staging.count, of: undefined })
  }
  for await (const piece of options.pieces) {
    options.signal.throwIfAborted()
    take(file.push(piece))
  }
  take(file.end())
  return { refused, problems, cleaned, notes }
}

type Judged = { entry: StagedEntry; notes: readonly string[] } | { reason: string }

function judge(entry: FileEntry, options: ListOptions): Judged {
  if ('problem' in entry) return { reason: entry.problem }
  const address = parseAddress(entry.address)
  if (address === undefined) return { reason: `${quote(entry.address)} is not an address` }
  const chain = entry.chain === '' ? options.chain : options.chains.parse(entry.chain)?.id
  if (chain === undefined && entry.chain !== '') return { reason: `${quote(entry.chain)} is not a known chain` }
  if (chain === undefined && options.needs === 'chain')
    return { reason: 'it has no chain; give --chain for such lines' }
  const text = cleanLabel(entry.label ?? '')
  if ('problem' in text && options.needs === 'name') return { reason: text.problem }
  const label = 'problem' in text ? { label: '', notes: [] } : text
  const source = options.ownSources ? (sourceOf(entry.source) ?? options.source) : options.source
  return { entry: { chain, address, label: label.label, source }, notes: label.notes }
}

/** A list cannot pose as the operator or the pack. */
function sourceOf(given: string): string | undefined {
  const cleaned = cleanLabel(given)
  return 'problem' in cleaned || reservedSources.has(cleaned.label) ? undefined : cleaned.label
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

export type StagedEntry = { chain: ChainId | undefined; address: Address; label: string; source: string }

const cacheMegabytes = 32
const everyChain = 0

/**
 * Stages entries in a temporary SQLite file and returns them in the order of addresses: sorted, a million rows go into
 * an index five times as fast, and a list with a mistake can be refused as a whole.
 */
class LabelStaging {
  readonly #database = new DatabaseSync('')
  readonly #insert: StatementSync
  #count = 0

  constructor() {
    this.#database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;
      PRAGMA cache_size = -${cacheMegabytes * 1024};
      CREATE TABLE entries (address BLOB, chain INTEGER, source TEXT, label TEXT); BEGIN`)
    this.#insert = this.#database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?)')
  }

  get count(): number {
    return this.#count
  }

  add({ chain, address, label, source }: StagedEntry): void {
    this.#insert.run(bytesOfHex(address), chain ?? everyChain, source, label)
    this.#count += 1
  }

  /** In the order of addresses. Of entries with the same address, chain and source only the last. */
  *sorted(size: number): Generator<StagedEntry[]> {
    const select = this.#database.prepare(
      'SELECT address, chain, source, label FROM entries ORDER BY address, chain, source, rowid',
    )
    select.setReturnArrays(true)
    const rows = select.iterate() as unknown as Iterable<[Uint8Array, number, string, string]>
    let batch: StagedEntry[] = []
    for (const [address, chain, source, label] of rows) {
      const entry: StagedEntry = {
        chain: chain === everyChain ? undefined : (chain as ChainId),
        address: hexOf<Address>(address),
        label,
        source,
      }
      const last = batch.at(-1)
      const isRepeated = last?.address === entry.address && last.chain === entry.chain && last.source === entry.source
      if (isRepeated) batch.pop()
      else if (batch.length === size) {
        yield batch
        batch = []
      }
      batch.push(entry)
    }
    if (batch.length > 0) yield batch
  }

  close(): void {
    this.#database.close()
  }
}

// Copies one store into an empty one, part by part, and proves that both hold the same. It can be stopped at any moment
// and resumes there: each page is one transaction with the place that it reached.
import { hash } from 'node:crypto'
import { AlmanacError } from '../../errors.ts'
import { type PartName, type PartRow, partNames, type ReadableName, type StoreParts } from '../../store/parts.ts'

/** A count and a sum that do not depend on the order of rows. */
class PartDigest {
  count = 0
  #sum = 0n

  add(row: PartRow): void {
    this.count += 1
    const pieces = row.map(value => {
      if (value === null) return Buffer.from('n;')
      if (typeof value === 'number') return Buffer.from(`i${value};`)
      const bytes = typeof value === 'string' ? Buffer.from(value) : value
      return Buffer.concat([Buffer.from(`${typeof value === 'string' ? 's' : 'b'}${bytes.length}:`), bytes])
    })
    this.#sum = BigInt.asUintN(128, this.#sum + digestOf(Buffer.concat(pieces)))
  }

  get checksum(): string {
    return this.#sum.toString(16).padStart(32, '0')
  }
}

function digestOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${hash('sha256', bytes, 'hex').slice(0, 32)}`)
}

const pageRowsDefault = 10_000

export type CopyProgress = { phase: 'copy' | 'verify'; part: ReadableName; rows: number }
export type CopyOptions = {
  onProgress?: (progress: CopyProgress) => void
  signal?: AbortSignal
  pageRows?: number
}

export type PartResult = { part: ReadableName; rows: number; checksum: string }

/** After the last part comes `compare`: nothing is left to copy. */
type Checkpoint = { source: string; part: PartName | 'compare'; cursor: string | undefined }

export async function copyStore(
  source: StoreParts,
  target: StoreParts,
  options: CopyOptions = {},
): Promise<PartResult[]> {
  const { onProgress, signal, pageRows = pageRowsDefault } = options
  let reached = await beginOrResume(source, target)
  let rows = 0
  while (reached.part !== 'compare') {
    signal?.throwIfAborted()
    const { part } = reached
    const page = await source.readPart(part, reached.cursor, pageRows)
    rows += page.rows.length
    const following = page.next === undefined ? (partNames[partNames.indexOf(part) + 1] ?? 'compare') : part
    reached = { source: source.location, part: following, cursor: page.next }
    await target.writePart(part, page.rows, JSON.stringify(reached))
    onProgress?.({ phase: 'copy', part, rows })
    if (following !== part) rows = 0
  }
  const results = await compareStores(source, target, options)
  await target.endCopy()
  return results
}

/** Starts at the first part of an empty target, or where an earlier copy of the same source stopped. */
async function beginOrResume(source: StoreParts, target: StoreParts): Promise<Checkpoint> {
  const found = await target.copyCheckpoint()
  if (found !== undefined) {
    const checkpoint = JSON.parse(found) as Checkpoint
    if (checkpoint.source === source.location) return checkpoint
    throw new AlmanacError('conflict', `${target.location} holds an unfinished copy of ${checkpoint.source}.`, {
      hint: 'finish that copy, or name an empty store under --to.',
    })
  }
  for (const part of partNames) {
    if (part === 'secrets') continue
    if ((await target.readPart(part, undefined, 1)).rows.length > 0)
      throw new AlmanacError('conflict', `${target.location} is not empty: it holds ${part}.`, {
        hint: 'name an empty store under --to.',
      })
  }
  return { source: source.location, part: partNames[0]!, cursor: undefined }
}

/** Counts and checksums of every part, and of the counts that the engines keep. */
export async function compareStores(
  source: StoreParts,
  target: StoreParts,
  { onProgress, signal, pageRows = pageRowsDefault }: CopyOptions = {},
): Promise<PartResult[]> {
  const results: PartResult[] = []
  for (const part of [...partNames, 'transfer_counts'] as const) {
    const digests = [new PartDigest(), new PartDigest()]
    for (const [index, store] of [source, target].entries()) {
      let cursor: string | undefined
      do {
        signal?.throwIfAborted()
        const page = await store.readPart(part, cursor, pageRows)
        for (const row of page.rows) digests[index]?.add(row)
        onProgress?.({ phase: 'verify', part, rows: digests[index]?.count ?? 0 })
        cursor = page.next
      } while (cursor !== undefined)
    }
    const [expected, found] = digests as [PartDigest, PartDigest]
    if (expected.count !== found.count || expected.checksum !== found.checksum)
      throw new AlmanacError(
        'store_failed',
        `The copy differs in ${part}: ${expected.count} rows with checksum ${expected.checksum} in ${source.location}, ${found.count} with ${found.checksum} in ${target.location}.`,
        { hint: 'stop every process that writes to either store, empty the target and copy again.' },
      )
    results.push({ part, rows: expected.count, checksum: expected.checksum })
  }
  return results
}

// Checks the files of a folder one by one, and how they join: which blocks are missing between them, which come twice,
// and whether each file grows from the one below it.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AlmanacError } from '../../errors.ts'
import { isHistoryFile } from '../../evm/files/history-file.ts'
import type { Interval } from '../../model.ts'
import { type CheckOptions, checkFile, type FileReport } from './check-file.ts'

export type FolderReport = {
  files: FileReport[]
  /** Blocks between files, by network. */
  gaps: (Interval & { network: string })[]
  /** Files whose blocks others have too. */
  passedOver: string[]
}

/** The history files of a folder, or the one file. */
export function historyFiles(path: string): { path: string; bytes: number }[] {
  const at = statSync(path, { throwIfNoEntry: false })
  if (at === undefined)
    throw new AlmanacError('bad_request', `${path} does not exist.`, { hint: 'name a folder, or one file in it.' })
  const found = at.isDirectory()
    ? readdirSync(path)
        .filter(isHistoryFile)
        .sort()
        .map(name => join(path, name))
    : [path]
  const files = found.flatMap(each => {
    const bytes = fileBytes(each)
    return bytes === undefined ? [] : [{ path: each, bytes }]
  })
  if (files.length > 0) return files
  throw new AlmanacError('bad_request', `${path} has no history files.`, {
    hint: 'name a folder with files that end in .era1, .ere or .erae.',
  })
}

/** Undefined of what is not a file. A link that leads nowhere is one that cannot be read. */
function fileBytes(path: string): number | undefined {
  try {
    const stats = statSync(path)
    return stats.isFile() ? stats.size : undefined
  } catch {
    return 0
  }
}

export async function checkFolder(path: string, options: CheckOptions): Promise<FolderReport> {
  const files: FileReport[] = []
  for (const { path: each, bytes } of historyFiles(path)) files.push(await checkFile(each, bytes, options))
  return { files, ...joinFiles(files) }
}

/** Adds a problem to a file that does not grow from the one below it. */
function joinFiles(files: readonly FileReport[]): Pick<FolderReport, 'gaps' | 'passedOver'> {
  const gaps: FolderReport['gaps'] = []
  const passedOver: string[] = []
  for (const [network, some] of Map.groupBy(files, file => file.network ?? 'unknown')) {
    const sound = some.filter(({ problem, holds }) => problem === undefined && holds !== undefined)
    sound.sort((a, b) => a.holds!.from - b.holds!.from || b.holds!.to - a.holds!.to)
    let below: FileReport | undefined
    for (const file of sound) {
      const { from, to } = file.holds!
      const next = (below?.holds?.to ?? from - 1) + 1
      if (to < next) {
        passedOver.push(file.file)
        continue
      }
      if (from > next) gaps.push({ network, from: next, to: from - 1 })
      if (from === next && below !== undefined && file.checked.parentHash !== below.checked.lastHash) {
        // What is proven is not at fault.
        const blamed = file.proven.length > 0 ? below : file
        const message = `${file.file} grows from ${file.checked.parentHash}, ${below.file} ends with ${below.checked.lastHash}`
        blamed.problem = { block: blamed === file ? from : below.holds!.to, message }
      }
      below = file
    }
  }
  return { gaps, passedOver }
}

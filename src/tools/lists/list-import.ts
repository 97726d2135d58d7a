// Imports a list from a file: shows progress, and reports what was refused and why. Its caller decides what to write.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { Command } from 'commander'
import type { ChainTable } from '../../chains.ts'
import { interruption } from '../../cli/current-process.ts'
import { parseChainIf, requireSource } from '../../cli/options.ts'
import { countOf, countText, ProgressLine, percentText, printable, printJson, printNote } from '../../cli/terminal.ts'
import { AlmanacError } from '../../errors.ts'
import { importList, type ListOptions, type ListProblem, type ListProgress, type ListResult } from './import-list.ts'

export type ListFlags = { chain?: string; source?: string; strict?: true; json?: true }

export type ImportRun = Pick<ListOptions, 'write' | 'needs' | 'ownSources'> & {
  file: string
  flags: ListFlags
  chains: ChainTable
  source: string
  /** What the entries are called in messages. */
  what: string
  /** Runs after the last entry is written; returns how many others it removed. */
  finish: () => Promise<number>
}

const pieceBytes = 256 * 1024
const problemsShown = 20
/** Rows read from the store at once when labels or marks are listed. */
export const rowsPerPage = 5_000

/** What every import takes; the caller adds its own options. */
export function listCommand(description: string): Command {
  return new Command('import')
    .description(description)
    .argument('<file>', 'The list: UTF-8 text of any size.')
    .option('--strict', 'Import nothing if any line cannot be read.')
    .option('--json', 'Print the result as JSON.')
}

export function sourceOf(flags: ListFlags, file: string): string {
  return requireSource(flags.source ?? basename(file))
}

export async function runImport(run: ImportRun): Promise<void> {
  const { file, flags, chains, what, source } = run
  const chain = parseChainIf(chains, flags.chain)
  await requireFile(file)
  const signal = interruption()
  const startedAt = performance.now()
  const line = new ProgressLine()
  const result = await importList({
    ...{ chains, chain: chain?.id, source, signal, strict: flags.strict === true },
    ...{ write: run.write, needs: run.needs, ownSources: run.ownSources },
    pieces: textOf(file),
    onProgress: progress => line.offer(() => progressText(progress, what, performance.now() - startedAt)),
  })
  const removed = result.written > 0 ? await run.finish() : 0
  const seconds = (performance.now() - startedAt) / 1_000
  line.close()
  if (flags.json) printJson({ source, ...result, removed, seconds: Math.round(seconds * 1_000) / 1_000 })
  else {
    listProblems('was cleaned', result.cleaned, result.notes)
    listProblems('was refused', result.refused, result.problems)
  }
  if (result.written === 0 && result.refused > 0)
    throw new AlmanacError('bad_request', `Nothing of ${file} was imported: ${refusedText(result)}.`, {
      hint: flags.strict
        ? 'fix the lines, or leave --strict out to import the others.'
        : 'pass CSV with a header such as address,label, a JSON map of address to name, or a token list.',
    })
  if (flags.json) return
  const others = [
    result.repeated > 0
      ? `${countText(result.repeated)} ${result.repeated === 1 ? 'was' : 'were'} repeated further down`
      : '',
    result.refused > 0 ? refusedText(result) : '',
    removed > 0 ? `${countText(removed)} that the list no longer has ${removed === 1 ? 'was' : 'were'} removed` : '',
  ].filter(text => text !== '')
  const rate = seconds > 0 ? `, ${countText(result.written / seconds)}/s` : ''
  printNote(
    `Imported ${countOf(result.written, what)} as ${JSON.stringify(source)} in ${seconds.toFixed(1)} s${rate}${others.length > 0 ? `; ${others.join('; ')}` : ''}.`,
  )
}

async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || found.isDirectory())
    throw new AlmanacError('bad_request', `The file ${path} does not exist.`, { hint: 'name a CSV or JSON file.' })
}

/** Opened once, so that a pipe can be read too. */
async function* textOf(path: string): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let isStart = true
  try {
    for await (const bytes of createReadStream(path, { highWaterMark: pieceBytes }) as AsyncIterable<Buffer>) {
      if (isStart) requireText(path, bytes)
      isStart = false
      yield decoder.write(bytes)
    }
  } catch (error) {
    if (error instanceof AlmanacError) throw error
    throw new AlmanacError('bad_request', `Cannot read ${path}.`, {
      cause: error,
      hint: 'allow this user to read it.',
    })
  }
  yield decoder.end()
}

/** Refuses what begins like UTF-16, gzip or zip. */
function requireText(path: string, start: Buffer): void {
  if (!/^(fffe|feff|1f8b|504b)/.test(start.toString('hex', 0, 2))) return
  throw new AlmanacError('bad_request', `${path} is not UTF-8 text.`, {
    hint: 'unpack it, or save it as UTF-8 without compression.',
  })
}

function progressText({ phase, entries, of = 0 }: ListProgress, what: string, elapsedMs: number): string {
  return phase === 'read'
    ? `Reading: ${countOf(entries, what)}, ${countText((entries * 1_000) / elapsedMs)}/s`
    : `Writing: ${countText(entries)} of ${countOf(of, what)}, ${percentText(entries, of)}`
}

function listProblems(what: string, count: number, problems: readonly ListProblem[]): void {
  for (const { line, reason } of problems.slice(0, problemsShown))
    printNote(`Line ${line} ${what}: ${printable(reason)}.`)
  if (count > problemsShown)
    printNote(`… and ${countText(count - problemsShown)} more; --json lists the first thousand.`)
}

function refusedText({ refused }: ListResult): string {
  return `${countText(refused)} ${refused === 1 ? 'line was' : 'lines were'} refused`
}

// Checks files of history before they are indexed: says of each what it is, whether it is whole and what it proves.

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { exitCodes, interruption } from '../../cli/current-process.ts'
import {
  bytesText,
  countText,
  ProgressLine,
  percentText,
  printable,
  printData,
  printJson,
  rateText,
  table,
} from '../../cli/terminal.ts'
import { durationText } from '../../duration-text.ts'
import { AlmanacError } from '../../errors.ts'
import { readBeaconNodes } from '../../evm/files/networks.ts'
import type { FileReport } from './check-file.ts'
import { checkFolder, type FolderReport, historyFiles } from './check-folder.ts'

type CheckFlags = { summaries?: string; roots?: string; json?: true }

export function historyCommand(): Command {
  const check = new Command('check')
    .description(
      'Check era1 and ere files: every header, link and root is computed again. Reports for each file what it is, whether it is whole, and which blocks are proven canonical. Writes nothing. Exits with 1 if a file cannot be used.',
    )
    .argument('<folder>', 'Folder with .era1, .ere or .erae files, or one such file.')
    .option(
      '--summaries <file>',
      'historical_summaries of a beacon state that you trust, as SSZ or JSON: proves blocks since Capella.',
    )
    .option('--roots <file>', 'historical_roots of such a state: proves blocks between the merge and Capella.')
    .option('--json', 'Print the result as JSON.')
    .action(checkHistory)
  return new Command('history').description('Check history files.').addCommand(check)
}

async function checkHistory(folder: string, { summaries, roots, json }: CheckFlags): Promise<void> {
  const signal = interruption()
  const historicalSummaries = summaries === undefined ? undefined : readNodes(summaries)
  const historicalRoots = roots === undefined ? undefined : readNodes(roots)
  using opened = new DisposableStack()
  const line = opened.adopt(new ProgressLine(), each => each.close())
  const startedMs = performance.now()
  const bytes = historyFiles(folder).reduce((sum, file) => sum + file.bytes, 0)
  let [blocks, bytesDone] = [0, 0]
  const onBlocks = (more: { blocks: number; bytes: number }): void => {
    blocks += more.blocks
    bytesDone += more.bytes
    line.offer(() => {
      const seconds = (performance.now() - startedMs) / 1_000
      const left = durationText((seconds / bytesDone) * (bytes - bytesDone))
      return `Checking: ${percentText(bytesDone, bytes)} of ${bytesText(bytes)}, ${rateText(blocks / seconds)}, ${left} left`
    })
  }
  const report = await checkFolder(folder, { roots: { historicalRoots, historicalSummaries }, onBlocks, signal })
  line.close()
  if (report.files.some(({ problem }) => problem !== undefined)) process.exitCode = exitCodes.change
  if (json) printJson(shown(report))
  else printData(described(report))
}

function readNodes(path: string): Buffer {
  const nodes = readBeaconNodes(readFileSync(path))
  if (nodes !== undefined) return nodes
  throw new AlmanacError('bad_request', `${path} is not a list of roots.`, {
    hint: 'pass the field of a beacon state in SSZ, or the JSON that a beacon node answers.',
  })
}

function shown({ files, gaps, passedOver }: FolderReport) {
  return {
    ok: files.every(({ problem }) => problem === undefined),
    files: files.map(({ file, bytes, network, holds, checked, proven, unproven, problem }) => ({
      ...{ file, bytes, network: network ?? null },
      ...(holds === undefined ? {} : holds),
      checked: {
        ...{ blocks: checked.blocks, transactions: checked.transactions, logs: checked.logs },
        ...{ transfers: checked.transfers, last_hash: checked.lastHash ?? null },
      },
      proven,
      unproven: unproven ?? null,
      problem: problem ?? null,
    })),
    gaps,
    passed_over: passedOver,
  }
}

const heading = ['FILE', 'NETWORK', 'FORMAT', 'BLOCKS', 'WHOLE', 'RECEIPTS', 'PROOFS', 'SIZE', 'CHECKED', 'CANONICAL']

function described({ files, gaps, passedOver }: FolderReport): string {
  const rows = files.map(({ file, bytes, network, holds, proven, problem }) => [
    ...[printable(file), network ?? '?', holds?.format ?? '?'],
    ...[holds === undefined ? '?' : `${holds.from}-${holds.to}`, yes(holds?.whole), yes(holds?.receipts)],
    ...[yes(holds?.proofs), bytesText(bytes), problem === undefined ? 'links, roots' : 'no', provenText(proven)],
  ])
  const of = (count: (file: FileReport) => number): string =>
    countText(files.reduce((sum, file) => sum + count(file), 0))
  const failed = files.filter(({ problem }) => problem !== undefined)
  return [
    table(heading, rows),
    ...files.flatMap(({ file, problem }) => (problem === undefined ? [] : [problemText(file, problem)])),
    ...unprovenLines(files),
    ...passedOver.map(file => `${printable(file)}: other files have its blocks too; it would be passed over.`),
    ...gaps.map(({ network, from, to }) => `${network}: no file has blocks ${from} to ${to}.`),
    `${of(({ checked }) => checked.blocks)} blocks checked with ${of(({ checked }) => checked.transactions)} transactions, ${of(({ checked }) => checked.logs)} logs and ${of(({ checked }) => checked.transfers)} NFT transfers; ${failed.length === 0 ? 'every file can be used' : `${failed.length} of ${files.length} files cannot be used`}.`,
  ].join('\n')
}

/** One line for all files with the same reason, but for the numbers in it: a whole chain has thousands of files. */
function unprovenLines(files: readonly FileReport[]): string[] {
  const some = files.filter(({ problem, unproven }) => problem === undefined && unproven !== undefined)
  return [...Map.groupBy(some, ({ unproven }) => unproven!.replace(/\d+/g, '')).values()].map(alike => {
    const [first, more] = [alike[0]!, alike.length - 1]
    const others = more === 0 ? '' : ` and ${countText(more)} more`
    return `${printable(first.file)}${others}: not proven canonical: ${first.unproven}.`
  })
}

function problemText(file: string, { block, message }: { block?: number; message: string }): string {
  return `${printable(file)}: ${block === undefined ? 'the file' : `block ${block}`} ${printable(message)}.`
}

function provenText(proven: FileReport['proven']): string {
  if (proven.length === 0) return 'not proven'
  const kinds = [...new Set(proven.map(({ by }) => by))].join(', ')
  return `up to ${proven.at(-1)!.to} by ${kinds}`
}

function yes(is: boolean | undefined): string {
  return is === undefined ? '?' : is ? 'yes' : 'no'
}

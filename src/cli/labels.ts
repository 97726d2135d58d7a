// Names addresses. It opens the store beside a running service, whose next answer shows the change.
import { once } from 'node:events'
import { Command, Option } from 'commander'
import { forgetLabels, forgetMarks, operatorSource, packSource, pagesOf } from '../annotate/shown-facts.ts'
import type { ChainTable } from '../chains.ts'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import type { Address, ChainId } from '../model.ts'
import { chainName, shownLabel } from '../query/explain.ts'
import { type AnnotationFilter, type AnnotationRank, annotationRanks, type Label } from '../store/annotation-store.ts'
import type { Store } from '../store/store.ts'
import { type ListFlags, listCommand, rowsPerPage, runImport, sourceOf } from '../tools/lists/list-import.ts'
import { withStore } from './open-store.ts'
import { parseChain, parseChainIf, requireAddress, requireName } from './options.ts'
import { countOf, printable, printData, printJson, printNote, table } from './terminal.ts'

export function labelsCommand(): Command {
  const importCommand = listCommand(
    'Import a list: CSV with a header (address, label, and optionally chain and source), a JSON map of address to name, or a token list. Lines that cannot be read are reported with their numbers; the others are imported.',
  )
    .option('--chain <name>', 'Chain of lines that name none. Default: every chain.')
    .option('--source <name>', 'Name of the list. Default: the source of each line, or else the file name.')
    .option('--replace', 'Then remove labels of this source that the list no longer has.')
    .option('--own', 'Import the list as your own labels.')
  const exportCommand = new Command('export')
    .description('Print labels as CSV that import can read.')
    .option('--chain <name>', 'Only labels of this chain.')
    .option('--source <name>', 'Only labels of this source.')
    .addOption(new Option('--rank <rank>', 'Only labels of this rank.').choices([...annotationRanks]))
  const setCommand = addressCommand('set', 'Give an address your own label.')
    .argument('<label>', 'Name to show.', text => requireName('a label', text))
    .option('--chain <name>', 'Chain name or id. Default: every chain.')
  const unsetCommand = addressCommand(
    'unset',
    'Remove your own label from an address. An imported or built-in one shows again.',
  ).option('--chain <name>', 'Chain that the label was set for. Default: the label for every chain.')
  const showCommand = addressCommand(
    'show',
    'Show every label of an address and its source. Answers use the first one for each chain.',
  )
    .option('--chain <name>', 'Only labels that apply on this chain.')
    .option('--json', 'Print the labels as JSON.')
  const forgetCommand = new Command('forget')
    .description('Remove every label and mark of one source.')
    .argument('<source>', 'Source name used at import.')
  return new Command('labels')
    .description(
      'Name addresses: answers show the names in from_address_label and to_address_label. Your own labels win over imported ones, and those over the built-in pack.',
    )
    .addCommand(withStore(importCommand, importLabels))
    .addCommand(withStore(exportCommand, exportLabels))
    .addCommand(withStore(setCommand, setLabel))
    .addCommand(withStore(unsetCommand, unsetLabel))
    .addCommand(withStore(showCommand, showLabels))
    .addCommand(withStore(forgetCommand, forget))
}

function addressCommand(name: string, description: string): Command {
  return new Command(name).description(description).argument('<address>', '0x and 40 hex digits.', requireAddress)
}

type ImportFlags = ListFlags & { replace?: true; own?: true }

async function importLabels(store: Store, { chains }: LoadedConfig, file: string, flags: ImportFlags): Promise<void> {
  const source = flags.own ? operatorSource : sourceOf(flags, file)
  const rank: AnnotationRank = flags.own ? 'operator' : 'imported'
  const updatedAt = Date.now()
  await runImport({
    ...{ file, flags, chains, source, what: 'label', needs: 'name' },
    ownSources: !flags.own && !flags.replace && flags.source === undefined,
    write: entries => store.annotate({ labels: entries.map(entry => ({ ...entry, rank, updatedAt })) }),
    finish: async () => (flags.replace ? await forgetLabels(store, source, updatedAt) : 0),
  })
}

type ExportFlags = { chain?: string; source?: string; rank?: AnnotationRank }

async function exportLabels(store: Store, { chains }: LoadedConfig, flags: ExportFlags): Promise<void> {
  const { chain: chainText, ...rest } = flags
  const chain = parseChainIf(chains, chainText)
  const filter: AnnotationFilter = { ...rest, ...(chain === undefined ? {} : { chain: chain.id }) }
  await write('chain,address,label,source,rank,date\n')
  for await (const page of pagesOf<Label>(after => store.labels(filter, after, rowsPerPage)))
    await write(page.map(label => csvLine(label, chains)).join(''))
}

/** Waits for a reader that is slower than the store. */
async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

function csvLine({ chain, address, label, source, rank, updatedAt }: Label, chains: ChainTable): string {
  const fields = [chainField(chain, chains), address, label, source, rank, new Date(updatedAt).toISOString()]
  return `${fields.map(field => (/[",;\t\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join()}\n`
}

/** Empty for every chain, as import reads it. */
function chainField(chain: ChainId | undefined, chains: ChainTable): string {
  return chain === undefined ? '' : chainName(chain, chains)
}

type ChainFlag = { chain?: string }

async function setLabel(
  store: Store,
  { chains }: LoadedConfig,
  address: Address,
  label: string,
  flags: ChainFlag,
): Promise<void> {
  const chain = parseChainIf(chains, flags.chain)
  const own = { chain: chain?.id, address, label, source: operatorSource, rank: 'operator' } as const
  await store.annotate({ labels: [{ ...own, updatedAt: Date.now() }] })
  printNote(`Labelled ${address} ${JSON.stringify(label)} on ${chain?.name ?? 'every chain'}.`)
}

async function unsetLabel(store: Store, { chains }: LoadedConfig, address: Address, flags: ChainFlag): Promise<void> {
  const chain = parseChainIf(chains, flags.chain)
  const where = chain === undefined ? 'for every chain' : `on ${chain.name}`
  const removed = await store.annotate({ removedLabels: [{ chain: chain?.id, address, source: operatorSource }] })
  if (removed > 0) return printNote(`Removed your own label of ${address} ${where}.`)
  throw new AlmanacError('not_found', `${address} has no label of your own ${where}.`, {
    hint: `list its labels with: almanac labels show ${address}`,
  })
}

type ShowFlags = ChainFlag & { json?: true }

async function showLabels(store: Store, { chains }: LoadedConfig, address: Address, flags: ShowFlags): Promise<void> {
  const among = flags.chain === undefined ? chains.all : [parseChain(chains, flags.chain)]
  const found = new Map<string, Label>()
  for (const { id } of among)
    for (const label of await store.labelCandidates(id, address)) found.set(`${label.chain} ${label.source}`, label)
  const rank = (label: Label) => annotationRanks.indexOf(label.rank)
  const labels = [...found.values()].sort((a, b) => rank(a) - rank(b))
  if (flags.json) return printJson(labels.map(label => shownLabel(label, chains)))
  if (labels.length === 0) return printData('No labels.')
  const rows = labels.map(label => {
    const day = new Date(label.updatedAt).toISOString().slice(0, 10)
    const chain = chainField(label.chain, chains) || 'every'
    return [chain, printable(label.label), label.rank, printable(label.source), day]
  })
  printData(table(['CHAIN', 'LABEL', 'RANK', 'SOURCE', 'DATE'], rows))
}

async function forget(store: Store, _: LoadedConfig, source: string): Promise<void> {
  if (source === packSource)
    throw new AlmanacError('bad_request', 'The built-in pack cannot be removed.', {
      hint: 'set your own labels or pins: they win over it.',
    })
  const [labels, marks] = [await forgetLabels(store, source), await forgetMarks(store, source)]
  if (labels + marks > 0)
    return printNote(`Removed ${countOf(labels, 'label')} and ${countOf(marks, 'mark')} of ${JSON.stringify(source)}.`)
  throw new AlmanacError('not_found', `The store has nothing from the source ${JSON.stringify(source)}.`, {
    hint: 'list the sources with: almanac labels export',
  })
}

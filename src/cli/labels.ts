// The commands of the label book. They open the store beside a running service, whose next answer shows what they changed.
import { once } from 'node:events'
import { Command, Option } from 'commander'
import { forgetLabels, forgetMarks, operatorSource, packSource, pagesOf } from '../annotate/shown-facts.ts'
import type { ChainTable } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import type { ChainId } from '../model.ts'
import { chainName, shownLabel } from '../query/explain.ts'
import type { Label } from '../store/annotation-store.ts'
import { type AnnotationFilter, type AnnotationRank, annotationRanks } from '../store/annotation-store.ts'
import type { Store } from '../store/store.ts'
import { type ListFlags, runImport, sourceOf } from './list-import.ts'
import { addConfigOptions, parseChain, parseChainIf, requireAddress, requireName } from './options.ts'
import { printable, printData, printJson, printNote, table } from './terminal.ts'
import { withStore } from './with-store.ts'

const chainHelp = 'A chain by name or id. Without it the label holds on every chain.'
const rowsPerPage = 5_000

export function labelsCommand(): Command {
  return new Command('labels')
    .description(
      'Name addresses: from_address_label and to_address_label show the names. Your own win over imported ones, and those over the built-in pack.',
    )
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(setCommand())
    .addCommand(unsetCommand())
    .addCommand(showCommand())
    .addCommand(forgetCommand())
}

function importCommand(): Command {
  const command = new Command('import')
    .description(
      'Import a list: CSV with a header (address, label, and if you like chain and source), a JSON map of address to name, or a token list. Lines that cannot be read are told with their numbers; the others are kept.',
    )
    .argument('<file>', 'The list, as UTF-8 text of any size.')
    .option('--chain <name>', 'The chain of lines that name none. Without it they hold on every chain.')
    .option(
      '--source <name>',
      'Where the list comes from, for all lines. Without it a line keeps its own source, or gets the name of the file.',
    )
    .option('--strict', 'Import nothing if any line cannot be read.')
    .option('--replace', 'Afterwards remove labels of this source that the list no longer has.')
    .option('--own', 'Import the list as your own labels.')
    .option('--json', 'Print the result as JSON.')
  addConfigOptions(command, ['store']).action(
    async (file: string, flags: ListFlags & { replace?: true; own?: true }) => {
      const source = flags.own ? operatorSource : sourceOf(flags, file)
      const rank: AnnotationRank = flags.own ? 'operator' : 'imported'
      const updatedAt = Date.now()
      await withStore(command, (store, { chains }) =>
        runImport({
          ...{ file, flags, chains, source, what: 'labels', needs: 'name' },
          ownSources: !flags.own && !flags.replace && flags.source === undefined,
          write: entries => store.putLabels(entries.map(entry => ({ ...entry, rank, updatedAt }))),
          finish: async () => (flags.replace ? await forgetLabels(store, source, updatedAt) : 0),
        }),
      )
    },
  )
  return command
}

function exportCommand(): Command {
  const command = new Command('export')
    .description('Print labels as CSV, in a form that import reads.')
    .option('--chain <name>', 'Only those of this chain.')
    .option('--source <name>', 'Only those of this source.')
    .addOption(new Option('--rank <rank>', 'Only those of this rank.').choices([...annotationRanks]))
  addConfigOptions(command, ['store']).action(
    async (flags: { chain?: string; source?: string; rank?: AnnotationRank }) => {
      await withStore(command, async (store, { chains }) => {
        const chain = parseChainIf(chains, flags.chain)
        const filter: AnnotationFilter = {
          ...(chain === undefined ? {} : { chain: chain.id }),
          ...(flags.source === undefined ? {} : { source: flags.source }),
          ...(flags.rank === undefined ? {} : { rank: flags.rank }),
        }
        await write('chain,address,label,source,rank,date\n')
        for await (const page of pagesOf<Label>(after => store.labels(filter, after, rowsPerPage)))
          await write(page.map(label => csvLine(label, chains)).join(''))
      })
    },
  )
  return command
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

function setCommand(): Command {
  const command = new Command('set')
    .description('Give an address your own label.')
    .argument('<address>', '0x and 40 hex digits.')
    .argument('<label>', 'The name to show.')
    .option('--chain <name>', chainHelp)
  addConfigOptions(command, ['store']).action(async (text: string, name: string, flags: { chain?: string }) => {
    const address = requireAddress(text)
    const label = requireName('a label', name)
    await withStore(command, async (store, { chains }) => {
      const chain = parseChainIf(chains, flags.chain)
      const own = { chain: chain?.id, address, label, source: operatorSource, rank: 'operator' } as const
      await store.putLabels([{ ...own, updatedAt: Date.now() }])
      printNote(`${address} is ${JSON.stringify(label)} on ${chain?.name ?? 'every chain'}.`)
    })
  })
  return command
}

function unsetCommand(): Command {
  const command = new Command('unset')
    .description('Take your own label off an address. An imported or built-in one shows again.')
    .argument('<address>', '0x and 40 hex digits.')
    .option('--chain <name>', 'The chain that it was set for, if it was set for one.')
  addConfigOptions(command, ['store']).action(async (text: string, flags: { chain?: string }) => {
    const address = requireAddress(text)
    await withStore(command, async (store, { chains }) => {
      const chain = parseChainIf(chains, flags.chain)
      const removed = await store.removeLabels([{ chain: chain?.id, address, source: operatorSource }])
      if (removed > 0)
        return printNote(`${address} has no label of your own on ${chain?.name ?? 'every chain'} any more.`)
      throw new AlmanacError(
        'not_found',
        `${address} has no label of your own${chain === undefined ? ' for every chain' : ` on ${chain.name}`}.`,
        {
          hint: `look with: almanac labels show ${address}`,
        },
      )
    })
  })
  return command
}

function showCommand(): Command {
  const command = new Command('show')
    .description(
      'Show every label of an address and where it comes from; the first one of a chain is what answers show there.',
    )
    .argument('<address>', '0x and 40 hex digits.')
    .option('--chain <name>', 'Only what holds on this chain.')
    .option('--json', 'Print the labels as JSON.')
  addConfigOptions(command, ['store']).action(async (text: string, flags: { chain?: string; json?: true }) => {
    const address = requireAddress(text)
    await withStore(command, async (store, { chains }) => {
      const among = flags.chain === undefined ? chains.all : [parseChain(chains, flags.chain)]
      const labels = await labelsOfAddress(
        store,
        among.map(({ id }) => id),
        address,
      )
      if (flags.json) return printJson(labels.map(label => shownLabel(label, chains)))
      const rows = labels.map(label => [
        chainField(label.chain, chains) || 'every',
        printable(label.label),
        label.rank,
        printable(label.source),
        new Date(label.updatedAt).toISOString().slice(0, 10),
      ])
      printData(table(['CHAIN', 'LABEL', 'RANK', 'SOURCE', 'DATE'], rows))
    })
  })
  return command
}

async function labelsOfAddress(store: Store, chains: readonly ChainId[], address: Label['address']): Promise<Label[]> {
  const found = new Map<string, Label>()
  for (const chain of chains)
    for (const label of await store.labelCandidates(chain, address)) found.set(`${label.chain} ${label.source}`, label)
  const rank = (label: Label) => annotationRanks.indexOf(label.rank)
  return [...found.values()].sort((a, b) => rank(a) - rank(b))
}

function forgetCommand(): Command {
  const command = new Command('forget')
    .description('Remove every label and mark that came from one source.')
    .argument('<source>', 'The name that the list was imported under.')
  addConfigOptions(command, ['store']).action(async (source: string) => {
    if (source === packSource)
      throw new AlmanacError('bad_request', 'The built-in pack cannot be removed.', {
        hint: 'set labels or pins of your own: they win over it.',
      })
    await withStore(command, async store => {
      const [labels, marks] = [await forgetLabels(store, source), await forgetMarks(store, source)]
      if (labels + marks > 0)
        return printNote(`Removed ${labels} labels and ${marks} marks of ${JSON.stringify(source)}.`)
      throw new AlmanacError('not_found', `Nothing came from ${JSON.stringify(source)}.`, {
        hint: 'the sources stand in the output of: almanac labels export',
      })
    })
  })
  return command
}

// Marks contracts as verified or spam. It opens the store beside a running service, whose next answer shows the change.
import { Command } from 'commander'
import { forgetMarks, operatorSource, pagesOf } from '../annotate/shown-facts.ts'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import type { Address } from '../model.ts'
import { shownMark } from '../query/explain.ts'
import type { Mark } from '../store/annotation-store.ts'
import type { Store } from '../store/store.ts'
import { type ListFlags, listCommand, rowsPerPage, runImport, sourceOf } from '../tools/lists/list-import.ts'
import { withStore } from './open-store.ts'
import { parseChain, requireAddress } from './options.ts'
import { printable, printData, printJson, printNote, table } from './terminal.ts'

type Said = Pick<Mark, 'verified' | 'spam'>

export function collectionsCommand(): Command {
  const pins: [name: string, description: string, said: Said][] = [
    ['verify', 'Pin a contract as a verified collection.', { verified: true, spam: undefined }],
    ['unverify', 'Pin a contract as not verified, overriding lists.', { verified: false, spam: undefined }],
    ['spam', 'Pin a contract as possible spam.', { verified: undefined, spam: true }],
    ['not-spam', 'Pin a contract as not spam, overriding the rules.', { verified: undefined, spam: false }],
  ]
  const collections = new Command('collections').description(
    'Mark contracts as verified or spam. Pins win over imported lists, lists over the built-in pack, and the pack over the rules.',
  )
  for (const [name, description, said] of pins) {
    const pin = contractCommand(name, description)
    collections.addCommand(
      withStore(pin, async (store: Store, { chains }, chainText: string, contract: Address) => {
        const chain = parseChain(chains, chainText)
        const mark = { chain: chain.id, contract, source: operatorSource, rank: 'operator', ...said } as const
        await store.annotate({ marks: [{ ...mark, updatedAt: Date.now() }] })
        printNote(`Pinned ${contract} on ${chain.name}: ${name}.`)
      }),
    )
  }
  const importCommand = listCommand(
    'Import a list of verified collections: CSV with a header (address, and optionally chain), a JSON map, or a token list.',
  )
    .option('--chain <name>', 'Chain of lines that name none.')
    .option('--source <name>', 'Name of the list. Default: the file name.')
    .option('--spam', 'The list names spam, not verified collections.')
    .option('--replace', 'Then remove marks of this source that the list no longer has.')
  const list = new Command('list')
    .description('List your pins, or the marks of a source.')
    .option('--source <name>', 'Source to list.', operatorSource)
    .option('--json', 'Print the list as JSON.')
  return collections
    .addCommand(withStore(contractCommand('unpin', 'Remove every pin from a contract.'), unpin))
    .addCommand(withStore(importCommand, importMarks))
    .addCommand(withStore(list, listMarks))
}

function contractCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<chain>', 'Chain name or id.')
    .argument('<contract>', '0x and 40 hex digits.', requireAddress)
}

async function unpin(store: Store, { chains }: LoadedConfig, chainText: string, contract: Address): Promise<void> {
  const chain = parseChain(chains, chainText)
  const removed = await store.annotate({ removedMarks: [{ chain: chain.id, contract, source: operatorSource }] })
  if (removed > 0) return printNote(`Unpinned ${contract} on ${chain.name}.`)
  throw new AlmanacError('not_found', `${contract} on ${chain.name} has no pin.`, {
    hint: 'list pins with: almanac collections list',
  })
}

type ImportFlags = ListFlags & { replace?: true; spam?: true }

async function importMarks(store: Store, { chains }: LoadedConfig, file: string, flags: ImportFlags): Promise<void> {
  const source = sourceOf(flags, file)
  const said: Said = flags.spam ? { verified: undefined, spam: true } : { verified: true, spam: undefined }
  const mark = { source, rank: 'imported', ...said, updatedAt: Date.now() } as const
  await runImport({
    ...{ file, flags, chains, source, what: 'contract', needs: 'chain', ownSources: false },
    write: entries =>
      store.annotate({
        marks: entries.flatMap(({ chain, address }) =>
          chain === undefined ? [] : { ...mark, chain, contract: address },
        ),
      }),
    finish: async () => (flags.replace ? await forgetMarks(store, source, mark.updatedAt) : 0),
  })
}

type ShowFlags = { source: string; json?: true }

async function listMarks(store: Store, { chains }: LoadedConfig, { source, json }: ShowFlags): Promise<void> {
  const marks: Mark[] = []
  for await (const page of pagesOf<Mark>(after => store.marks({ source }, after, rowsPerPage))) marks.push(...page)
  const shown = marks.map(mark => shownMark(mark, chains))
  if (json) return printJson(shown)
  if (shown.length === 0)
    return printData(source === operatorSource ? 'No pins.' : `No marks of ${JSON.stringify(source)}.`)
  const flag = (value: boolean | null) => (value === null ? '-' : value ? 'yes' : 'no')
  const rows = shown.map(mark => {
    const flags = [flag(mark.verified), flag(mark.spam)]
    return [mark.chain, mark.contract, ...flags, printable(mark.source), mark.updated_at.slice(0, 10)]
  })
  printData(table(['CHAIN', 'CONTRACT', 'VERIFIED', 'SPAM', 'SOURCE', 'DATE'], rows))
}

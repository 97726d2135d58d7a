// The commands that mark contracts as verified or as spam. They open the store beside a running service, whose next answer
// shows what they changed.
import { Command } from 'commander'
import { forgetMarks, operatorSource, pagesOf } from '../annotate/shown-facts.ts'
import { AlmanacError } from '../errors.ts'
import { shownMark } from '../query/explain.ts'
import type { Mark } from '../store/annotation-store.ts'
import { type ListFlags, runImport, sourceOf } from './list-import.ts'
import { addConfigOptions, parseChain, requireAddress } from './options.ts'
import { printable, printData, printJson, printNote, table } from './terminal.ts'
import { withStore } from './with-store.ts'

type Said = Pick<Mark, 'verified' | 'spam'>

const rowsPerPage = 5_000

export function collectionsCommand(): Command {
  const pins: [name: string, description: string, said: Said][] = [
    ['verify', 'Pin a contract as a verified collection.', { verified: true, spam: undefined }],
    ['unverify', 'Pin a contract as not verified, whatever lists say.', { verified: false, spam: undefined }],
    ['spam', 'Pin a contract as possible spam.', { verified: undefined, spam: true }],
    ['not-spam', 'Pin a contract as no spam, whatever the rules say.', { verified: undefined, spam: false }],
  ]
  const collections = new Command('collections').description(
    'Say which contracts are verified collections and which are spam. Your pins win over imported lists, those over the built-in pack, and that over the rules.',
  )
  for (const [name, description, said] of pins) collections.addCommand(pinCommand(name, description, said))
  return collections.addCommand(unpinCommand()).addCommand(importCommand()).addCommand(listCommand())
}

function pinCommand(name: string, description: string, said: Said): Command {
  const command = contractCommand(name, description)
  command.action(async (chainText: string, contractText: string) => {
    const contract = requireAddress(contractText)
    await withStore(command, async (store, { chains }) => {
      const chain = parseChain(chains, chainText)
      const pin = { chain: chain.id, contract, source: operatorSource, rank: 'operator', ...said } as const
      await store.putMarks([{ ...pin, updatedAt: Date.now() }])
      printNote(`${contract} on ${chain.name} is pinned: ${name}.`)
    })
  })
  return command
}

function unpinCommand(): Command {
  const command = contractCommand('unpin', 'Take every pin off a contract: lists, the pack and the rules decide again.')
  command.action(async (chainText: string, contractText: string) => {
    const contract = requireAddress(contractText)
    await withStore(command, async (store, { chains }) => {
      const chain = parseChain(chains, chainText)
      const removed = await store.removeMarks([{ chain: chain.id, contract, source: operatorSource }])
      if (removed > 0) return printNote(`${contract} on ${chain.name} has no pin any more.`)
      throw new AlmanacError('not_found', `${contract} on ${chain.name} has no pin.`, {
        hint: 'look with: almanac collections list',
      })
    })
  })
  return command
}

function contractCommand(name: string, description: string): Command {
  const command = new Command(name)
    .description(description)
    .argument('<chain>', 'A chain by name or id.')
    .argument('<contract>', '0x and 40 hex digits.')
  return addConfigOptions(command, ['store'])
}

function importCommand(): Command {
  const command = new Command('import')
    .description(
      'Import a list of verified collections: CSV with a header (address, and if you like chain), a JSON map, or a token list.',
    )
    .argument('<file>', 'The list, as UTF-8 text of any size.')
    .option('--chain <name>', 'The chain of lines that name none.')
    .option('--source <name>', 'Where the list comes from. Without it the name of the file.')
    .option('--spam', 'The list names spam instead of verified collections.')
    .option('--strict', 'Import nothing if any line cannot be read.')
    .option('--replace', 'Afterwards remove what this source said of contracts that the list no longer has.')
    .option('--json', 'Print the result as JSON.')
  addConfigOptions(command, ['store']).action(
    async (file: string, flags: ListFlags & { replace?: true; spam?: true }) => {
      const source = sourceOf(flags, file)
      const said: Said = flags.spam ? { verified: undefined, spam: true } : { verified: true, spam: undefined }
      const updatedAt = Date.now()
      await withStore(command, (store, { chains }) =>
        runImport({
          ...{ file, flags, chains, source, what: 'contracts', needs: 'chain', ownSources: false },
          write: entries =>
            store.putMarks(
              entries.flatMap(({ chain, address }) =>
                chain === undefined
                  ? []
                  : { chain, contract: address, source, rank: 'imported' as const, ...said, updatedAt },
              ),
            ),
          finish: async () => (flags.replace ? await forgetMarks(store, source, updatedAt) : 0),
        }),
      )
    },
  )
  return command
}

function listCommand(): Command {
  const command = new Command('list')
    .description('List your pins, or what a source says of contracts.')
    .option('--source <name>', 'The source to list.', operatorSource)
    .option('--json', 'Print the list as JSON.')
  addConfigOptions(command, ['store']).action(async ({ source, json }: { source: string; json?: true }) => {
    await withStore(command, async (store, { chains }) => {
      const marks: Mark[] = []
      for await (const page of pagesOf<Mark>(after => store.marks({ source }, after, rowsPerPage))) marks.push(...page)
      const shown = marks.map(mark => shownMark(mark, chains))
      if (json) return printJson(shown)
      const flag = (value: boolean | null) => (value === null ? '-' : value ? 'yes' : 'no')
      const rows = shown.map(mark => [
        mark.chain,
        mark.contract,
        flag(mark.verified),
        flag(mark.spam),
        printable(mark.source),
        mark.updated_at.slice(0, 10),
      ])
      printData(table(['CHAIN', 'CONTRACT', 'VERIFIED', 'SPAM', 'SOURCE', 'DATE'], rows))
    })
  })
  return command
}

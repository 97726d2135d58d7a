// The table of commands, and how one is run. A command is one file of its name, here or in a
// folder of its name, or one in `tools/` if it is not part of the service, and one entry in the table.
import { Command } from 'commander'
import { AlmanacError, describeError } from '../errors.ts'
import { nearestWord } from '../nearest-word.ts'
import { redactText } from '../redact.ts'
import { commandLine, exitCodeOf, exitCodes, offerWord, packageVersion } from './current-process.ts'
import { printNote } from './terminal.ts'

type Entry = [summary: string, load: () => Promise<Command>]

/**
 * The summary is for `almanac --help`, which loads no file of a command. The command's own description begins with it.
 */
const groups: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  'Run:': {
    start: ['Run the service.', async () => (await import('./start.ts')).startCommand()],
    demo: [
      'Run the sandbox: local chains with generated collections and traffic.',
      async () => (await import('./demo.ts')).demoCommand(),
    ],
    init: ['Write almanac.yaml for your own nodes.', async () => (await import('./init.ts')).initCommand()],
    status: ['Show the progress of a running server.', async () => (await import('./status.ts')).statusCommand()],
    config: ['Check or reload the configuration.', async () => (await import('./config.ts')).configCommand()],
  },
  'Index:': {
    plan: ['Estimate what indexing will cost.', async () => (await import('../tools/plan/plan.ts')).planCommand()],
    sync: ['Index one range of blocks, then exit.', async () => (await import('./sync.ts')).syncCommand()],
    backfill: ['Pause, resume and throttle backfills.', async () => (await import('./backfill.ts')).backfillCommand()],
    verify: ['Compare the store with the node.', async () => (await import('./verify.ts')).verifyCommand()],
    history: ['Check history files.', async () => (await import('../tools/history/history.ts')).historyCommand()],
    solana: ['Import a Solana snapshot.', async () => (await import('./solana.ts')).solanaCommand()],
    chain: ['Correct the stored state of a chain.', async () => (await import('./chain.ts')).chainCommand()],
    forget: [
      'Remove everything indexed for a chain, a contract or a view.',
      async () => (await import('./forget.ts')).forgetCommand(),
    ],
  },
  'Answers:': {
    keys: ['Create, limit, list, rotate and revoke keys.', async () => (await import('./keys.ts')).keysCommand()],
    webhooks: [
      'Create, list, pause, resume, test, rotate and delete webhooks.',
      async () => (await import('./webhooks.ts')).webhooksCommand(),
    ],
    labels: ['Name addresses.', async () => (await import('./labels.ts')).labelsCommand()],
    collections: [
      'Mark contracts as verified or spam.',
      async () => (await import('./collections.ts')).collectionsCommand(),
    ],
    explain: ['Explain what answers show for a contract.', async () => (await import('./explain.ts')).explainCommand()],
    compare: [
      'Compare answers with those of another service.',
      async () => (await import('../tools/compare/compare.ts')).compareCommand(),
    ],
  },
  'Store and shell:': {
    store: [
      'Copy, back up, restore or compact the store.',
      async () => (await import('./store/store.ts')).storeCommand(),
    ],
    completion: [
      'Print the completion script of a shell.',
      async () => (await import('./completion.ts')).completionCommand(() => createProgram()),
    ],
  },
}
const commands: Readonly<Record<string, Entry>> = Object.assign({}, ...Object.values(groups))

// Examples stay short: if `almanac` is not on the path, one line says how to call it.
const examples = `
Examples${commandLine === 'almanac' ? '' : ` (almanac is: ${commandLine})`}:
  almanac demo                                 run a sandbox with local chains
  almanac init                                 write almanac.yaml
  almanac start --config almanac.yaml          run the service
  almanac keys create --name ci --expires 90d  create a key, print its secret
  almanac status                               show how far each chain is
  almanac verify --chain eth                   compare the store with the node
  almanac store backup FILE                    copy the store while it is in use
  almanac help keys create                     every option of a command

Exit codes: 0 done, 1 something must be changed, 70 a defect of Almanac,
75 try again later, 130 interrupted.`

export async function runCommand(): Promise<void> {
  // A reader such as `head` closes the pipe when it has seen enough: not a failure.
  process.stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return
    printNote(`Error: Cannot write the output. (${error.message})\nTry:   make room for it, or send it elsewhere.`)
    process.exitCode = 1
  })
  process.on('uncaughtException', error => {
    // A service writes it to its log.
    if (process.listenerCount('uncaughtException') > 1) return
    printNote(shownError(error))
    process.exit(exitCodes.defect)
  })
  try {
    const [first = '', ...rest] = process.argv.slice(2)
    if (first === offerWord) await (await import('./completion.ts')).offerNames(rest[0])
    else if (first === 'help') await printHelp(rest)
    else await (await createProgram(first)).parseAsync()
  } catch (error) {
    printNote(shownError(error))
    process.exitCode = exitCodeOf(error)
  }
}

/** Of a command at any depth: `help keys create`. An unknown word is refused with the nearest command. */
async function printHelp(words: readonly string[]): Promise<void> {
  const program = await createProgram(words[0] ?? '')
  let command: Command | undefined = program
  for (const word of words) {
    if (command.commands.length === 0) break
    command = command.commands.find(each => each.name() === word)
    if (command === undefined) {
      await program.parseAsync(words, { from: 'user' })
      return
    }
  }
  command.outputHelp()
}

/** Our own errors show what may be shown of an address; what a library says may hold all of it. */
function shownError(error: unknown): string {
  return error instanceof AlmanacError ? describeError(error) : redactText(describeError(error))
}

/** Loads the file of the called command alone; without one, every file, for documents. */
export async function createProgram(called?: string): Promise<Command> {
  const program = new Command('almanac')
    .description(
      'A self-hosted drop-in replacement for the NFT, ERC-20, wallet and Solana endpoints of the Moralis API.',
    )
    .version(packageVersion(), '-V, --version', 'Print the version.')
    .addHelpText('after', examples)
    .commandsGroup(Object.keys(groups).at(-1)!)
  const isCommand = called !== undefined && Object.hasOwn(commands, called)
  for (const [group, entries] of Object.entries(groups))
    for (const [name, [summary, load]] of Object.entries(entries)) {
      if (called === undefined || called === name) program.addCommand((await load()).helpGroup(group))
      else if (!isCommand) program.addCommand(new Command(name).description(summary).helpGroup(group))
    }
  configureHelp(program, commandLine)
  return program
}

/** The first clause, for the lists of commands. */
function summaryOf(description: string): string {
  return `${/^.*?(?=[.:;]( |$)|$)/.exec(description)![0]}.`
}

/** Commander's words, as the other errors are written; `name` is how the command is called. */
function reworded(text: string, command: string, name: string): string {
  const isService = /^(start|demo)$/.test(command)
  const said = text
    .replace(/^error: /, 'Error: ')
    .replace(/command-argument value ('.*') is invalid for argument '(.*)'\./, '$1 is not a $2.')
    .replace(/(?<=unknown \w+ '.*')(?=\n)/, '.')
    .replace(/'([^']*)' is (?:invalid|not a [^.]+)\. Allowed choices are (.+)\./, withNearest)
    .replace("unknown option '--port'.", '$&\n(Did you mean --listen 127.0.0.1:PORT?)')
    .replace(/\n\(Did you mean (.*\?)\)/, '\nTry:   did you mean $1')
    .replace(
      /(?<=unknown option '--chain'\.).*/s,
      isService ? `\nTry:   ${commandLine} init --chain NAME=URL, which configures chains.\n` : '$&',
    )
  return `${said}${said.includes('\nTry: ') ? 'Or: ' : 'Try:'}   ${name} --help\n`
}

/** A refusal of a choice, with the choice that was meant if one is near. */
function withNearest(refusal: string, given: string, choices: string): string {
  const nearest = nearestWord(given, choices.split(', '))
  return nearest === undefined ? refusal : `${refusal}\n(Did you mean ${nearest}?)`
}

/** A command that is added whole inherits nothing from its parent. */
function configureHelp(command: Command, name: string): void {
  command
    .helpOption('-h, --help', 'Print help.')
    .configureOutput({ outputError: (text, write) => write(reworded(text, command.name(), name)) })
    .summary(command.summary() || summaryOf(command.description()))
  if (command.commands.length > 0) command.helpCommand('help [command]', 'Print help for a command.')
  for (const part of command.commands) configureHelp(part, `${name} ${part.name()}`)
}

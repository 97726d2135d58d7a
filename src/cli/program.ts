// The tree of commands. It constructs nothing but the tree, so that documents can be made from it.
import { Command } from 'commander'
import { describeError } from '../errors.ts'
import { commandLine, exitCodeOf, packageVersion } from './process.ts'
import { printNote } from './terminal.ts'

// Examples stay short: where no `almanac` is on the path, one line says what stands for it.
const examples = `
Examples${commandLine === 'almanac' ? '' : ` (almanac is: ${commandLine})`}:
  almanac demo                                 run a sandbox: local chains, made-up traffic
  almanac init                                 write almanac.yaml for your own nodes
  almanac start --config almanac.yaml          run the service
  almanac start --listen :8080 --only api      answer requests, index nothing
  almanac keys create --name ci --expires 90d  issue a key and print its secret
  almanac keys revoke ci                       stop it
  almanac status --json                        ask the running server
  almanac plan                                 estimate calls, bytes, time and disk before anything is spent
  almanac sync --chain eth --from 0 --to 9999  index one range and end
  almanac verify --chain eth                   compare random ranges of the store with the node
  almanac labels import names.csv --chain eth  name addresses in answers
  almanac collections spam eth 0x…             pin a contract as spam
  almanac config check                         check the configuration
  almanac store backup FILE                    copy the store while the service runs

Exit codes: 0 done, 1 something must be changed, 75 try again later, 130 interrupted.`

/** A command is one file, loaded when it is called: what the others need stays unread. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start.ts')).startCommand(),
  demo: async () => (await import('./demo.ts')).demoCommand(),
  init: async () => (await import('./init.ts')).initCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  plan: async () => (await import('./plan.ts')).planCommand(),
  sync: async () => (await import('./sync.ts')).syncCommand(),
  verify: async () => (await import('./verify.ts')).verifyCommand(),
  solana: async () => (await import('./solana-import.ts')).solanaCommand(),
  keys: async () => (await import('./keys.ts')).keysCommand(),
  labels: async () => (await import('./labels.ts')).labelsCommand(),
  collections: async () => (await import('./collections.ts')).collectionsCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  config: async () => (await import('./config.ts')).configCommand(),
  store: async () => (await import('./store-copy.ts')).storeCommand(),
}

/** With the one command that is called, or with all of them for help, documents and a name that is none. */
export async function createProgram(called?: string): Promise<Command> {
  const program = new Command('almanac')
    .description('Serves NFT transfers, active chains of wallets and Solana portfolios from your own nodes.')
    .version(packageVersion(), '-V, --version', 'Print the version.')
    .addHelpText('after', examples)
  const load = called !== undefined && Object.hasOwn(commands, called) ? [commands[called]!] : Object.values(commands)
  for (const command of load) program.addCommand(await command())
  speakAlike(program, commandLine)
  return program
}

/** Commands that are added whole inherit nothing: each is told how to print help, and how a mistake on its line is reported. */
function speakAlike(command: Command, name: string): void {
  command
    .helpOption('-h, --help', 'Print help.')
    .showHelpAfterError(`Try:   ${name} --help`)
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'Error: ')) })
  if (command.commands.length > 0) command.helpCommand('help [command]', 'Print help of a command.')
  for (const part of command.commands) speakAlike(part, `${name} ${part.name()}`)
}

// Runs one command and turns its failure into two lines and an exit code.

export async function runCommand(): Promise<void> {
  // A reader that has seen enough, such as `head`, closes the pipe: that is no failure.
  process.stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  })
  try {
    await (await createProgram(process.argv[2])).parseAsync()
  } catch (error) {
    printNote(describeError(error))
    process.exitCode = exitCodeOf(error)
  }
}

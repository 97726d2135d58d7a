// The tree of commands. It constructs nothing but the tree, so that documents can be made from it.
import { Command } from 'commander'
import { collectionsCommand } from './collections.ts'
import { commandLine } from './command-line.ts'
import { configCommand } from './config-check.ts'
import { demoCommand } from './demo-command.ts'
import { explainCommand } from './explain.ts'
import { initCommand } from './init-command.ts'
import { keysCommand } from './keys.ts'
import { labelsCommand } from './labels.ts'
import { planCommand } from './plan-command.ts'
import { solanaCommand } from './solana-import.ts'
import { startCommand } from './start-command.ts'
import { statusCommand } from './status.ts'
import { storeCommand } from './store-copy.ts'
import { syncCommand } from './sync-command.ts'
import { verifyCommand } from './verify-command.ts'
import { packageVersion } from './version.ts'

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

export function createProgram(): Command {
  const program = new Command('almanac')
    .description('Serves NFT transfers, active chains of wallets and Solana portfolios from your own nodes.')
    .version(packageVersion(), '-V, --version', 'Print the version.')
    .addHelpText('after', examples)
  program
    .addCommand(startCommand())
    .addCommand(demoCommand())
    .addCommand(initCommand())
    .addCommand(statusCommand())
    .addCommand(planCommand())
    .addCommand(syncCommand())
    .addCommand(verifyCommand())
    .addCommand(solanaCommand())
    .addCommand(keysCommand())
    .addCommand(labelsCommand())
    .addCommand(collectionsCommand())
    .addCommand(explainCommand())
    .addCommand(configCommand())
    .addCommand(storeCommand())
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

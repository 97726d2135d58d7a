// Writes a configuration: wishes from flags or questions, checked endpoints, a commented file, and what it will cost.
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { AlmanacError, describeError } from '../errors.ts'
import { checkChain, checkSolana } from './init-check.ts'
import { configurationText, type Findings } from './init-file.ts'
import { askWishes, type Questions, type Wishes, wishesOf, withQuestions } from './init-wishes.ts'
import { plan } from './plan.ts'
import { commandLine } from './process.ts'
import { printNote } from './terminal.ts'

export type InitFlags = {
  chain?: string[]
  ws?: string[]
  index?: 'full' | 'on-demand'
  contract?: string[]
  solana?: string[]
  solanaWs?: string[]
  store?: string
  output: string
  check: boolean
  yes?: true
}

const several = (value: string, before: string[] = []): string[] => [...before, value]

export function initCommand(): Command {
  const command = new Command('init')
    .description(
      'Write almanac.yaml for your own nodes: asks on a terminal, or takes flags; checks every endpoint, says what it can do, and estimates what indexing will cost.',
    )
    .option('--chain <name=url,…>', 'A chain and its JSON-RPC endpoints, in order of preference. Repeatable.', several)
    .option('--ws <name=url>', 'The WebSocket endpoint of a chain. Repeatable.', several)
    .addOption(
      new Option(
        '--index <mode>',
        'full reads every block of the chains, on-demand a contract when it is first asked for.',
      ).choices(['full', 'on-demand']),
    )
    .option(
      '--contract <name=0x…,…>',
      'Contracts of a chain that are indexed without being asked for. Repeatable.',
      several,
    )
    .option('--solana <network=url,…>', 'A Solana network, mainnet or devnet, and its endpoints.', several)
    .option('--solana-ws <network=url>', 'The WebSocket endpoint of a Solana network.', several)
    .option('--store <place>', 'Where the data will be: file:path or postgres://… Without it, file:./almanac.db.')
    .option('--output <file>', 'The file to write.', 'almanac.yaml')
    .option('--no-check', 'Ask no endpoint: neither check nor estimate.')
    .option('--yes', 'Ask nothing, and replace the file if it is there, keeping the former beside it.')
  command.action(async (flags: InitFlags) => {
    await init(flags)
  })
  return command
}

const planSamples = '6'

export async function init(flags: InitFlags): Promise<void> {
  const given = wishesOf(flags)
  const isGiven = given.chains.length + given.solana.length > 0
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true
  if (!isGiven && (flags.yes === true || !isTerminal)) {
    throw new AlmanacError('bad_request', 'No chain was given, and nobody is there to be asked.', {
      hint: 'give --chain eth=http://127.0.0.1:8545 or --solana mainnet=https://…, or run it on a terminal.',
    })
  }
  if (flags.yes === true || !isTerminal) {
    await write(given, flags, undefined)
    return
  }
  await withQuestions(async questions => {
    const wishes = isGiven ? given : await askWishes(questions, flags)
    await write(wishes, flags, questions)
  })
}

async function write(wishes: Wishes, flags: InitFlags, questions: Questions | undefined): Promise<void> {
  const found = flags.check ? await checkAll(wishes, questions) : new Map<string, string[]>()
  const replaces = await mayReplace(flags, questions)
  const loaded = writeBeside(flags.output, configurationText(wishes, found))
  if (replaces) keepFormer(flags.output)
  renameSync(besideOf(flags.output), flags.output)
  printNote(`\nWrote ${flags.output}, readable by you alone.`)
  if (flags.check && wishes.chains.length > 0) {
    printNote('\nWhat indexing will take, judged from a few parts of the history:\n')
    await plan(loaded, { samples: planSamples })
  }
  const option = flags.output === 'almanac.yaml' ? '' : ` --config ${flags.output}`
  printNote(`\nNext: ${commandLine} start${option}`)
}

/** Every endpoint that cannot be used is told; on a terminal one may go on all the same. */
async function checkAll({ chains, solana }: Wishes, questions: Questions | undefined): Promise<Findings> {
  const found = new Map<string, string[]>()
  const check = async (name: string, look: () => Promise<string[]>): Promise<void> => {
    printNote(`\nChecking ${name} …`)
    try {
      const lines = await look()
      found.set(name, lines)
      for (const line of lines) printNote(`  ${line}`)
    } catch (error) {
      if (questions === undefined) throw error
      printNote(describeError(error))
      if (!(await questions.confirm(`Keep ${name} as it is?`, false)))
        throw new AlmanacError('interrupted', 'Nothing was written.')
    }
  }
  const signal = AbortSignal.timeout(120_000)
  for (const wish of chains) await check(wish.name, () => checkChain(wish, signal))
  for (const wish of solana) await check(`solana ${wish.network}`, () => checkSolana(wish))
  return found
}

/** Whether there is a file to replace. */
async function mayReplace({ output, yes }: InitFlags, questions: Questions | undefined): Promise<boolean> {
  if (!existsSync(output)) return false
  if (!statSync(output).isFile()) {
    throw new AlmanacError('conflict', `${output} is there and is no file.`, {
      hint: 'give the name of a file with --output.',
    })
  }
  if (yes !== true && !(await questions?.confirm(`${output} is there. Replace it? The present one is kept.`, false))) {
    throw new AlmanacError('conflict', `${output} is there and was left as it is.`, {
      hint: 'give another file with --output, or --yes to replace it; the former is kept then.',
    })
  }
  return true
}

function besideOf(output: string): string {
  return `${output}.new`
}

/** Read back as the service reads it: a slip or a full disk must neither wait for the first start nor cost the file that is there. */
function writeBeside(output: string, text: string): LoadedConfig {
  const beside = besideOf(output)
  try {
    rmSync(beside, { force: true })
    writeFileSync(beside, text, { mode: 0o600, flag: 'wx' })
    return loadConfig({ file: beside })
  } catch (error) {
    rmSync(beside, { force: true })
    if (error instanceof AlmanacError) throw error
    throw new AlmanacError('config_invalid', `Cannot write ${output}.`, {
      cause: error,
      hint: 'give another file with --output, in a directory with room that this user may write to.',
    })
  }
}

/** A file that is there is never lost: it moves aside, and that is told. */
function keepFormer(output: string): void {
  const kept = `${output}.${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  renameSync(output, kept)
  printNote(`\nThe former ${output} is now ${kept}.`)
}
